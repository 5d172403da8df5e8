/* Nx.Random: bits by threefry2x32 from a key and counts, in Nx's order of counting, and numbers that it makes of
 * them. */
#include "nx.h"

#include <math.h>
#include <string.h>

/* ---- bits ---- */

/* u32 of any shape: counts 0, 1 ... in two halves, the second filled up with a 0. */
static arrjit_value make_words(nx_op *op, arrjit_value key, size_t rank, const int64_t *dims) {
  int64_t count = nx_product(rank, dims), half = (count + 1) / 2, all[] = {2 * half};
  arrjit_value counts = nx_iota(op, ARRJIT_U32, 1, all, 0), bound = nx_number(op, ARRJIT_U32, (double)count);
  counts = arrjit_select(op->g, arrjit_lt(op->g, counts, bound), counts, nx_number(op, ARRJIT_U32, 0));
  arrjit_value x[] = {nx_slice(op, counts, 0, 0, half, 1), nx_slice(op, counts, 0, half, 2 * half, 1)};
  arrjit_threefry2x32(op->g, key, x, x);
  return nx_reshape(op, nx_slice(op, arrjit_concat(op->g, 2, x, 0), 0, 0, count, 1), rank, dims);
}

arrjit_value nx_random_bits(nx_op *op, arrjit_value key, const nx_draw *of) {
  if (of->dtype != ARRJIT_U64) return nx_as(op, make_words(op, key, of->rank, of->dims), of->dtype);
  const int64_t pairs[] = {2, nx_product(of->rank, of->dims)};
  arrjit_value words = nx_as(op, make_words(op, key, 2, pairs), ARRJIT_U64);
  arrjit_value high = nx_slice(op, words, 0, 0, 1, 1), low = nx_slice(op, words, 0, 1, 2, 1);
  high = arrjit_shl(op->g, high, nx_number(op, ARRJIT_U64, 32));
  return nx_reshape(op, arrjit_or(op->g, high, low), of->rank, of->dims);
}

void nx_split_key(nx_op *op, arrjit_value key, arrjit_value keys[2]) {
  const int64_t dims[] = {2, 2}, one[] = {2};
  arrjit_value both = make_words(op, key, 2, dims);
  for (int64_t i = 0; i < 2; i++) keys[i] = nx_reshape(op, nx_slice(op, both, 0, i, i + 1, 1), 1, one);
}

/* ---- keys ---- */

static void build_key(nx_op *op) {
  if (!json_is_integer(nx_arg(op, 0))) nx_skip(op, "op Nx.Random.key of a tensor");
  op->out[0] = arrjit_random_key(op->g, arrjit_const_i64(op->g, json_integer_value(nx_arg(op, 0))));
}

static void build_split(nx_op *op) {
  const int64_t dims[] = {nx_int(op, "parts", 2), 2};
  op->out[0] = make_words(op, nx_tensor(op, 0), 2, dims);
}

/* fold_in(key, data): the words of each number, encrypted. */
static void build_fold_in(nx_op *op) {
  arrjit_value data = nx_value_as(op, nx_arg(op, 1), ARRJIT_U64);
  arrjit_value high = arrjit_shr_logical(op->g, data, nx_number(op, ARRJIT_U64, 32));
  arrjit_value x[] = {nx_as(op, high, ARRJIT_U32), nx_as(op, data, ARRJIT_U32)};
  arrjit_threefry2x32(op->g, nx_tensor(op, 0), x, x);
  op->out[0] = arrjit_stack(op->g, 2, x, nx_rank(data));
}

/* ---- numbers ---- */

nx_draw nx_draw_read(nx_op *op, arrjit_dtype otherwise) {
  nx_draw d = {.dtype = nx_type(op, nx_option(op, "type"), otherwise)};
  d.rank = nx_ints(nx_option(op, "shape"), d.dims);
  return d;
}

/* f32's when there is none, which is refused. */
static const nx_format *get_format(nx_op *op, arrjit_dtype dtype) {
  const nx_format *format = nx_format_of(dtype);
  if (!format) nx_raise(op, "expected float or complex type, got type %s", nx_type_name(dtype).text);
  return format ? format : nx_format_of(ARRJIT_F32);
}

/* The number before 1. Nx finds it by the bits of an f16, too, for bf16, where it is 1. */
static double step_down(const nx_format *format) {
  return format->dtype == ARRJIT_BF16 ? 1 : 1 - ldexp(1, -format->mantissa - 1);
}

