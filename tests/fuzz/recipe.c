/* Making random recipes: which steps, in what proportion. */
#include "recipe.h"

#include <stdlib.h>
#include <string.h>

static aj_op random_op(tk_random *pick) {
  for (;;) {
    aj_op op = (aj_op)(1 + tk_below(pick, AJ_OP_COUNT - 1));
    if (!tk_opcase_covers(op)) continue;
    /* what may raise comes seldomer: else most functions fail early */
    if ((aj_ops[op].flags & AJ_F_RAISES) && tk_chance(pick, 60)) continue;
    return op;
  }
}

static step_kind random_construct(tk_random *pick) {
  static const step_kind kinds[] = {STEP_IF,  STEP_FOR, STEP_WHILE, STEP_TRY, STEP_SWITCH,
                                    STEP_FOR, STEP_TRY, STEP_WHILE, STEP_MAP, STEP_MAP};
  return kinds[tk_below(pick, TK_COUNT(kinds))];
}

static step_kind random_kind(tk_random *pick, int open) {
  uint64_t n = tk_below(pick, 100);
  if (n < 41) return STEP_OP;
  if (n < 44) return STEP_CHAIN;
  if (n < 48) return STEP_CONST;
  if (n < 59) return open < 3 ? random_construct(pick) : STEP_END;
  if (n < 73) return open ? (tk_chance(pick, 55) ? STEP_NEXT : STEP_END) : STEP_OP;
  if (n < 77) return open ? STEP_RAISE : STEP_OP;
  if (n < 81) return STEP_CHECK;
  if (n < 87) return STEP_CALLBACK;
  if (n < 90) return STEP_EXN;
  if (n < 93) return STEP_EXN_LOOK;
  if (n < 96) return STEP_CATCH;
  return n < 98 ? STEP_FUNC : STEP_CALL;
}

recipe recipe_make(uint64_t seed, uint64_t number) {
  tk_random pick = {seed * 0x9e3779b97f4a7c15u ^ (number + 1) * 0xd1342543de82ef95u};
  recipe r = {.seed = tk_next(&pick), .only_output = -1};
  r.param_count = 1 + tk_below(&pick, FUZZ_MAX_PARAMS);
  r.step_count = 4 + tk_below(&pick, 20);
  r.steps = tk_new(r.step_count, sizeof *r.steps);
  int open = 0;
  for (size_t i = 0; i < r.step_count; i++) {
    step *s = &r.steps[i];
    s->kind = random_kind(&pick, open);
    s->op = random_op(&pick);
    s->seed = tk_next(&pick);
    open += s->kind >= STEP_IF && s->kind <= STEP_MAP;
    open -= s->kind == STEP_END && open > 0;
  }
  return r;
}

recipe recipe_without(const recipe *r, size_t from, size_t count) {
  recipe less = *r;
  less.step_count = r->step_count - count;
  less.steps = tk_new(less.step_count, sizeof *less.steps);
  memcpy(less.steps, r->steps, from * sizeof *less.steps);
  memcpy(less.steps + from, r->steps + from + count, (less.step_count - from) * sizeof *less.steps);
  return less;
}
