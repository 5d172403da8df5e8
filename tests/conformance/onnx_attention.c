/* ONNX's Attention, LinearAttention and RotaryEmbedding. */
#include "onnx.h"

#include <math.h>
#include <string.h>

/* ---- heads ---- */

static const int64_t swapped[] = {0, 2, 1, 3}; /* of (batch, sequence, head, element) and back */

/* [batch, sequence, heads * size] as [batch, heads, sequence, size]; what has rank 4 is that already. */
static arrjit_value split_heads(case_op *op, arrjit_value x, int64_t heads) {
  const arrjit_type type = arrjit_value_type(x);
  if (type.rank != 3) return x;
  const int64_t dims[] = {type.dims[0], type.dims[1], heads, type.dims[2] / heads};
  return arrjit_transpose(op->g, onnx_reshape(op, x, 4, dims), 4, swapped);
}

static arrjit_value join_heads(case_op *op, arrjit_value x) {
  const arrjit_type type = arrjit_value_type(x);
  const int64_t dims[] = {type.dims[0], type.dims[2], type.dims[1] * type.dims[3]};
  return onnx_reshape(op, arrjit_transpose(op->g, x, 4, swapped), 3, dims);
}

/* Each head of keys or values serves a group of queries' heads. */
static arrjit_value repeat_heads(case_op *op, arrjit_value x, int64_t heads) {
  const arrjit_type type = arrjit_value_type(x);
  int64_t group = heads / type.dims[1];
  const int64_t wide[] = {type.dims[0], type.dims[1], group, type.dims[2], type.dims[3]}, axes[] = {0, 1, 3, 4};
  const int64_t dims[] = {type.dims[0], heads, type.dims[2], type.dims[3]};
  return group == 1 ? x : onnx_reshape(op, arrjit_broadcast(op->g, x, 5, wide, 4, axes), 4, dims);
}

/* ---- Attention ---- */

/* 0 where it holds, else -inf; f32. */
static arrjit_value bias_where(case_op *op, arrjit_value allowed) {
  return arrjit_select(op->g, allowed, arrjit_const_f32(op->g, 0), arrjit_const_f32(op->g, -INFINITY));
}

static arrjit_value add_bias(case_op *op, arrjit_value sum, arrjit_value bias) {
  return sum ? arrjit_add(op->g, sum, bias) : bias;
}

/* What is added to the scores, NULL when nothing is: the mask; -inf where a key is padding; -inf, when causal, where a
 * key comes after the query. Queries are the last ones of the keys, behind the past or at the end of what is no
 * padding. */
static arrjit_value find_bias(case_op *op, const arrjit_type *q, const arrjit_type *k) {
  const int64_t dims[] = {1, 1, q->dims[2], k->dims[2]}, each[] = {q->dims[0], 1, 1, 1};
  arrjit_graph *g = op->g;
  arrjit_value bias = NULL, row = arrjit_iota(g, ARRJIT_I64, 4, dims, 2),
               column = arrjit_iota(g, ARRJIT_I64, 4, dims, 3);
  if (onnx_given(op, 3)) {
    bool bools = arrjit_value_type(op->in[3]).dtype == ARRJIT_BOOL;
    bias = bools ? bias_where(op, op->in[3]) : onnx_widen(op, op->in[3]);
  }
  int64_t past = onnx_given(op, 4) ? arrjit_value_type(op->in[4]).dims[2] : 0;
  arrjit_value offset = arrjit_const_i64(g, past);
  if (onnx_given(op, 6)) {
    arrjit_value length = onnx_reshape(op, op->in[6], 4, each);
    bias = add_bias(op, bias, bias_where(op, arrjit_lt(g, column, length)));
    offset = arrjit_sub(g, length, arrjit_const_i64(g, q->dims[2]));
  }
  if (case_int(op, "is_causal", 0))
    bias = add_bias(op, bias, bias_where(op, arrjit_le(g, column, arrjit_add(g, row, offset))));
  return bias;
}

/* Queries that may look at no key get zeros. */
static arrjit_value find_weights(case_op *op, arrjit_value scores, arrjit_value bias) {
  static const int64_t last[] = {3};
  arrjit_value weights = arrjit_softmax(op->g, scores, 1, last);
  if (!bias) return weights;
  int64_t axis = arrjit_value_type(bias).rank - 1;
  arrjit_value best = arrjit_expand_dims(op->g, arrjit_reduce_max(op->g, bias, 1, &axis), axis);
  arrjit_value none = arrjit_eq(op->g, best, arrjit_const_f32(op->g, -INFINITY));
  return arrjit_select(op->g, none, arrjit_const_f32(op->g, 0), weights);
}

