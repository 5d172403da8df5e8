/* Distributions of arrjit/random.h, made of random bits. */
#include <math.h>

#include "api/random.h"
#include "arrjit/random.h"

/* A draw of floats: what it is computed in, and as. */
typedef struct draw {
  arrjit_graph *graph;
  aj_words key;
  arrjit_dtype dtype, wide; /* of the result; f32 or f64 */
  int32_t rank;
  const int64_t *dims;
} draw;

static const char float_dtype[] = "a float dtype";

/* ---- parts ---- */

static bool open_draw(draw *d, arrjit_graph *graph, arrjit_value key, arrjit_dtype dtype, int32_t rank,
                      const int64_t *dims) {
  *d = (draw){graph, {NULL, NULL}, dtype, dtype == ARRJIT_F64 ? ARRJIT_F64 : ARRJIT_F32, rank, dims};
  if (!aj_random_key_words(graph, key, &d->key) || !aj_random_shape(graph, rank, dims)) return false;
  if ((unsigned)dtype <= ARRJIT_C128 && (AJ_D_FLOAT >> dtype & 1)) return true;
  aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_IOTA, "dtype %d; expected a float dtype", (int)dtype);
  return false;
}

/* x `op` a number of its dtype */
static aj_value *by(const draw *d, aj_op op, aj_value *x, double number) {
  const float narrow = (float)number;
  const void *from = d->wide == ARRJIT_F64 ? (const void *)&number : &narrow;
  return x ? aj_compose_two(d->graph, op, x, aj_build_scalar(&d->graph->b, d->wide, from)) : NULL;
}

static aj_value *one(const draw *d, aj_op op, aj_value *x) {
  return x ? aj_build1(&d->graph->b, op, 1, &x, 0, NULL) : NULL;
}

static aj_value *give(const draw *d, aj_value *x) { return aj_random_as(d->graph, AJ_OP_CONVERT, x, d->dtype); }

/* The top `count` bits of random ones: of u64 for f64, else of u32. */
static aj_value *top_bits(const draw *d, unsigned count) {
  const bool is_wide = d->wide == ARRJIT_F64;
  aj_value *bits = aj_random_draw(d->graph, d->key, is_wide ? ARRJIT_U64 : ARRJIT_U32, d->rank, d->dims);
  return aj_random_with(d->graph, AJ_OP_SHR_LOGICAL, bits, (is_wide ? 64 : 32) - count);
}

/* An integer of so few bits that it is no negative one, as a float: signed integers convert faster. */
static aj_value *as_float(const draw *d, aj_value *bits) {
  const arrjit_dtype dtype = d->wide == ARRJIT_F64 ? ARRJIT_I64 : ARRJIT_I32;
  return aj_random_as(d->graph, AJ_OP_CONVERT, aj_random_as(d->graph, AJ_OP_BITCAST, bits, dtype), d->wide);
}

static aj_value *draw_uniform(const draw *d, unsigned bits) {
  return by(d, AJ_OP_MUL, as_float(d, top_bits(d, bits)), ldexp(1, -(int)bits));
}

/* Bits that a float of the dtype holds, the hidden one with them. */
static unsigned get_precision(arrjit_dtype dtype) {
  if (dtype == ARRJIT_F16) return 11;
  if (dtype == ARRJIT_BF16) return 8;
  return dtype == ARRJIT_F32 ? 24 : 53;
}

static aj_value *broadcast(const draw *d, aj_value *x) {
  return x ? aj_build_broadcast_to(&d->graph->b, x, d->rank, d->dims) : NULL;
}

/* lo and hi of the host's, of one dtype. */
static bool read_range(arrjit_graph *graph, arrjit_value lo, arrjit_value hi, uint32_t dtypes, const char *expected,
                       aj_value **out_lo, aj_value **out_hi) {
  *out_lo = aj_random_operand(graph, AJ_OP_ADD, lo, dtypes, expected);
  *out_hi = *out_lo ? aj_random_operand(graph, AJ_OP_ADD, hi, dtypes, expected) : NULL;
  if (!*out_hi) return false;
  if ((*out_lo)->type->dtype == (*out_hi)->type->dtype) return true;
  aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_ADD, "lo is %s and hi %s; dtypes never convert by themselves",
                  aj_dtypes[(*out_lo)->type->dtype].name, aj_dtypes[(*out_hi)->type->dtype].name);
  return false;
}

/* ---- floats ---- */

