/* Whole arrays: elementwise ops block by block, other routines by the op table. */
#include "sem/blocks.h"
#include "sem/routine.h"

/* A CALL op that ops.def names and nobody wrote does not link. */
#define ROUTINE_SCALAR(ID, name)
#define ROUTINE_EXPAND(ID, name)
#define ROUTINE_VIEW(ID, name)
#define ROUTINE_CONTROL(ID, name)
#define ROUTINE_CALL(ID, name) [AJ_OP_##ID] = aj_routine_##name,
static aj_routine *const routines[AJ_OP_COUNT] = {
#define OP(ID, name, operands, dtypes, rule, flags, attrs, routine, ...) ROUTINE_##routine(ID, name)
#include "ir/ops.def"
#undef OP
};

enum { MAX_OPERANDS = 3 };

/* ---- functions: their programs ---- */

static aj_sem_status run_function(const aj_sem_call *call) {
  const aj_program *program = aj_sem_cache_get(call->cache, call->node->op, call->in[0].dtype);
  if (program == NULL) return AJ_SEM_MEMORY;
  aj_block_operand operands[MAX_OPERANDS];
  for (uint32_t i = 0; i < call->node->operand_count; i++)
    operands[i] = (aj_block_operand){.view = &call->in[i], .bytes = aj_dtypes[call->in[i].dtype].bytes};
  aj_sem_program_call run = {.program = program,
                             .count = aj_view_count(call->out),
                             .operands = operands,
                             .results = &call->out->data,
                             .poll = call->poll,
                             .poll_user = call->poll_user};
  size_t bytes = aj_sem_program_bytes(&run);
  void *scratch = aj_mem_raw(call->mem, bytes);
  if (scratch == NULL) return AJ_SEM_MEMORY;
  aj_sem_status status = aj_sem_program_run(&run, scratch);
  aj_mem_free(call->mem, scratch, bytes);
  return status;
}

/* ---- elementwise ops: one loop ---- */

typedef struct elementwise {
  const aj_sem_call *call;
  aj_loop *loop;
  uint32_t count;
  aj_block_operand operands[MAX_OPERANDS];
} elementwise;

static aj_sem_status fail_arith(const elementwise *e, int64_t start, size_t lane, const void *const *in) {
  const void *operands[MAX_OPERANDS] = {NULL};
  for (uint32_t i = 0; i < e->count; i++) operands[i] = (const char *)in[i] + lane * e->operands[i].bytes;
  int64_t code = aj_sem_check_code(e->call->node->op, e->call->in[0].dtype, e->call->out->dtype, operands);
  *e->call->fail = (aj_sem_fail){
      .kind = ARRJIT_KIND_ARITH, .code = code, .message = aj_sem_arith_message(code), .lane = start + (int64_t)lane};
  return AJ_SEM_FAIL;
}

static aj_sem_status run_blocks(elementwise *e, int64_t count) {
  const aj_sem_call *call = e->call;
  size_t out_bytes = aj_dtypes[call->out->dtype].bytes;
  for (int64_t start = 0; start < count; start += AJ_BLOCK) {
    int64_t n = count - start < AJ_BLOCK ? count - start : AJ_BLOCK;
    const void *in[MAX_OPERANDS] = {NULL};
    for (uint32_t i = 0; i < e->count; i++) in[i] = aj_block_operand_read(&e->operands[i], start, n);
    size_t done = e->loop((size_t)n, call->out->data + (size_t)start * out_bytes, in);
    if (done < (size_t)n) return fail_arith(e, start, done, in);
    if (start + n < count && call->poll != NULL && call->poll(call->poll_user)) return AJ_SEM_STOPPED;
  }
  return AJ_SEM_OK;
}

static aj_sem_status run_elementwise(const aj_sem_call *call) {
  elementwise e = {.call = call, .count = call->node->operand_count};
  int64_t count = aj_view_count(call->out);
  AJ_ASSERT(e.count <= MAX_OPERANDS);
  if (count == 0) return AJ_SEM_OK;
  if (aj_ops[call->node->op].routine == AJ_ROUTINE_EXPAND) return run_function(call);
  /* the dtype of a select is that of what it chooses from */
  e.loop = aj_sem_loop(call->node->op, call->in[call->node->op == AJ_OP_SELECT].dtype, call->out->dtype);
  AJ_ASSERT(e.loop != NULL);
  size_t bytes = 0;
  for (uint32_t i = 0; i < e.count; i++) {
    e.operands[i] = (aj_block_operand){.view = &call->in[i], .bytes = aj_dtypes[call->in[i].dtype].bytes};
    bytes += aj_block_operand_bytes(&e.operands[i], count);
  }
  char *scratch = aj_mem_raw(call->mem, bytes), *next = scratch;
  if (scratch == NULL && bytes > 0) return AJ_SEM_MEMORY;
  for (uint32_t i = 0; i < e.count; i++) next = aj_block_operand_place(&e.operands[i], count, next);
  aj_sem_status status = run_blocks(&e, count);
  aj_mem_free(call->mem, scratch, bytes);
  return status;
}

/* The sum in place of the result, then divided: what the expansion of mean does. */
static aj_sem_status run_mean(const aj_sem_call *call) {
  aj_sem_status status = aj_reduce_run(call, AJ_OP_REDUCE_SUM);
  uint32_t axes = aj_routine_axis_set(call->node, AJ_ATTR_AXES);
  uint64_t count = 1; /* wraps only where there is no result */
  for (int32_t i = 0; i < call->in[0].rank; i++)
    if (axes >> i & 1) count *= (uint64_t)call->in[0].dims[i];
  int64_t outputs = aj_view_count(call->out), divisor[AJ_BLOCK], known = (int64_t)count, element = 0;
  arrjit_dtype dtype = call->out->dtype;
  size_t bytes = aj_dtypes[dtype].bytes;
  aj_poller poller = aj_routine_poller(call);
  const void *in[] = {&known};
  aj_sem_loop(AJ_OP_CONVERT, ARRJIT_I64, dtype)(1, &element, in);
  aj_view_fill((char *)divisor, AJ_BLOCK, &element, bytes);
  aj_loop *divide = aj_sem_loop(AJ_OP_DIV, dtype, dtype);
  for (int64_t i = 0; status == AJ_SEM_OK && i < outputs; i += AJ_BLOCK) {
    char *out = call->out->data + (size_t)i * bytes;
    const void *quotient[] = {out, divisor};
    divide((size_t)(outputs - i < AJ_BLOCK ? outputs - i : AJ_BLOCK), out, quotient);
    if (aj_poller_stops(&poller, AJ_BLOCK)) status = AJ_SEM_STOPPED;
  }
  return status;
}

aj_sem_status aj_sem_run(const aj_sem_call *call) {
  const aj_op_info *op = &aj_ops[call->node->op];
  if (op->flags & AJ_F_ELEMENTWISE) return run_elementwise(call);
  aj_routine *routine = call->node->op == AJ_OP_MEAN ? run_mean : routines[call->node->op];
  AJ_ASSERT(routine != NULL);
  bool widens = (op->flags & AJ_F_WIDENS) && aj_dtype_is_half(call->in[0].dtype);
  return widens ? aj_routine_widened(call, routine) : routine(call);
}
