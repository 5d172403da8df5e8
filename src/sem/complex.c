/* Which ops are done on parts, and how: arithmetic, conversions, reductions. Functions are in complex_*.c. */
#include "sem/complex.h"

/* ---- arithmetic ---- */

static V part_const(aj_expander *b, V like, double value) {
  return x_dtype(like) == ARRJIT_F32 ? x_f32(b, (float)value) : x_f64(b, value);
}

static aj_parts split_add(aj_expander *b, const aj_parts *x) {
  return (aj_parts){x_add(b, x[0].re, x[1].re), x_add(b, x[0].im, x[1].im)};
}
static aj_parts split_sub(aj_expander *b, const aj_parts *x) {
  return (aj_parts){x_sub(b, x[0].re, x[1].re), x_sub(b, x[0].im, x[1].im)};
}
static aj_parts split_neg(aj_expander *b, const aj_parts *x) { return (aj_parts){x_neg(b, x->re), x_neg(b, x->im)}; }
static aj_parts split_conj(aj_expander *b, const aj_parts *x) { return (aj_parts){x->re, x_neg(b, x->im)}; }

aj_parts aj_complex_mul(aj_expander *b, const aj_parts *x) {
  V re = x_sub(b, x_mul(b, x[0].re, x[1].re), x_mul(b, x[0].im, x[1].im));
  return (aj_parts){re, x_add(b, x_mul(b, x[0].re, x[1].im), x_mul(b, x[0].im, x[1].re))};
}

/* 2^-(k + 1) for a magnitude of 2^k to 2^(k + 1): its exponent field turned round. Bounded so that it is a normal
 * number: what is scaled by it lies between 2^-23 (2^-52) and 4, mostly from 1/2 to 1, but for 0, infinity and NaN. */
static V get_scale(aj_expander *b, V magnitude) {
  bool narrow = x_dtype(magnitude) == ARRJIT_F32;
  arrjit_dtype bits = narrow ? ARRJIT_U32 : ARRJIT_U64;
  int mantissa = narrow ? 23 : 52;
  const uint64_t top = (uint64_t)(narrow ? 0xfc : 0x7fc) << mantissa, turned = top + (UINT64_C(1) << mantissa);
  V field = aj_expand_const(b, bits, &(uint64_t){~UINT64_C(0) << mantissa}); /* little-endian: the low bytes */
  V most = aj_expand_const(b, bits, &top);
  V exponent = x_and(b, x_bitcast(b, x_abs(b, magnitude), bits), field);
  exponent = x_min(b, exponent, most);
  return x_bitcast(b, x_sub(b, aj_expand_const(b, bits, &turned), exponent), x_dtype(magnitude));
}

/* x / y as x conj(y) / |y|^2 of both scaled, so that nothing on the way leaves the range unless the quotient about
 * does. */
static aj_parts split_div(aj_expander *b, const aj_parts *x) {
  V scale = get_scale(b, x_max(b, x_abs(b, x[1].re), x_abs(b, x[1].im)));
  V p = x_mul(b, x[0].re, scale), q = x_mul(b, x[0].im, scale);
  V r = x_mul(b, x[1].re, scale), s = x_mul(b, x[1].im, scale);
  V square = x_add(b, x_mul(b, r, r), x_mul(b, s, s));
  V re = x_add(b, x_mul(b, p, r), x_mul(b, q, s)), im = x_sub(b, x_mul(b, q, r), x_mul(b, p, s));
  return (aj_parts){x_div(b, re, square), x_div(b, im, square)};
}

static aj_parts split_abs(aj_expander *b, const aj_parts *x) { return (aj_parts){x_hypot(b, x->re, x->im), NULL}; }
static aj_parts split_eq(aj_expander *b, const aj_parts *x) {
  return (aj_parts){x_and(b, x_eq(b, x[0].re, x[1].re), x_eq(b, x[0].im, x[1].im)), NULL};
}
static aj_parts split_ne(aj_expander *b, const aj_parts *x) {
  return (aj_parts){x_or(b, x_ne(b, x[0].re, x[1].re), x_ne(b, x[0].im, x[1].im)), NULL};
}

