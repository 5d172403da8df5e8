/* What tests of map share: constants, parameters of any length, inputs. */
#ifndef TK_LANES_H
#define TK_LANES_H

#include "fixture.h"

static inline arrjit_value i64(arrjit_graph *g, int64_t x) { return arrjit_const_i64(g, x); }
static inline arrjit_value f64(arrjit_graph *g, double x) { return arrjit_const_f64(g, x); }

/* Lengths around those of vectors, and none at all. */
static const int64_t lengths[] = {0, 1, 7, 33, 1000};

static inline arrjit_array *ramp(tk_fixture *f, int64_t n, double from, double by) {
  arrjit_array *array = tk_array(f, TYPE(F64, n), NULL);
  for (int64_t i = 0; i < n; i++) ((double *)arrjit_array_data(array))[i] = from + by * (double)i;
  return array;
}

static inline arrjit_value symbolic(arrjit_graph *g, const char *name, arrjit_dtype dtype) {
  const int64_t dims[] = {arrjit_symbol(g, "n")};
  const arrjit_type type = arrjit_type_make(dtype, 1, dims);
  return arrjit_param(g, name, &type);
}

#endif