arrjit_value arrjit_random_uniform(arrjit_graph *graph, arrjit_value key, arrjit_dtype dtype, int32_t rank,
                                   const int64_t *dims) {
  draw d;
  if (!aj_graph_ready(graph) || !open_draw(&d, graph, key, dtype, rank, dims)) return NULL;
  return aj_host_value(give(&d, draw_uniform(&d, get_precision(dtype))));
}

arrjit_value arrjit_random_uniform_in(arrjit_graph *graph, arrjit_value key, arrjit_value lo, arrjit_value hi,
                                      int32_t rank, const int64_t *dims) {
  draw d;
  aj_value *from, *to;
  if (!aj_graph_ready(graph) || !read_range(graph, lo, hi, AJ_D_FLOAT, float_dtype, &from, &to)) return NULL;
  if (!open_draw(&d, graph, key, from->type->dtype, rank, dims)) return NULL;
  aj_value *base = aj_random_as(graph, AJ_OP_CONVERT, from, d.wide);
  aj_value *width = aj_compose_two(graph, AJ_OP_SUB, aj_random_as(graph, AJ_OP_CONVERT, to, d.wide), base);
  aj_value *u = draw_uniform(&d, get_precision(d.wide));
  aj_value *scaled = aj_compose_two(graph, AJ_OP_MUL, u, broadcast(&d, width));
  aj_value *x = give(&d, aj_compose_two(graph, AJ_OP_ADD, scaled, broadcast(&d, base)));
  aj_value *last = broadcast(&d, aj_compose_two(graph, AJ_OP_NEXTAFTER, to, from));
  aj_value *is_range = broadcast(&d, aj_compose_two(graph, AJ_OP_LT, from, to));
  x = aj_compose_two(graph, AJ_OP_MIN, x, last);
  return aj_host_value(aj_random_select(graph, is_range, x, broadcast(&d, from)));
}

/* Odd multiples of 2^-p never are the ends of the interval, nor its middle. */
arrjit_value arrjit_random_normal(arrjit_graph *graph, arrjit_value key, arrjit_dtype dtype, int32_t rank,
                                  const int64_t *dims) {
  draw d;
  if (!aj_graph_ready(graph) || !open_draw(&d, graph, key, dtype, rank, dims)) return NULL;
  const unsigned bits = get_precision(d.wide);
  aj_value *odd = aj_random_with(graph, AJ_OP_OR, top_bits(&d, bits + 1), 1);
  odd = aj_random_with(graph, AJ_OP_SUB, odd, UINT64_C(1) << bits); /* wraps: a signed number */
  aj_value *v = by(&d, AJ_OP_MUL, as_float(&d, odd), ldexp(1, -(int)bits));
  return aj_host_value(give(&d, by(&d, AJ_OP_MUL, one(&d, AJ_OP_ERF_INV, v), 1.41421356237309504880)));
}

static aj_value *draw_gumbel(const draw *d) {
  const unsigned bits = get_precision(d->wide);
  aj_value *odd = aj_random_with(d->graph, AJ_OP_OR, top_bits(d, bits), 1);
  aj_value *u = by(d, AJ_OP_MUL, as_float(d, odd), ldexp(1, -(int)bits));
  aj_value *exponential = one(d, AJ_OP_NEG, one(d, AJ_OP_LOG, u));
  return one(d, AJ_OP_NEG, one(d, AJ_OP_LOG, exponential));
}

arrjit_value arrjit_random_gumbel(arrjit_graph *graph, arrjit_value key, arrjit_dtype dtype, int32_t rank,
                                  const int64_t *dims) {
  draw d;
  if (!aj_graph_ready(graph) || !open_draw(&d, graph, key, dtype, rank, dims)) return NULL;
  return aj_host_value(give(&d, draw_gumbel(&d)));
}

/* ---- integers ---- */

/* A draw of integers: each comes of `bits` random ones, times `span`. */
typedef struct spread {
  arrjit_graph *graph;
  aj_words key;
  arrjit_dtype bits;
  int32_t rank;
  const int64_t *dims;
  aj_value *span, *least; /* of bits' dtype; a low half below least is one too many */
} spread;

