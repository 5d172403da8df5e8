/* Cases from the numeric part of WebAssembly's test suite: each instruction becomes the library's op of the same
 * meaning. WebAssembly has no unsigned types, so unsigned instructions bitcast; what traps there are our checked ops. A
 * case with a scalar `if` is run once a lane on scalars, any other on all lanes at once. */
#include "wasm.h"

#include <stdlib.h>
#include <string.h>

typedef struct wasm_case {
  corpus_run *run;
  const json_t *json;
  arrjit_graph *graph;
  arrjit_value *values; /* by id */
  size_t value_count;
  bool by_lane;
} wasm_case;

static arrjit_value *value_at(wasm_case *c, json_int_t id) {
  size_t need = (size_t)id + 1;
  if (need > c->value_count) {
    c->values = tk_grow(c->values, need, sizeof *c->values);
    memset(c->values + c->value_count, 0, (need - c->value_count) * sizeof *c->values);
    c->value_count = need;
  }
  return &c->values[id];
}

static arrjit_dtype dtype_of(arrjit_value value) { return arrjit_value_type(value).dtype; }

static arrjit_value to_i32(arrjit_graph *g, arrjit_value truth) { return arrjit_convert(g, truth, ARRJIT_I32); }
static arrjit_dtype unsigned_of(arrjit_dtype dtype) { return dtype == ARRJIT_I64 ? ARRJIT_U64 : ARRJIT_U32; }
static arrjit_value to_unsigned(arrjit_graph *g, arrjit_value x) {
  return arrjit_bitcast(g, x, unsigned_of(dtype_of(x)));
}
static arrjit_value to_signed(arrjit_graph *g, arrjit_value x) {
  return arrjit_bitcast(g, x, dtype_of(x) == ARRJIT_U64 ? ARRJIT_I64 : ARRJIT_I32);
}
static arrjit_value like(arrjit_graph *g, arrjit_value x, double k) { return arrjit_const_like(g, x, k); }
static double width_of(arrjit_value x) { return dtype_of(x) == ARRJIT_I64 ? 64 : 32; }
/* A shift count, modulo the width. */
static arrjit_value count_of(arrjit_graph *g, arrjit_value n) { return arrjit_and(g, n, like(g, n, width_of(n) - 1)); }
static arrjit_value sign_extend(arrjit_graph *g, arrjit_value x, double bits) {
  arrjit_value by = like(g, x, width_of(x) - bits);
  return arrjit_shr_arith(g, arrjit_shl(g, x, by), by);
}

/* Instructions whose meaning is an op's; the same for every type. */
static const struct {
  const char *name;
  arrjit_value (*build)(arrjit_graph *, arrjit_value);
} unary[] = {
    {"neg", (arrjit_neg)},   {"abs", (arrjit_abs)},        {"sqrt", (arrjit_sqrt)},          {"floor", (arrjit_floor)},
    {"ceil", (arrjit_ceil)}, {"trunc", (arrjit_trunc)},    {"nearest", (arrjit_round_even)}, {"clz", (arrjit_clz)},
    {"ctz", (arrjit_ctz)},   {"popcnt", (arrjit_popcount)}};
