/* ONNX's RNN, GRU and LSTM, forward, with the activations that they have by default. */
#include "onnx.h"

#include <string.h>

typedef struct recurrent recurrent;
/* The next hidden state from the state before, in[0] (and, of an LSTM, the cell, in[1], which it changes). `x` is what
 * the input brings to each gate. */
typedef arrjit_value advance(case_op *op, const recurrent *r, arrjit_value x, arrjit_value *in);

struct recurrent {
  advance *step;
  int64_t gates, size;
  arrjit_value w, r, b;   /* [gates * size, inputs], [gates * size, size], bias of both [2 * gates * size] or NULL */
  arrjit_value peepholes; /* [3 * size] or NULL */
};

static arrjit_value first(case_op *op, size_t k) { /* of the only direction; NULL: not given */
  return onnx_given(op, k) ? arrjit_take(op->g, op->in[k], arrjit_const_i64(op->g, 0), 0) : NULL;
}

static arrjit_value part(case_op *op, arrjit_value x, int64_t axis, int64_t which, int64_t size) {
  const arrjit_type type = arrjit_value_type(x);
  int64_t start[2] = {0}, limit[2] = {type.dims[0], type.dims[1]}, step[2] = {1, 1};
  start[axis] = which * size;
  limit[axis] = start[axis] + size;
  return arrjit_slice(op->g, x, type.rank, start, limit, step);
}

/* x[batch, k] by the transpose of w[n, k] */
static arrjit_value product(case_op *op, arrjit_value x, arrjit_value w) {
  static const int64_t last[] = {1};
  return arrjit_dot(op->g, x, w, 0, NULL, NULL, 1, last, last);
}

static arrjit_value gate(case_op *op, const recurrent *r, arrjit_value all, int64_t which) {
  return part(op, all, 1, which, r->size);
}

static arrjit_value step_rnn(case_op *op, const recurrent *r, arrjit_value x, arrjit_value *in) {
  arrjit_value sum = arrjit_add(op->g, x, product(op, in[0], r->r));
  if (r->b) sum = arrjit_add(op->g, sum, part(op, r->b, 0, 1, r->size));
  return arrjit_tanh(op->g, sum);
}

/* Gates: update, reset, hidden. */
static arrjit_value step_gru(case_op *op, const recurrent *r, arrjit_value x, arrjit_value *in) {
  arrjit_graph *g = op->g;
  arrjit_value weights[3], bias[3] = {NULL}, h = in[0], sums[2];
  for (int64_t i = 0; i < 3; i++) {
    weights[i] = part(op, r->r, 0, i, r->size);
    if (r->b) bias[i] = part(op, r->b, 0, 3 + i, r->size);
  }
  for (int64_t i = 0; i < 2; i++) {
    sums[i] = arrjit_add(g, gate(op, r, x, i), product(op, h, weights[i]));
    if (r->b) sums[i] = arrjit_add(g, sums[i], bias[i]);
    sums[i] = arrjit_logistic(g, sums[i]);
  }
  bool late = case_int(op, "linear_before_reset", 0);
  arrjit_value hidden = product(op, late ? h : arrjit_mul(g, sums[1], h), weights[2]);
  if (r->b) hidden = arrjit_add(g, hidden, bias[2]);
  if (late) hidden = arrjit_mul(g, sums[1], hidden);
  hidden = arrjit_tanh(g, arrjit_add(g, gate(op, r, x, 2), hidden));
  arrjit_value rest = arrjit_sub(g, arrjit_const_like(g, h, 1), sums[0]);
  return arrjit_add(g, arrjit_mul(g, rest, hidden), arrjit_mul(g, sums[0], h));
}

/* Gates: input, output, forget, cell; peepholes of the first three. */
static arrjit_value step_lstm(case_op *op, const recurrent *r, arrjit_value x, arrjit_value *in) {
  arrjit_graph *g = op->g;
  arrjit_value all = arrjit_add(g, x, product(op, in[0], r->r)), parts[4], peep[3] = {NULL};
  if (r->b) all = arrjit_add(g, all, part(op, r->b, 0, 1, 4 * r->size));
  for (int64_t i = 0; i < 4; i++) parts[i] = gate(op, r, all, i);
  for (int64_t i = 0; r->peepholes && i < 3; i++) peep[i] = part(op, r->peepholes, 0, i, r->size);
  if (r->peepholes) parts[0] = arrjit_add(g, parts[0], arrjit_mul(g, peep[0], in[1]));
  if (r->peepholes) parts[2] = arrjit_add(g, parts[2], arrjit_mul(g, peep[2], in[1]));
  arrjit_value kept = arrjit_mul(g, arrjit_logistic(g, parts[2]), in[1]);
  in[1] = arrjit_add(g, kept, arrjit_mul(g, arrjit_logistic(g, parts[0]), arrjit_tanh(g, parts[3])));
  if (r->peepholes) parts[1] = arrjit_add(g, parts[1], arrjit_mul(g, peep[1], in[1]));
  return arrjit_mul(g, arrjit_logistic(g, parts[1]), arrjit_tanh(g, in[1]));
}

