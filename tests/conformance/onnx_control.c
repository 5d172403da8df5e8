/* ONNX's If, Loop and Scan. */
#include "onnx.h"

#include <string.h>

static const json_t *find_region(const case_op *op, const char *name) {
  const json_t *attribute = json_object_get(op->attrs, name);
  return json_array_get(op->regions, (size_t)json_integer_value(json_object_get(attribute, "region")));
}

static verdict build(case_op *op, const char *name, size_t count, const arrjit_value *args, size_t *out_count,
                     arrjit_value *out) {
  return case_region(op->build, onnx_vocabulary, find_region(op, name), count, args, out_count, out);
}

/* A condition on shapes chooses while the graph is built: its arms need not even have the same types. */
verdict onnx_if(case_op *op) {
  arrjit_value out[CASE_MOST];
  size_t count;
  bool data = true;
  const tk_block *known = onnx_known(op, 0, &data);
  if (known && !data)
    return build(op, onnx_element(known, 0) != 0 ? "then_branch" : "else_branch", 0, NULL, &count, op->out);
  arrjit_if_begin(op->g, onnx_reshape(op, op->in[0], 0, NULL));
  verdict v = build(op, "then_branch", 0, NULL, &count, out);
  if (v != PASSED) return v;
  arrjit_if_else(op->g, count, out);
  v = build(op, "else_branch", 0, NULL, &count, out);
  if (v == PASSED) arrjit_if_end(op->g, count, out, op->out);
  return v;
}

/* ---- rows, gathered and put ---- */

/* Row `at` of axis 0 (or the row counted from the end). */
static arrjit_value get_row(case_op *op, arrjit_value x, arrjit_value at) { return arrjit_take(op->g, x, at, 0); }

static arrjit_value put_row(case_op *op, arrjit_value rows, arrjit_value row, arrjit_value at) {
  arrjit_value starts[ARRJIT_MAX_RANK];
  int32_t rank = arrjit_value_type(rows).rank;
  for (int32_t i = 0; i < rank; i++) starts[i] = i == 0 ? at : arrjit_const_i64(op->g, 0);
  return arrjit_dynamic_update_slice(op->g, rows, arrjit_expand_dims(op->g, row, 0), (size_t)rank, starts);
}

/* As many rows of zeros as the loop has turns, each of the type of one turn's result. */
static arrjit_value make_rows(case_op *op, arrjit_value row, int64_t count) {
  const arrjit_type type = arrjit_value_type(row);
  int64_t dims[ARRJIT_MAX_RANK] = {count};
  memcpy(dims + 1, type.dims, (size_t)type.rank * sizeof *dims);
  bool bools = type.dtype == ARRJIT_BOOL;
  arrjit_value zero = bools ? arrjit_const_bool(op->g, 0) : arrjit_const_like(op->g, row, 0);
  return arrjit_full(op->g, zero, type.rank + 1, dims);
}

/* ---- Loop ---- */

/* Operands: most turns, first condition, carried values. The body takes the turn, the condition and the carried values;
 * it gives the next condition, the next values, and a row for each result that is a list of all turns. Those have as
 * many rows as there may be turns at most; a loop that ends before that fails. */
verdict onnx_loop(case_op *op) {
  arrjit_graph *g = op->g;
  size_t carried = op->in_count - 2, rows = op->out_count - carried, count;
  arrjit_value vars[CASE_MOST], first[CASE_MOST], next[CASE_MOST], made[CASE_MOST], done[CASE_MOST];
  int64_t most = 0;
  if (rows > 0 && !onnx_int(op, 0, &most)) return SKIPPED;
  arrjit_value limit = onnx_given(op, 0) ? onnx_reshape(op, op->in[0], 0, NULL) : arrjit_const_i64(g, INT64_MAX);
  first[0] = arrjit_const_i64(g, 0);
  first[1] = onnx_given(op, 1) ? onnx_reshape(op, op->in[1], 0, NULL) : arrjit_const_bool(g, 1);
  memcpy(first + 2, op->in + 2, carried * sizeof *first);
  /* One turn outside, for the types of its rows; nothing uses it, so it is not kept. */
  verdict v = build(op, "body", 2 + carried, first, &count, made);
  if (v != PASSED) return v;
  for (size_t i = 0; i < rows; i++) first[2 + carried + i] = make_rows(op, made[1 + carried + i], most);
  arrjit_while_begin(g, 2 + carried + rows, first, vars);
  arrjit_while_body(g, arrjit_and(g, vars[1], arrjit_lt(g, vars[0], limit)), vars);
  v = build(op, "body", 2 + carried, vars, &count, made);
  if (v != PASSED) return v;
  next[0] = arrjit_add(g, vars[0], arrjit_const_i64(g, 1));
  next[1] = onnx_reshape(op, made[0], 0, NULL);
  memcpy(next + 2, made + 1, carried * sizeof *next);
  for (size_t i = 0; i < rows; i++)
    next[2 + carried + i] = put_row(op, vars[2 + carried + i], made[1 + carried + i], vars[0]);
  arrjit_while_end(g, 2 + carried + rows, next, done);
  if (rows > 0) {
    arrjit_value whole = arrjit_eq(g, done[0], arrjit_const_i64(g, most));
    arrjit_check(g, whole, ARRJIT_KIND_RUNTIME, 0, "the loop ended early", 0, NULL, rows, done + 2 + carried,
                 done + 2 + carried);
  }
  memcpy(op->out, done + 2, (carried + rows) * sizeof *op->out);
  return PASSED;
}