aj_parts aj_complex_sign(aj_expander *b, const aj_parts *x) {
  V size = x_max(b, x_abs(b, x->re), x_abs(b, x->im)), scale = get_scale(b, size);
  V re = x_mul(b, x->re, scale), im = x_mul(b, x->im, scale), length = x_hypot(b, re, im);
  V zero = x_eq(b, size, x_f64(b, 0.0));
  return (aj_parts){x_select(b, zero, x->re, x_div(b, re, length)), x_select(b, zero, x->im, x_div(b, im, length))};
}

/* ---- taking apart, putting together, converting ---- */

static aj_parts split_real(aj_expander *b, const aj_parts *x) { return (void)b, (aj_parts){x->re, NULL}; }
static aj_parts split_imag(aj_expander *b, const aj_parts *x) { return (void)b, (aj_parts){x->im, NULL}; }
static aj_parts split_complex(aj_expander *b, const aj_parts *x) { return (void)b, (aj_parts){x[0].re, x[1].re}; }

static aj_parts split_convert(aj_expander *b, const aj_node *node, const aj_parts *x) {
  arrjit_dtype to = node->results[0].type->dtype, part = aj_dtype_part(to);
  V re = x_convert(b, x->re, part);
  if (!aj_dtype_is_complex(to)) return (aj_parts){re, NULL};
  return (aj_parts){re, x->im != NULL ? x_convert(b, x->im, part) : part_const(b, re, 0.0)};
}

static aj_parts split_iota(aj_expander *b, const aj_node *node) {
  arrjit_dtype part = aj_dtype_part(node->results[0].type->dtype);
  const aj_attr attrs[] = {aj_attr_int(AJ_ATTR_DTYPE, (int64_t)part), *aj_node_attr(node, AJ_ATTR_SHAPE),
                           *aj_node_attr(node, AJ_ATTR_AXIS)};
  V re = aj_build1(b->builder, AJ_OP_IOTA, 0, NULL, AJ_COUNT(attrs), attrs);
  return (aj_parts){re, part_const(b, re, 0.0)};
}

/* ---- reductions and products ---- */

static V same_op(aj_expander *b, const aj_node *node, uint32_t count, const V *x) {
  return aj_build1(b->builder, node->op, count, x, node->attr_count, node->attrs);
}

/* Of real and imaginary parts apart: sums. Operands that are no complex numbers, as indices, are of both. */
static aj_parts split_apart(aj_expander *b, const aj_node *node, const aj_parts *x) {
  V re[3], im[3];
  AJ_ASSERT(node->operand_count <= AJ_COUNT(re));
  for (uint32_t i = 0; i < node->operand_count; i++) {
    re[i] = x[i].re;
    im[i] = x[i].im != NULL ? x[i].im : x[i].re;
  }
  V real = same_op(b, node, node->operand_count, re);
  return (aj_parts){real, same_op(b, node, node->operand_count, im)};
}

static aj_parts split_dot(aj_expander *b, const aj_node *node, const aj_parts *x) {
  V parts[2][2];
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 2; k++)
      parts[i][k] = same_op(b, node, 2, (V[]){i == 0 ? x[0].re : x[0].im, k == 0 ? x[1].re : x[1].im});
  V re = x_sub(b, parts[0][0], parts[1][1]);
  return (aj_parts){re, x_add(b, parts[0][1], parts[1][0])};
}

