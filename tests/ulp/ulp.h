/* What the parts of arrjit-ulp share: the functions with what they are measured against, and where they are measured.
 */
#ifndef ULP_ULP_H
#define ULP_ULP_H

#include <string.h>

#include "base.h"
#include "floats.h"
#include "ir/op.h"

/* References take two arguments; those of one argument leave the second alone. */
typedef struct ulp_function {
  aj_op op;
  long double (*exact)(long double x, long double y);
  double (*exact_for_f32)(double x, double y); /* exact rounded to double, or less than 2^-20 of an f32's ulp off */
  double (*libm)(double x, double y);          /* the C library's f64 function; NULL: it has none */
  float (*libm_f32)(float x, float y);
  double lo[2], hi[2]; /* where it is neither flat nor infinite; f32, f64 */
} ulp_function;
extern const ulp_function ulp_functions[];
extern const size_t ulp_function_count;

/* Arguments, a chunk at a time. */
enum { ULP_CHUNK = 1 << 14 };
typedef struct ulp_points {
  const ulp_function *function;
  arrjit_dtype dtype;
  uint64_t count, next; /* in all, so far */
  bool every;           /* each bit pattern once, in order: a function of one f32, f16 or bf16 */
  tk_random random;
  double breakpoints[512]; /* constants of the expansion, and 1, 0, the ends of the range */
  size_t breakpoint_count;
} ulp_points;
void ulp_points_start(ulp_points *p, const ulp_function *function, arrjit_dtype dtype, bool full);
/* Fills x and y with elements of the dtype, ULP_CHUNK each; false: there are no more. */
bool ulp_points_next(ulp_points *p, void *x, void *y);

/* Complex functions, all or one; *out_any: there was one of that name. False: one is above its bound. */
bool ulp_complex(const char *only, bool full, bool *out_any);

/* An element as a number, and back. */
static inline double ulp_element(arrjit_dtype dtype, const void *elements, size_t i) {
  if (dtype != ARRJIT_F32) return tk_load_float(dtype, (const char *)elements + i * aj_dtypes[dtype].bytes);
  float value; /* by far the most, with --full */
  memcpy(&value, (const char *)elements + i * sizeof value, sizeof value);
  return (double)value;
}
void ulp_set(arrjit_dtype dtype, void *elements, size_t i, double value);

#endif