/* Of a complex type pairs of its parts. */
static nx_draw make_real(const nx_draw *of) {
  nx_draw d = *of;
  if (!tk_is_complex(of->dtype)) return d;
  d.dtype = tk_part(of->dtype);
  d.dims[d.rank++] = 2;
  return d;
}

static arrjit_value pair_up(nx_op *op, const nx_draw *of, arrjit_value x) {
  if (!tk_is_complex(of->dtype)) return x;
  int64_t last = nx_rank(x) - 1;
  arrjit_value re = nx_slice(op, x, last, 0, 1, 1), im = nx_slice(op, x, last, 1, 2, 1);
  return nx_reshape(op, arrjit_complex(op->g, re, im), of->rank, of->dims);
}

/* Bits of a number from 1 on to below 2, less 1, stretched to low .. high. */
static arrjit_value draw_uniform(nx_op *op, arrjit_value key, const nx_draw *real, arrjit_value low,
                                 arrjit_value high) {
  arrjit_graph *g = op->g;
  const nx_format *format = get_format(op, real->dtype);
  nx_draw bits = *real;
  bits.dtype = format->bits;
  arrjit_value one = nx_number(op, real->dtype, 1);
  double shift = (double)(8 * arrjit_dtype_bytes(real->dtype)) - format->mantissa;
  arrjit_value x = arrjit_shr_logical(g, nx_random_bits(op, key, &bits), nx_number(op, bits.dtype, shift));
  x = arrjit_bitcast(g, arrjit_or(g, x, arrjit_bitcast(g, one, bits.dtype)), real->dtype);
  x = arrjit_mul(g, arrjit_sub(g, x, one), arrjit_sub(g, high, low));
  return arrjit_max(g, arrjit_add(g, x, low), low);
}

arrjit_value nx_uniform(nx_op *op, arrjit_value key, const nx_draw *of, arrjit_value low, arrjit_value high) {
  nx_draw real = make_real(of);
  return pair_up(op, of, draw_uniform(op, key, &real, nx_as(op, low, real.dtype), nx_as(op, high, real.dtype)));
}

static arrjit_value draw_normal(nx_op *op, arrjit_value key, const nx_draw *real) {
  arrjit_value low = nx_number(op, real->dtype, -step_down(get_format(op, real->dtype)));
  arrjit_value x = draw_uniform(op, key, real, low, nx_number(op, real->dtype, 1));
  return arrjit_mul(op->g, nx_number(op, real->dtype, sqrt(2)), arrjit_erf_inv(op->g, x));
}

arrjit_value nx_normal(nx_op *op, arrjit_value key, const nx_draw *of) {
  nx_draw real = make_real(of);
  return pair_up(op, of, draw_normal(op, key, &real));
}

arrjit_value nx_gumbel(nx_op *op, arrjit_value key, const nx_draw *of) {
  arrjit_graph *g = op->g;
  arrjit_value low = nx_number(op, of->dtype, ldexp(1, 1 - get_format(op, of->dtype)->exponent));
  arrjit_value x = nx_uniform(op, key, of, low, nx_number(op, of->dtype, 1));
  return arrjit_neg(g, arrjit_log(g, arrjit_neg(g, arrjit_log(g, x))));
}

static arrjit_dtype find_bits(nx_op *op, arrjit_dtype dtype) {
  static const arrjit_dtype bits[] = {ARRJIT_U8, ARRJIT_U16, ARRJIT_U32, ARRJIT_U64};
  for (size_t i = 0; i < TK_COUNT(bits) && nx_is_integer(dtype); i++)
    if (arrjit_dtype_bytes(bits[i]) == arrjit_dtype_bytes(dtype)) return bits[i];
  nx_raise(op, "expected integer type, got type %s", nx_type_name(dtype).text);
  return ARRJIT_U32;
}