static aj_value *multiply_high_u64(arrjit_graph *graph, aj_value *x, aj_value *y) {
  const uint64_t low = UINT32_MAX;
  aj_value *a = aj_random_with(graph, AJ_OP_SHR_LOGICAL, x, 32), *b = aj_random_with(graph, AJ_OP_AND, x, low);
  aj_value *c = aj_random_with(graph, AJ_OP_SHR_LOGICAL, y, 32), *d = aj_random_with(graph, AJ_OP_AND, y, low);
  aj_value *ac = aj_compose_two(graph, AJ_OP_MUL, a, c), *ad = aj_compose_two(graph, AJ_OP_MUL, a, d);
  aj_value *bc = aj_compose_two(graph, AJ_OP_MUL, b, c), *bd = aj_compose_two(graph, AJ_OP_MUL, b, d);
  /* neither sum can overflow: (2^32 - 1)^2 + 2 (2^32 - 1) < 2^64 */
  aj_value *middle = aj_compose_two(graph, AJ_OP_ADD, ad, aj_random_with(graph, AJ_OP_SHR_LOGICAL, bd, 32));
  aj_value *rest = aj_compose_two(graph, AJ_OP_ADD, bc, aj_random_with(graph, AJ_OP_AND, middle, low));
  aj_value *high = aj_compose_two(graph, AJ_OP_ADD, ac, aj_random_with(graph, AJ_OP_SHR_LOGICAL, middle, 32));
  return aj_compose_two(graph, AJ_OP_ADD, high, aj_random_with(graph, AJ_OP_SHR_LOGICAL, rest, 32));
}

static aj_value *multiply_high(const spread *s, aj_value *x) {
  if (s->bits == ARRJIT_U64) return multiply_high_u64(s->graph, x, s->span);
  aj_value *wide = aj_random_as(s->graph, AJ_OP_CONVERT, x, ARRJIT_U64);
  aj_value *span = aj_random_as(s->graph, AJ_OP_CONVERT, s->span, ARRJIT_U64);
  aj_value *product = aj_compose_two(s->graph, AJ_OP_MUL, wide, span);
  return aj_random_as(s->graph, AJ_OP_CONVERT, aj_random_with(s->graph, AJ_OP_SHR_LOGICAL, product, 32), ARRJIT_U32);
}

/* Where bits are among the 2^width mod span that would make some numbers more likely. */
static aj_value *is_too_many(const spread *s, aj_value *bits) {
  return aj_compose_two(s->graph, AJ_OP_LT, aj_compose_two(s->graph, AJ_OP_MUL, bits, s->span), s->least);
}

static aj_value *draw_try(const spread *s, aj_value *number) {
  return aj_random_draw(s->graph, aj_random_fold(s->graph, s->key, number), s->bits, s->rank, s->dims);
}

/* Bits of which none is too many. */
static aj_value *draw_even(const spread *s) {
  arrjit_graph *graph = s->graph;
  const uint32_t first = 0;
  arrjit_value vars[2], out[2];
  aj_value *number = aj_build_scalar(&graph->b, ARRJIT_U32, &first);
  arrjit_while_begin(graph, 2, (arrjit_value[]){aj_host_value(number), aj_host_value(draw_try(s, number))}, vars);
  aj_value *many = is_too_many(s, aj_graph_value(vars[1]));
  int64_t axes[ARRJIT_MAX_RANK];
  for (int32_t i = 0; i < s->rank; i++) axes[i] = i;
  arrjit_while_body(graph, aj_host_value(aj_compose_axes(graph, AJ_OP_REDUCE_OR, many, (size_t)s->rank, axes)), vars);
  aj_value *bits = aj_graph_value(vars[1]);
  number = aj_random_with(graph, AJ_OP_ADD, aj_graph_value(vars[0]), 1);
  bits = aj_random_select(graph, is_too_many(s, bits), draw_try(s, number), bits);
  arrjit_while_end(graph, 2, (arrjit_value[]){aj_host_value(number), aj_host_value(bits)}, out);
  return aj_graph_value(out[1]);
}

/* hi - lo, which fails where it is not above 0. */
static aj_value *check_span(arrjit_graph *graph, aj_value *lo, aj_value *hi, arrjit_dtype bits) {
  aj_value *span = aj_compose_two(graph, AJ_OP_SUB, aj_random_as(graph, AJ_OP_CONVERT, hi, bits),
                                  aj_random_as(graph, AJ_OP_CONVERT, lo, bits));
  arrjit_value is_range = aj_host_value(aj_compose_two(graph, AJ_OP_LT, lo, hi)), in = aj_host_value(span), out = NULL;
  if (!is_range || !in) return NULL;
  arrjit_check(graph, is_range, ARRJIT_KIND_RUNTIME, 0, "random_integers: lo is not below hi", 0, NULL, 1, &in, &out);
  return aj_graph_value(out);
}

