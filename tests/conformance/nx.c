/* Nx's calls: the ops of a case one after the other, their results by id, and what must be refused. */
#include "nx.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct nx_tuple {
  json_int_t id;
  size_t count;
  arrjit_value values[CASE_MOST];
} nx_tuple;

typedef struct nx_state {
  size_t tuple_count;
  nx_tuple *tuples;
  bool refused; /* the last op of the case was, as the case demands or not */
} nx_state;

static nx_finder *const areas[] = {nx_elementwise_find, nx_compare_find, nx_create_find, nx_shape_find,
                                   nx_diagonal_find,    nx_index_find,   nx_reduce_find, nx_statistics_find,
                                   nx_window_find,      nx_product_find, nx_linalg_find, nx_random_find,
                                   nx_sample_find,      nx_fft_find};

nx_build *nx_find(const char *name, size_t count, const nx_row *rows) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(rows[i].name, name) == 0) return rows[i].build;
  return NULL;
}

static nx_build *find_build(const char *name) {
  nx_build *build = NULL;
  for (size_t i = 0; i < TK_COUNT(areas) && !build; i++) build = areas[i](name);
  return build;
}

/* ---- refusals ---- */

/* The first word counts: what comes after it follows from null values. */
static void tell(nx_op *op, verdict told, const char *format, va_list args) {
  if (op->told != PASSED) return;
  op->told = told;
  vsnprintf(op->build->run->why, sizeof op->build->run->why, format, args);
}

void nx_raise(nx_op *op, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tell(op, FAILED, format, args);
  va_end(args);
}

void nx_skip(nx_op *op, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tell(op, SKIPPED, format, args);
  va_end(args);
}

/* ---- arguments ---- */

const json_t *nx_arg(const nx_op *op, size_t k) { return json_array_get(op->args, k); }

const json_t *nx_option(const nx_op *op, const char *name) { return json_object_get(op->opts, name); }

