/* Big kernels: their loops are a function block(frame, from, to) of the module, so that threads can share the units
 * of work. The caller fills a frame on its stack:
 *
 *   run, environment | operands: elements of scalars, pointers of arrays | pointers of results
 *
 * and calls the block itself when there is not more work than between two polls, else a helper that calls it from
 * several threads. The block gives back which unit failed and changes nothing else; to raise that failure the caller
 * calls it once more, for that unit alone. So do lanes of maps that no vector can show: they are done by the run's own
 * thread, since what they need of the run, exceptions and iterations, is not shared. */
#include "native/lower_map.h"

#include <stdio.h>

static LLVMTypeRef block_type(aj_lower *lo) {
  LLVMTypeRef params[] = {lo->t_ptr, lo->t_i64, lo->t_i64};
  return LLVMFunctionType(lo->t_i64, params, 3, 0);
}

static LLVMValueRef word(aj_lower *lo, LLVMValueRef frame, uint32_t i) {
  return aj_ir_field(lo, frame, sizeof(aj_nh_frame) + (size_t)i * AJ_NH_WORD);
}

/* ---- what goes into the frame, in the caller ---- */

static void fill_frame(aj_kernel *k, uint32_t count, LLVMValueRef *pointers) {
  aj_lower *lo = k->lo;
  LLVMValueRef frame = k->block->frame;
  LLVMBuildStore(lo->b, lo->run, aj_ir_field(lo, frame, offsetof(aj_nh_frame, run)));
  LLVMBuildStore(lo->b, lo->env, aj_ir_field(lo, frame, offsetof(aj_nh_frame, env)));
  LLVMBuildStore(lo->b, aj_ir_i64(lo, 0), aj_ir_field(lo, frame, offsetof(aj_nh_frame, report)));
  for (uint32_t i = 0; i < k->operand_count; i++) {
    const aj_kernel_operand *o = &k->operands[i];
    if (LLVMIsConstant(o->lv.v)) continue;
    if (o->rank == 0)
      aj_ir_store_element(lo, o->dtype, 1, o->lv, word(lo, frame, i));
    else
      LLVMBuildStore(lo->b, o->lv.v, word(lo, frame, i));
  }
  for (uint32_t i = 0; i < count; i++) LLVMBuildStore(lo->b, pointers[i], word(lo, frame, k->operand_count + i));
}

/* The same values inside the block. */
static void read_frame(aj_kernel *k, uint32_t count, LLVMValueRef *pointers) {
  aj_lower *lo = k->lo;
  LLVMValueRef frame = k->block->in_frame;
  for (uint32_t i = 0; i < k->operand_count; i++) {
    aj_kernel_operand *o = &k->operands[i];
    if (LLVMIsConstant(o->lv.v)) continue;
    if (o->rank == 0) {
      bool canonical = o->lv.nan != AJ_NAN_KEEP; /* a raw one was made so when it was stored */
      o->lv = aj_ir_load_element(lo, o->dtype, 1, word(lo, frame, i));
      if (canonical) o->lv.nan = AJ_NAN_CANON;
    } else {
      o->lv.v = aj_ir_load(lo, lo->t_ptr, word(lo, frame, i));
    }
    o->pointer = o->lv.v;
  }
  for (uint32_t i = 0; i < count; i++) pointers[i] = aj_ir_load(lo, lo->t_ptr, word(lo, frame, k->operand_count + i));
}

/* ---- the function ---- */

static void create_function(aj_kernel *k) {
  char name[64];
  aj_lower *lo = k->lo;
  (void)snprintf(name, sizeof name, "%s_block%u", lo->prefix, lo->block_count++);
  k->block->fn = LLVMAddFunction(lo->llvm, name, block_type(lo));
  LLVMSetLinkage(k->block->fn, LLVMInternalLinkage);
  aj_lower_set_attributes(lo, k->block->fn);
}

static LLVMValueRef frame_field(aj_kernel *k, LLVMTypeRef type, size_t offset) {
  return aj_ir_load(k->lo, type, aj_ir_field(k->lo, k->block->in_frame, offset));
}

/* What leads out of the kernel leads to the end of the block. */
static void enter_scope(aj_kernel *k) {
  aj_lower *lo = k->lo;
  aj_block *block = k->block;
  block->caller.scope = k->scope;
  block->landing = (aj_landing){.block = aj_ir_block(lo, "fail"), .stop = k->scope->landing->stop};
  block->scope = *k->scope;
  block->scope.landing = &block->landing;
  k->scope = &block->scope;
  lo->outside = &block->scope;
  lo->outside_iterations = frame_field(k, lo->t_ptr, offsetof(aj_nh_frame, iterations));
}

