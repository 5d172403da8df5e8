/* Combiners of the host: a region of scalar ops made code for a vector of lanes, wherever the order of a reduction
 * combines two elements. Its operands lie behind the arrays in the kernel's: inits if there are any, then captures. */
#include "native/lower_reduce.h"

/* An element as it is folded (bools as bytes of 0 and 1) as the region sees it, and back. Between two calls NaNs that
 * arithmetic made are canonical, as if they had been stored. */
static aj_lv to_param(aj_reduction *r, uint32_t i, LLVMValueRef v) {
  if (aj_kernel_dtype(r->k, i) == ARRJIT_BOOL)
    v = LLVMBuildICmp(r->lo->b, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
  return (aj_lv){.v = v, .nan = AJ_NAN_KEEP};
}

static LLVMValueRef from_yield(aj_reduction *r, uint32_t i, uint32_t lanes, aj_lv value) {
  if (aj_kernel_dtype(r->k, i) == ARRJIT_BOOL) return aj_reduction_yielded(r, i, lanes, value);
  return aj_ir_canonical(r->lo, r->dtype[i], lanes, value);
}

static void set_params(aj_reduction *r, uint32_t lanes, const LLVMValueRef *x, const LLVMValueRef *y, aj_lv *vals) {
  const aj_kernel *k = r->k;
  uint32_t count = k->result_count;
  for (uint32_t i = 0; i < count; i++) {
    vals[k->combiner->params[i]->slot] = to_param(r, i, x[i]);
    vals[k->combiner->params[count + i]->slot] = to_param(r, i, y[i]);
  }
  uint32_t first = aj_node_capture_start(k->node);
  for (uint32_t i = 2 * count; i < k->combiner->param_count; i++) {
    aj_lv capture = k->operands[first + i - 2 * count].lv;
    capture.v = aj_ir_splat(r->lo, capture.v, lanes);
    vals[k->combiner->params[i]->slot] = capture;
  }
}

void aj_combiner_lower(aj_reduction *r, uint32_t lanes, const LLVMValueRef *x, const LLVMValueRef *y,
                       LLVMValueRef *out) {
  const aj_region *region = r->k->combiner;
  aj_guard_state guard;
  aj_lv *vals = AJ_NEW_ARRAY(r->lo->arena, region->slot_count, aj_lv);
  for (uint32_t i = 0; i < r->k->result_count; i++) out[i] = y[i];
  if (!vals || !aj_guard_open(r->lo, region, &guard)) return; /* the code is thrown away */
  set_params(r, lanes, x, y, vals);
  for (uint32_t pc = 0; pc + 1 < region->node_count; pc++) {
    const aj_node *node = region->nodes[pc];
    LLVMValueRef fail = NULL;
    aj_lv in[3] = {{0}}, *to = &vals[node->results[0].slot];
    aj_guard_step(r->lo, &guard, pc, lanes, vals);
    for (uint32_t i = 0; i < node->operand_count; i++) in[i] = vals[node->operands[i]->slot];
    if (node->op == AJ_OP_CONST) {
      *to = aj_kernel_const(r->lo, node);
      to->v = aj_ir_splat(r->lo, to->v, lanes);
    } else {
      *to = aj_lower_scalar(r->lo, lanes, node, in, &fail);
    }
  }
  const aj_node *yield = aj_region_terminator(region);
  aj_guard_step(r->lo, &guard, yield->pc, lanes, vals);
  for (uint32_t i = 0; i < r->k->result_count; i++) out[i] = from_yield(r, i, lanes, vals[yield->operands[i]->slot]);
}

void aj_combiner_join(aj_reduction *r, uint32_t lanes, LLVMValueRef have, LLVMValueRef *values) {
  LLVMValueRef inits[AJ_KERNEL_RESULTS], joined[AJ_KERNEL_RESULTS];
  for (uint32_t i = 0; i < r->k->result_count; i++) {
    arrjit_dtype dtype = aj_kernel_dtype(r->k, i);
    aj_lv init = r->k->operands[r->k->result_count + i].lv;
    init.v = dtype == ARRJIT_BOOL ? aj_reduction_yielded(r, i, 1, init) : aj_ir_canonical(r->lo, dtype, 1, init);
    inits[i] = aj_ir_splat(r->lo, init.v, lanes);
  }
  aj_reduction_combine(r, lanes, inits, values, joined);
  for (uint32_t i = 0; i < r->k->result_count; i++)
    values[i] = LLVMBuildSelect(r->lo->b, have, joined[i], inits[i], "");
}