/* A combiner of (older, newer), both in parts, that multiplies. */
static aj_region *make_multiplier(aj_expander *b, const aj_type *part) {
  aj_builder *builder = b->builder;
  aj_region *region = aj_region_create(builder->func, NULL, 0), *outside = builder->region;
  const aj_type *scalar = region == NULL ? NULL : aj_module_type(builder->module, part->dtype, 0, NULL),
                *shape = b->shape;
  V param[4];
  for (int i = 0; i < 4; i++)
    if (scalar == NULL || (param[i] = aj_region_add_param(region, scalar)) == NULL)
      return aj_builder_no_memory(builder), NULL;
  builder->region = region;
  b->shape = scalar;
  aj_parts product = aj_complex_mul(b, (aj_parts[]){{param[0], param[1]}, {param[2], param[3]}});
  if (product.im != NULL) {
    aj_expand_order(b, region, 0, 2, (V[]){product.re, product.im});
    (void)aj_build(builder, AJ_OP_YIELD, 2, (V[]){product.re, product.im}, 0, NULL);
  }
  region->closed = true;
  builder->region = outside;
  b->shape = shape;
  return region;
}

/* reduce and cumulative of pairs of parts in their fixed order; a product over axes joins 1 from the left. */
static aj_parts split_product(aj_expander *b, const aj_node *node, const aj_parts *x) {
  bool reduces = node->op == AJ_OP_REDUCE_PROD;
  if (x->im == NULL) return (aj_parts){NULL, NULL};
  aj_region *region = make_multiplier(b, x->re->type);
  V operands[4] = {x->re, x->im};
  aj_attr attrs[3] = {aj_attr_int(AJ_ATTR_ARGS, 2)};
  if (reduces) {
    const float one[2] = {1, 0};
    const double wide[2] = {1, 0};
    bool narrow = x_dtype(x->re) == ARRJIT_F32;
    for (int i = 0; i < 2; i++)
      operands[2 + i] = aj_build_scalar(b->builder, x_dtype(x->re), narrow ? (const void *)&one[i] : &wide[i]);
    attrs[1] = *aj_node_attr(node, AJ_ATTR_AXES);
  } else {
    attrs[1] = *aj_node_attr(node, AJ_ATTR_AXIS);
    attrs[2] = *aj_node_attr(node, AJ_ATTR_REVERSE);
  }
  if (region == NULL || !aj_builder_ok(b->builder)) return (aj_parts){NULL, NULL};
  aj_node *made = aj_build_regions(b->builder, reduces ? AJ_OP_REDUCE : AJ_OP_CUMULATIVE, reduces ? 4 : 2, operands,
                                   reduces ? 2 : 3, attrs, 1, &region);
  return made == NULL ? (aj_parts){NULL, NULL} : (aj_parts){&made->results[0], &made->results[1]};
}

/* ---- the table ---- */

typedef struct splitting {
  aj_split_function *plain, *wide; /* on the parts as they are; on parts of f64 */
  aj_parts (*whole)(aj_expander *b, const aj_node *node, const aj_parts *x); /* looks at attributes */
} splitting;
static const splitting splittings[AJ_OP_COUNT] = {
    [AJ_OP_ADD] = {.plain = split_add},
    [AJ_OP_SUB] = {.plain = split_sub},
    [AJ_OP_MUL] = {.plain = aj_complex_mul},
    [AJ_OP_DIV] = {.plain = split_div},
    [AJ_OP_NEG] = {.plain = split_neg},
    [AJ_OP_CONJ] = {.plain = split_conj},
    [AJ_OP_ABS] = {.plain = split_abs},
    [AJ_OP_EQ] = {.plain = split_eq},
    [AJ_OP_NE] = {.plain = split_ne},
    [AJ_OP_REAL] = {.plain = split_real},
    [AJ_OP_IMAG] = {.plain = split_imag},
    [AJ_OP_COMPLEX] = {.plain = split_complex},
    [AJ_OP_SIGN] = {.wide = aj_complex_sign},
    [AJ_OP_EXP] = {.wide = aj_complex_exp},
    [AJ_OP_EXPM1] = {.wide = aj_complex_expm1},
    [AJ_OP_LOG] = {.wide = aj_complex_log},
    [AJ_OP_LOG1P] = {.wide = aj_complex_log1p},
    [AJ_OP_SQRT] = {.wide = aj_complex_sqrt},
    [AJ_OP_RSQRT] = {.wide = aj_complex_rsqrt},
    [AJ_OP_SIN] = {.wide = aj_complex_sin},
    [AJ_OP_COS] = {.wide = aj_complex_cos},
    [AJ_OP_TAN] = {.wide = aj_complex_tan},
    [AJ_OP_SINH] = {.wide = aj_complex_sinh},
    [AJ_OP_COSH] = {.wide = aj_complex_cosh},
    [AJ_OP_TANH] = {.wide = aj_complex_tanh},
    [AJ_OP_ASIN] = {.wide = aj_complex_asin},
    [AJ_OP_ACOS] = {.wide = aj_complex_acos},
    [AJ_OP_ATAN] = {.wide = aj_complex_atan},
    [AJ_OP_ASINH] = {.wide = aj_complex_asinh},
    [AJ_OP_ACOSH] = {.wide = aj_complex_acosh},
    [AJ_OP_ATANH] = {.wide = aj_complex_atanh},
    [AJ_OP_LOGISTIC] = {.wide = aj_complex_logistic},
    [AJ_OP_POW] = {.wide = aj_complex_pow},
    [AJ_OP_CONVERT] = {.whole = split_convert},
    [AJ_OP_REDUCE_SUM] = {.whole = split_apart},
    [AJ_OP_CUMSUM] = {.whole = split_apart},
    [AJ_OP_SCATTER_ADD] = {.whole = split_apart},
    [AJ_OP_MEAN] = {.whole = split_apart},
    [AJ_OP_DOT] = {.whole = split_dot},
    [AJ_OP_REDUCE_PROD] = {.whole = split_product},
    [AJ_OP_CUMPROD] = {.whole = split_product},
};

