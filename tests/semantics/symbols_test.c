/* Every op that computes arrays, built once with an extent that an argument or a callback brings: at each extent the
 * same bits, shapes and failures as the op built with that number. Where the number is refused while building, the
 * symbol fails when it runs, with kind shape; or nothing is read, as the result has no elements. */
#include "fixture.h"
#include "layout.h"
#include "opcase.h"

enum { STAND_IN = 11, USES = 2 }; /* an extent that uses of ops do not have otherwise */
static const int64_t extents[] = {STAND_IN, 0, 1, 5, 33};

/* What cannot be said of an extent that only a run knows. */
static const struct {
  aj_rule rule;
  const char *part;
} refusals[] = {
    {AJ_R_PAD, "interior padding needs an extent that is a number"}, /* nothing is between the elements of none */
    {AJ_R_WINDOW, "base_dilation needs an extent that is a number"}, /* likewise */
    {AJ_R_CONV, "base_dilation needs an extent that is a number"},
    {AJ_R_CONV, "expected spatial dims that are numbers"}, /* of what a window is: its order of sums follows from it */
    {AJ_R_CONV, "the dim before its last, times groups"},  /* products of extents */
    {AJ_R_CONV, "to be a multiple of groups"},
    {AJ_R_NONE, NULL},
};

static bool may_refuse(aj_op op, const char *message) {
  for (size_t i = 0; refusals[i].part; i++)
    if (refusals[i].rule == aj_ops[op].rule && strstr(message, refusals[i].part)) return true;
  return false;
}

/* As many elements as x has windows, which select_and_scatter wants proved: only the same op on x has such extents. */
static arrjit_value window_sums(arrjit_graph *g, arrjit_value x, arrjit_value init, tk_attrs attrs) {
  for (int i = 0; i < attrs.rank; i++) attrs.base[i] = attrs.spread[i] = 1;
  attrs.variant = 0;
  return tk_build_op(g, AJ_OP_REDUCE_WINDOW, 2, (arrjit_value[]){x, init}, &attrs);
}

/* i8[n] -> i8[?] with as many elements. */
static arrjit_status give_as_many(CALLBACK_ARGS) {
  UNUSED_CALLBACK;
  arrjit_view out;
  return arrjit_call_result(call, 0, args[0].dims, &out);
}

/* The operands again, with the extent that a callback decides on in place of that of x; that extent. */
static int64_t make_late(arrjit_graph *g, const tk_opcase *use, arrjit_value x, arrjit_value *in) {
  int64_t dim = arrjit_value_type(x).dims[0];
  arrjit_slot slot = arrjit_slot_value(g, "give", TYPES(TYPE(I8, dim)), TYPES(TYPE(I8, ARRJIT_DYNAMIC_DIM)), 0);
  arrjit_value given;
  CALLBACK(g, slot, &given, x);
  tk_opcase c = *use;
  dim = arrjit_value_type(given).dims[0];
  tk_opcase_replace(&c, STAND_IN, dim);
  for (size_t i = 0; i < c.count; i++)
    if (c.operands[i].rank) in[i] = arrjit_reshape(g, in[i], c.operands[i].rank, c.operands[i].dims);
  return dim;
}

enum { SYMBOL = -1, LATE = -2 };
/* The use with `extent`, or with an extent that an argument or a callback brings, in place of the stand-in. NULL:
 * refused. */
static arrjit_function *build(tk_fixture *f, const tk_opcase *use, int64_t extent, arrjit_error *error) {
  arrjit_graph *g = tk_graph(f);
  arrjit_function *function = NULL;
  arrjit_value in[TK_MAX_OPERANDS];
  tk_opcase c = *use;
  int64_t dim = extent < 0 ? arrjit_symbol(g, "n") : extent;
  tk_opcase_replace(&c, STAND_IN, dim);
  arrjit_value binds = PARAM(g, "binds", I8, dim); /* of iota and full nothing else does */
  for (size_t i = 0; i < c.count; i++) in[i] = arrjit_param(g, "", &c.operands[i]);
  if (extent == LATE) {
    c = *use;
    tk_opcase_replace(&c, STAND_IN, make_late(g, use, binds, in));
  }
  if (c.op == AJ_OP_SELECT_AND_SCATTER) in[1] = window_sums(g, in[0], in[2], c.attrs);
  arrjit_value made = tk_build_op(g, c.op, c.count, in, &c.attrs);
  arrjit_return(g, 1, &made, NULL);
  if (arrjit_graph_finish(g, &function, error) != ARRJIT_OK) function = NULL;
  arrjit_graph_destroy(g);
  return function;
}

