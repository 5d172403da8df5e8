/* Making LLVM IR from an optimised module: what the files lower*.c share. One aj_lower a compilation, on one thread. */
#ifndef AJ_NATIVE_LOWER_H
#define AJ_NATIVE_LOWER_H

#include "native/budget.h"
#include "native/plan.h"
#include "native/target.h"
#include "opt/kernel.h"
#include "rt/code.h"

/* What is known about the NaNs of a float value. Arithmetic makes NaNs of any bits; they become canonical where bits
 * matter. */
typedef enum aj_nan {
  AJ_NAN_CANON, /* none, or canonical ones */
  AJ_NAN_KEEP,  /* may be any: bits that came in and must stay */
  AJ_NAN_RAW    /* made by arithmetic: to be made canonical before bits are stored or moved */
} aj_nan;

/* A value: a scalar or vector in registers, a pointer to an array, a pointer to an aj_exn. */
typedef struct aj_lv {
  LLVMValueRef v; /* exceptions: NULL where nobody needs one to be made */
  aj_nan nan;
  bool splat;                 /* arrays: one element in memory stands for all */
  const struct aj_known *exn; /* exceptions: what is known of it, or NULL */
} aj_lv;

/* A handler that only asks its exception questions; see lower_exn.c. */
typedef struct aj_catcher aj_catcher;

/* What is known of an exception while code is made: enough to answer a handler's questions without it. */
typedef struct aj_field {
  const aj_type *type;
  aj_lv value;
} aj_field;
typedef struct aj_known {
  const aj_catcher *catcher; /* what this handler was entered with; NULL: the rest tells */
  const aj_node *node;       /* of the optimised module: raise, exn_new, check, a checked op */
  const aj_node *raised;     /* node that raised it; NULL: it is new */
  arrjit_kind kind;
  uint32_t count;
  aj_field *fields; /* its payload */
} aj_known;

/* Where failures of a region go on. */
typedef struct aj_landing {
  LLVMBasicBlockRef block;
  const aj_region *stop;          /* see aj_nh_site */
  const aj_node *try_node;        /* whose body it is, else NULL */
  aj_catcher **catchers;          /* then: by handler; NULL entries: it needs an exception */
  const struct aj_landing *outer; /* where failures that leave the try go; NULL: not without code of their own */
  LLVMValueRef mark;              /* length of the list of exceptions to go back to when it is left, or NULL */
} aj_landing;

/* A region being lowered. */
typedef struct aj_scope aj_scope;
struct aj_scope {
  aj_scope *parent; /* of the owner's region; NULL: the function's root */
  const aj_region *region;
  const aj_plan_region *plan;
  aj_lv *vals;            /* by slot */
  LLVMValueRef iteration; /* of the innermost loop around, NULL when there is none */
  uint32_t loops;         /* around */
  LLVMValueRef *spares;   /* loop bodies: spare buffers of carried values */
  const aj_landing *landing;
};

typedef struct aj_lower {
  const aj_budget *budget;
  arrjit_status over; /* why lowering was given up, when not for lack of memory */
  aj_arena *arena;    /* temporary */
  aj_arena *keep;     /* lives as long as the code: sites, plans */
  const aj_native_request *request;
  const aj_target *target;
  aj_module *module;
  LLVMContextRef context;
  LLVMModuleRef llvm;
  LLVMBuilderRef b;
  LLVMTypeRef t_void, t_i1, t_i8, t_i32, t_i64, t_ptr, t_entry;
  LLVMValueRef *functions; /* by function index */
  LLVMAttributeRef cold, uwtable;
  const char *prefix;                          /* of symbols: unique in the process */
  int64_t visited, lowered, fallback, kernels; /* nodes */
  uint32_t block_count;                        /* functions for blocks of kernels */
  bool wants_passes;                           /* loops and kernels gain from a few */
  uint32_t most_loop_levels;
  /* the function being lowered */
  const aj_func *func;
  LLVMValueRef fn, run, inputs, outputs, env;
  LLVMBuilderRef entry; /* at the end of the block of allocas, before everything else */
  aj_plan plan;
  LLVMValueRef block, *offsets;
  bool heap_block;              /* has to be freed */
  LLVMValueRef exns, exns_mark; /* the run's aj_nh_exns, and what is in it at entry; NULL: the function has none */
  bool keeps_exns;              /* something is put into exns */
  LLVMValueRef arrays_mark;     /* late arrays of the run at entry; NULL: the function has none */
  LLVMValueRef slow_poll, cancel_flag, shutdown_flag;
  LLVMValueRef iterations; /* alloca for sites: one a level of loops, outermost last */
  uint32_t loop_levels;
  /* in the block of a kernel: the scope the kernel is in, and its iterations */
  const struct aj_scope *outside;
  LLVMValueRef outside_iterations;
} aj_lower;

