/* What the tests of ir share: texts of types, errors of graphs that are still open, a look inside. */
#ifndef TU_IR_FIXTURE_H
#define TU_IR_FIXTURE_H

#include "fixture.h"

#include "api/graph.h"
#include "arrjit/ops.h"

/* "f32[2, n]" of a value; the text lives until the next call. */
static inline const char *ir_type_text(arrjit_graph *g, arrjit_value value) {
  static char text[256];
  if (!value) return "null";
  aj_type_print(g->module, aj_graph_value(value)->type, text, sizeof text);
  return text;
}

#define EXPECT_TYPE(g, value, text) assert_string_equal(ir_type_text(g, value), text)

static inline int64_t ir_symbol(arrjit_graph *g, const char *name) {
  int64_t symbol = arrjit_symbol(g, name);
  assert_true(symbol < 0);
  return symbol;
}

/* The graph has failed with this status and a message that contains `part`; it is destroyed. */
static inline void ir_expect_error(arrjit_graph *g, arrjit_status status, const char *part, int line) {
  arrjit_error error;
  arrjit_status came = arrjit_graph_error(g, &error);
  if (came != status || !strstr(error.message, part))
    fail_msg("line %d: came status %d: %s; expected %d: %s", line, (int)came, error.message, (int)status, part);
  arrjit_function *function = NULL;
  assert_int_equal(arrjit_graph_finish(g, &function, &error), status);
  assert_null(function);
  arrjit_graph_destroy(g);
}
#define EXPECT_ERROR(g, status, part) ir_expect_error(g, ARRJIT_##status, part, __LINE__)

/* A statement that builds in a fresh graph g must fail so. */
#define REFUSED(f, status, part, ...)                                                                                  \
  do {                                                                                                                 \
    arrjit_graph *g = tk_graph(f);                                                                                     \
    __VA_ARGS__;                                                                                                       \
    EXPECT_ERROR(g, status, part);                                                                                     \
  } while (0)

/* Node of that op in a region: the first one. */
static inline aj_node *ir_find(const aj_region *region, aj_op op) {
  for (uint32_t pc = 0; pc < region->node_count; pc++)
    if (region->nodes[pc]->op == op) return region->nodes[pc];
  fail_msg("no %s in the region", aj_ops[op].name);
  return NULL;
}

static inline uint32_t ir_count(const aj_region *region, aj_op op) {
  uint32_t count = 0;
  for (uint32_t pc = 0; pc < region->node_count; pc++) count += region->nodes[pc]->op == op;
  return count;
}

#endif