arrjit_value arrjit_random_integers(arrjit_graph *graph, arrjit_value key, arrjit_value lo, arrjit_value hi,
                                    int32_t rank, const int64_t *dims) {
  aj_value *from, *to;
  spread s = {.graph = graph, .rank = rank, .dims = dims};
  if (!aj_graph_ready(graph) || !aj_random_key_words(graph, key, &s.key) || !aj_random_shape(graph, rank, dims) ||
      !read_range(graph, lo, hi, AJ_D_INT, "an integer dtype", &from, &to))
    return NULL;
  const arrjit_dtype dtype = from->type->dtype;
  s.bits = aj_dtypes[dtype].bytes == 8 ? ARRJIT_U64 : ARRJIT_U32;
  s.span = check_span(graph, from, to, s.bits);
  aj_graph_name_call(graph, __func__); /* the check's was another */
  aj_value *none = aj_random_with(graph, AJ_OP_AND, s.span, 0);
  s.least = aj_compose_two(graph, AJ_OP_REM, aj_compose_two(graph, AJ_OP_SUB, none, s.span), s.span);
  if (s.span) s.span = aj_build_broadcast_to(&graph->b, s.span, rank, dims);
  if (!s.span) return NULL;
  aj_value *above = aj_random_as(graph, AJ_OP_CONVERT, multiply_high(&s, draw_even(&s)), dtype);
  aj_value *x = aj_compose_two(graph, AJ_OP_ADD, above, from);
  aj_graph_name_call(graph, __func__);
  return aj_host_value(x);
}

/* ---- choices ---- */

arrjit_value arrjit_random_bernoulli(arrjit_graph *graph, arrjit_value key, arrjit_value p, int32_t rank,
                                     const int64_t *dims) {
  draw d;
  if (!aj_graph_ready(graph)) return NULL;
  aj_value *chance = aj_random_operand(graph, AJ_OP_ADD, p, AJ_D_FLOAT, float_dtype);
  if (!chance || !open_draw(&d, graph, key, chance->type->dtype, rank, dims)) return NULL;
  aj_value *u = draw_uniform(&d, get_precision(d.wide));
  chance = broadcast(&d, aj_random_as(graph, AJ_OP_CONVERT, chance, d.wide));
  return aj_host_value(aj_compose_two(graph, AJ_OP_LT, u, chance));
}

arrjit_value arrjit_random_categorical(arrjit_graph *graph, arrjit_value key, arrjit_value logits, int64_t axis) {
  draw d;
  if (!aj_graph_ready(graph)) return NULL;
  aj_value *x = aj_random_operand(graph, AJ_OP_ARGMAX, logits, AJ_D_FLOAT, float_dtype);
  if (!x || !aj_compose_axis(graph, axis, x->type->rank)) return NULL;
  if (!open_draw(&d, graph, key, x->type->dtype, x->type->rank, x->type->dims)) return NULL;
  x = aj_compose_two(graph, AJ_OP_ADD, aj_random_as(graph, AJ_OP_CONVERT, x, d.wide), draw_gumbel(&d));
  const aj_attr attr = aj_attr_int(AJ_ATTR_AXIS, axis);
  return x ? aj_host_value(aj_build1(&graph->b, AJ_OP_ARGMAX, 1, &x, 1, &attr)) : NULL;
}

static aj_value *permute(arrjit_graph *graph, aj_words key, int64_t count) {
  aj_value *bits = aj_random_draw(graph, key, ARRJIT_U64, 1, &count);
  const aj_attr attrs[] = {aj_attr_int(AJ_ATTR_AXIS, 0), aj_attr_int(AJ_ATTR_DESCENDING, 0)};
  return bits ? aj_build1(&graph->b, AJ_OP_ARGSORT, 1, &bits, AJ_COUNT(attrs), attrs) : NULL;
}

arrjit_value arrjit_random_permutation(arrjit_graph *graph, arrjit_value key, int64_t count) {
  aj_words k;
  if (!aj_graph_ready(graph) || !aj_random_key_words(graph, key, &k)) return NULL;
  return aj_host_value(permute(graph, k, count));
}

arrjit_value arrjit_random_shuffle(arrjit_graph *graph, arrjit_value key, arrjit_value x, int64_t axis) {
  aj_words k;
  if (!aj_graph_ready(graph)) return NULL;
  aj_value *from = aj_compose_array(graph, AJ_OP_TAKE, 0, x);
  if (!from || !aj_random_key_words(graph, key, &k) || !aj_compose_axis(graph, axis, from->type->rank)) return NULL;
  const aj_attr attr = aj_attr_int(AJ_ATTR_AXIS, axis);
  return aj_host_value(aj_compose_fitted(graph, AJ_OP_TAKE, 2,
                                         (aj_value *[]){from, permute(graph, k, from->type->dims[axis])}, 1, &attr));
}