/* What this reader has not: other directions and activations, sequences that are shorter than the others. */
static bool is_plain(case_op *op, int64_t turns) {
  int64_t lengths[CASE_MOST];
  size_t count = 0;
  if (onnx_has(op, "activations") || onnx_has(op, "clip") || onnx_has(op, "input_forget")) return false;
  if (arrjit_value_type(op->in[1]).dims[0] != 1 || strcmp(case_text(op, "direction"), "reverse") == 0) return false;
  if (onnx_given(op, 4) && !onnx_ints(op, 4, &count, lengths)) return false;
  for (size_t i = 0; i < count; i++)
    if (lengths[i] != turns) return false;
  return true;
}

/* All turns: rows[turns, batch, size] of hidden states, and the last states. */
static void run_turns(case_op *op, const recurrent *r, arrjit_value x, size_t states, arrjit_value *init,
                      arrjit_value *out) {
  arrjit_graph *g = op->g;
  const arrjit_type type = arrjit_value_type(x);
  const int64_t dims[] = {type.dims[0], type.dims[1], r->size};
  arrjit_value zero = arrjit_const_i64(g, 0), turn, vars[3];
  init[states] = onnx_full(op, x, 0, 3, dims);
  arrjit_for_begin(g, zero, arrjit_const_i64(g, type.dims[0]), arrjit_const_i64(g, 1), states + 1, init, &turn, vars);
  arrjit_value brought = product(op, arrjit_take(g, x, turn, 0), r->w);
  if (r->b) brought = arrjit_add(g, brought, part(op, r->b, 0, 0, r->gates * r->size));
  vars[0] = r->step(op, r, brought, vars);
  const arrjit_value starts[] = {turn, zero, zero};
  vars[states] = arrjit_dynamic_update_slice(g, vars[states], arrjit_expand_dims(g, vars[0], 0), 3, starts);
  arrjit_for_end(g, states + 1, vars, out);
}

verdict onnx_recurrent(case_op *op) {
  static const struct {
    const char *name;
    advance *step;
    int64_t gates;
    size_t states;
  } kinds[] = {{"RNN", step_rnn, 1, 1}, {"GRU", step_gru, 3, 1}, {"LSTM", step_lstm, 4, 2}};
  bool batches_first = case_int(op, "layout", 0);
  size_t kind = strcmp(op->name, "LSTM") == 0 ? 2 : strcmp(op->name, "GRU") == 0;
  size_t states = kinds[kind].states;
  arrjit_value x = batches_first ? onnx_move_axis(op, op->in[0], 0, 1) : op->in[0], init[3], out[3];
  const arrjit_type type = arrjit_value_type(x);
  if (!is_plain(op, type.dims[0])) return corpus_say(op->build->run, SKIPPED, "op %s of another form", op->name);
  recurrent r = {.step = kinds[kind].step, .gates = kinds[kind].gates, .w = first(op, 1), .r = first(op, 2)};
  r.size = arrjit_value_type(r.r).dims[1];
  r.b = first(op, 3);
  r.peepholes = first(op, 7);
  const int64_t dims[] = {type.dims[1], r.size};
  for (size_t i = 0; i < states; i++) {
    arrjit_value given = onnx_given(op, 5 + i) && batches_first ? onnx_move_axis(op, op->in[5 + i], 0, 1) : NULL;
    if (given) given = arrjit_take(op->g, given, arrjit_const_i64(op->g, 0), 0);
    if (!given) given = first(op, 5 + i);
    init[i] = given ? given : onnx_full(op, x, 0, 2, dims);
  }
  run_turns(op, &r, x, states, init, out);
  op->out[0] = arrjit_expand_dims(op->g, out[states], 1); /* [turns, directions, batch, size] */
  if (batches_first) op->out[0] = onnx_move_axis(op, op->out[0], 2, 0);
  for (size_t i = 0; i < states; i++) op->out[1 + i] = arrjit_expand_dims(op->g, out[i], batches_first);
  return PASSED;
}