static void print_use(const tk_opcase *use, int64_t extent) {
  fprintf(stderr, "%s, extent %d:", aj_ops[use->op].name, (int)extent);
  for (size_t i = 0; i < use->count; i++) {
    fputc(' ', stderr);
    tk_print_type(stderr, &use->operands[i]);
  }
  fputc('\n', stderr);
}

/* All but the trace: checks of shape have places of their own. */
static bool same(const tk_outcome *a, const tk_outcome *b) {
  if (a->ok != b->ok || a->output_count != b->output_count) return false;
  if (!a->ok) return a->kind == b->kind && a->code == b->code && strcmp(a->message, b->message) == 0;
  for (size_t i = 0; i < a->output_count; i++) {
    const tk_block *x = &a->outputs[i], *y = &b->outputs[i];
    bool alike = x->type.dtype == y->type.dtype && x->type.rank == y->type.rank && x->bytes == y->bytes;
    for (int32_t d = 0; alike && d < x->type.rank; d++) alike = x->type.dims[d] == y->type.dims[d];
    if (!alike || (x->bytes && memcmp(x->data, y->data, x->bytes) != 0)) return false;
  }
  return true;
}

static void make_inputs(tk_fixture *f, const tk_opcase *use, int64_t extent, tk_random *pick, arrjit_array **out) {
  tk_opcase c = *use;
  tk_opcase_replace(&c, STAND_IN, extent);
  out[0] = tk_array(f, TYPE(I8, extent), NULL);
  /* products of symbols have an order of their own: numbers whose sums are exact do not show it */
  bool tame = aj_ops[c.op].rule == AJ_R_DOT || (aj_ops[c.op].flags & AJ_F_RAISES) || tk_chance(pick, 50);
  for (size_t i = 0; i < c.count; i++) {
    size_t count = tk_type_count(&c.operands[i]);
    void *data = tk_new(count, arrjit_dtype_bytes(c.operands[i].dtype));
    tk_fill(c.operands[i].dtype, c.roles[i], c.bounds[i], tame, pick, count, data);
    out[i + 1] = tk_array(f, c.operands[i], data);
    free(data);
  }
}

/* Updates that do not fit are dropped. */
static bool drops(aj_op op) { return aj_ops[op].rule == AJ_R_SCATTER && !(aj_ops[op].flags & AJ_F_RAISES); }

/* Checked ops tell which index does not fit. */
static bool finds(aj_op op, const tk_outcome *o) {
  return (aj_ops[op].flags & AJ_F_RAISES) && o->kind == ARRJIT_KIND_INDEX;
}

static void try_extent(tk_fixture *f, const tk_opcase *use, arrjit_function *symbolic, int64_t extent,
                       tk_random *pick) {
  arrjit_array *in[TK_MAX_OPERANDS + 1];
  arrjit_error error;
  make_inputs(f, use, extent, pick, in);
  arrjit_function *number = build(f, use, extent, &error);
  const tk_outcome *o = tk_run(f, symbolic, use->count + 1, in);
  if (number) {
    tk_outcome want;
    tk_call call = {.input_count = use->count + 1, .inputs = in};
    tk_run_mode(f->context, number, TK_INTERP, &call, &want);
    if (!same(o, &want)) {
      print_use(use, extent);
      fail_msg("with the number: %s; with the symbol: %s", want.ok ? "ok" : want.text, o->ok ? "ok" : o->text);
    }
    tk_outcome_free(&want);
    arrjit_function_release(number);
  } else if (o->ok ? o->outputs[0].bytes > 0 && !drops(use->op) : o->kind != ARRJIT_KIND_SHAPE && !finds(use->op, o)) {
    print_use(use, extent);
    fail_msg("the number is refused: %s; with the symbol: %s", error.message, o->ok ? "ok" : o->text);
  }
}

static bool try_use(tk_fixture *f, const tk_opcase *use, int64_t how, tk_random *pick) {
  arrjit_error error;
  arrjit_function *symbolic = build(f, use, how, &error);
  f->slot_count = 0;
  if (how == LATE) tk_bind(f, "give", give_as_many, NULL);
  if (!symbolic && !may_refuse(use->op, error.message)) {
    print_use(use, how);
    fail_msg("%s", error.message);
  }
  if (!symbolic) return false;
  f->may_fall_back = aj_ops[use->op].lowering == AJ_LOWER_FALLBACK;
  f->calls_lapack = aj_ops[use->op].rule >= AJ_R_CHOLESKY && aj_ops[use->op].rule <= AJ_R_SVD;
  for (size_t i = 0; i < TK_COUNT(extents); i++) try_extent(f, use, symbolic, extents[i], pick);
  arrjit_function_release(symbolic);
  return true;
}

