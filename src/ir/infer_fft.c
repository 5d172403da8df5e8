/* The result types of fft_last, rfft_last, irfft_last. */
#include <string.h>

#include "ir/infer.h"

arrjit_status aj_infer_half(aj_infer *in, int64_t n, int64_t *out) {
  AJ_TRY(aj_infer_dim(in, AJ_SYM_FLOOR_DIV, n, 2, out));
  return aj_infer_dim(in, AJ_SYM_ADD, *out, 1, out);
}

static arrjit_status infer_back(aj_infer *in, int64_t *last) {
  AJ_TRY(aj_infer_count(in, AJ_ATTR_SIZES, 1, "1, for the last axis"));
  int64_t n = aj_infer_attr(in, AJ_ATTR_SIZES)->u.ints[0], half;
  AJ_TRY(aj_infer_half(in, n, &half));
  if (!aj_dim_equal(half, *last))
    return aj_infer_fail(in, ARRJIT_TYPE, "x is %s; expected %s along the last axis, %s / 2 + 1",
                         aj_infer_type_text(in, aj_infer_type(in, 0)).s, aj_infer_dim_text(in, half).s,
                         aj_infer_dim_text(in, n).s);
  *last = n;
  return ARRJIT_OK;
}

arrjit_status aj_infer_fft(aj_infer *in) {
  AJ_TRY(aj_infer_dtype_set(in, 0));
  const aj_type *x = aj_infer_type(in, 0);
  arrjit_dtype dtype = x->dtype;
  int64_t dims[ARRJIT_MAX_RANK];
  if (x->rank == 0) return aj_infer_fail(in, ARRJIT_TYPE, "x is a scalar; expected at least one dim");
  memcpy(dims, x->dims, (size_t)x->rank * sizeof *dims);
  int64_t *last = &dims[x->rank - 1];
  if (in->op == AJ_OP_FFT_LAST) {
    int64_t inverse = aj_infer_attr(in, AJ_ATTR_INVERSE)->u.i;
    if (inverse != 0 && inverse != 1)
      return aj_infer_fail(in, ARRJIT_TYPE, "inverse is %lld; expected 0 or 1", (long long)inverse);
  } else if (in->op == AJ_OP_RFFT_LAST) {
    dtype = dtype == ARRJIT_F32 ? ARRJIT_C64 : ARRJIT_C128;
    AJ_TRY(aj_infer_half(in, *last, last));
  } else {
    dtype = aj_dtype_part(dtype);
    AJ_TRY(infer_back(in, last));
  }
  return aj_infer_push_type(in, dtype, x->rank, dims);
}
