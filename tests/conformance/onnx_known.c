/* What is known of a value while the graph is built: the ops that it comes from, made into a function of their own and
 * run by the library once. So there is no second evaluator of shapes, and what the case computes of its data is
 * computed by the graph under test alone. */
#include "onnx.h"

#include <stdlib.h>
#include <string.h>

typedef struct known {
  bool there, data;
  tk_block block;
} known;

struct onnx_state {
  const json_t *one;
  size_t id_count;
  known *known;         /* by id */
  const json_t **input; /* by id: the tensor */
  size_t op_count;
  const json_t **ops; /* of the case and its regions, each before what is inside it */
};

/* ---- the case as lists ---- */

static void note_ids(onnx_state *s, const json_t *ids) {
  for (size_t i = 0; i < json_array_size(ids); i++) {
    json_int_t id = json_integer_value(json_array_get(ids, i));
    if (id >= 0 && (size_t)id >= s->id_count) s->id_count = (size_t)id + 1;
  }
}

static void list_ops(onnx_state *s, const json_t *ops) {
  for (size_t i = 0; i < json_array_size(ops); i++) {
    const json_t *one = json_array_get(ops, i), *regions = json_object_get(one, "r");
    s->ops = tk_grow(s->ops, s->op_count + 1, sizeof *s->ops);
    s->ops[s->op_count++] = one;
    note_ids(s, json_object_get(one, "in"));
    note_ids(s, json_object_get(one, "out"));
    for (size_t r = 0; r < json_array_size(regions); r++) {
      note_ids(s, json_object_get(json_array_get(regions, r), "args"));
      list_ops(s, json_object_get(json_array_get(regions, r), "ops"));
    }
  }
}

onnx_state *onnx_state_new(const json_t *one) {
  onnx_state *s = tk_new(1, sizeof *s);
  const json_t *inputs = json_object_get(one, "inputs");
  s->one = one;
  for (size_t i = 0; i < json_array_size(inputs); i++) {
    size_t id = (size_t)json_integer_value(json_object_get(json_array_get(inputs, i), "id"));
    if (id >= s->id_count) s->id_count = id + 1;
  }
  list_ops(s, json_object_get(one, "ops"));
  s->known = tk_new(s->id_count + 1, sizeof *s->known);
  s->input = tk_new(s->id_count + 1, sizeof *s->input);
  for (size_t i = 0; i < json_array_size(inputs); i++) {
    const json_t *input = json_array_get(inputs, i);
    s->input[json_integer_value(json_object_get(input, "id"))] = input;
  }
  return s;
}

void onnx_state_free(onnx_state *s) {
  for (size_t i = 0; i < s->id_count; i++) free(s->known[i].block.data);
  free(s->known);
  free(s->input);
  free(s->ops);
  free(s);
}

int64_t onnx_opset(const case_op *op) {
  const onnx_state *s = op->build->user;
  return json_integer_value(json_object_get(s->one, "opset"));
}

/* ---- what a value needs ---- */

typedef struct needs {
  bool *ids;   /* needed */
  bool *local; /* made inside an op that is chosen */
  bool *ops;   /* chosen */
} needs;

static void mark(bool *ids, const json_t *list) {
  for (size_t i = 0; i < json_array_size(list); i++) {
    json_int_t id = json_integer_value(json_array_get(list, i));
    if (id >= 0) ids[id] = true;
  }
}

static void mark_op(needs *n, const json_t *one) {
  const json_t *regions = json_object_get(one, "r");
  mark(n->ids, json_object_get(one, "in"));
  for (size_t r = 0; r < json_array_size(regions); r++) {
    const json_t *region = json_array_get(regions, r), *ops = json_object_get(region, "ops");
    mark(n->local, json_object_get(region, "args"));
    mark(n->ids, json_object_get(region, "ret"));
    for (size_t i = 0; i < json_array_size(ops); i++) {
      mark(n->local, json_object_get(json_array_get(ops, i), "out"));
      mark_op(n, json_array_get(ops, i));
    }
  }
}

/* The ops that `id` comes from, as far as it is not known already; false: some of it is an argument of a region. */
static bool find_needs(const onnx_state *s, size_t id, needs *n) {
  n->ids[id] = true;
  for (size_t i = s->op_count; i-- > 0;) {
    const json_t *out = json_object_get(s->ops[i], "out");
    for (size_t k = 0; k < json_array_size(out); k++) {
      json_int_t made = json_integer_value(json_array_get(out, k));
      if (made < 0 || !n->ids[made] || n->local[made] || s->known[made].there) continue;
      n->ops[i] = true;
    }
    if (!n->ops[i]) continue;
    mark(n->local, out); /* not from elsewhere */
    mark_op(n, s->ops[i]);
  }
  for (size_t i = 0; i < s->id_count; i++)
    if (n->ids[i] && !n->local[i] && !s->known[i].there && !s->input[i]) return false;
  return true;
}

/* ---- computing it ---- */

