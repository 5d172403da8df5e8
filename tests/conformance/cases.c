/* Building and running graphs in data; see cases.h. */
#include "cases.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

bool case_type(const char *text, arrjit_type *out) {
  char name[32];
  size_t length = strcspn(text, "[");
  int64_t dims[ARRJIT_MAX_RANK];
  int32_t rank = 0;
  if (length >= sizeof name) return false;
  memcpy(name, text, length);
  name[length] = 0;
  arrjit_dtype dtype = tk_dtype_find(name);
  if (dtype == ARRJIT_DTYPE_NONE) return false;
  for (const char *at = text[length] ? text + length + 1 : ""; *at && *at != ']'; at += *at == ',') {
    char *end;
    if (rank == ARRJIT_MAX_RANK) return false;
    dims[rank++] = strtoll(at, &end, 10);
    if (end == at) return false; /* an extent that is not known */
    at = end;
  }
  *out = arrjit_type_make(dtype, rank, dims);
  return true;
}

int64_t case_int(const case_op *op, const char *name, int64_t otherwise) {
  const json_t *value = json_object_get(op->attrs, name);
  if (json_is_true(value)) return 1;
  if (json_is_false(value)) return 0;
  return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

size_t case_ints(const case_op *op, const char *name, int64_t *out) {
  const json_t *list = json_object_get(op->attrs, name);
  size_t count = json_array_size(list);
  for (size_t i = 0; i < count && i < CASE_MOST; i++) out[i] = json_integer_value(json_array_get(list, i));
  return count < CASE_MOST ? count : CASE_MOST;
}

const char *case_text(const case_op *op, const char *name) {
  const char *text = json_string_value(json_object_get(op->attrs, name));
  return text ? text : "";
}

bool case_plain(case_op *op, size_t unary_count, const case_unary *unaries, size_t binary_count,
                const case_binary *binaries) {
  for (size_t i = 0; op->in_count == 1 && i < unary_count; i++) {
    if (strcmp(unaries[i].name, op->name) != 0) continue;
    op->out[0] = unaries[i].build(op->g, op->in[0]);
    return true;
  }
  for (size_t i = 0; op->in_count == 2 && i < binary_count; i++) {
    if (strcmp(binaries[i].name, op->name) != 0) continue;
    op->out[0] = binaries[i].build(op->g, op->in[0], op->in[1]);
    return true;
  }
  return false;
}

verdict case_unknown(case_op *op) { return corpus_say(op->build->run, SKIPPED, "op %s", op->name); }

/* What this library has not, or what its own project does not trust. */
static const char *find_tag(const json_t *one) {
  static const char *const tags[] = {"f8",    "f4",      "int4",  "dynamic_op", "dynamic_conv",
                                     "tuple", "fragile", "names", "vectorized"};
  const json_t *feat = json_object_get(one, "feat");
  for (size_t i = 0; i < json_array_size(feat); i++)
    for (size_t k = 0; k < TK_COUNT(tags); k++)
      if (strcmp(json_string_value(json_array_get(feat, i)), tags[k]) == 0) return tags[k];
  return NULL;
}

/* ---- building ---- */

void case_set(case_build *b, json_int_t id, arrjit_value value) {
  if (id == CASE_OMITTED) return;
  if (id < 0) tk_die("an id below 0");
  if ((size_t)id >= b->id_count) {
    size_t count = 2 * (size_t)id + 16;
    b->values = tk_grow(b->values, count, sizeof *b->values);
    memset(b->values + b->id_count, 0, (count - b->id_count) * sizeof *b->values);
    b->id_count = count;
  }
  b->values[id] = value;
}

arrjit_value case_get(const case_build *b, json_int_t id) {
  return id >= 0 && (size_t)id < b->id_count ? b->values[id] : (arrjit_value)NULL;
}

/* `ty` is a list of types, or one text. */
static const char *get_type_text(const json_t *op, size_t i) {
  const json_t *ty = json_object_get(op, "ty");
  return json_string_value(json_is_array(ty) ? json_array_get(ty, i) : ty);
}

verdict case_build_op(case_build *b, case_vocabulary *vocabulary, const json_t *one) {
  const json_t *in = json_object_get(one, "in"), *out = json_object_get(one, "out");
  case_op op = {.build = b,
                .g = b->graph,
                .name = json_string_value(json_object_get(one, "op")),
                .attrs = json_object_get(one, "a"),
                .regions = json_object_get(one, "r"),
                .in_count = json_array_size(in),
                .out_count = json_array_size(out)};
  if (op.in_count > CASE_MOST || op.out_count > CASE_MOST) return corpus_say(b->run, SKIPPED, "too many operands");
  for (size_t i = 0; i < op.in_count; i++) {
    op.in_id[i] = json_integer_value(json_array_get(in, i));
    if (!(op.in[i] = case_get(b, op.in_id[i])) && op.in_id[i] != CASE_OMITTED)
      return corpus_say(b->run, FAILED, "%s: operand %zu does not exist", op.name, i);
  }
  for (size_t i = 0; i < op.out_count; i++) {
    op.out_id[i] = json_integer_value(json_array_get(out, i));
    const char *text = get_type_text(one, i);
    if (text && !case_type(text, &op.type[i])) return corpus_say(b->run, SKIPPED, "type %s", text);
  }
  verdict v = vocabulary(&op);
  for (size_t i = 0; v == PASSED && i < op.out_count; i++) case_set(b, op.out_id[i], op.out[i]);
  return v;
}

static verdict build_ops(case_build *b, case_vocabulary *vocabulary, const json_t *ops) {
  for (size_t i = 0; i < json_array_size(ops); i++) {
    verdict v = case_build_op(b, vocabulary, json_array_get(ops, i));
    if (v != PASSED) return v;
    arrjit_error error;
    if (arrjit_graph_error(b->graph, &error) != ARRJIT_OK)
      return corpus_say(b->run, FAILED, "%s: %s", json_string_value(json_object_get(json_array_get(ops, i), "op")),
                        error.message);
  }
  return PASSED;
}

verdict case_region(case_build *b, case_vocabulary *vocabulary, const json_t *region, size_t arg_count,
                    const arrjit_value *args, size_t *out_count, arrjit_value *out) {
  const json_t *names = json_object_get(region, "args"), *returned = json_object_get(region, "ret");
  if (json_array_size(names) != arg_count) return corpus_say(b->run, FAILED, "a region with other arguments");
  for (size_t i = 0; i < arg_count; i++) case_set(b, json_integer_value(json_array_get(names, i)), args[i]);
  verdict v = build_ops(b, vocabulary, json_object_get(region, "ops"));
  *out_count = json_array_size(returned);
  for (size_t i = 0; v == PASSED && i < *out_count; i++)
    if (!(out[i] = case_get(b, json_integer_value(json_array_get(returned, i)))))
      return corpus_say(b->run, FAILED, "a region returns what does not exist");
  return v;
}

/* ---- a case ---- */

typedef struct case_inputs {
  size_t count;
  arrjit_array **arrays;
} case_inputs;

static verdict make_inputs(case_build *b, const json_t *list, case_inputs *in) {
  in->arrays = tk_new(json_array_size(list) + 1, sizeof(arrjit_array *));
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *tensor = json_array_get(list, i);
    const char *dtype = json_string_value(json_object_get(tensor, "d"));
    tk_block block;
    char name[32];
    if (tk_dtype_find(dtype) == ARRJIT_DTYPE_NONE) return corpus_say(b->run, SKIPPED, "dtype %s", dtype);
    if (!tk_tensor_read(tensor, &block, b->run->why, sizeof b->run->why)) return FAILED;
    arrjit_error error;
    arrjit_status status = ARRJIT_OK;
    arrjit_value value;
    snprintf(name, sizeof name, "in%zu", i);
    if (b->run->constants) {
      value = arrjit_const(b->graph, &block.type, block.data);
    } else {
      value = arrjit_param(b->graph, name, &block.type);
      status = arrjit_array_create(b->run->context, &block.type, block.data, &in->arrays[in->count], &error);
      if (status == ARRJIT_OK) in->count++;
    }
    case_set(b, json_integer_value(json_object_get(tensor, "id")), value);
    free(block.data);
    if (status != ARRJIT_OK) return corpus_say(b->run, FAILED, "input %zu: %s", i, error.message);
  }
  return PASSED;
}