/* Results: the values seen, keys and values with the past before them, and the scores at one of four stages. */
verdict onnx_attention(case_op *op) {
  static const int64_t turned[] = {0, 1, 3, 2};
  arrjit_graph *g = op->g;
  arrjit_value q = split_heads(op, op->in[0], case_int(op, "q_num_heads", 0)), stages[4];
  arrjit_value k = split_heads(op, op->in[1], case_int(op, "kv_num_heads", 0));
  arrjit_value v = split_heads(op, op->in[2], case_int(op, "kv_num_heads", 0));
  if (onnx_given(op, 4)) k = arrjit_concat(g, 2, (const arrjit_value[]){op->in[4], k}, 2);
  if (onnx_given(op, 5)) v = arrjit_concat(g, 2, (const arrjit_value[]){op->in[5], v}, 2);
  op->out[1] = k;
  op->out[2] = v;
  const arrjit_type query = arrjit_value_type(q), key = arrjit_value_type(k);
  double scale = sqrt(onnx_float(op, "scale", 1 / sqrt((double)query.dims[3]))), cap = onnx_float(op, "softcap", 0);
  arrjit_value root = arrjit_const_f32(g, (float)scale);
  arrjit_value keys = arrjit_transpose(g, onnx_widen(op, repeat_heads(op, k, query.dims[1])), 4, turned);
  stages[0] = onnx_dot(op, arrjit_mul(g, onnx_widen(op, q), root), arrjit_mul(g, keys, root));
  arrjit_value limit = arrjit_const_f32(g, (float)cap), bias = find_bias(op, &query, &key);
  stages[1] = cap != 0 ? arrjit_mul(g, arrjit_tanh(g, arrjit_div(g, stages[0], limit)), limit) : stages[0];
  stages[2] = bias ? arrjit_add(g, stages[1], bias) : stages[1];
  stages[3] = find_weights(op, stages[2], bias);
  arrjit_value seen = onnx_dot(op, stages[3], onnx_widen(op, repeat_heads(op, v, query.dims[1])));
  op->out[0] = onnx_like(op, arrjit_value_type(op->in[0]).rank == 3 ? join_heads(op, seen) : seen, op->in[0]);
  op->out[3] = onnx_like(op, stages[case_int(op, "qk_matmul_output_mode", 0)], op->in[0]);
  return PASSED;
}

/* ---- LinearAttention ---- */

typedef struct linear {
  arrjit_value q, k, v, decay, beta; /* f32, [sequence, batch, heads, size]; decay and beta may be NULL */
  arrjit_value scale;
  int64_t heads; /* of queries */
} linear;

/* [batch, sequence, heads * size] as [sequence, batch, heads, size]. */
static arrjit_value by_turns(case_op *op, arrjit_value x, int64_t heads) {
  static const int64_t perm[] = {1, 0, 2, 3};
  const arrjit_type type = arrjit_value_type(x);
  const int64_t dims[] = {type.dims[0], type.dims[1], heads, type.dims[2] / heads};
  return arrjit_transpose(op->g, onnx_reshape(op, onnx_widen(op, x), 4, dims), 4, perm);
}

static arrjit_value as_row(case_op *op, arrjit_value list, arrjit_value turn) { /* [batch, heads, 1, size] */
  return arrjit_expand_dims(op->g, arrjit_take(op->g, list, turn, 0), 2);
}

static arrjit_value as_column(case_op *op, arrjit_value list, arrjit_value turn) {
  return arrjit_expand_dims(op->g, arrjit_take(op->g, list, turn, 0), 3);
}

/* The state forgets, takes the outer product of key and value (less what it holds for the key already), and is asked.
 */
static arrjit_value turn_linear(case_op *op, const linear *l, arrjit_value state, arrjit_value turn,
                                arrjit_value *out_row) {
  arrjit_graph *g = op->g;
  static const int64_t axis[] = {2};
  arrjit_value value = as_row(op, l->v, turn);
  if (l->decay) state = arrjit_mul(g, state, as_column(op, l->decay, turn));
  if (l->beta) {
    arrjit_value held = onnx_dot(op, as_row(op, l->k, turn), state);
    value = arrjit_mul(g, as_row(op, l->beta, turn), arrjit_sub(g, value, held));
  }
  state = arrjit_add(g, state, arrjit_mul(g, as_column(op, l->k, turn), value));
  arrjit_value asked = onnx_dot(op, as_row(op, l->q, turn), repeat_heads(op, state, l->heads));
  *out_row = arrjit_mul(g, arrjit_squeeze(g, asked, 1, axis), l->scale); /* [batch, heads, size] */
  return state;
}

