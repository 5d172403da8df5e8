/* The compile budget. LLVM cannot be interrupted, so a stage is begun only when it is likely to end in time, and of its
 * two code generators the quick one is taken when the good one might not.
 *
 * Rates are microseconds of one core of a Zen 5 at 4 GHz with LLVM 19, upper bounds over nests and rows of if, switch,
 * for, while, try and check, of scalars and of arrays, from 1,000 to 100,000 instructions (tests/unit/compile_test.c
 * has the shapes): passes 2-12 and level none 4-25 an instruction, level default 30-170, and a loop in d others 80 d
 * more (its register allocator and loop passes look at each block once a loop around it). sroa may look at each block
 * once a variable, 25 ns each: where that is more than the rest, quick code goes without passes. */
#include "native/budget.h"

enum {
  BASE_US = 2000,
  NODE_US = 20, /* at least: most nodes become several instructions */
  EXPANDED_NODES = 30,
  PASS_US = 12,
  PLACES_PER_US = 40,
  QUICK_US = 25,
  GOOD_US = 110,
  CAUTION = 4, /* the good generator's time is known to a factor: it must fit the budget that often */
  GOOD_LOOP_LEVELS = 32,
  MOST_REGION_LEVELS = 10000 /* lowering recurses: about 1 KiB of the 16 MiB stack a level */
};

void aj_budget_begin(aj_budget *budget, const aj_native_request *request, arrjit_error *error) {
  *budget = (aj_budget){
      .began_ns = aj_thread_cpu_ns(), .limit_ns = request->budget_ms * 1000000, .stop = request->stop, .error = error};
}

arrjit_status aj_budget_check(const aj_budget *budget, int64_t more_us) {
  int64_t spent = aj_thread_cpu_ns() - budget->began_ns, limit_ms = budget->limit_ns / 1000000;
  if (budget->stop && atomic_load_explicit(budget->stop, memory_order_relaxed))
    return aj_error_set(budget->error, ARRJIT_UNAVAILABLE, "the context was destroyed");
  if (spent + more_us * 1000 <= budget->limit_ns) return ARRJIT_OK;
  return aj_error_set(budget->error, ARRJIT_LIMIT, "compiling %s %lld ms of processor time, compile_budget_ms is %lld",
                      more_us ? "is expected to take" : "has taken", (long long)(spent / 1000000 + more_us / 1000),
                      (long long)limit_ms);
}

/* Levels of regions around the node and in it, when it has any. */
static uint32_t count_levels(const aj_node *node) {
  uint32_t levels = 0;
  for (; node; node = node->parent->owner) levels++;
  return levels;
}

arrjit_status aj_budget_check_nodes(const aj_budget *budget, const aj_module *module) {
  int64_t nodes = 0;
  for (size_t i = 0; i < module->funcs.count; i++) {
    aj_walk walk;
    aj_walk_start(&walk, module->funcs.data[i]);
    for (const aj_node *node; (node = aj_walk_next(&walk)) != NULL;) {
      nodes += aj_ops[node->op].lowering == AJ_LOWER_EXPAND ? EXPANDED_NODES : 1;
      if (node->region_count && count_levels(node) > MOST_REGION_LEVELS)
        return aj_error_set(budget->error, ARRJIT_LIMIT,
                            "regions are nested deeper than %d, the most that can be compiled", MOST_REGION_LEVELS);
    }
  }
  return aj_budget_check(budget, BASE_US + NODE_US * nodes);
}

/* Instructions of a module; and of each function its variables times its blocks, summed. */
static int64_t count_instructions(LLVMModuleRef module, int64_t *out_places) {
  int64_t count = 0;
  *out_places = 0;
  for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn)) {
    int64_t variables = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(fn); block; block = LLVMGetNextBasicBlock(block))
      for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at)) {
        count++;
        variables += LLVMGetInstructionOpcode(at) == LLVMAlloca;
      }
    *out_places += variables * LLVMCountBasicBlocks(fn);
  }
  return count;
}

aj_budget_plan aj_budget_plan_code(const aj_budget *budget, LLVMModuleRef module, uint32_t loop_levels) {
  int64_t places, count = count_instructions(module, &places), good_us = BASE_US + GOOD_US * count;
  int64_t passes_us = PASS_US * count + places / PLACES_PER_US;
  bool quick = loop_levels > GOOD_LOOP_LEVELS || (good_us + passes_us) * CAUTION > budget->limit_ns / 1000;
  bool passes = !quick || passes_us <= QUICK_US * count;
  return (aj_budget_plan){.passes = passes,
                          .quick = quick,
                          .passes_us = passes ? passes_us : 0,
                          .codegen_us = quick ? QUICK_US * count : good_us};
}
