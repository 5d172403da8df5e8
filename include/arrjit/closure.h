/* libarrjit: a function as a plain C function pointer, for libraries that want one: qsort, GSL, SUNDIALS.
 *
 * The signature follows from the function's parameters and results:
 * - a scalar parameter comes by value, with ARRJIT_CLOSURE_BY_POINTER as `const T *` (what qsort gives its comparator);
 * - an array parameter comes as `const T *`, its elements dense row-major;
 * - one scalar result and nothing else is what the C function returns;
 * - other results are written through one `T *` each, behind the parameters, dense row-major; the C function then
 *   returns int, 0 when it went well, 1 when it failed (GSL, CVODE), and what was written is unspecified;
 * - with ARRJIT_CLOSURE_USER one more `void *` comes last, which is not looked at (GSL's params).
 * T is bool, int8_t to int64_t, uint8_t to uint64_t, float or double. So an f64 of two f64 is
 * `double (*)(double, double)`, and f64[3] of (f64, f64[3]) with ARRJIT_CLOSURE_USER
 * `int (*)(double, const double *, double *, void *)`; arrjit_closure_signature tells it.
 * All extents are numbers: a C function brings no shapes, so a function with symbols in its signature is refused.
 *
 * A C caller has no place for a failure: a returned float is then NaN, an integer 0, a bool false. The first failure
 * waits in the closure until arrjit_closure_take_error. Pointers may be unaligned; a result may lie over a parameter,
 * not over another result. A NULL pointer where there are elements is a failure of kind argument; bool elements behind
 * pointers are 0 or 1.
 *
 * Threads: any, at once, the closure's own callbacks included; no lock is held while the function runs. A warm call of
 * native code allocates nothing and costs about 0.14 us beside the function's own work (bench/run.sh --filter closure,
 * quiet machine). */
#ifndef ARRJIT_CLOSURE_H
#define ARRJIT_CLOSURE_H

#include "arrjit/run.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ARRJIT_CLOSURE_BY_POINTER 1u /* scalar parameters as const T * */
#define ARRJIT_CLOSURE_USER 2u       /* a last parameter void *, ignored */

/* All zero but struct_bytes means: scalars by value, mode auto, no bindings. */
typedef struct arrjit_closure_options {
  size_t struct_bytes;           /* sizeof(arrjit_closure_options) */
  unsigned flags;                /* ARRJIT_CLOSURE_* */
  const arrjit_run_options *run; /* of every call; copied, `outputs` and `donated` must be 0; NULL: the defaults */
} arrjit_closure_options;

/* Makes a C function of a function, which is retained; `options` may be NULL. The caller owns *out. Errors: MISUSE
 * (options, bindings that name no slot), TYPE (a symbol or dtype that C has no place for), LIMIT (more than 64
 * parameters and results), UNAVAILABLE (libffi may not make code here), MEMORY. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_closure_create(arrjit_function *function,
                                                               const arrjit_closure_options *options,
                                                               arrjit_closure **out, arrjit_error *error);
ARRJIT_API void arrjit_closure_retain(arrjit_closure *closure);
/* The pointer is valid until the last reference and the last call that is under way are gone: a closure may be released
 * from inside its own call, not be called after that. A failure not taken goes with it. NULL is fine. */
ARRJIT_API void arrjit_closure_release(arrjit_closure *closure);

/* A C function of whatever type: cast to its own before it is called. */
typedef void arrjit_c_function(void);
/* The C function; NULL for NULL. */
ARRJIT_API arrjit_c_function *arrjit_closure_pointer(const arrjit_closure *closure);
/* Its type as C text, "double (*)(double, double)"; lives as long as the closure. "" for NULL. */
ARRJIT_API const char *arrjit_closure_signature(const arrjit_closure *closure);
/* The first failure since the last take, owned by the caller; NULL when there is none, or there was no memory for it. A
 * call that could not even start (native code required and not to be had, context destroyed) is kind runtime, its code
 * the status. */
ARRJIT_API ARRJIT_MUST_USE arrjit_result *arrjit_closure_take_error(arrjit_closure *closure);
/* Calls that failed since the closure was made. */
ARRJIT_API int64_t arrjit_closure_failures(const arrjit_closure *closure);

#ifdef __cplusplus
}
#endif
#endif