verdict onnx_linear_attention(case_op *op) {
  arrjit_graph *g = op->g;
  int64_t heads = case_int(op, "kv_num_heads", 1);
  const char *rule = onnx_has(op, "update_rule") ? case_text(op, "update_rule") : "gated_delta";
  linear l = {.heads = case_int(op, "q_num_heads", 1)};
  l.q = by_turns(op, op->in[0], l.heads);
  l.k = by_turns(op, op->in[1], heads);
  l.v = by_turns(op, op->in[2], heads);
  if (strstr(rule, "gated")) l.decay = arrjit_exp(g, by_turns(op, op->in[4], heads));
  if (strstr(rule, "delta")) { /* one for all heads, or one each */
    const arrjit_type beta = arrjit_value_type(op->in[5]);
    l.beta = by_turns(op, op->in[5], beta.dims[2]);
  }
  const arrjit_type k = arrjit_value_type(l.k), v = arrjit_value_type(l.v);
  l.scale = arrjit_const_f32(g, (float)onnx_float(op, "scale", 1 / sqrt((double)k.dims[3])));
  const int64_t dims[] = {k.dims[1], heads, k.dims[3], v.dims[3]}, rows[] = {k.dims[0], k.dims[1], l.heads, v.dims[3]};
  arrjit_value zero = arrjit_const_i64(g, 0), turn, row, vars[2], next[2];
  arrjit_value init[] = {onnx_given(op, 3) ? onnx_widen(op, op->in[3]) : onnx_full(op, l.k, 0, 4, dims),
                         onnx_full(op, l.k, 0, 4, rows)};
  arrjit_for_begin(g, zero, arrjit_const_i64(g, k.dims[0]), arrjit_const_i64(g, 1), 2, init, &turn, vars);
  next[0] = turn_linear(op, &l, vars[0], turn, &row);
  const arrjit_value starts[] = {turn, zero, zero, zero};
  next[1] = arrjit_dynamic_update_slice(g, vars[1], arrjit_expand_dims(g, row, 0), 4, starts);
  arrjit_for_end(g, 2, next, vars);
  static const int64_t perm[] = {1, 0, 2, 3};
  const int64_t flat[] = {rows[1], rows[0], rows[2] * rows[3]};
  op->out[0] = onnx_like(op, onnx_reshape(op, arrjit_transpose(g, vars[1], 4, perm), 3, flat), op->in[0]);
  op->out[1] = onnx_like(op, vars[0], onnx_given(op, 3) ? op->in[3] : op->in[0]);
  return PASSED;
}

/* ---- RotaryEmbedding ---- */

/* Angles of each position: rows of the cache, or what is given for each. [batch, 1, sequence, pairs]. */
static arrjit_value find_angles(case_op *op, arrjit_value cache) {
  if (onnx_given(op, 3)) cache = arrjit_take(op->g, cache, op->in[3], 0);
  return arrjit_expand_dims(op->g, cache, 1);
}

static arrjit_value cut_last(case_op *op, arrjit_value x, int64_t from, int64_t to, int64_t by) {
  const arrjit_type type = arrjit_value_type(x);
  int64_t start[ARRJIT_MAX_RANK] = {0}, limit[ARRJIT_MAX_RANK], step[ARRJIT_MAX_RANK];
  for (int32_t i = 0; i < type.rank; i++) limit[i] = type.dims[i], step[i] = 1;
  start[type.rank - 1] = from;
  limit[type.rank - 1] = to;
  step[type.rank - 1] = by;
  return arrjit_slice(op->g, x, type.rank, start, limit, step);
}

/* The first elements of each head, in pairs (i, i + half) or (2 i, 2 i + 1), are turned by their angles. */
verdict onnx_rotary_embedding(case_op *op) {
  arrjit_graph *g = op->g;
  arrjit_value x = split_heads(op, op->in[0], case_int(op, "num_heads", 1));
  const arrjit_type type = arrjit_value_type(x);
  int64_t size = type.dims[3], turned = case_int(op, "rotary_embedding_dim", 0);
  bool woven = case_int(op, "interleaved", 0);
  if (turned == 0) turned = size;
  arrjit_value a = woven ? cut_last(op, x, 0, turned, 2) : cut_last(op, x, 0, turned / 2, 1);
  arrjit_value b = woven ? cut_last(op, x, 1, turned, 2) : cut_last(op, x, turned / 2, turned, 1);
  arrjit_value cosine = find_angles(op, op->in[1]), sine = find_angles(op, op->in[2]);
  arrjit_value pair[] = {arrjit_sub(g, arrjit_mul(g, cosine, a), arrjit_mul(g, sine, b)),
                         arrjit_add(g, arrjit_mul(g, sine, a), arrjit_mul(g, cosine, b))};
  const int64_t dims[] = {type.dims[0], type.dims[1], type.dims[2], turned};
  arrjit_value whole = woven ? onnx_reshape(op, arrjit_stack(g, 2, pair, 4), 4, dims) : arrjit_concat(g, 2, pair, 3);
  if (turned < size) whole = arrjit_concat(g, 2, (const arrjit_value[]){whole, cut_last(op, x, turned, size, 1)}, 3);
  op->out[0] = arrjit_value_type(op->in[0]).rank == 3 ? join_heads(op, whole) : whole;
  return PASSED;
}
