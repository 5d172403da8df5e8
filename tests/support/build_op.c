/* One line an op; a new row of the table does not compile here until it has one. See build_op.h. */
#include "build_op.h"

#include "floats.h"

#define ONE(ID, name)                                                                                                  \
  case AJ_OP_##ID: return arrjit_##name(g, in[0]);
#define TWO(ID, name)                                                                                                  \
  case AJ_OP_##ID: return arrjit_##name(g, in[0], in[1]);
#define THREE(ID, name)                                                                                                \
  case AJ_OP_##ID: return arrjit_##name(g, in[0], in[1], in[2]);
#define AXES(ID, name)                                                                                                 \
  case AJ_OP_##ID: return arrjit_##name(g, in[0], t->axis_count, t->axes);
#define SCAN(ID, name)                                                                                                 \
  case AJ_OP_##ID: return arrjit_##name(g, in[0], t->axis, t->reverse);
#define GATHER(ID, name)                                                                                               \
  case AJ_OP_##ID:                                                                                                     \
    return arrjit_##name(g, in[0], in[1], t->offset_count, t->offset_axes, t->collapsed_count, t->collapsed_axes,      \
                         t->batch_count, t->lhs_batch, t->rhs_batch, t->start_count, t->start_map, t->axis, t->rank,   \
                         t->dims);
#define SCATTER(ID, name)                                                                                              \
  case AJ_OP_##ID:                                                                                                     \
    return arrjit_##name(g, in[0], in[1], in[2], t->offset_count, t->offset_axes, t->collapsed_count,                  \
                         t->collapsed_axes, t->batch_count, t->lhs_batch, t->rhs_batch, t->start_count, t->start_map,  \
                         t->axis);

/* Values combined in one of several ways: by one op, with a value from outside, by movement alone, by a function. Most
 * depend on the order. */
static void combine(arrjit_graph *g, uint64_t variant, size_t count, const arrjit_value *a, const arrjit_value *b,
                    arrjit_value outside, arrjit_value *out) {
  arrjit_dtype first = arrjit_value_type(a[0]).dtype;
  for (size_t i = 0; i < count; i++) {
    arrjit_dtype dtype = arrjit_value_type(a[i]).dtype;
    bool real = tk_is_float(dtype), same = dtype == first, boolean = dtype == ARRJIT_BOOL;
    bool ordered = !tk_is_complex(dtype);
    if (!ordered && (variant % 8 == 2 || variant % 8 == 3)) { /* no min, no max */
      out[i] = arrjit_add(g, arrjit_conj(g, a[i]), b[i]);
      continue;
    }
    switch (variant % 8) {
    case 0: out[i] = boolean ? arrjit_or(g, b[i], a[i]) : arrjit_add(g, a[i], b[i]); break;
    case 1: out[i] = boolean ? arrjit_and(g, a[i], b[i]) : arrjit_mul(g, a[i], b[i]); break;
    case 2: out[i] = variant / 16 % 2 ? arrjit_max(g, a[i], b[i]) : arrjit_min(g, b[i], a[i]); break;
    case 3: out[i] = same ? arrjit_max(g, arrjit_min(g, a[i], outside), b[i]) : arrjit_min(g, a[i], b[i]); break;
    case 4: out[i] = boolean ? arrjit_xor(g, a[i], arrjit_not(g, b[i])) : arrjit_sub(g, a[i], b[i]); break;
    case 5: out[i] = arrjit_select(g, arrjit_ne(g, a[0], b[0]), b[i], a[i]); break;
    case 6:
      out[i] = real      ? arrjit_sin(g, arrjit_add(g, a[i], b[i]))
               : ordered ? arrjit_max(g, a[i], b[i])
                         : arrjit_div(g, b[i], a[i]);
      break;
    default: out[i] = b[i]; break;
    }
  }
}

static arrjit_value goes_before(arrjit_graph *g, arrjit_value x, arrjit_value y) {
  if (tk_is_complex(arrjit_value_type(x).dtype)) return arrjit_lt(g, arrjit_real(g, x), arrjit_real(g, y));
  return arrjit_value_type(x).dtype == ARRJIT_BOOL ? arrjit_and(g, arrjit_not(g, x), y) : arrjit_lt(g, x, y);
}

static arrjit_value with_outside(arrjit_graph *g, arrjit_value x, arrjit_value outside) {
  return tk_is_complex(arrjit_value_type(x).dtype) ? arrjit_mul(g, x, outside) : arrjit_max(g, x, outside);
}

