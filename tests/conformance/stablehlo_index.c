/* StableHLO's ops that index and sort, and those on the bits of floats and powers of integers. */
#include "stablehlo.h"

#include <string.h>

typedef struct numbers {
  size_t offset, collapsed, batch, start;
  int64_t offset_axes[CASE_MOST], collapsed_axes[CASE_MOST], x_batch[CASE_MOST], index_batch[CASE_MOST],
      start_map[CASE_MOST];
} numbers;

static void read_numbers(const case_op *op, const char *const names[5], numbers *n) {
  n->offset = case_ints(op, names[0], n->offset_axes);
  n->collapsed = case_ints(op, names[1], n->collapsed_axes);
  n->batch = case_ints(op, names[2], n->x_batch);
  case_ints(op, names[3], n->index_batch);
  n->start = case_ints(op, names[4], n->start_map);
}

verdict stablehlo_gather(case_op *op) {
  static const char *const names[] = {"offset_dims", "collapsed_slice_dims", "operand_batching_dims",
                                      "start_indices_batching_dims", "start_index_map"};
  int64_t sizes[CASE_MOST];
  size_t rank = case_ints(op, "slice_sizes", sizes);
  numbers n;
  read_numbers(op, names, &n);
  op->out[0] = arrjit_gather(op->g, op->in[0], op->in[1], n.offset, n.offset_axes, n.collapsed, n.collapsed_axes,
                             n.batch, n.x_batch, n.index_batch, n.start, n.start_map,
                             case_int(op, "index_vector_dim", 0), (int32_t)rank, sizes);
  return PASSED;
}

/* A region that gives its second argument back puts updates in; bool has no sums and products. */
static case_scatter *find_scatter(const json_t *region, bool bools) {
  static const struct {
    const char *name;
    case_scatter *build, *bools;
  } plain[] = {{"add", arrjit_scatter_add, arrjit_scatter_max},
               {"multiply", arrjit_scatter_mul, arrjit_scatter_min},
               {"minimum", arrjit_scatter_min, arrjit_scatter_min},
               {"maximum", arrjit_scatter_max, arrjit_scatter_max}};
  const json_t *args = json_object_get(region, "args"), *ret = json_object_get(region, "ret");
  if (json_array_size(json_object_get(region, "ops")) == 0 && json_array_size(args) == 2)
    return json_equal(json_array_get(ret, 0), json_array_get(args, 1)) ? arrjit_scatter : NULL;
  const char *name = stablehlo_plain(region);
  for (size_t i = 0; name && i < TK_COUNT(plain); i++)
    if (strcmp(plain[i].name, name) == 0) return bools ? plain[i].bools : plain[i].build;
  return NULL;
}

verdict stablehlo_scatter(case_op *op) {
  static const char *const names[] = {"update_window_dims", "inserted_window_dims", "input_batching_dims",
                                      "scatter_indices_batching_dims", "scatter_dims_to_operand_dims"};
  bool bools = arrjit_value_type(op->in[0]).dtype == ARRJIT_BOOL;
  case_scatter *build = op->in_count == 3 ? find_scatter(json_array_get(op->regions, 0), bools) : NULL;
  if (!build) return corpus_say(op->build->run, SKIPPED, "op scatter with a region");
  numbers n;
  read_numbers(op, names, &n);
  op->out[0] = build(op->g, op->in[0], op->in[1], op->in[2], n.offset, n.offset_axes, n.collapsed, n.collapsed_axes,
                     n.batch, n.x_batch, n.index_batch, n.start, n.start_map, case_int(op, "index_vector_dim", 0));
  return PASSED;
}

verdict stablehlo_top_k(case_op *op) {
  arrjit_value positions;
  int64_t axis = arrjit_value_type(op->in[0]).rank - 1;
  arrjit_top_k(op->g, op->in[0], case_int(op, "k", 0), axis, &op->out[0], &positions);
  op->out[1] = arrjit_convert(op->g, positions, op->type[1].dtype);
  return PASSED;
}

verdict stablehlo_reduce_precision(case_op *op) {
  op->out[0] =
      arrjit_reduce_precision(op->g, op->in[0], case_int(op, "exponent_bits", 0), case_int(op, "mantissa_bits", 0));
  return PASSED;
}

verdict stablehlo_power(case_op *op) {
  arrjit_dtype dtype = arrjit_value_type(op->in[0]).dtype;
  bool whole = dtype >= ARRJIT_I8 && dtype <= ARRJIT_U64;
  op->out[0] = whole ? arrjit_ipow(op->g, op->in[0], op->in[1]) : arrjit_pow(op->g, op->in[0], op->in[1]);
  return PASSED;
}