/* `how`: as it stands; as a comparison; on unsigned operands with an unsigned result; that and a comparison. */
enum { PLAIN, COMPARE, UNSIGNED, UNSIGNED_COMPARE };
static const struct {
  const char *name;
  arrjit_value (*build)(arrjit_graph *, arrjit_value, arrjit_value);
  int how;
} binary[] = {
    {"add", (arrjit_add), PLAIN},
    {"sub", (arrjit_sub), PLAIN},
    {"mul", (arrjit_mul), PLAIN},
    {"div", (arrjit_div), PLAIN},
    {"div_s", (arrjit_checked_div), PLAIN},
    {"div_u", (arrjit_checked_div), UNSIGNED},
    {"rem_s", (arrjit_checked_rem), PLAIN},
    {"rem_u", (arrjit_checked_rem), UNSIGNED},
    {"and", (arrjit_and), PLAIN},
    {"or", (arrjit_or), PLAIN},
    {"xor", (arrjit_xor), PLAIN},
    {"min", (arrjit_min), PLAIN},
    {"max", (arrjit_max), PLAIN},
    {"copysign", (arrjit_copysign), PLAIN},
    {"eq", (arrjit_eq), COMPARE},
    {"ne", (arrjit_ne), COMPARE},
    {"lt", (arrjit_lt), COMPARE},
    {"le", (arrjit_le), COMPARE},
    {"gt", (arrjit_gt), COMPARE},
    {"ge", (arrjit_ge), COMPARE},
    {"lt_s", (arrjit_lt), COMPARE},
    {"le_s", (arrjit_le), COMPARE},
    {"gt_s", (arrjit_gt), COMPARE},
    {"ge_s", (arrjit_ge), COMPARE},
    {"lt_u", (arrjit_lt), UNSIGNED_COMPARE},
    {"le_u", (arrjit_le), UNSIGNED_COMPARE},
    {"gt_u", (arrjit_gt), UNSIGNED_COMPARE},
    {"ge_u", (arrjit_ge), UNSIGNED_COMPARE},
};

/* NULL: no such instruction, and nothing was built. */
static arrjit_value build_binary(arrjit_graph *g, const char *name, arrjit_value x, arrjit_value y) {
  for (size_t i = 0; i < TK_COUNT(binary); i++) {
    if (strcmp(binary[i].name, name) != 0) continue;
    bool is_unsigned = binary[i].how == UNSIGNED || binary[i].how == UNSIGNED_COMPARE;
    if (is_unsigned) x = to_unsigned(g, x), y = to_unsigned(g, y);
    arrjit_value made = binary[i].build(g, x, y);
    if (binary[i].how == PLAIN) return made;
    return binary[i].how == UNSIGNED ? to_signed(g, made) : to_i32(g, made);
  }
  if (strcmp(name, "shl") == 0) return arrjit_shl(g, x, count_of(g, y));
  if (strcmp(name, "shr_s") == 0) return arrjit_shr_arith(g, x, count_of(g, y));
  if (strcmp(name, "shr_u") == 0) return arrjit_shr_logical(g, x, count_of(g, y));
  if (strcmp(name, "rotl") == 0) return arrjit_rotl(g, x, count_of(g, y));
  if (strcmp(name, "rotr") == 0) return arrjit_rotl(g, x, arrjit_sub(g, like(g, y, width_of(y)), count_of(g, y)));
  return NULL;
}

/* Conversions: `to` is the instruction's own type. Unsigned ones end in "_u". */
static arrjit_value build_conversion(arrjit_graph *g, const char *name, arrjit_dtype to, arrjit_value x) {
  bool is_unsigned = strcmp(name + strlen(name) - 2, "_u") == 0;
  if (strncmp(name, "trunc_sat_", 10) == 0)
    return is_unsigned ? to_signed(g, arrjit_convert(g, x, unsigned_of(to))) : arrjit_convert(g, x, to);
  if (strncmp(name, "trunc_", 6) == 0)
    return is_unsigned ? to_signed(g, arrjit_checked_convert(g, x, unsigned_of(to))) : arrjit_checked_convert(g, x, to);
  if (strncmp(name, "reinterpret_", 12) == 0) return arrjit_bitcast(g, x, to);
  if (strncmp(name, "convert_", 8) == 0 || strncmp(name, "extend_", 7) == 0)
    return arrjit_convert(g, is_unsigned ? to_unsigned(g, x) : x, to);
  if (strncmp(name, "promote_", 8) == 0 || strncmp(name, "demote_", 7) == 0 || strncmp(name, "wrap_", 5) == 0)
    return arrjit_convert(g, x, to);
  return NULL;
}