static bool has_tag(const json_t *one, const char *tag) {
  const json_t *feat = json_object_get(one, "feat");
  for (size_t i = 0; i < json_array_size(feat); i++)
    if (strcmp(json_string_value(json_array_get(feat, i)), tag) == 0) return true;
  return false;
}

/* Tagged, or found to be so: sums that cancel, with a bound that only one order of adding meets. */
static bool depends_on_order(const json_t *one) {
  static const char *const found[] = {"testdata/dot_general_int16_4_3_float64_3_6",
                                      "testdata/dot_general_uint8_4_3_complex128_3_6", "onnx/dft_inverse_opset19"};
  const char *name = json_string_value(json_object_get(one, "name"));
  for (size_t i = 0; i < TK_COUNT(found); i++)
    if (strcmp(name, found[i]) == 0) return true;
  return has_tag(one, "order_sensitive");
}

/* What the checks look at, in order: x, and y where a check has one. */
static size_t list_checked(const case_build *b, const json_t *checks, arrjit_value *out) {
  size_t count = 0;
  for (size_t i = 0; i < json_array_size(checks); i++) {
    const json_t *check = json_array_get(checks, i), *y = json_object_get(check, "y");
    out[count++] = case_get(b, json_integer_value(json_object_get(check, "x")));
    if (y) out[count++] = case_get(b, json_integer_value(y));
  }
  return count;
}