/* From here on lo makes code in the block. */
static void enter_function(aj_kernel *k) {
  aj_lower *lo = k->lo;
  aj_block *block = k->block;
  block->caller.lo = *lo;
  block->caller.at = LLVMGetInsertBlock(lo->b);
  block->caller.entry = LLVMGetInsertBlock(lo->entry);
  lo->fn = block->fn;
  block->in_frame = LLVMGetParam(block->fn, 0);
  k->from = LLVMGetParam(block->fn, 1);
  k->to = LLVMGetParam(block->fn, 2);
  LLVMPositionBuilderAtEnd(lo->entry, aj_ir_block(lo, "entry"));
  block->start = aj_ir_block(lo, "start");
  aj_ir_at(lo, block->start);
  lo->run = frame_field(k, lo->t_ptr, offsetof(aj_nh_frame, run));
  lo->env = frame_field(k, lo->t_ptr, offsetof(aj_nh_frame, env));
  if (lo->loop_levels) lo->iterations = aj_ir_alloca(lo, lo->t_i64, lo->loop_levels, 8);
  if (lo->exns) lo->exns = aj_ir_field(lo, lo->run, offsetof(aj_run, exns));
  aj_lower_flags(lo);
  enter_scope(k);
}

void aj_block_begin(aj_kernel *k, uint32_t count, LLVMValueRef *pointers) {
  aj_lower *lo = k->lo;
  k->block = AJ_NEW(lo->arena, aj_block);
  aj_lv *values = AJ_NEW_ARRAY(lo->arena, k->operand_count, aj_lv);
  if (!k->block || !values) return;
  uint32_t words = k->operand_count + count;
  k->block->frame = aj_ir_alloca(lo, lo->t_i8, (uint32_t)sizeof(aj_nh_frame) + words * AJ_NH_WORD, AJ_NH_WORD);
  fill_frame(k, count, pointers);
  create_function(k);
  enter_function(k);
  for (uint32_t i = 0; i < k->operand_count; i++) values[i] = k->operands[i].lv;
  k->block->values = values;
  read_frame(k, count, pointers);
  for (int32_t d = 0; d < k->rank; d++) {
    k->block->extents[d] = k->extents[d];
    k->extents[d] = aj_ir_dim(lo, k->dims[d]);
  }
}

/* Failures that were raised end at the block's landing. */
void aj_block_end(aj_kernel *k) {
  aj_lower *lo = k->lo;
  const aj_block_caller *caller = &k->block->caller;
  LLVMBuildRet(lo->b, aj_ir_i64(lo, AJ_BLOCKS_DONE));
  aj_ir_at(lo, k->block->landing.block);
  LLVMBuildRet(lo->b, k->from);
  LLVMBuildBr(lo->entry, k->block->start);
  LLVMPositionBuilderAtEnd(lo->entry, caller->entry);
  aj_ir_at(lo, caller->at);
  lo->fn = caller->lo.fn;
  lo->run = caller->lo.run;
  lo->env = caller->lo.env;
  lo->iterations = caller->lo.iterations;
  lo->exns = caller->lo.exns;
  lo->cancel_flag = caller->lo.cancel_flag;
  lo->shutdown_flag = caller->lo.shutdown_flag;
  lo->slow_poll = caller->lo.slow_poll;
  lo->outside = caller->lo.outside;
  lo->outside_iterations = caller->lo.outside_iterations;
  k->scope = caller->scope;
  for (uint32_t i = 0; i < k->operand_count; i++) k->operands[i].lv = k->block->values[i];
  for (int32_t d = 0; d < k->rank; d++) k->extents[d] = k->block->extents[d];
}

/* ---- calling it ---- */

static LLVMValueRef call_block(aj_kernel *k, LLVMValueRef from, LLVMValueRef to) {
  LLVMValueRef args[] = {k->block->frame, from, to};
  return LLVMBuildCall2(k->lo->b, block_type(k->lo), k->block->fn, args, 3, "");
}

static LLVMValueRef lesser(aj_lower *lo, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildSelect(lo->b, LLVMBuildICmp(lo->b, LLVMIntSLT, x, y, ""), x, y, "");
}

static LLVMValueRef is_stopped(aj_lower *lo, LLVMValueRef result) {
  return LLVMBuildICmp(lo->b, LLVMIntEQ, result, aj_ir_i64(lo, AJ_BLOCKS_STOPPED), "");
}