static bool give(case_build *b, const onnx_state *s, size_t id, known *result) {
  if (s->known[id].there) {
    case_set(b, (json_int_t)id, arrjit_const(b->graph, &s->known[id].block.type, s->known[id].block.data));
    result->data |= s->known[id].data;
    return true;
  }
  tk_block block;
  if (tk_dtype_find(json_string_value(json_object_get(s->input[id], "d"))) == ARRJIT_DTYPE_NONE) return false;
  if (!tk_tensor_read(s->input[id], &block, b->run->why, sizeof b->run->why)) return false;
  case_set(b, (json_int_t)id, arrjit_const(b->graph, &block.type, block.data));
  result->data |= block.type.dtype == ARRJIT_BOOL || tk_is_float(block.type.dtype);
  free(block.data);
  return true;
}

static bool run_once(case_build *b, known *result) {
  arrjit_function *function = NULL;
  tk_outcome o;
  tk_call call = {0};
  if (arrjit_graph_finish(b->graph, &function, NULL) != ARRJIT_OK) return false;
  tk_run_mode(b->run->context, function, TK_INTERP, &call, &o);
  bool done = o.status == ARRJIT_OK && o.ok;
  if (done) {
    result->block = o.outputs[0];
    result->block.data = tk_copy(o.outputs[0].data, o.outputs[0].bytes);
    result->there = true;
  }
  tk_outcome_free(&o);
  arrjit_function_release(function);
  return done;
}

static bool compute(case_op *op, const onnx_state *s, size_t id, const needs *n, known *result) {
  case_build b = {.run = op->build->run, .user = op->build->user};
  if (arrjit_graph_create(b.run->context, &b.graph, NULL) != ARRJIT_OK) tk_die("no graph");
  bool good = true;
  for (size_t i = 0; good && i < s->id_count; i++)
    if (n->ids[i] && (s->known[i].there || s->input[i])) good = give(&b, s, i, result);
  for (size_t i = 0; good && i < s->op_count; i++)
    if (n->ops[i]) good = case_build_op(&b, onnx_vocabulary, s->ops[i]) == PASSED;
  arrjit_value value = case_get(&b, (json_int_t)id);
  if (good && value) {
    arrjit_return(b.graph, 1, &value, NULL);
    good = run_once(&b, result);
  }
  arrjit_graph_destroy(b.graph);
  free(b.values);
  return good;
}

const tk_block *onnx_known(case_op *op, size_t k, bool *out_data) {
  onnx_state *s = op->build->user;
  if (!onnx_given(op, k)) return NULL;
  size_t id = (size_t)op->in_id[k];
  if (!s->known[id].there) {
    needs n = {tk_new(s->id_count, sizeof(bool)), tk_new(s->id_count, sizeof(bool)), tk_new(s->op_count, sizeof(bool))};
    known result = {0};
    if (find_needs(s, id, &n) && compute(op, s, id, &n, &result)) s->known[id] = result;
    free(n.ids);
    free(n.local);
    free(n.ops);
  }
  if (out_data) *out_data = s->known[id].data;
  return s->known[id].there ? &s->known[id].block : NULL;
}

void onnx_note(case_op *op, size_t k, const arrjit_type *type, const void *data) {
  onnx_state *s = op->build->user;
  if (op->out_id[k] < 0 || s->known[op->out_id[k]].there) return;
  size_t bytes = tk_type_count(type) * arrjit_dtype_bytes(type->dtype);
  s->known[op->out_id[k]] = (known){.there = true, .block = {*type, bytes, tk_copy(data, bytes)}};
}

/* ---- as numbers ---- */

/* Of bool and integers; u64 above the largest i64 wraps. */
static int64_t read_int(const tk_block *block, size_t index) {
  size_t width = arrjit_dtype_bytes(block->type.dtype);
  uint64_t bits = 0;
  memcpy(&bits, block->data + index * width, width); /* little-endian, as the corpora are */
  bool negative = block->type.dtype <= ARRJIT_I64 && block->type.dtype >= ARRJIT_I8 && bits >> (8 * width - 1);
  return (int64_t)(negative && width < 8 ? bits | ~UINT64_C(0) << (8 * width) : bits);
}

double onnx_element(const tk_block *block, size_t index) {
  arrjit_dtype dtype = block->type.dtype;
  if (!tk_is_float(dtype)) return (double)read_int(block, index);
  return tk_load_float(dtype, block->data + index * arrjit_dtype_bytes(dtype));
}

bool onnx_ints(case_op *op, size_t k, size_t *out_count, int64_t *out) {
  const tk_block *block = onnx_known(op, k, NULL);
  size_t count = block ? tk_type_count(&block->type) : 0;
  if (!block || count > CASE_MOST) {
    corpus_say(op->build->run, SKIPPED, "op %s with a structure that only a run can tell", op->name);
    return false;
  }
  for (size_t i = 0; i < count; i++)
    out[i] = tk_is_float(block->type.dtype) ? (int64_t)onnx_element(block, i) : read_int(block, i);
  *out_count = count;
  return true;
}

bool onnx_int(case_op *op, size_t k, int64_t *out) {
  int64_t list[CASE_MOST];
  size_t count;
  if (!onnx_ints(op, k, &count, list) || count == 0) return false;
  *out = list[0];
  return true;
}

bool onnx_list(case_op *op, const char *name, size_t k, bool *out_there, size_t *out_count, int64_t *out) {
  *out_there = true;
  if (onnx_has(op, name)) {
    *out_count = case_ints(op, name, out);
    return true;
  }
  if (onnx_given(op, k)) return onnx_ints(op, k, out_count, out);
  *out_there = false;
  *out_count = 0;
  return true;
}
