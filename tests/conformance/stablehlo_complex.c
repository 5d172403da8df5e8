/* StableHLO's ops of complex numbers that this library has no op for: they are composed here, as its specification says
 * them. */
#include "floats.h"
#include "stablehlo.h"

#include <string.h>

typedef arrjit_value composition(arrjit_graph *g, const arrjit_value *in);

static arrjit_value constant(arrjit_graph *g, arrjit_value like, double value) {
  const arrjit_type type = arrjit_value_type(like);
  return arrjit_full(g, arrjit_const_like(g, like, value), type.rank, type.dims);
}

static bool is_complex(arrjit_value x) { return tk_is_complex(arrjit_value_type(x).dtype); }

/* The square's real part as a product, which is no difference of infinite squares. */
static arrjit_value compose_square(arrjit_graph *g, const arrjit_value *in) {
  if (!is_complex(in[0])) return arrjit_mul(g, in[0], in[0]);
  arrjit_value re = arrjit_real(g, in[0]), im = arrjit_imag(g, in[0]), both = arrjit_mul(g, re, im);
  arrjit_value product = arrjit_mul(g, arrjit_sub(g, re, im), arrjit_add(g, re, im));
  arrjit_value same = arrjit_and(g, arrjit_eq(g, arrjit_abs(g, re), arrjit_abs(g, im)), arrjit_is_finite(g, re));
  arrjit_value zero = constant(g, re, 0);
  return arrjit_complex(g, arrjit_select(g, same, zero, product), arrjit_add(g, both, both));
}

/* By real part, then by imaginary part. */
static arrjit_value is_less(arrjit_graph *g, arrjit_value x, arrjit_value y) {
  arrjit_value a = arrjit_real(g, x), b = arrjit_real(g, y);
  arrjit_value later = arrjit_lt(g, arrjit_imag(g, x), arrjit_imag(g, y));
  return arrjit_or(g, arrjit_lt(g, a, b), arrjit_and(g, arrjit_eq(g, a, b), later));
}
static arrjit_value compose_min(arrjit_graph *g, const arrjit_value *in) {
  return arrjit_select(g, is_less(g, in[1], in[0]), in[1], in[0]);
}
static arrjit_value compose_max(arrjit_graph *g, const arrjit_value *in) {
  return arrjit_select(g, is_less(g, in[0], in[1]), in[1], in[0]);
}

/* -i ln((x + iy) / sqrt(x^2 + y^2)) */
static arrjit_value compose_atan2(arrjit_graph *g, const arrjit_value *in) {
  arrjit_value zero = constant(g, arrjit_real(g, in[0]), 0), one = constant(g, zero, 1), y = in[0], x = in[1];
  arrjit_value up = arrjit_complex(g, zero, one), down = arrjit_complex(g, zero, arrjit_neg(g, one));
  arrjit_value length = arrjit_sqrt(g, arrjit_add(g, arrjit_mul(g, x, x), arrjit_mul(g, y, y)));
  return arrjit_mul(g, down, arrjit_log(g, arrjit_div(g, arrjit_add(g, x, arrjit_mul(g, up, y)), length)));
}

static arrjit_value compose_cbrt(arrjit_graph *g, const arrjit_value *in) {
  arrjit_value third = constant(g, arrjit_real(g, in[0]), 1.0 / 3);
  return arrjit_pow(g, in[0], arrjit_complex(g, third, constant(g, third, 0)));
}

static arrjit_value compose_real(arrjit_graph *g, const arrjit_value *in) {
  return is_complex(in[0]) ? arrjit_real(g, in[0]) : in[0];
}
static arrjit_value compose_imag(arrjit_graph *g, const arrjit_value *in) {
  return is_complex(in[0]) ? arrjit_imag(g, in[0]) : constant(g, in[0], 0);
}

bool stablehlo_complex(case_op *op) {
  static const struct {
    const char *name;
    composition *compose;
    bool any; /* of real numbers too */
  } compositions[] = {{"chlo.square", compose_square, true}, {"minimum", compose_min, false},
                      {"maximum", compose_max, false},       {"atan2", compose_atan2, false},
                      {"cbrt", compose_cbrt, false},         {"real", compose_real, true},
                      {"imag", compose_imag, true}};
  for (size_t i = 0; i < TK_COUNT(compositions) && op->in_count > 0; i++) {
    if (strcmp(compositions[i].name, op->name) != 0 || (!compositions[i].any && !is_complex(op->in[0]))) continue;
    op->out[0] = compositions[i].compose(op->g, op->in);
    return true;
  }
  return false;
}