static arrjit_value build_unary(arrjit_graph *g, const char *name, arrjit_dtype to, arrjit_value x) {
  for (size_t i = 0; i < TK_COUNT(unary); i++)
    if (strcmp(unary[i].name, name) == 0) return unary[i].build(g, x);
  if (strcmp(name, "eqz") == 0) return to_i32(g, arrjit_eq(g, x, like(g, x, 0)));
  if (strcmp(name, "extend8_s") == 0) return sign_extend(g, x, 8);
  if (strcmp(name, "extend16_s") == 0) return sign_extend(g, x, 16);
  if (strcmp(name, "extend32_s") == 0) return sign_extend(g, x, 32);
  return build_conversion(g, name, to, x);
}

/* All that are not in the table and have one operand begin in one of these ways. */
static bool is_unary(const char *name) {
  static const char *const starts[] = {"eqz",      "extend",  "trunc_", "convert_",
                                       "promote_", "demote_", "wrap_",  "reinterpret_"};
  for (size_t i = 0; i < TK_COUNT(unary); i++)
    if (strcmp(unary[i].name, name) == 0) return true;
  for (size_t i = 0; i < TK_COUNT(starts); i++)
    if (strncmp(name, starts[i], strlen(starts[i])) == 0) return true;
  return false;
}

size_t wasm_arity(const char *name) {
  bool numeric = strlen(name) > 4 && (name[0] == 'i' || name[0] == 'f') && name[3] == '.';
  return !numeric ? 0 : is_unary(name + 4) ? 1 : 2;
}

arrjit_value wasm_build(arrjit_graph *graph, const char *name, const arrjit_value *operands) {
  char type[4] = {name[0], name[1], name[2], 0};
  return wasm_arity(name) == 1 ? build_unary(graph, name + 4, tk_dtype_find(type), operands[0])
                               : build_binary(graph, name + 4, operands[0], operands[1]);
}

static arrjit_value build_const(wasm_case *c, const json_t *op) {
  const json_t *value = json_object_get(json_object_get(op, "a"), "value");
  arrjit_type type = {.dtype = tk_dtype_find(json_string_value(json_object_get(op, "ty")))};
  uint64_t element = 0;
  if (json_is_array(value)) value = json_array_get(value, 0);
  return tk_element_read(value, type.dtype, &element) ? arrjit_const(c->graph, &type, &element) : NULL;
}

static bool build_ops(wasm_case *c, const json_t *ops);

/* An arm with its one result; NULL: something in it is unknown. The arms of these cases hold no further `if`. */
static arrjit_value build_arm(wasm_case *c, const json_t *region) {
  if (!build_ops(c, json_object_get(region, "ops"))) return NULL;
  return *value_at(c, json_integer_value(json_array_get(json_object_get(region, "ret"), 0)));
}

static arrjit_value build_if(wasm_case *c, const json_t *op, arrjit_value pred) {
  const json_t *regions = json_object_get(op, "r");
  arrjit_value out = NULL;
  arrjit_if_begin(c->graph, arrjit_ne(c->graph, pred, like(c->graph, pred, 0)));
  arrjit_value then_value = build_arm(c, json_array_get(regions, 0));
  arrjit_if_else(c->graph, 1, &then_value);
  arrjit_value else_value = build_arm(c, json_array_get(regions, 1));
  arrjit_if_end(c->graph, 1, &else_value, &out);
  return out;
}

static arrjit_value build_op(wasm_case *c, const json_t *op) {
  const char *name = json_string_value(json_object_get(op, "op"));
  const json_t *in = json_object_get(op, "in");
  arrjit_value x[3] = {NULL, NULL, NULL};
  size_t count = json_array_size(in);
  if (!name || count > TK_COUNT(x)) return NULL;
  for (size_t i = 0; i < count; i++) x[i] = *value_at(c, json_integer_value(json_array_get(in, i)));
  if (strcmp(name, "const") == 0) return build_const(c, op);
  if (strcmp(name, "if") == 0) return build_if(c, op, x[0]);
  if (strcmp(name, "select") == 0)
    return arrjit_select(c->graph, arrjit_ne(c->graph, x[2], like(c->graph, x[2], 0)), x[0], x[1]);
  return wasm_arity(name) == count ? wasm_build(c->graph, name, x) : NULL;
}