/* ---- lower.c ---- */
/* All of the module. False: lo->over, or (when that is OK) no memory. */
bool aj_lower_module(aj_lower *lo);
/* What every function made here has. */
void aj_lower_set_attributes(aj_lower *lo, LLVMValueRef fn);
/* Finds the flags that polls of the function look at. */
void aj_lower_flags(aj_lower *lo);
/* The nodes of scope's region up to its terminator, which the caller lowers. Returns it, or NULL when the region ended
 * in a raise (then the builder's block is closed). */
const aj_node *aj_lower_region(aj_lower *lo, aj_scope *scope);
aj_scope aj_lower_scope(aj_lower *lo, aj_scope *parent, const aj_node *owner, uint32_t index);
/* Memory for a late value, made now; failures are those of `node`. */
LLVMValueRef aj_lower_late(aj_lower *lo, const aj_scope *scope, const aj_node *node, const aj_type *type);
/* The run's number of late arrays, and the end of those made since it was `mark`. */
LLVMValueRef aj_lower_arrays_count(aj_lower *lo);
void aj_lower_arrays_trim(aj_lower *lo, LLVMValueRef mark);
/* Where the node's result i goes. */
LLVMValueRef aj_lower_dest(aj_lower *lo, aj_scope *scope, const aj_value *value);
/* The region's yielded array i to where the owner's result (or the function's output) i goes. */
void aj_lower_yield_array(aj_lower *lo, aj_scope *scope, const aj_value *value, uint32_t i);

/* Big blocks of memory, in the name of `node`, which may be told to stop there. */
void aj_lower_copy(aj_lower *lo, aj_scope *scope, const aj_node *node, LLVMValueRef to, LLVMValueRef from,
                   LLVMValueRef bytes);
void aj_lower_zero(aj_lower *lo, aj_scope *scope, const aj_node *node, LLVMValueRef to, LLVMValueRef bytes);

/* ---- lower_ir.c: short forms ---- */
LLVMTypeRef aj_ir_type(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes);        /* in registers: bool is i1 */
LLVMTypeRef aj_ir_memory_type(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes); /* in memory: bool is i8 */
LLVMTypeRef aj_ir_int_type(aj_lower *lo, uint32_t bits, uint32_t lanes);
LLVMValueRef aj_ir_i64(aj_lower *lo, int64_t value);
LLVMValueRef aj_ir_i32(aj_lower *lo, int32_t value);
LLVMValueRef aj_ir_pointer(aj_lower *lo, const void *address);
/* The number in every lane: for integer and float types; `value` is cut to the width. */
LLVMValueRef aj_ir_int(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes, int64_t value);
LLVMValueRef aj_ir_float(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes, double value);
LLVMValueRef aj_ir_splat(aj_lower *lo, LLVMValueRef scalar, uint32_t lanes);
LLVMValueRef aj_ir_bits(aj_lower *lo, LLVMValueRef value, arrjit_dtype dtype, uint32_t lanes); /* float as integer */
LLVMValueRef aj_ir_element(aj_lower *lo, arrjit_dtype dtype, const void *bytes); /* a constant from memory */
LLVMValueRef aj_ir_alloca(aj_lower *lo, LLVMTypeRef type, uint32_t count, uint32_t align);
LLVMBasicBlockRef aj_ir_block(aj_lower *lo, const char *name);
void aj_ir_at(aj_lower *lo, LLVMBasicBlockRef block);
LLVMValueRef aj_ir_call(aj_lower *lo, const char *name, LLVMTypeRef result, uint32_t count, LLVMValueRef *args,
                        bool cold);
