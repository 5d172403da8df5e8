/* What the files of closures share: the closure, and how C calls it. */
#ifndef AJ_API_CLOSURE_H
#define AJ_API_CLOSURE_H

#include <ffi.h>

#include "api/options.h"

enum { AJ_CLOSURE_MOST = 64 }; /* parameters and results */

/* One function's place in C, derived from its signature and the flags. */
typedef struct aj_c_signature {
  const aj_func *func;
  unsigned flags;
  bool returns_value; /* its one scalar result; else int, results through pointers */
  uint32_t count;     /* of the C function's parameters */
  ffi_cif cif;
  ffi_type *types[AJ_CLOSURE_MOST + 1];
} aj_c_signature;

struct arrjit_closure {
  _Atomic int64_t refs; /* the host's, and one a call under way */
  arrjit_function *function;
  aj_core *core;
  aj_c_signature signature;
  arrjit_run_options options;
  ffi_closure *code; /* writable side of `pointer` */
  void *pointer;
  aj_text text;
  _Atomic int64_t failures;
  _Atomic(arrjit_result *) first_failure; /* not taken yet */
  size_t bytes;                           /* of this block: bindings and their names follow */
};

static inline bool aj_c_by_value(const aj_c_signature *s, uint32_t param) {
  return s->func->param_types[param]->rank == 0 && !(s->flags & ARRJIT_CLOSURE_BY_POINTER);
}

/* ---- closure_signature.c ---- */
/* Fills a zeroed *out, which does not move afterwards: libffi's record points into it. TYPE, LIMIT, UNAVAILABLE. */
arrjit_status aj_c_signature_make(aj_c_signature *out, const aj_func *func, unsigned flags, arrjit_error *error);
/* "int (*)(double, const double *, double *, void *)". */
void aj_c_signature_print(const aj_c_signature *signature, aj_text *out);

#endif