static bool build_ops(wasm_case *c, const json_t *ops) {
  for (size_t i = 0; i < json_array_size(ops); i++) {
    const json_t *op = json_array_get(ops, i);
    arrjit_value made = build_op(c, op);
    if (!made && arrjit_graph_error(c->graph, NULL) == ARRJIT_OK) {
      corpus_say(c->run, FAILED, "instruction %s is not known here", json_string_value(json_object_get(op, "op")));
      return false;
    }
    *value_at(c, json_integer_value(json_array_get(json_object_get(op, "out"), 0))) = made;
  }
  return true;
}

static const json_t *inputs_of(const wasm_case *c) { return json_object_get(c->json, "inputs"); }
static const json_t *checks_of(const wasm_case *c) { return json_object_get(c->json, "checks"); }

/* Extent of the lanes of check `i`; -1: the wanted value is a scalar. */
static int64_t lanes_wanted(const wasm_case *c, size_t i) {
  const json_t *shape = json_object_get(json_object_get(json_array_get(checks_of(c), i), "want"), "s");
  return json_array_size(shape) == 1 ? json_integer_value(json_array_get(shape, 0)) : -1;
}

/* The value of check `i` or, where the program must trap, of the last op. An answer that depends on no input is the
 * same in all lanes. */
static arrjit_value result_of(wasm_case *c, size_t i) {
  const json_t *ops = json_object_get(c->json, "ops"), *check = json_array_get(checks_of(c), i);
  const json_t *last = json_array_get(ops, json_array_size(ops) - 1);
  const json_t *id = check ? json_object_get(check, "x") : json_array_get(json_object_get(last, "out"), 0);
  arrjit_value value = *value_at(c, json_integer_value(id));
  int64_t lanes = check ? lanes_wanted(c, i) : -1;
  if (c->by_lane || lanes < 0 || arrjit_value_type(value).rank != 0) return value;
  return arrjit_full(c->graph, value, 1, &lanes);
}

static arrjit_function *build(wasm_case *c) {
  arrjit_error error;
  arrjit_function *function = NULL;
  if (arrjit_graph_create(c->run->context, &c->graph, &error) != ARRJIT_OK) tk_die("no graph: %s", error.message);
  for (size_t i = 0; i < json_array_size(inputs_of(c)); i++) {
    const json_t *input = json_array_get(inputs_of(c), i);
    int64_t lanes = json_integer_value(json_array_get(json_object_get(input, "s"), 0));
    arrjit_dtype dtype = tk_dtype_find(json_string_value(json_object_get(input, "d")));
    arrjit_type type = arrjit_type_make(dtype, c->by_lane ? 0 : 1, &lanes);
    *value_at(c, json_integer_value(json_object_get(input, "id"))) = arrjit_param(c->graph, "", &type);
  }
  if (build_ops(c, json_object_get(c->json, "ops"))) {
    size_t count = json_array_size(checks_of(c)) ? json_array_size(checks_of(c)) : 1;
    arrjit_value *results = tk_new(count, sizeof *results);
    for (size_t i = 0; i < count; i++) results[i] = result_of(c, i);
    arrjit_return(c->graph, count, results, NULL);
    free(results);
    if (arrjit_graph_finish(c->graph, &function, &error) != ARRJIT_OK)
      corpus_say(c->run, FAILED, "finish: %s", error.message);
  }
  arrjit_graph_destroy(c->graph);
  return function;
}