LLVMValueRef aj_ir_intrinsic(aj_lower *lo, const char *name, LLVMTypeRef type, uint32_t count, LLVMValueRef *args);
/* pointer + index * bytes of dtype */
LLVMValueRef aj_ir_index(aj_lower *lo, LLVMValueRef pointer, arrjit_dtype dtype, LLVMValueRef index);
LLVMValueRef aj_ir_field(aj_lower *lo, LLVMValueRef pointer, size_t offset);
LLVMValueRef aj_ir_load(aj_lower *lo, LLVMTypeRef type, LLVMValueRef pointer);
LLVMValueRef aj_ir_scalar_place(aj_lower *lo); /* on the stack, for any element */
uint32_t aj_ir_align(arrjit_dtype dtype);      /* of elements in memory: of its parts for a complex one */
/* One element (lanes 1) or a vector of neighbours; NaN state KEEP. */
aj_lv aj_ir_load_element(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes, LLVMValueRef pointer);
/* Makes NaNs canonical when raw. */
void aj_ir_store_element(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes, aj_lv value, LLVMValueRef pointer);
LLVMValueRef aj_ir_to_memory(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes, aj_lv value);
aj_lv aj_ir_from_memory(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes, LLVMValueRef value);
LLVMValueRef aj_ir_canonical(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes, aj_lv value);
LLVMValueRef aj_ir_dim(aj_lower *lo, int64_t dim);           /* under env */
LLVMValueRef aj_ir_count(aj_lower *lo, const aj_type *type); /* elements */
LLVMValueRef aj_ir_bytes(aj_lower *lo, const aj_type *type);
void aj_ir_copy(aj_lower *lo, LLVMValueRef to, LLVMValueRef from, LLVMValueRef bytes);
LLVMValueRef aj_ir_phi(aj_lower *lo, LLVMTypeRef type, LLVMValueRef value, LLVMBasicBlockRef block);
void aj_ir_add_incoming(LLVMValueRef phi, LLVMValueRef value, LLVMBasicBlockRef block);
/* A loop over i in [0, count): leaves the builder in the body; end goes on after it. */
typedef struct aj_ir_loop {
  LLVMBasicBlockRef head, exit;
  LLVMValueRef index, count;
} aj_ir_loop;
aj_ir_loop aj_ir_loop_begin(aj_lower *lo, LLVMValueRef count);
void aj_ir_loop_end(aj_lower *lo, aj_ir_loop *loop);

/* ---- lower_scalar.c and its parts ---- */
/* A SCALAR op on scalars or vectors of `lanes`. *out_fail: lanes that fail (i1), or NULL when none can. */
aj_lv aj_lower_scalar(aj_lower *lo, uint32_t lanes, const aj_node *node, const aj_lv *in, LLVMValueRef *out_fail);
typedef struct aj_scalar { /* what a rule sees */
  aj_lower *lo;
  uint32_t lanes;
  arrjit_dtype in, out;
  const aj_lv *x;
  LLVMValueRef fail;
} aj_scalar;
aj_lv aj_lower_convert(aj_scalar *s);
aj_lv aj_lower_checked_convert(aj_scalar *s);
/* + - * as (wrapped value, overflow in s->fail). */
aj_lv aj_lower_checked_arith(aj_scalar *s, aj_op op);
aj_lv aj_lower_division(aj_scalar *s, aj_op op);
aj_lv aj_lower_float_remainder(aj_scalar *s, aj_op op);
/* FLOOR, CEIL, TRUNC, ROUND_EVEN or ROUND_AWAY of an f32 or f64. */
LLVMValueRef aj_lower_round(aj_scalar *s, aj_op op, LLVMValueRef x);
aj_lv aj_lower_shift(aj_scalar *s, aj_op op);
aj_lv aj_lower_ipow(aj_scalar *s);
aj_lv aj_lower_minmax(aj_scalar *s, bool is_max, LLVMValueRef x, LLVMValueRef y);
/* The combiner of a reduce op. */
LLVMValueRef aj_lower_combine(aj_lower *lo, uint32_t lanes, aj_op reduce, arrjit_dtype dtype, LLVMValueRef x,
                              LLVMValueRef y);