/* All units from `from` on: here and now when they are few. */
static LLVMValueRef call_share(aj_kernel *k, LLVMValueRef from, LLVMValueRef count, LLVMValueRef grain) {
  aj_lower *lo = k->lo;
  LLVMBasicBlockRef few = aj_ir_block(lo, "few"), many = aj_ir_block(lo, "many"), done = aj_ir_block(lo, "done");
  LLVMValueRef left = LLVMBuildSub(lo->b, count, from, "");
  LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntSLE, left, grain, ""), few, many);
  aj_ir_at(lo, few);
  LLVMValueRef result = call_block(k, from, count);
  LLVMBuildBr(lo->b, done);
  aj_ir_at(lo, many);
  LLVMValueRef args[] = {lo->run, k->block->fn, k->block->frame, from, count, grain};
  LLVMValueRef shared = aj_ir_call(lo, "aj_nh_blocks", lo->t_i64, AJ_COUNT(args), args, false);
  LLVMBuildBr(lo->b, done);
  aj_ir_at(lo, done);
  result = aj_ir_phi(lo, lo->t_i64, result, few);
  aj_ir_add_incoming(result, shared, many);
  return result;
}

/* The units [unit, end) once more, with leave to raise; when they do not after all, `from` goes on behind them. */
static void call_alone(aj_kernel *k, LLVMValueRef unit, LLVMValueRef end, LLVMValueRef from, LLVMBasicBlockRef again) {
  aj_lower *lo = k->lo;
  LLVMValueRef frame = k->block->frame, report = aj_ir_field(lo, frame, offsetof(aj_nh_frame, report));
  LLVMValueRef iterations = aj_lower_iterations(lo, k->scope);
  LLVMBuildStore(lo->b, iterations, aj_ir_field(lo, frame, offsetof(aj_nh_frame, iterations)));
  LLVMBuildStore(lo->b, aj_ir_i64(lo, 1), report);
  LLVMValueRef result = call_block(k, unit, end);
  LLVMBuildStore(lo->b, aj_ir_i64(lo, 0), report);
  LLVMBasicBlockRef raised = aj_ir_block(lo, "raised"), on = aj_ir_block(lo, "on");
  LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntSGE, result, aj_ir_i64(lo, 0), ""), raised, on);
  aj_ir_at(lo, raised);
  aj_lower_land(lo, k->scope);
  aj_ir_at(lo, on);
  aj_ir_add_incoming(from, LLVMBuildSelect(lo->b, is_stopped(lo, result), unit, end, ""), on);
  LLVMBuildBr(lo->b, again);
}

LLVMValueRef aj_block_run(aj_kernel *k, LLVMValueRef count, LLVMValueRef grain) {
  aj_lower *lo = k->lo;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(lo->b), again = aj_ir_block(lo, "again"), go = aj_ir_block(lo, "go");
  LLVMBuildBr(lo->b, again);
  aj_ir_at(lo, again);
  LLVMValueRef from = aj_ir_phi(lo, lo->t_i64, aj_ir_i64(lo, 0), before);
  aj_lower_poll(lo, k->scope, k->node, false);
  LLVMValueRef result = call_share(k, from, count, grain);
  /* stopped: the poll that comes first the second time round ends the run */
  LLVMBasicBlockRef here = LLVMGetInsertBlock(lo->b);
  LLVMBuildCondBr(lo->b, is_stopped(lo, result), again, go);
  aj_ir_add_incoming(from, from, here);
  aj_ir_at(lo, go);
  if (!k->may_fail) return result;
  go = aj_lower_cold(lo, LLVMBuildICmp(lo->b, LLVMIntSGE, result, aj_ir_i64(lo, 0), ""));
  LLVMValueRef units = aj_kernel_is_map(k->node) ? grain : aj_ir_i64(lo, 1);
  call_alone(k, result, lesser(lo, LLVMBuildAdd(lo->b, result, units, ""), count), from, again);
  aj_ir_at(lo, go);
  return result;
}

/* ---- inside the block ---- */

void aj_block_poll(aj_kernel *k) {
  aj_lower *lo = k->lo;
  LLVMBasicBlockRef stop = aj_ir_block(lo, "stop"), go = aj_lower_cold(lo, aj_lower_due(lo));
  LLVMValueRef due = aj_ir_call(lo, "aj_nh_due", lo->t_i32, 1, &lo->run, true);
  LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntNE, due, aj_ir_i32(lo, 0), ""), stop, go);
  aj_ir_at(lo, stop);
  LLVMBuildRet(lo->b, aj_ir_i64(lo, AJ_BLOCKS_STOPPED));
  aj_ir_at(lo, go);
}

void aj_block_tell(aj_kernel *k, LLVMValueRef unit) {
  aj_lower *lo = k->lo;
  LLVMBasicBlockRef tell = aj_ir_block(lo, "tell"), report = aj_ir_block(lo, "report");
  LLVMValueRef told = frame_field(k, lo->t_i64, offsetof(aj_nh_frame, report));
  LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntEQ, told, aj_ir_i64(lo, 0), ""), tell, report);
  aj_ir_at(lo, tell);
  LLVMBuildRet(lo->b, unit);
  aj_ir_at(lo, report);
}