static verdict judge_all(corpus_run *run, const json_t *one, const tk_outcome *o) {
  const json_t *checks = json_object_get(one, "checks");
  bool relaxed = depends_on_order(one);
  size_t at = 0;
  for (size_t i = 0; i < json_array_size(checks); i++) {
    const json_t *check = json_array_get(checks, i), *tensor = json_object_get(check, "want");
    const tk_block *got = &o->outputs[at++];
    tk_block want;
    if (!tensor) {
      if (!case_judge(run, check, got, &o->outputs[at++], relaxed)) return FAILED;
      continue;
    }
    const char *dtype = json_string_value(json_object_get(tensor, "d"));
    if (tk_dtype_find(dtype) == ARRJIT_DTYPE_NONE) return corpus_say(run, SKIPPED, "dtype %s", dtype);
    if (!tk_tensor_read(tensor, &want, run->why, sizeof run->why)) return FAILED;
    bool same = case_judge(run, check, got, &want, relaxed);
    free(want.data);
    if (!same) return FAILED;
  }
  return PASSED;
}

static verdict run_built(case_build *b, const json_t *one, const case_inputs *in) {
  arrjit_function *function = NULL;
  arrjit_error error;
  arrjit_graph *graph = b->graph;
  b->graph = NULL;
  arrjit_status status = arrjit_graph_finish(graph, &function, &error);
  arrjit_graph_destroy(graph);
  if (status != ARRJIT_OK) return corpus_say(b->run, FAILED, "finish: %s", error.message);
  tk_outcome o;
  verdict v = FAILED;
  if (corpus_execute(b->run, function, in->count, in->arrays, &o)) {
    bool lacking = !o.ok && o.kind == ARRJIT_KIND_UNAVAILABLE; /* to this machine */
    size_t line = o.ok ? 0 : strcspn(o.text, "\n");            /* what; where comes after it */
    v = o.ok ? judge_all(b->run, one, &o)
             : corpus_say(b->run, lacking ? SKIPPED : FAILED, "%.*s", (int)(lacking ? line : strlen(o.text)), o.text);
  }
  tk_outcome_free(&o);
  arrjit_function_release(function);
  return v;
}

static verdict run_case(case_build b, const json_t *one, case_builder *builder) {
  case_inputs in = {0};
  arrjit_error error;
  const char *tag = find_tag(one);
  const json_t *checks = json_object_get(one, "checks");
  if (tag) return corpus_say(b.run, SKIPPED, "tagged %s", tag);
  if (arrjit_graph_create(b.run->context, &b.graph, &error) != ARRJIT_OK) tk_die("no graph: %s", error.message);
  verdict v = make_inputs(&b, json_object_get(one, "inputs"), &in);
  if (v == PASSED) v = builder(&b, json_object_get(one, "ops"));
  if (v == PASSED) {
    arrjit_value *returned = tk_new(2 * json_array_size(checks) + 1, sizeof *returned);
    arrjit_return(b.graph, list_checked(&b, checks, returned), returned, NULL);
    free(returned);
    v = run_built(&b, one, &in);
  }
  arrjit_graph_destroy(b.graph);
  for (size_t i = 0; i < in.count; i++) arrjit_array_release(in.arrays[i]);
  free(in.arrays);
  free(b.values);
  return v;
}

static verdict build_by_vocabulary(case_build *b, const json_t *ops) { return build_ops(b, b->vocabulary, ops); }

verdict case_run(corpus_run *run, const json_t *one, case_vocabulary *vocabulary, void *user) {
  return run_case((case_build){.run = run, .vocabulary = vocabulary, .user = user}, one, build_by_vocabulary);
}

verdict case_run_by(corpus_run *run, const json_t *one, case_builder *builder, void *user) {
  return run_case((case_build){.run = run, .user = user}, one, builder);
}