/* Two draws modulo the span, the first times 2 to the width modulo the span, together modulo the span. */
arrjit_value nx_randint(nx_op *op, arrjit_value key, const nx_draw *of, arrjit_value low, arrjit_value high) {
  arrjit_graph *g = op->g;
  nx_draw bits = {.dtype = find_bits(op, of->dtype), .rank = of->rank + 1, .dims = {2}};
  memcpy(bits.dims + 1, of->dims, of->rank * sizeof *of->dims);
  arrjit_value both = nx_as(op, nx_random_bits(op, key, &bits), ARRJIT_U64), draws[2];
  for (int64_t i = 0; i < 2; i++) draws[i] = nx_reshape(op, nx_slice(op, both, 0, i, i + 1, 1), of->rank, of->dims);
  arrjit_value span = nx_as(op, nx_as(op, arrjit_sub(g, high, low), bits.dtype), ARRJIT_U64);
  arrjit_value root = nx_number(op, ARRJIT_U64, ldexp(1, (int)(4 * arrjit_dtype_bytes(of->dtype))));
  root = arrjit_rem(g, root, span);
  arrjit_value times = arrjit_rem(g, arrjit_mul(g, root, root), span);
  arrjit_value offset = arrjit_mul(g, arrjit_rem(g, draws[0], span), times);
  offset = arrjit_rem(g, arrjit_add(g, offset, arrjit_rem(g, draws[1], span)), span);
  return arrjit_add(g, nx_as(op, offset, of->dtype), nx_as(op, low, of->dtype));
}

/* ---- calls ---- */

void nx_draw_by(nx_op *op, nx_sampler *sampler) {
  const char *suffix = "_split";
  size_t length = strlen(op->name), end = strlen(suffix);
  arrjit_value key = nx_tensor(op, 0), keys[2];
  if (length > end && strcmp(op->name + length - end, suffix) == 0) {
    op->out[0] = sampler(op, key);
    return;
  }
  nx_split_key(op, key, keys);
  op->out[0] = sampler(op, keys[1]);
  op->out[1] = keys[0];
  op->out_count = 2;
}

/* The type of numbers between, or about, two arguments. */
static arrjit_dtype read_type(nx_op *op) {
  return nx_arg(op, 1) ? nx_floating(nx_join(op, nx_arg(op, 1), nx_arg(op, 2))) : ARRJIT_F32;
}

static arrjit_value sample_uniform(nx_op *op, arrjit_value key) {
  nx_draw of = nx_draw_read(op, read_type(op));
  arrjit_dtype part = tk_part(of.dtype);
  if (!nx_arg(op, 1)) return nx_uniform(op, key, &of, nx_number(op, part, 0), nx_number(op, part, 1));
  return nx_uniform(op, key, &of, nx_value_as(op, nx_arg(op, 1), part), nx_value_as(op, nx_arg(op, 2), part));
}

/* Each part of a complex number has the mean and the deviation. */
static arrjit_value sample_normal(nx_op *op, arrjit_value key) {
  nx_draw of = nx_draw_read(op, read_type(op)), real = make_real(&of);
  arrjit_value x = draw_normal(op, key, &real);
  if (nx_arg(op, 1)) {
    x = arrjit_mul(op->g, nx_value_as(op, nx_arg(op, 2), real.dtype), x);
    x = arrjit_add(op->g, x, nx_value_as(op, nx_arg(op, 1), real.dtype));
  }
  return pair_up(op, &of, x);
}

static arrjit_value sample_gumbel(nx_op *op, arrjit_value key) {
  nx_draw of = nx_draw_read(op, ARRJIT_F32);
  return nx_gumbel(op, key, &of);
}

static arrjit_value sample_randint(nx_op *op, arrjit_value key) {
  nx_draw of = nx_draw_read(op, nx_join(op, nx_arg(op, 1), nx_arg(op, 2)));
  return nx_randint(op, key, &of, nx_value_as(op, nx_arg(op, 1), of.dtype), nx_value_as(op, nx_arg(op, 2), of.dtype));
}

static void build_uniform(nx_op *op) { nx_draw_by(op, sample_uniform); }
static void build_normal(nx_op *op) { nx_draw_by(op, sample_normal); }
static void build_gumbel(nx_op *op) { nx_draw_by(op, sample_gumbel); }
static void build_randint(nx_op *op) { nx_draw_by(op, sample_randint); }

static const nx_row rows[] = {{"Nx.Random.key", build_key},
                              {"Nx.Random.split", build_split},
                              {"Nx.Random.fold_in", build_fold_in},
                              {"Nx.Random.uniform", build_uniform},
                              {"Nx.Random.uniform_split", build_uniform},
                              {"Nx.Random.normal", build_normal},
                              {"Nx.Random.normal_split", build_normal},
                              {"Nx.Random.gumbel", build_gumbel},
                              {"Nx.Random.gumbel_split", build_gumbel},
                              {"Nx.Random.randint", build_randint},
                              {"Nx.Random.randint_split", build_randint}};

nx_build *nx_random_find(const char *name) { return nx_find(name, TK_COUNT(rows), rows); }
