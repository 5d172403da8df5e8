/* Blocks, keys and bits of arrjit/random.h: u32 words that are added, rotated and xored, lane by lane. */
#include "api/random.h"

#include <string.h>

#include "arrjit/random.h"

/* ---- parts ---- */

aj_value *aj_random_operand(arrjit_graph *graph, aj_op op, arrjit_value value, uint32_t dtypes, const char *expected) {
  char type[128];
  aj_value *x = aj_compose_array(graph, op, 0, value);
  if (!x || (dtypes >> x->type->dtype & 1)) return x;
  aj_type_print(graph->module, x->type, type, sizeof type);
  return aj_builder_fail(&graph->b, ARRJIT_TYPE, op, "an operand is %s; expected %s", type, expected);
}

aj_value *aj_random_as(arrjit_graph *graph, aj_op op, aj_value *x, arrjit_dtype dtype) {
  const aj_attr attr = aj_attr_int(AJ_ATTR_DTYPE, dtype);
  if (!x || x->type->dtype == dtype) return x;
  return aj_build1(&graph->b, op, 1, &x, 1, &attr);
}

static aj_value *element(arrjit_graph *graph, arrjit_dtype dtype, uint64_t value) {
  uint32_t narrow = (uint32_t)value;
  if (aj_dtypes[dtype].bytes == 8) return aj_build_scalar(&graph->b, dtype, &value);
  return aj_build_scalar(&graph->b, dtype, &narrow);
}

aj_value *aj_random_with(arrjit_graph *graph, aj_op op, aj_value *x, uint64_t value) {
  return x ? aj_compose_two(graph, op, x, element(graph, x->type->dtype, value)) : NULL;
}

aj_value *aj_random_select(arrjit_graph *graph, aj_value *pred, aj_value *x, aj_value *y) {
  if (!pred || !x || !y) return NULL;
  return aj_build_elementwise(&graph->b, AJ_OP_SELECT, 3, (aj_value *[]){pred, x, y}, 0, NULL);
}

/* x in u32: its lowest bits. */
static aj_value *low_word(arrjit_graph *graph, aj_value *x) {
  return aj_random_as(graph, AJ_OP_CONVERT, x, ARRJIT_U32);
}

static aj_value *high_word(arrjit_graph *graph, aj_value *x) {
  return low_word(graph, aj_random_with(graph, AJ_OP_SHR_LOGICAL, x, 32));
}

/* ---- blocks ---- */

/* Rotations and the parity constant: table 2 and section 4.2 of the paper; the constant as Random123 1.0 has it. */
static aj_words threefry(arrjit_graph *graph, aj_words key, aj_words counter) {
  static const uint8_t rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  aj_value *both = aj_compose_two(graph, AJ_OP_XOR, key.x, key.y);
  aj_value *const keys[3] = {key.x, key.y, aj_random_with(graph, AJ_OP_XOR, both, 0x1BD11BDA)};
  aj_value *x = aj_compose_two(graph, AJ_OP_ADD, counter.x, keys[0]);
  aj_value *y = aj_compose_two(graph, AJ_OP_ADD, counter.y, keys[1]);
  for (uint32_t round = 0; round < 20; round++) {
    const uint32_t group = round / 4;
    x = aj_compose_two(graph, AJ_OP_ADD, x, y);
    y = aj_random_with(graph, AJ_OP_ROTL, y, rotations[group % 2][round % 4]);
    y = aj_compose_two(graph, AJ_OP_XOR, y, x);
    if (round % 4 != 3) continue;
    x = aj_compose_two(graph, AJ_OP_ADD, x, keys[(group + 1) % 3]);
    aj_value *bumped = aj_random_with(graph, AJ_OP_ADD, keys[(group + 2) % 3], group + 1);
    y = aj_compose_two(graph, AJ_OP_ADD, y, bumped);
  }
  return (aj_words){x, y};
}

/* x * m in 64 bits, as two words. */
static aj_words multiply(arrjit_graph *graph, aj_value *x, uint32_t m) {
  aj_value *wide = aj_random_as(graph, AJ_OP_CONVERT, x, ARRJIT_U64);
  aj_value *product = aj_random_with(graph, AJ_OP_MUL, wide, m);
  return (aj_words){low_word(graph, product), high_word(graph, product)};
}

/* Multipliers and the key's steps (golden ratio, sqrt(3) - 1): section 4.3 of the paper. */
static void philox(arrjit_graph *graph, aj_words key, aj_value *c[4]) {
  for (int round = 0; round < 10; round++) {
    const aj_words p = multiply(graph, c[0], 0xD2511F53), q = multiply(graph, c[2], 0xCD9E8D57);
    c[0] = aj_compose_two(graph, AJ_OP_XOR, aj_compose_two(graph, AJ_OP_XOR, q.y, c[1]), key.x);
    c[2] = aj_compose_two(graph, AJ_OP_XOR, aj_compose_two(graph, AJ_OP_XOR, p.y, c[3]), key.y);
    c[1] = q.x;
    c[3] = p.x;
    if (round == 9) break;
    key.x = aj_random_with(graph, AJ_OP_ADD, key.x, 0x9E3779B9);
    key.y = aj_random_with(graph, AJ_OP_ADD, key.y, 0xBB67AE85);
  }
}