/* One op on one dtype, the stand-in in all places of some shapes. */
static size_t try_op(tk_fixture *f, aj_op op, arrjit_dtype dtype, size_t shapes, tk_random *pick) {
  const arrjit_type types[] = {
      arrjit_type_make(dtype, 1, I64S(STAND_IN)), arrjit_type_make(dtype, 2, I64S(3, STAND_IN)),
      arrjit_type_make(dtype, 2, I64S(STAND_IN, 2)), arrjit_type_make(dtype, 2, I64S(STAND_IN, STAND_IN)),
      arrjit_type_make(dtype, 3, I64S(2, STAND_IN, 3))};
  size_t tried = 0;
  for (size_t s = 0; s < TK_COUNT(types) && s < shapes; s++)
    for (size_t k = 0; k < (shapes > 2 ? USES : 1); k++) {
      tk_opcase use;
      if (!tk_opcase_make(op, &types[s], pick, &use)) continue;
      if (op == AJ_OP_FULL) use.attrs.rank = types[s].rank, memcpy(use.attrs.dims, types[s].dims, sizeof types[s].dims);
      tried += try_use(f, &use, SYMBOL, pick);
      if (k == 0 && s % 2 == 0) tried += try_use(f, &use, LATE, pick);
    }
  return tried;
}

/* Ops of the table for which `wanted` holds. */
static void try_ops(tk_fixture *f, bool (*wanted)(aj_op op)) {
  static const arrjit_dtype dtypes[] = {ARRJIT_F32, ARRJIT_I32, ARRJIT_BF16, ARRJIT_C64, ARRJIT_BOOL};
  tk_random pick = {7};
  for (aj_op op = (aj_op)(AJ_OP_NONE + 1); op < AJ_OP_COUNT; op++) {
    if (!tk_opcase_covers(op) || !wanted(op)) continue;
    bool elementwise = aj_ops[op].flags & AJ_F_ELEMENTWISE;
    size_t tried = 0, most = elementwise || TK_SANITIZED ? 1 : 2; /* dtypes: with sanitizers compiling is slow */
    for (size_t d = 0, taken = 0; d < TK_COUNT(dtypes) && taken < most; d++) {
      if (!tk_opcase_dtype(op, dtypes[d])) continue;
      tried += try_op(f, op, dtypes[d], elementwise ? 2 : 5, &pick);
      taken++;
    }
    if (!tried) fail_msg("%s: never tried", aj_ops[op].name);
  }
}

static bool is_elementwise(aj_op op) { return aj_ops[op].flags & AJ_F_ELEMENTWISE; }
static bool has_regions(aj_op op) { return aj_ops[op].rule == AJ_R_COMBINE || aj_ops[op].rule == AJ_R_WINDOW; }
static bool is_indexing(aj_op op) { return op >= AJ_OP_DYNAMIC_SLICE && op <= AJ_OP_SEARCHSORTED && !has_regions(op); }
static bool is_folding(aj_op op) { return op > AJ_OP_SEARCHSORTED && !is_elementwise(op) && !has_regions(op); }
static bool is_movement(aj_op op) {
  return !is_elementwise(op) && !has_regions(op) && !is_indexing(op) && !is_folding(op);
}

static void test_elementwise_ops_take_symbols(void **state) { try_ops(*state, is_elementwise); }
static void test_creation_and_movement_take_symbols(void **state) { try_ops(*state, is_movement); }
static void test_indexing_and_sorting_take_symbols(void **state) { try_ops(*state, is_indexing); }
static void test_folds_and_products_take_symbols(void **state) { try_ops(*state, is_folding); }
static void test_ops_with_regions_take_symbols(void **state) { try_ops(*state, has_regions); }

static const struct CMUnitTest tests[] = {
    TK_TEST(test_elementwise_ops_take_symbols),      TK_TEST(test_creation_and_movement_take_symbols),
    TK_TEST(test_indexing_and_sorting_take_symbols), TK_TEST(test_folds_and_products_take_symbols),
    TK_TEST(test_ops_with_regions_take_symbols),
};

TEST_MAIN(tests, NULL, NULL)