int64_t nx_int(const nx_op *op, const char *name, int64_t otherwise) {
  const json_t *value = nx_option(op, name);
  return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

bool nx_flag(const nx_op *op, const char *name, bool otherwise) {
  const json_t *value = nx_option(op, name);
  return json_is_boolean(value) ? json_is_true(value) : otherwise;
}

const char *nx_atom(const json_t *value) {
  const char *text = json_string_value(value);
  return text && *text == ':' ? text + 1 : "";
}

static const json_t *get_list(const json_t *value) {
  const json_t *tuple = json_object_get(value, "tuple");
  return tuple ? tuple : value;
}

size_t nx_count(const json_t *value) { return json_array_size(get_list(value)); }

const json_t *nx_element(const json_t *value, size_t k) { return json_array_get(get_list(value), k); }

size_t nx_ints(const json_t *value, int64_t *out) {
  size_t count = nx_count(value);
  if (json_is_integer(value)) {
    out[0] = json_integer_value(value);
    return 1;
  }
  for (size_t i = 0; i < count && i < CASE_MOST; i++) out[i] = json_integer_value(nx_element(value, i));
  return count < CASE_MOST ? count : CASE_MOST;
}

arrjit_dtype nx_type(nx_op *op, const json_t *value, arrjit_dtype otherwise) {
  char name[16];
  if (!value) return otherwise;
  if (nx_count(value) == 2) { /* {:s, 32} */
    const char *kind = nx_atom(nx_element(value, 0));
    snprintf(name, sizeof name, "%s%d", strcmp(kind, "s") == 0 ? "i" : kind,
             (int)json_integer_value(nx_element(value, 1)));
  } else {
    snprintf(name, sizeof name, "%s", nx_atom(value));
  }
  arrjit_dtype dtype = tk_dtype_find(name);
  if (dtype == ARRJIT_DTYPE_NONE) nx_skip(op, "dtype %s", name);
  return dtype;
}

arrjit_value nx_value(nx_op *op, const json_t *value) {
  const json_t *id = json_object_get(value, "id");
  if (nx_is_literal(value)) return nx_literal(op, value, nx_literal_type(value));
  arrjit_value x = id ? case_get(op->build, json_integer_value(id)) : (arrjit_value)NULL;
  if (!x) nx_raise(op, "%s: an argument is no tensor", op->name);
  return x;
}

arrjit_value nx_tensor(nx_op *op, size_t k) { return nx_value(op, nx_arg(op, k)); }

/* The place behind the element that was visited last is kept by hand: containers nest as a case likes. */
size_t nx_tensors(nx_op *op, const json_t *value, arrjit_value *out) {
  struct {
    const json_t *list;
    size_t at;
  } stack[CASE_MOST] = {{.list = value}};
  size_t depth = 1, count = 0;
  while (depth > 0) {
    const json_t *list = stack[depth - 1].list, *one = nx_element(list, stack[depth - 1].at++);
    if (!one) {
      depth--;
    } else if (nx_count(one) > 0 && depth < CASE_MOST) {
      stack[depth].list = one;
      stack[depth++].at = 0;
    } else if (count < CASE_MOST) {
      out[count++] = nx_value(op, one);
    }
  }
  return count;
}

/* ---- ops ---- */

static void keep_tuple(nx_state *state, json_int_t id, const nx_op *op) {
  state->tuples = tk_grow(state->tuples, state->tuple_count + 1, sizeof *state->tuples);
  nx_tuple *tuple = &state->tuples[state->tuple_count++];
  *tuple = (nx_tuple){.id = id, .count = op->out_count};
  memcpy(tuple->values, op->out, sizeof tuple->values);
}

/* elem(tuple, k) */
static void take_element(const nx_state *state, nx_op *op) {
  json_int_t id = json_integer_value(json_object_get(nx_arg(op, 0), "id"));
  size_t k = (size_t)json_integer_value(nx_arg(op, 1));
  for (size_t i = 0; i < state->tuple_count; i++)
    if (state->tuples[i].id == id && k < state->tuples[i].count) op->out[0] = state->tuples[i].values[k];
  if (!op->out[0]) nx_skip(op, "an element that the tuple has not");
}

static verdict build_op(case_build *b, const json_t *one) {
  nx_state *state = b->user;
  json_int_t id = json_integer_value(json_object_get(one, "out"));
  nx_op op = {.build = b,
              .g = b->graph,
              .name = json_string_value(json_object_get(one, "op")),
              .args = json_object_get(one, "args"),
              .opts = json_object_get(one, "opts"),
              .out_count = 1};
  nx_build *build = find_build(op.name);
  arrjit_error error;
  if (strcmp(op.name, "elem") == 0)
    take_element(state, &op);
  else if (build)
    build(&op);
  else
    nx_skip(&op, "op %s", op.name);
  if (op.told == PASSED && arrjit_graph_error(b->graph, &error) != ARRJIT_OK)
    nx_raise(&op, "%s: %s", op.name, error.message);
  state->refused = op.told == FAILED;
  if (op.out_count == 1)
    case_set(b, id, op.out[0]);
  else
    keep_tuple(state, id, &op);
  return op.told;
}

/* A refused case ends here: only its last op may be refused. */
static verdict build_all(case_build *b, const json_t *ops) {
  nx_state *state = b->user;
  size_t count = json_array_size(ops);
  for (size_t i = 0; i < count; i++) {
    verdict v = build_op(b, json_array_get(ops, i));
    if (i + 1 < count) state->refused = false;
    if (v != PASSED) return v;
  }
  return PASSED;
}

/* In Nx's own words, so that nothing else that goes wrong is taken for it. */
static verdict judge_refusal(corpus_run *run, const nx_state *state, verdict v, const char *raises) {
  if (v == SKIPPED) return SKIPPED;
  if (v == PASSED) return corpus_say(run, FAILED, "must be refused: %s", raises);
  return state->refused && strstr(raises, run->why) ? PASSED : FAILED;
}

/* Where this library gives another answer on purpose, or the case asks for one that is none. */
static const struct {
  const char *name, *why;
} known[] = {
    {"nx/doc:nx.lin_alg.eigh#4", "a double eigenvalue has no vectors of its own"},
    {"nx/test:complex_test/unary operations/exp", "digits cut further than the case's own tolerance"},
    {"nx/test:random_test/types/normal#6", "Nx's inverse error function is good to about 1e-7"},
    {"nx/test:random_test/types/normal#7", "Nx's inverse error function is good to about 1e-7"},
    {"nx/test:non_finite_test/unary operations/acos", "C's Annex G has a value where Nx has NaN"},
    {"nx/test:non_finite_test/unary operations/asin", "C's Annex G has a value where Nx has NaN"},
    {"nx/test:non_finite_test/unary operations/atan", "C's Annex G has a value where Nx has NaN"},
    {"nx/test:non_finite_test/unary operations/atanh", "C's Annex G has a value where Nx has NaN"},
};

/* A case of the list that passes is none for it. */
static verdict excuse(corpus_run *run, const json_t *one, verdict v) {
  const char *name = json_string_value(json_object_get(one, "name"));
  for (size_t i = 0; i < TK_COUNT(known); i++) {
    if (strcmp(known[i].name, name) != 0) continue;
    if (v == FAILED) return corpus_say(run, SKIPPED, "%s", known[i].why);
    if (v == PASSED) return corpus_say(run, FAILED, "passes, and is listed as one that differs");
  }
  return v;
}

verdict corpus_nx(corpus_run *run, const json_t *one) {
  nx_state state = {0};
  const char *raises = json_string_value(json_object_get(one, "raises"));
  verdict v = case_run_by(run, one, build_all, &state);
  if (raises) v = judge_refusal(run, &state, v, raises);
  free(state.tuples);
  return excuse(run, one, v);
}