/* Counters of the host's, broadcast to each other. */
static bool read_counters(arrjit_graph *graph, const arrjit_value *counters, uint32_t count, aj_value **out) {
  if (!aj_graph_given(graph, "counters", counters, count)) return false;
  for (uint32_t i = 0; i < count; i++) {
    out[i] = aj_random_operand(graph, AJ_OP_ADD, counters[i], 1u << ARRJIT_U32, "counters of u32");
    if (!out[i]) return false;
  }
  return aj_build_broadcast_all(&graph->b, AJ_OP_ADD, count, out);
}

static void give(const arrjit_graph *graph, arrjit_value *out, size_t count, aj_value *const *values) {
  for (size_t i = 0; out && i < count; i++) out[i] = aj_builder_ok(&graph->b) ? aj_host_value(values[i]) : NULL;
}

void arrjit_threefry2x32(arrjit_graph *graph, arrjit_value key, const arrjit_value *counters, arrjit_value *out) {
  aj_words k;
  aj_value *c[2];
  if (!aj_graph_ready(graph) || !aj_random_key_words(graph, key, &k) || !read_counters(graph, counters, 2, c)) {
    aj_graph_give(out, 2, NULL);
    return;
  }
  const aj_words words = threefry(graph, k, (aj_words){c[0], c[1]});
  give(graph, out, 2, (aj_value *[]){words.x, words.y});
}

void arrjit_philox4x32(arrjit_graph *graph, arrjit_value key, const arrjit_value *counters, arrjit_value *out) {
  aj_words k;
  aj_value *c[4];
  if (!aj_graph_ready(graph) || !aj_random_key_words(graph, key, &k) || !read_counters(graph, counters, 4, c)) {
    aj_graph_give(out, 4, NULL);
    return;
  }
  philox(graph, k, c);
  give(graph, out, 4, c);
}

/* ---- keys ---- */

bool aj_random_key_words(arrjit_graph *graph, arrjit_value key, aj_words *out) {
  char type[128];
  aj_value *from = aj_compose_array(graph, AJ_OP_SLICE, 0, key);
  if (!from) return false;
  if (from->type->dtype != ARRJIT_U32 || from->type->rank != 1 || from->type->dims[0] != 2) {
    aj_type_print(graph->module, from->type, type, sizeof type);
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_SLICE, "key is %s; expected u32[2]", type);
    return false;
  }
  out->x = aj_compose_reshape(graph, aj_compose_slice(graph, from, 0, 0, 1), 0, NULL);
  out->y = aj_compose_reshape(graph, aj_compose_slice(graph, from, 0, 1, 2), 0, NULL);
  return out->y != NULL;
}

/* Words side by side along a new last dim: a select, which unlike a concat is computed where it is used. */
static aj_value *join(arrjit_graph *graph, aj_words words, int32_t rank, int64_t count) {
  const int64_t pair = 2;
  aj_value *second = aj_random_with(graph, AJ_OP_NE, aj_compose_iota(graph, 1, &pair, 0), 0);
  if (rank == 0 || !second || !words.x || !words.y) return aj_random_select(graph, second, words.y, words.x);
  const int64_t dims[] = {count, 2}, row = 0, column = 1;
  second = aj_compose_broadcast(graph, second, 2, dims, &column);
  words.x = aj_compose_broadcast(graph, words.x, 2, dims, &row);
  words.y = aj_compose_broadcast(graph, words.y, 2, dims, &row);
  return aj_random_select(graph, second, words.y, words.x);
}

/* An integer scalar of the host's. */
static aj_value *read_integer(arrjit_graph *graph, arrjit_value value) {
  aj_value *x = aj_random_operand(graph, AJ_OP_CONVERT, value, AJ_D_INT, "an integer scalar");
  if (!x || x->type->rank == 0) return x;
  return aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_CONVERT, "an operand has rank %d; expected an integer scalar",
                         x->type->rank);
}

arrjit_value arrjit_random_key(arrjit_graph *graph, arrjit_value seed) {
  if (!aj_graph_ready(graph)) return NULL;
  aj_value *wide = aj_random_as(graph, AJ_OP_CONVERT, read_integer(graph, seed), ARRJIT_U64);
  return aj_host_value(join(graph, (aj_words){high_word(graph, wide), low_word(graph, wide)}, 0, 0));
}

aj_words aj_random_fold(arrjit_graph *graph, aj_words key, aj_value *data) {
  return threefry(graph, key, (aj_words){element(graph, ARRJIT_U32, 0), data});
}