static bool is_complex(const aj_value *value) { return aj_dtype_is_complex(value->type->dtype); }

bool aj_sem_splits(const aj_node *node) {
  const splitting *s = &splittings[node->op];
  if (node->result_count != 1) return false;
  if (node->op == AJ_OP_IOTA) return is_complex(&node->results[0]);
  if (s->plain == NULL && s->wide == NULL && s->whole == NULL) return false;
  return is_complex(&node->results[0]) || is_complex(node->operands[0]);
}

uint32_t aj_sem_split_needs(const aj_node *node) {
  arrjit_dtype to = node->results[0].type->dtype;
  bool drops = node->op == AJ_OP_CONVERT && !aj_dtype_is_complex(to);
  return node->op == AJ_OP_IMAG ? 2 : node->op == AJ_OP_REAL || drops ? 1 : 3;
}

static aj_parts split_wide(aj_expander *b, const aj_node *node, const aj_parts *x) {
  aj_parts wide[AJ_EXPAND_OPERANDS] = {{NULL, NULL}};
  arrjit_dtype part = aj_dtype_part(node->results[0].type->dtype);
  AJ_ASSERT(node->operand_count <= AJ_COUNT(wide));
  b->narrow = part != ARRJIT_F64;
  if (!b->narrow) return splittings[node->op].wide(b, x);
  for (uint32_t i = 0; i < node->operand_count; i++)
    wide[i] = (aj_parts){x_convert(b, x[i].re, ARRJIT_F64), x_convert(b, x[i].im, ARRJIT_F64)};
  aj_parts out = splittings[node->op].wide(b, wide);
  return (aj_parts){x_convert(b, out.re, part), x_convert(b, out.im, part)};
}

bool aj_sem_split(aj_builder *b, const aj_node *node, const aj_parts *x, aj_parts *out) {
  const splitting *s = &splittings[node->op];
  uint32_t first = b->region->node_count;
  aj_expander expander = {.builder = b, .shape = node->results[0].type};
  if (node->op == AJ_OP_IOTA)
    *out = split_iota(&expander, node);
  else if (s->whole != NULL)
    *out = s->whole(&expander, node, x);
  else
    *out = s->wide != NULL ? split_wide(&expander, node, x) : s->plain(&expander, x);
  if (!aj_builder_ok(b)) return false;
  if (b->region->node_count > first)
    aj_expand_order(&expander, b->region, first, out->im != NULL ? 2 : 1, (V[]){out->re, out->im});
  return true;
}