/* Input `i` of the case: all lanes, or the one. */
static arrjit_array *input_at(wasm_case *c, size_t i, size_t lane) {
  tk_block block;
  arrjit_array *array = NULL;
  if (!tk_tensor_read(json_array_get(inputs_of(c), i), &block, c->run->why, sizeof c->run->why)) return NULL;
  size_t width = arrjit_dtype_bytes(block.type.dtype);
  arrjit_type type = block.type;
  if (c->by_lane) type.rank = 0;
  const void *data = c->by_lane ? block.data + lane * width : block.data;
  if (arrjit_array_create(c->run->context, &type, data, &array, NULL) != ARRJIT_OK) tk_die("no array");
  free(block.data);
  return array;
}

static bool execute(wasm_case *c, arrjit_function *function, size_t lane, tk_outcome *out) {
  size_t count = json_array_size(inputs_of(c)), made = 0;
  arrjit_array **inputs = tk_new(count, sizeof *inputs);
  while (made < count && (inputs[made] = input_at(c, made, lane))) made++;
  bool ran = made == count && corpus_execute(c->run, function, count, inputs, out);
  for (size_t i = 0; i < made; i++) arrjit_array_release(inputs[i]);
  free(inputs);
  return ran;
}

static verdict judge_trap(wasm_case *c, const char *trap, const tk_outcome *o) {
  static const struct {
    const char *text;
    int64_t code;
  } codes[] = {{"integer divide by zero", 1}, {"integer overflow", 2}, {"invalid conversion to integer", 3}};
  if (o->ok) return corpus_say(c->run, FAILED, "no failure where '%s' was expected", trap);
  for (size_t i = 0; i < TK_COUNT(codes); i++)
    if (strcmp(codes[i].text, trap) == 0 && o->kind == ARRJIT_KIND_ARITH && o->code == codes[i].code) return PASSED;
  return corpus_say(c->run, FAILED, "kind %s, code %lld where '%s' was expected", o->kind_name, (long long)o->code,
                    trap);
}

/* Runs all lanes, together or one by one, and puts each result's lanes together. */
static verdict run_and_judge(wasm_case *c, arrjit_function *function) {
  const char *trap = json_string_value(json_object_get(c->json, "traps"));
  size_t results = json_array_size(checks_of(c));
  int64_t wanted = results ? lanes_wanted(c, 0) : -1;
  size_t lanes = c->by_lane && wanted > 0 ? (size_t)wanted : 1;
  tk_block *got = tk_new(results, sizeof *got);
  verdict v = PASSED;
  for (size_t lane = 0; v == PASSED && lane < lanes; lane++) {
    tk_outcome o = {0};
    if (!execute(c, function, lane, &o)) {
      v = FAILED;
    } else if (trap) {
      v = judge_trap(c, trap, &o);
    } else if (!o.ok) {
      v = corpus_say(c->run, FAILED, "failed: %s: %s", o.kind_name, o.message);
    }
    for (size_t i = 0; v == PASSED && !trap && i < results; i++) {
      const tk_block *one = &o.outputs[i];
      if (lane == 0) got[i].type = one->type;
      if (c->by_lane && wanted > 0) got[i].type = arrjit_type_make(one->type.dtype, 1, &wanted);
      got[i].data = tk_grow(got[i].data, got[i].bytes + one->bytes + 1, 1);
      memcpy(got[i].data + got[i].bytes, one->data, one->bytes);
      got[i].bytes += one->bytes;
    }
    tk_outcome_free(&o);
  }
  for (size_t i = 0; i < results; i++) {
    if (v == PASSED && !trap && !corpus_match_bits(c->run, json_array_get(checks_of(c), i), &got[i])) v = FAILED;
    free(got[i].data);
  }
  free(got);
  return v;
}

verdict corpus_wasm_numeric(corpus_run *run, const json_t *one) {
  wasm_case c = {.run = run, .json = one};
  const json_t *tags = json_object_get(one, "feat");
  for (size_t i = 0; i < json_array_size(tags); i++)
    if (strcmp(json_string_value(json_array_get(tags, i)), "if") == 0) c.by_lane = true;
  arrjit_function *function = build(&c);
  verdict v = function ? run_and_judge(&c, function) : FAILED;
  arrjit_function_release(function);
  free(c.values);
  return v;
}