/* ---- lower_half.c: f16 and bf16, i16 in registers ---- */
/* What is known of a half's NaNs is of no use: they are never raw. */
aj_lv aj_half_widen(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes, LLVMValueRef h);  /* to f32 */
aj_lv aj_half_narrow(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes, LLVMValueRef x); /* from f32, rounded */
/* An element of a dtype that is no half, as an f32 that rounds to the same half. */
LLVMValueRef aj_half_near(aj_lower *lo, arrjit_dtype from, uint32_t lanes, LLVMValueRef x);
LLVMValueRef aj_half_is_infinite(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes, LLVMValueRef h);
aj_lv aj_half_bits(aj_scalar *s, aj_op op); /* neg, abs, copysign */

/* ---- lower_fail.c ---- */
const aj_nh_site *aj_lower_site(aj_lower *lo, const aj_scope *scope, const aj_node *node);
/* Stores the innermost loop's iteration, those of the loops around it being there; returns the pointer for helpers. */
LLVMValueRef aj_lower_iterations(aj_lower *lo, const aj_scope *scope);
/* Begins a block that is entered when `condition` is true and rarely is; the builder is in it. Returns the block to go
 * on in afterwards. */
LLVMBasicBlockRef aj_lower_cold(aj_lower *lo, LLVMValueRef condition);
/* Ends a cold block (or any) by going to where failures of scope go on. */
void aj_lower_land(aj_lower *lo, const aj_scope *scope);
/* result != 0: land. */
void aj_lower_land_if(aj_lower *lo, const aj_scope *scope, LLVMValueRef result);
/* An array of pointers to the operands [first, first + count) in memory. */
LLVMValueRef aj_lower_operands(aj_lower *lo, const aj_scope *scope, const aj_node *node, uint32_t first,
                               uint32_t count);
void aj_lower_raise(aj_lower *lo, aj_scope *scope, const aj_node *node);
void aj_lower_check(aj_lower *lo, aj_scope *scope, const aj_node *node);
/* Fails when `fail` is true. */
void aj_lower_checked(aj_lower *lo, aj_scope *scope, const aj_node *node, LLVMValueRef fail);
void aj_lower_poll(aj_lower *lo, aj_scope *scope, const aj_node *node, bool count);
/* Whether the run has to stop: an i32 that is not 0, or a condition. */
LLVMValueRef aj_lower_stop_flags(aj_lower *lo);
LLVMValueRef aj_lower_due(aj_lower *lo);

/* ---- lower_exn.c: exceptions as values ---- */
void aj_lower_exn(aj_lower *lo, aj_scope *scope, const aj_node *node);
/* Notes beforehand, as marks of nodes: an exn_new that need not be made where it stands; a node with regions in which
 * something else puts exceptions into the list for good. */
void aj_exn_note(const aj_func *func);
/* The list of exceptions, which from now on has something to give back, and its length. */
LLVMValueRef aj_exn_list(aj_lower *lo);
LLVMValueRef aj_exn_list_length(aj_lower *lo);
/* Gives back what the list got since it had length `mark`, but for `kept` (lo->t_ptr each). */
void aj_exn_list_trim(aj_lower *lo, LLVMValueRef mark, LLVMValueRef kept, uint32_t kept_count);

/* ---- lower_known.c: exceptions that are never made ---- */
/* NULL: the handler needs an exception. `outer` as in its landing. */
aj_catcher *aj_catcher_make(aj_lower *lo, const aj_region *handler, arrjit_kind kind, const aj_landing *outer);
/* Raises by a branch to the handler that takes it; false, and nothing is made: an exception is needed. */
bool aj_catcher_raise(aj_lower *lo, const aj_landing *landing, const aj_known *exn);
/* Enters the handler with the exception in flight, which ends with that. */
void aj_catcher_take(aj_lower *lo, aj_catcher *catcher);
/* Begins the handler's code; false: nothing comes here. */
bool aj_catcher_begin(aj_lower *lo, aj_catcher *catcher, aj_lv *out_exn);
/* Whether the node asks an exception for scalars: exn_is, exn_field, exn_code, exn_site. */
bool aj_exn_asks(const aj_node *node);
/* What such a node gets, one value a result: of an exception that was made, of one that is known. */
void aj_exn_ask(aj_lower *lo, LLVMValueRef exn, const aj_node *question, aj_lv out[2]);
void aj_known_answer(aj_lower *lo, const aj_known *exn, const aj_node *question, aj_lv out[2]);
/* What a raise, an exn_new or a check tells: its kind, and operands [first, first + count) as payload, then lane (NULL:
 * none). */