/* Whether a goes before b in one of several ways, some of which contradict themselves. */
static arrjit_value compare(arrjit_graph *g, uint64_t variant, size_t count, const arrjit_value *a,
                            const arrjit_value *b, arrjit_value outside) {
  size_t last = count - 1;
  arrjit_value same = arrjit_eq(g, a[0], b[0]), later = goes_before(g, a[last], b[last]);
  switch (variant % 6) {
  case 0: return goes_before(g, a[0], b[0]);
  case 1: return arrjit_or(g, goes_before(g, b[0], a[0]), arrjit_and(g, same, later));
  case 2: return arrjit_or(g, same, later);
  case 3: return arrjit_not(g, same);
  case 4: return goes_before(g, with_outside(g, a[0], outside), with_outside(g, b[0], outside));
  default: return arrjit_eq(g, outside, outside);
  }
}

arrjit_value tk_build_op(arrjit_graph *g, aj_op op, size_t count, const arrjit_value *in, const tk_attrs *t) {
  switch (op) {
  case AJ_OP_IOTA: return arrjit_iota(g, t->dtype, t->rank, t->dims, t->axis);
  case AJ_OP_FULL: return arrjit_full(g, in[0], t->rank, t->dims);
  case AJ_OP_DIM_SIZE:
    return arrjit_dim_size(g, in[0], t->axis);
    ONE(NEG, neg)
    ONE(ABS, abs)
    ONE(SIGN, sign)
    ONE(SQRT, sqrt)
    ONE(FLOOR, floor)
    ONE(CEIL, ceil)
    ONE(TRUNC, trunc)
    ONE(ROUND_EVEN, round_even)
    ONE(ROUND_AWAY, round_away)
    ONE(IS_FINITE, is_finite)
    ONE(IS_INF, is_inf)
    ONE(IS_NAN, is_nan)
    ONE(REAL, real)
    ONE(IMAG, imag)
    ONE(CONJ, conj)
    ONE(NOT, not)
    ONE(POPCOUNT, popcount)
    ONE(CLZ, clz)
    ONE(CTZ, ctz)
  case AJ_OP_CONVERT: return arrjit_convert(g, in[0], t->dtype);
  case AJ_OP_BITCAST:
    return arrjit_bitcast(g, in[0], t->dtype);
    TWO(ADD, add)
    TWO(SUB, sub)
    TWO(MUL, mul)
    TWO(DIV, div)
    TWO(REM, rem)
    TWO(FLOOR_DIV, floor_div)
    TWO(MOD, mod)
    TWO(MIN, min)
    TWO(MAX, max)
    TWO(IPOW, ipow)
    TWO(FMIN, fmin)
    TWO(FMAX, fmax)
    TWO(FDIM, fdim)
    TWO(NEXTAFTER, nextafter)
    TWO(COPYSIGN, copysign)
    TWO(AND, and)
    TWO(OR, or)
    TWO(XOR, xor)
    TWO(SHL, shl)
    TWO(SHR_LOGICAL, shr_logical)
    TWO(SHR_ARITH, shr_arith)
    TWO(ROTL, rotl)
    TWO(COMPLEX, complex)
    TWO(EQ, eq)
    TWO(NE, ne)
    TWO(LT, lt)
    TWO(LE, le)
    TWO(GT, gt)
    TWO(GE, ge)
    THREE(FMA, fma)
    THREE(SELECT, select)
    THREE(CLAMP, clamp)
    ONE(EXP, exp)
    ONE(LOG, log)
    ONE(TANH, tanh)
    ONE(SIN, sin)
    ONE(COS, cos)
    ONE(EXP2, exp2)
    ONE(EXP10, exp10)
    ONE(EXPM1, expm1)
    ONE(LOG2, log2)
    ONE(LOG10, log10)
    ONE(LOG1P, log1p)
    ONE(TAN, tan)
    ONE(ASIN, asin)
    ONE(ACOS, acos)
    ONE(ATAN, atan)
    TWO(ATAN2, atan2)
    TWO(POW, pow)
    ONE(SINH, sinh)
    ONE(COSH, cosh)
    ONE(ASINH, asinh)
    ONE(ACOSH, acosh)
    ONE(ATANH, atanh)
    ONE(CBRT, cbrt)
    ONE(RSQRT, rsqrt)
    TWO(HYPOT, hypot)
    ONE(LOGISTIC, logistic)
    ONE(ERF, erf)
    ONE(ERFC, erfc)
    ONE(ERF_INV, erf_inv)
    ONE(TGAMMA, tgamma)
    ONE(LGAMMA, lgamma)
    ONE(DIGAMMA, digamma)
    TWO(CHECKED_ADD, checked_add)
    TWO(CHECKED_SUB, checked_sub)
    TWO(CHECKED_MUL, checked_mul)
    TWO(CHECKED_DIV, checked_div)
    TWO(CHECKED_REM, checked_rem)
    TWO(CHECKED_SHL, checked_shl)
  case AJ_OP_CHECKED_CONVERT: return arrjit_checked_convert(g, in[0], t->dtype);
  case AJ_OP_BROADCAST: return arrjit_broadcast(g, in[0], t->rank, t->dims, t->axis_count, t->axes);
  case AJ_OP_RESHAPE:
    return arrjit_reshape(g, in[0], t->rank, t->dims);
    AXES(TRANSPOSE, transpose)
    AXES(REVERSE, reverse)
  case AJ_OP_SLICE: return arrjit_slice(g, in[0], t->rank, t->a, t->b, t->c);
  case AJ_OP_CONCAT: return arrjit_concat(g, count, in, t->axis);
  case AJ_OP_PAD: return arrjit_pad(g, in[0], in[1], t->rank, t->a, t->b, t->c);
  case AJ_OP_DYNAMIC_SLICE: return arrjit_dynamic_slice(g, in[0], count - 1, in + 1, t->dims);
  case AJ_OP_DYNAMIC_UPDATE_SLICE:
    return arrjit_dynamic_update_slice(g, in[0], in[1], count - 2, in + 2);
    GATHER(GATHER, gather)
    SCATTER(SCATTER, scatter)
    SCATTER(SCATTER_ADD, scatter_add)
    SCATTER(SCATTER_MUL, scatter_mul)
    SCATTER(SCATTER_MIN, scatter_min)
    SCATTER(SCATTER_MAX, scatter_max)
    SCATTER(CHECKED_SCATTER, checked_scatter)
  case AJ_OP_SORT: return arrjit_sort(g, in[0], t->axis, t->flag);
  case AJ_OP_ARGSORT: return arrjit_argsort(g, in[0], t->axis, t->flag);
  case AJ_OP_SEARCHSORTED: return arrjit_searchsorted(g, in[0], in[1], t->flag);
  case AJ_OP_TAKE: return arrjit_take(g, in[0], in[1], t->axis);
  case AJ_OP_CHECKED_SLICE:
    return arrjit_checked_slice(g, in[0], count - 1, in + 1, t->dims);
    GATHER(CHECKED_GATHER, checked_gather)
  case AJ_OP_CHECKED_INDEX:
    return arrjit_checked_index(g, in[0], in[1], t->axis);
    AXES(REDUCE_SUM, reduce_sum)
    AXES(REDUCE_PROD, reduce_prod)
    AXES(REDUCE_MIN, reduce_min)
    AXES(REDUCE_MAX, reduce_max)
    AXES(REDUCE_AND, reduce_and)
    AXES(REDUCE_OR, reduce_or)
  case AJ_OP_REDUCE: {
    arrjit_value older[2], newer[2], out[2];
    arrjit_reduce_begin(g, count / 2, in, in + count / 2, t->axis_count, t->axes, older, newer);
    combine(g, t->variant, count / 2, older, newer, in[count / 2], out);
    arrjit_reduce_end(g, count / 2, out, out);
    return out[t->variant / 8 % (count / 2)];
  }
  case AJ_OP_CUMULATIVE: {
    arrjit_value older[2], newer[2], out[2];
    arrjit_cumulative_begin(g, count - 1, in, t->axis, t->reverse, older, newer);
    combine(g, t->variant, count - 1, older, newer, in[count - 1], out);
    arrjit_cumulative_end(g, count - 1, out, out);
    return out[t->variant / 8 % (count - 1)];
  }
  case AJ_OP_SORT_BY: {
    arrjit_value left[2], right[2], out[2];
    arrjit_sort_by_begin(g, count - 1, in, t->axis, left, right);
    arrjit_sort_by_end(g, compare(g, t->variant, count - 1, left, right, in[count - 1]), count - 1, out);
    return out[t->variant / 8 % (count - 1)];
  }
  case AJ_OP_REDUCE_WINDOW: {
    arrjit_value older[2], newer[2], out[2];
    arrjit_reduce_window_begin(g, count / 2, in, in + count / 2, t->rank, t->dims, t->c, t->a, t->b, t->base, t->spread,
                               older, newer);
    combine(g, t->variant, count / 2, older, newer, in[count / 2], out);
    arrjit_reduce_window_end(g, count / 2, out, out);
    return out[t->variant / 8 % (count / 2)];
  }
  case AJ_OP_SELECT_AND_SCATTER: {
    arrjit_value left, right, older, newer, out;
    arrjit_select_and_scatter_begin(g, in[0], in[1], in[2], t->rank, t->dims, t->c, t->a, t->b, &left, &right);
    arrjit_select_and_scatter_combine(g, compare(g, t->variant / 8, 1, &left, &right, in[2]), &older, &newer);
    combine(g, t->variant, 1, &older, &newer, in[2], &out);
    arrjit_select_and_scatter_end(g, out, &out);
    return out;
  }
    SCAN(CUMSUM, cumsum)
    SCAN(CUMPROD, cumprod)
    SCAN(CUMMIN, cummin)
    SCAN(CUMMAX, cummax)
  case AJ_OP_ARGMIN: return arrjit_argmin(g, in[0], t->axis);
  case AJ_OP_ARGMAX: return arrjit_argmax(g, in[0], t->axis); AXES(MEAN, mean)
  case AJ_OP_DOT:
    return arrjit_dot(g, in[0], in[1], t->batch_count, t->lhs_batch, t->rhs_batch, t->contract_count, t->lhs_contract,
                      t->rhs_contract);
  case AJ_OP_CONV: return arrjit_conv(g, in[0], in[1], t->rank, t->c, t->a, t->b, t->base, t->spread, t->groups);
  case AJ_OP_FFT_LAST: return arrjit_fft_last(g, in[0], t->flag);
  case AJ_OP_RFFT_LAST: return arrjit_rfft_last(g, in[0]);
  case AJ_OP_IRFFT_LAST: return arrjit_irfft_last(g, in[0], t->rank, t->dims);
  case AJ_OP_SOLVE_LOWER: return arrjit_solve_lower(g, in[0], in[1], t->flag);
  case AJ_OP_CHOLESKY: return arrjit_cholesky(g, in[0]);
  case AJ_OP_LU: {
    arrjit_value out[3];
    arrjit_lu(g, in[0], &out[0], &out[1], &out[2]);
    return out[t->variant % 3];
  }
  case AJ_OP_QR: {
    arrjit_value out[2];
    arrjit_qr(g, in[0], t->flag, &out[0], &out[1]);
    return out[t->variant % 2];
  }
  case AJ_OP_EIGH: {
    arrjit_value out[2];
    arrjit_eigh(g, in[0], &out[0], &out[1]);
    return out[t->variant % 2];
  }
  case AJ_OP_SVD: {
    arrjit_value out[3];
    arrjit_svd(g, in[0], t->flag, &out[0], &out[1], &out[2]);
    return out[t->variant % 3];
  }
  case AJ_OP_EXN_CODE: return arrjit_exn_code(g, in[0]);
  case AJ_OP_EXN_SITE: return arrjit_exn_site(g, in[0]);
  case AJ_OP_EXN_CAUSE: return arrjit_exn_cause(g, in[0]);
  case AJ_OP_NONE:
  case AJ_OP_CONST:
  case AJ_OP_IF:
  case AJ_OP_SWITCH:
  case AJ_OP_WHILE:
  case AJ_OP_FOR:
  case AJ_OP_MAP:
  case AJ_OP_CALL:
  case AJ_OP_TRY:
  case AJ_OP_YIELD:
  case AJ_OP_RAISE:
  case AJ_OP_RAISE_EXN:
  case AJ_OP_CHECK:
  case AJ_OP_CHECK_SHAPE:
  case AJ_OP_CALLBACK:
  case AJ_OP_EXN_NEW:
  case AJ_OP_EXN_IS:
  case AJ_OP_EXN_FIELD:
  case AJ_OP_KERNEL:
  case AJ_OP_FIRST_FALSE:
  case AJ_OP_LANE_INDEX:
  case AJ_OP_COUNT: break;
  }
  return NULL;
}
