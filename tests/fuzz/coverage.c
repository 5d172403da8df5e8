/* Counting what was tried; see coverage.h. */
#include "coverage.h"

#include <inttypes.h>
#include <string.h>

static aj_op find_op(const char *word, size_t length) {
  for (aj_op op = (aj_op)(AJ_OP_NONE + 1); op < AJ_OP_COUNT; op++)
    if (strlen(aj_ops[op].name) == length && memcmp(aj_ops[op].name, word, length) == 0) return op;
  return AJ_OP_NONE;
}

/* A node's line is "[%a, %b =] op ...". */
void coverage_count_text(coverage *c, const char *text) {
  bool loops = false;
  for (const char *line = text; line && *line; line = strchr(line, '\n')) {
    line += strspn(line, "\n ");
    const char *end = line + strcspn(line, "\n"), *word = line;
    if (*word == '%') {
      const char *equals = strstr(line, " = ");
      if (!equals || equals > end) continue;
      word = equals + 3;
    }
    aj_op op = find_op(word, strcspn(word, " \n"));
    if (op == AJ_OP_NONE) continue;
    c->ops[op]++;
    loops = loops || op == AJ_OP_WHILE || op == AJ_OP_FOR;
  }
  c->loops += loops;
}

/* Finished functions do not show ops on complex numbers alone, which are made of others. */
static bool is_shown(aj_op op) {
  bool split = (aj_ops[op].dtypes & ~(uint32_t)AJ_D_COMPLEX) == 0 && aj_ops[op].lowering == AJ_LOWER_EXPAND;
  return !split && !(aj_ops[op].flags & AJ_F_INTERNAL);
}

static bool demand(bool holds, const char *what) {
  if (!holds) printf("coverage missed: %s\n", what);
  return holds;
}

static const char *const feature_names[FEATURES] = {[FAILING_CALLBACK] = "failing callbacks",
                                                    [HANDLER_BY_KIND] = "handlers for one kind",
                                                    [WITH_FINALLY] = "finally",
                                                    [RAISE_AGAIN] = "raising again",
                                                    [RAISE_FROM] = "raise from",
                                                    [EXN_THROUGH_LOOP] = "exceptions carried by loops",
                                                    [EXN_THROUGH_ARMS] = "exceptions out of arms",
                                                    [EXN_THROUGH_CALL] = "exceptions through calls",
                                                    [NESTED_TRY] = "try in try",
                                                    [ARRAY_PAYLOAD] = "checks of arrays with array payload",
                                                    [FAILING_CALLEE] = "calls with failing callees",
                                                    [CATCH_IN_PLACE] = "failures caught in place",
                                                    [HANDED_ON] = "handlers that hand on",
                                                    [HALF_CHAIN] = "chains of 16-bit floats",
                                                    [SYMBOLS] = "moving and folding unknown extents"};

static void report_features(const coverage *c) {
  for (int i = 0; i < FEATURES; i++)
    printf("%-36s%6" PRId64 "%s", feature_names[i], c->features[i], i % 2 ? "\n" : "  ");
  printf("%-36s%6" PRId64 "\n", "failures with cause or context", c->linked);
}

bool coverage_report(const coverage *c, bool demanded) {
  int column = 0;
  bool good = true;
  for (aj_op op = (aj_op)(AJ_OP_NONE + 1); op < AJ_OP_COUNT; op++) {
    if (aj_ops[op].flags & AJ_F_INTERNAL) continue;
    printf("%-21s%6" PRId64 "%s", aj_ops[op].name, c->ops[op], ++column % 4 ? "  " : "\n");
  }
  int64_t n = c->functions ? c->functions : 1;
  printf("\n%" PRId64 " functions, %" PRId64 " runs compared; with loops %" PRId64 " %%, failing %" PRId64
         " %%, with callbacks %" PRId64 " %%, extents of 0 in %" PRId64 ", of 1 in %" PRId64 ", odd in %" PRId64
         ", for a lesser CPU %" PRId64 " %%\n",
         c->functions, c->compared, c->loops * 100 / n, c->failing * 100 / n, c->callbacks * 100 / n, c->zero, c->one,
         c->odd, c->lesser * 100 / n);
  report_features(c);
  if (!demanded) return true;
  for (int i = 0; i < FEATURES; i++) good &= demand(c->features[i] >= 50, feature_names[i]);
  good &= demand(c->linked >= 50, "failures with cause or context");
  for (aj_op op = (aj_op)(AJ_OP_NONE + 1); op < AJ_OP_COUNT; op++)
    if (is_shown(op)) good &= demand(c->ops[op] >= 50, aj_ops[op].name);
  good &= demand(c->loops * 100 >= n * 30, "30 % with loops");
  good &= demand(c->failing * 100 >= n * 10, "10 % failing");
  good &= demand(c->callbacks * 100 >= n * 20, "20 % with callbacks");
  return good & demand(c->zero >= 50 && c->one >= 50 && c->odd >= 50, "extents of 0, 1, odd");
}