aj_known aj_known_payload(aj_lower *lo, const aj_scope *scope, const aj_node *node, uint32_t first, uint32_t count,
                          LLVMValueRef lane);
/* Pointers to scalars of its payload, from `first` on, in memory. */
LLVMValueRef aj_known_fields(aj_lower *lo, const aj_known *exn, uint32_t first);
/* What a checked op of scalars tells when it fails. */
aj_known aj_known_checked(aj_lower *lo, const aj_scope *scope, const aj_node *node);

/* ---- lower_guard.c: jumps over nodes of a region that no lane needs ---- */
typedef struct aj_guard_state {
  const aj_region *region;
  uint32_t *guards;           /* aj_guard_find of it */
  uint32_t first, end;        /* pcs of what is being jumped over */
  LLVMBasicBlockRef from, go; /* go NULL: nothing is */
} aj_guard_state;
/* False: no memory. */
bool aj_guard_open(aj_lower *lo, const aj_region *region, aj_guard_state *state);
/* Call before each node is lowered, in order; vals by slot. */
void aj_guard_step(aj_lower *lo, aj_guard_state *state, uint32_t pc, uint32_t lanes, aj_lv *vals);

/* ---- lower_control.c, lower_loop.c, lower_try.c, lower_call.c ---- */
void aj_lower_if(aj_lower *lo, aj_scope *scope, const aj_node *node); /* and switch */
void aj_lower_while(aj_lower *lo, aj_scope *scope, const aj_node *node);
void aj_lower_for(aj_lower *lo, aj_scope *scope, const aj_node *node);
void aj_lower_try(aj_lower *lo, aj_scope *scope, const aj_node *node);
void aj_lower_call(aj_lower *lo, aj_scope *scope, const aj_node *node);
void aj_lower_callback(aj_lower *lo, aj_scope *scope, const aj_node *node);
void aj_lower_fallback(aj_lower *lo, aj_scope *scope, const aj_node *node);

/* Whether what a loop yields for carried value i, a float, may have any NaN's bits made canonical. */
bool aj_loop_yields_raw(const aj_node *node, uint32_t i);

/* What arms of a node yield, joined behind it. */
typedef struct aj_merge {
  aj_scope *scope; /* of the node */
  const aj_node *node;
  LLVMBasicBlockRef block;
  uint32_t count, capacity;
  LLVMBasicBlockRef *from;
  aj_lv *values; /* count rows of result_count */
} aj_merge;
void aj_merge_begin(aj_lower *lo, aj_merge *merge, aj_scope *scope, const aj_node *node, uint32_t arms);
/* Ends the builder's block with what the terminator yields. */
void aj_merge_add(aj_lower *lo, aj_merge *merge, aj_scope *arm, const aj_node *yield);
void aj_merge_end(aj_lower *lo, aj_merge *merge);
/* The scalar or exception that comes from `count` ends of blocks into the builder's, as values[k * stride]. */
aj_lv aj_merge_join(aj_lower *lo, const aj_type *type, uint32_t count, const LLVMBasicBlockRef *from,
                    const aj_lv *values, uint32_t stride);

/* ---- lower_kernel.c, lower_reduce.c ---- */
void aj_lower_kernel(aj_lower *lo, aj_scope *scope, const aj_node *node);
void aj_lower_map(aj_lower *lo, aj_scope *scope, const aj_node *node);
void aj_lower_fold(aj_lower *lo, aj_scope *scope, const aj_node *node);
/* A SCALAR or MAP op on arrays that fusion left alone. */
void aj_lower_lone(aj_lower *lo, aj_scope *scope, const aj_node *node);

#endif
