/* What ops compute, for every tier. Scalar rules are written once (sem/scalar.def) and looped over blocks of elements;
 * reductions have one order, functions one expansion. Nothing here knows frames, runs or hosts. */
#ifndef AJ_SEM_SEM_H
#define AJ_SEM_SEM_H

#include "ir/build.h"
#include "sem/view.h"

/* ---- failures of checked ops and routines ---- */
enum { AJ_ARITH_DIVIDE_BY_ZERO = 1, AJ_ARITH_OVERFLOW = 2, AJ_ARITH_INVALID = 3 }; /* codes of kind arith */
#define AJ_STEP_ZERO_MESSAGE "the step of a for must not be 0"                     /* code invalid */
typedef struct aj_sem_fail {
  arrjit_kind kind; /* ARRJIT_KIND_NONE: nothing failed */
  int64_t code;
  const char *message; /* static template */
  int64_t lane;        /* arith: flat row-major lane. Payload is (lane, operands at lane): the caller adds it */
  int64_t position, index, axis, bound; /* index */
} aj_sem_fail;
/* Message template of an arith code: static. */
const char *aj_sem_arith_message(int64_t code);

/* ---- scalar rules ---- */
enum { AJ_BLOCK = 1024 }; /* elements a block, in all executors */
/* out[i] = rule(in[0][i], ...) for i < n, contiguous; out may be the same block as an operand of the same element size.
 * Returns n, or for checked ops the first lane that fails (then out holds nothing useful). */
typedef size_t aj_loop(size_t n, void *out, const void *const *in);
/* The loop of a SCALAR op for operand dtype `in` (select: of x) and result dtype `out`. NULL: the table allows no such.
 */
aj_loop *aj_sem_loop(aj_op op, arrjit_dtype in, arrjit_dtype out);
/* Which arith code makes a checked op fail for these operand elements; 0: it does not fail. */
int64_t aj_sem_check_code(aj_op op, arrjit_dtype in, arrjit_dtype out, const void *const *operands);
/* x * y + z rounded once, on any CPU: what native code calls where there is no instruction. */
float aj_sem_fma_f32(float x, float y, float z);
double aj_sem_fma_f64(double x, double y, double z);
/* x to the power y as ipow says, of any width: of a narrower type, its lowest bits. */
int64_t aj_sem_pow_i64(int64_t x, int64_t y);
uint64_t aj_sem_pow_u64(uint64_t x, uint64_t y);
/* C fmod, exactly: what native code calls for rem, mod, floor_div of floats. */
float aj_sem_fmod_f32(float x, float y);
double aj_sem_fmod_f64(double x, double y);

/* ---- expansions ---- */
/* Whether native code needs the node expanded: EXPAND ops, and reductions and cumulative ops of 16-bit floats, which
 * are done in f32. */
bool aj_sem_expands(const aj_node *node);
/* Builds such a node from others at the builder's place: node's operands -> its value. NULL: error, in the builder. */
aj_value *aj_sem_expand(aj_builder *b, const aj_node *node);

/* ---- block programs: a region of SCALAR and EXPAND ops over scalars, run over blocks of lanes ---- */
typedef struct aj_program aj_program;
/* From a region without control flow whose params are scalars and whose nodes are SCALAR, EXPAND, CONST or LANE_INDEX
 * ops. EXPAND ops are expanded inside. The region is numbered (aj_func_number) and must outlive nothing: all is copied.
 * NULL: no memory. */
aj_program *aj_program_create(aj_mem *mem, const aj_region *region);
void aj_program_destroy(aj_program *program);
size_t aj_program_scratch_bytes(const aj_program *program);
/* n <= AJ_BLOCK lanes; params and results are contiguous blocks, and no result overlaps another or a param; `scratch`
 * has scratch_bytes and is aligned as a pointer. Returns n or the first failing lane; *out_node (may be NULL) is the
 * index, in the region, of the node that failed there. lane_index reads indices[axis][lane], needed only when the
 * region has such nodes. */
size_t aj_program_run(const aj_program *program, size_t n, const void *const *params, void *const *results,
                      void *scratch, const int64_t *const *indices, uint32_t *out_node);

/* Whether a result may lie where a param does: the param is read for the last time when, or before, the result is
 * written. */
bool aj_program_may_share(const aj_program *program, uint32_t param, uint32_t result);

/* A program that cannot fail, over one lane, at places that stay: bound once, run many times. */
typedef struct aj_bound_step {
  aj_loop *loop; /* NULL: goes on at `next` where in[0] is true, else at the step behind */
  void *out;
  const void *in[3];
  const struct aj_bound_step *next; /* NULL: the end */
} aj_bound_step;
size_t aj_program_bound_bytes(const aj_program *program);
/* `scratch` has bound_bytes, aligned as a pointer, and belongs to the bound program. */
const aj_bound_step *aj_program_bind(const aj_program *program, const void *const *params, void *const *results,
                                     void *scratch);
static inline void aj_program_run_bound(const aj_bound_step *step) {
  for (; step->next != NULL;) {
    if (AJ_UNLIKELY(step->loop == NULL)) {
      step = *(const uint8_t *)step->in[0] ? step->next : step + 1;
      continue;
    }
    (void)step->loop(1, step->out, step->in);
    step++;
  }
}

