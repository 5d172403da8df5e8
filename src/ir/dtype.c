/* Elements as text, by their dtype. */
#include "ir/type.h"

#include <string.h>

size_t aj_dtype_number(char out[AJ_NUMBER_BYTES], arrjit_dtype dtype, const void *element) {
  union {
    uint16_t bits;
    float f32;
    double f64;
  } x;
  AJ_ASSERT(aj_dtypes[dtype].cls == AJ_CLASS_FLOAT);
  memcpy(&x, element, aj_dtypes[dtype].bytes);
  if (dtype == ARRJIT_F16) return aj_number_f16(out, x.bits);
  if (dtype == ARRJIT_BF16) return aj_number_bf16(out, x.bits);
  return dtype == ARRJIT_F32 ? aj_number_f32(out, x.f32) : aj_number_f64(out, x.f64);
}