/* ---- Scan ---- */

typedef struct scan {
  size_t states, inputs, rows; /* rows: results that are lists of all turns */
  int64_t turns;
  int64_t in_axis[CASE_MOST], in_back[CASE_MOST], out_axis[CASE_MOST], out_back[CASE_MOST];
} scan;

static arrjit_value find_turn(case_op *op, const scan *s, arrjit_value turn, bool back) {
  return back ? arrjit_sub(op->g, arrjit_const_i64(op->g, s->turns - 1), turn) : turn;
}

static verdict turn_once(case_op *op, const scan *s, const arrjit_value *states, const arrjit_value *lists,
                         arrjit_value turn, arrjit_value *made) {
  arrjit_value args[CASE_MOST];
  size_t count;
  memcpy(args, states, s->states * sizeof *args);
  for (size_t i = 0; i < s->inputs; i++)
    args[s->states + i] = get_row(op, lists[i], find_turn(op, s, turn, s->in_back[i]));
  return build(op, "body", s->states + s->inputs, args, &count, made);
}

static verdict build_scan(case_op *op, const scan *s, const arrjit_value *in, arrjit_value *out) {
  arrjit_graph *g = op->g;
  arrjit_value lists[CASE_MOST], made[CASE_MOST], first[CASE_MOST], vars[CASE_MOST], turn;
  for (size_t i = 0; i < s->inputs; i++) lists[i] = onnx_move_axis(op, in[s->states + i], s->in_axis[i], 0);
  /* One turn outside, for the types of its rows; nothing uses it, so it is not kept. */
  arrjit_value zero = arrjit_const_i64(g, 0), one = arrjit_const_i64(g, 1);
  verdict v = turn_once(op, s, in, lists, zero, made);
  if (v != PASSED) return v;
  memcpy(first, in, s->states * sizeof *first);
  for (size_t i = 0; i < s->rows; i++) first[s->states + i] = make_rows(op, made[s->states + i], s->turns);
  arrjit_for_begin(g, zero, arrjit_const_i64(g, s->turns), one, s->states + s->rows, first, &turn, vars);
  v = turn_once(op, s, vars, lists, turn, made);
  if (v != PASSED) return v;
  for (size_t i = 0; i < s->rows; i++)
    made[s->states + i] = put_row(op, vars[s->states + i], made[s->states + i], find_turn(op, s, turn, s->out_back[i]));
  arrjit_for_end(g, s->states + s->rows, made, out);
  for (size_t i = 0; i < s->rows; i++)
    out[s->states + i] = onnx_move_axis(op, out[s->states + i], 0,
                                        onnx_axis(s->out_axis[i], arrjit_value_type(out[s->states + i]).rank));
  return PASSED;
}

/* In opset 8 all values have a batch first, and an operand before the others says how long each sequence is. */
static verdict scan_batches(case_op *op, scan *s) {
  const arrjit_value *in = op->in + 1;
  size_t count = op->in_count - 1;
  int64_t batches = arrjit_value_type(in[0]).dims[0];
  arrjit_value part[CASE_MOST], done[CASE_MOST], rows[CASE_MOST][CASE_MOST];
  if (onnx_given(op, 0) || batches > CASE_MOST)
    return corpus_say(op->build->run, SKIPPED, "op Scan with sequences of several lengths");
  for (int64_t b = 0; b < batches; b++) {
    for (size_t i = 0; i < count; i++) part[i] = get_row(op, in[i], arrjit_const_i64(op->g, b));
    verdict v = build_scan(op, s, part, done);
    if (v != PASSED) return v;
    for (size_t i = 0; i < op->out_count; i++) rows[i][b] = done[i];
  }
  for (size_t i = 0; i < op->out_count; i++) op->out[i] = arrjit_stack(op->g, (size_t)batches, rows[i], 0);
  return PASSED;
}

verdict onnx_scan(case_op *op) {
  bool batches = onnx_opset(op) < 9;
  scan s = {.inputs = (size_t)case_int(op, "num_scan_inputs", 1)};
  s.states = op->in_count - s.inputs - batches;
  s.rows = op->out_count - s.states;
  case_ints(op, batches ? "directions" : "scan_input_directions", s.in_back);
  case_ints(op, "scan_input_axes", s.in_axis);
  case_ints(op, "scan_output_directions", s.out_back);
  case_ints(op, "scan_output_axes", s.out_axis);
  const arrjit_type type = arrjit_value_type(op->in[op->in_count - s.inputs]);
  s.in_axis[0] = onnx_axis(s.in_axis[0], type.rank);
  for (size_t i = 1; i < s.inputs; i++)
    s.in_axis[i] = onnx_axis(s.in_axis[i], arrjit_value_type(op->in[op->in_count - s.inputs + i]).rank);
  s.turns = type.dims[s.in_axis[0] + batches];
  return batches ? scan_batches(op, &s) : build_scan(op, &s, op->in, op->out);
}