/* Programs of EXPAND ops, made on first use; one cache a context. */
typedef struct aj_sem_cache aj_sem_cache;
aj_sem_cache *aj_sem_cache_create(aj_mem *mem);
void aj_sem_cache_destroy(aj_sem_cache *cache);
/* Thread-safe. NULL: no memory. */
const aj_program *aj_sem_cache_get(aj_sem_cache *cache, aj_op op, arrjit_dtype dtype);

/* ---- whole arrays ---- */
typedef enum aj_sem_status { AJ_SEM_OK, AJ_SEM_FAIL, AJ_SEM_MEMORY, AJ_SEM_STOPPED } aj_sem_status;

/* A program that cannot fail over `count` > 0 elements. */
typedef enum aj_block_way { AJ_READ_DIRECT, AJ_READ_SPLAT, AJ_READ_GATHER } aj_block_way;
typedef struct aj_block_operand {
  const aj_view *view; /* any strides; NULL: every element is */
  const void *element; /* this one */
  size_t bytes;        /* of an element */
  aj_block_way way;    /* the rest is the executor's */
  char *block;
} aj_block_operand;
typedef struct aj_sem_program_call {
  const aj_program *program;
  int64_t count;
  aj_block_operand *operands; /* one a param */
  char *const *results;       /* one a result: dense elements; where one lies in an operand, aj_program_may_share */
  bool (*poll)(void *user);   /* as in aj_sem_call */
  void *poll_user;
} aj_sem_program_call;
/* Bytes of scratch that the call takes, aligned as a pointer: to be asked before each run. */
size_t aj_sem_program_bytes(const aj_sem_program_call *call);
/* OK or STOPPED. */
aj_sem_status aj_sem_program_run(const aj_sem_program_call *call, void *scratch);

/* Work that threads may share. Does the units [from, to), on any thread, at the same time as others do other units.
 * Gives AJ_BLOCKS_DONE; the lowest unit that failed, having changed nothing but results; or AJ_BLOCKS_STOPPED. */
typedef int64_t aj_block_fn(void *frame, int64_t from, int64_t to);
enum { AJ_BLOCKS_DONE = -1, AJ_BLOCKS_STOPPED = -2 };
/* Who else works for a caller. All are called with its poll_user. */
typedef struct aj_sem_team {
  uint32_t (*threads)(void *user); /* the caller's included */
  /* All of [0, count) in blocks of `grain`: the lowest unit that failed, or AJ_BLOCKS_*. Stopped: the next poll is
   * true. */
  int64_t (*share)(void *user, aj_block_fn *fn, void *frame, int64_t count, int64_t grain);
  bool (*due)(void *user); /* inside blocks: whether the poll would be true */
} aj_sem_team;
typedef struct aj_sem_call {
  const aj_node *node; /* op and attributes */
  const int64_t *env;  /* symbols */
  const aj_view *in;   /* elementwise ops: any strides, all of the result's shape; others: dense */
  aj_view *out;        /* one a result: dense, with data, of its type; overlaps no input */
  aj_mem *mem;         /* scratch */
  aj_sem_cache *cache;
  const aj_program *combiner; /* of the node's region 0; NULL: a routine that needs it makes it */
  aj_sem_fail *fail;          /* written on AJ_SEM_FAIL */
  bool (*poll)(void *user); /* called between blocks at least every 0.1 ms; true: stop (AJ_SEM_STOPPED). NULL: never */
  void *poll_user;
  const aj_sem_team *team; /* NULL: the caller works alone */
  bool no_lapack;          /* as if the system had none */
} aj_sem_call;
/* Runs a SCALAR, EXPAND or CALL op on whole arrays (SCALAR and EXPAND block by block). */
aj_sem_status aj_sem_run(const aj_sem_call *call);
/* A VIEW op: out shares in's data with new shape and strides. False when it needs a copy (reshape of a strided view):
 * then the caller packs in and calls again. A slice or reshape that does not fit at run time sets fail (kind shape) and
 * gives true. */
bool aj_sem_view(const aj_node *node, const int64_t *env, const aj_view *in, aj_view *out, aj_sem_fail *fail);

/* ---- the order of reductions, shared by all tiers: sem/README.md states it ---- */
/* Lanes of a block when the innermost group is reduced: 64 (32 for elements of 8 bytes and more); steps 64. */
static inline uint32_t aj_reduce_lanes(arrjit_dtype dtype) { return aj_dtypes[dtype].bytes >= 8 ? 32 : 64; }
enum { AJ_REDUCE_STEPS = 64, AJ_REDUCE_CHAIN = 128 };
/* Elements of a group when a cumulative op goes along the last axis: 16 (8 for elements of 8 bytes
 * and more). */
static inline uint32_t aj_scan_group(arrjit_dtype dtype) { return aj_dtypes[dtype].bytes >= 8 ? 8 : 16; }
/* The reduce op that a combiner of two values is, bit for bit, where there is something to reduce; AJ_OP_NONE: none. */
aj_op aj_sem_plain_combiner(const aj_region *region);
/* The identity that chains start from (sum: -0.0, and an empty sum is +0.0: *out_empty). */
void aj_reduce_identity(aj_op op, arrjit_dtype dtype, void *out_start, void *out_empty);

#endif