arrjit_value arrjit_random_fold_in(arrjit_graph *graph, arrjit_value key, arrjit_value data) {
  aj_words k;
  if (!aj_graph_ready(graph) || !aj_random_key_words(graph, key, &k)) return NULL;
  aj_value *number = low_word(graph, read_integer(graph, data));
  return aj_host_value(join(graph, aj_random_fold(graph, k, number), 0, 0));
}

/* ---- bits ---- */

bool aj_random_shape(arrjit_graph *graph, int32_t rank, const int64_t *dims) {
  if (rank >= 0 && rank <= ARRJIT_MAX_RANK) return aj_graph_given(graph, "dims", dims, (size_t)rank);
  aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_IOTA, "rank is %d; expected one from 0 to %d", rank, ARRJIT_MAX_RANK);
  return false;
}

static aj_value *iota(arrjit_graph *graph, arrjit_dtype dtype, int32_t rank, const int64_t *dims, int64_t axis) {
  const aj_attr attrs[] = {aj_attr_int(AJ_ATTR_DTYPE, dtype), aj_attr_ints(AJ_ATTR_SHAPE, (size_t)rank, dims),
                           aj_attr_int(AJ_ATTR_AXIS, axis)};
  return aj_build1(&graph->b, AJ_OP_IOTA, 0, NULL, AJ_COUNT(attrs), attrs);
}

/* x's extent along axis, in its dtype. */
static aj_value *extent(arrjit_graph *graph, aj_value *x, int64_t axis) {
  const aj_attr attr = aj_attr_int(AJ_ATTR_AXIS, axis);
  if (!x) return NULL;
  if (x->type->dims[axis] >= 0) return element(graph, x->type->dtype, (uint64_t)x->type->dims[axis]);
  return aj_random_as(graph, AJ_OP_CONVERT, aj_build1(&graph->b, AJ_OP_DIM_SIZE, 1, &x, 1, &attr), x->type->dtype);
}

/* The block of each element. Its counter is the element's row-major index, in u32 where that is sure to do. */
static aj_words draw_words(arrjit_graph *graph, aj_words key, int32_t rank, const int64_t *dims) {
  int64_t elements = 0;
  bool symbolic = false, fits = aj_dims_count(rank, dims, &elements, &symbolic);
  const arrjit_dtype dtype = fits && !symbolic && elements <= UINT32_MAX ? ARRJIT_U32 : ARRJIT_U64;
  aj_value *index = rank ? iota(graph, dtype, rank, dims, 0) : element(graph, dtype, 0);
  for (int32_t axis = 1; axis < rank; axis++) {
    index = aj_compose_two(graph, AJ_OP_MUL, index, extent(graph, index, axis));
    index = aj_compose_two(graph, AJ_OP_ADD, index, iota(graph, dtype, rank, dims, axis));
  }
  if (!index) return (aj_words){NULL, NULL};
  aj_value *high = dtype == ARRJIT_U32 ? element(graph, ARRJIT_U32, 0) : high_word(graph, index);
  return threefry(graph, key, (aj_words){high, low_word(graph, index)});
}

arrjit_value arrjit_random_split(arrjit_graph *graph, arrjit_value key, int64_t count) {
  aj_words k;
  if (!aj_graph_ready(graph) || !aj_random_key_words(graph, key, &k)) return NULL;
  return aj_host_value(join(graph, draw_words(graph, k, 1, &count), 1, count));
}

aj_value *aj_random_draw(arrjit_graph *graph, aj_words key, arrjit_dtype dtype, int32_t rank, const int64_t *dims) {
  const aj_words words = draw_words(graph, key, rank, dims);
  if (dtype != ARRJIT_U64)
    return aj_random_as(graph, AJ_OP_CONVERT, aj_compose_two(graph, AJ_OP_XOR, words.x, words.y), dtype);
  aj_value *high = aj_random_as(graph, AJ_OP_CONVERT, words.x, ARRJIT_U64);
  aj_value *low = aj_random_as(graph, AJ_OP_CONVERT, words.y, ARRJIT_U64);
  return aj_compose_two(graph, AJ_OP_OR, aj_random_with(graph, AJ_OP_SHL, high, 32), low);
}

arrjit_value arrjit_random_bits(arrjit_graph *graph, arrjit_value key, arrjit_dtype dtype, int32_t rank,
                                const int64_t *dims) {
  aj_words k;
  if (!aj_graph_ready(graph) || !aj_random_key_words(graph, key, &k) || !aj_random_shape(graph, rank, dims))
    return NULL;
  if (dtype != ARRJIT_U8 && dtype != ARRJIT_U16 && dtype != ARRJIT_U32 && dtype != ARRJIT_U64) {
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_IOTA, "dtype %d; expected u8, u16, u32 or u64", (int)dtype);
    return NULL;
  }
  return aj_host_value(aj_random_draw(graph, k, dtype, rank, dims));
}
