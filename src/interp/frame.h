/* Frames, cells and the growable stack they live on: the whole state of an interpreted run. */
#ifndef AJ_INTERP_FRAME_H
#define AJ_INTERP_FRAME_H

#include "interp/interp.h"

/* ---- cells: one value each. Rank 0 is always SCALAR, any other rank always ARRAY (maybe strided), exceptions EXN ----
 */
typedef enum aj_cell_tag { AJ_CELL_NONE, AJ_CELL_SCALAR, AJ_CELL_ARRAY, AJ_CELL_EXN } aj_cell_tag;
typedef struct aj_cell {
  union {
    unsigned char bits[AJ_ELEMENT_BYTES]; /* SCALAR: the element, inline, so that scalar loops allocate nothing */
    uint64_t words[AJ_ELEMENT_BYTES / 8];
    int64_t i64;
    arrjit_array *array; /* one reference */
    aj_exn *exn;         /* one reference */
  } u;
  aj_cell_tag tag;
} aj_cell;

/* In parts: one wide load of what was just stored in several would have to wait for the stores to leave the core. */
static inline void aj_cell_copy(aj_cell *to, const aj_cell *from) {
  to->u.words[0] = from->u.words[0];
  to->u.words[1] = from->u.words[1];
  to->tag = from->tag;
}

/* ---- frames: one activation of a region ---- */
typedef enum aj_why {
  AJ_WHY_ROOT,
  AJ_WHY_IF_ARM,
  AJ_WHY_SWITCH_ARM,
  AJ_WHY_WHILE_COND,
  AJ_WHY_WHILE_BODY,
  AJ_WHY_FOR_BODY,
  AJ_WHY_CALL,
  AJ_WHY_TRY_BODY,
  AJ_WHY_HANDLER,
  AJ_WHY_FINALLY,
  AJ_WHY_MAP_LANE
} aj_why;

typedef struct aj_interp_node aj_interp_node;
typedef struct aj_range aj_range;
typedef struct aj_scalar_loop aj_scalar_loop;
typedef struct aj_frame {
  struct aj_frame *parent;
  const aj_region *region;
  const aj_interp_node *nodes; /* of the region's function, by node id */
  int64_t *env;                /* symbols of the activation: own for ROOT and CALL, else the parent's */
  aj_cell *cells;              /* region->slot_count */
  uint32_t pc;                 /* node to run, or that runs one frame further in */
  aj_why why;
  uint32_t arm;      /* case of SWITCH_ARM, handler of HANDLER */
  int64_t iteration; /* completed ones, of loops; MAP_LANE: the lane; -1 elsewhere */
  int64_t index;     /* FOR_BODY: the counter; MAP_LANE: the run's iterations_left when the lane began */
  aj_exn *exn;       /* HANDLER: what it handles; FINALLY: what goes on after it, NULL for a normal end. Owned */
  bool masks;        /* this FINALLY began the grace that run->masked_until_ns ends */
} aj_frame;

typedef struct aj_stack_chunk {
  struct aj_stack_chunk *prev, *next;
  size_t bytes, used;
} aj_stack_chunk;

/* ---- an interpreter: what one run uses, pooled by aj_interp_code ---- */
struct aj_interp {
  struct aj_interp *next_free;
  aj_interp_code *code;
  aj_run *run;
  aj_frame *top;
  arrjit_array **outputs;  /* results of the entry */
  bool resume;             /* rebuild all frames at every pc */
  aj_stack_chunk *chunk;   /* the one that has `top` */
  aj_cell *transfer;       /* code->max_values: values on their way from frame to frame */
  uint32_t transfer_count; /* how many of them are on their way */
  aj_view *views;          /* code->max_values */
  arrjit_array **arrays;   /* code->max_values */
  arrjit_view *host_views; /* code->max_values */
  int64_t *host_dims;      /* code->max_host_dims: of results that a callback makes */
  void *scratch;           /* of block programs: at least code->scratch_bytes, more by aj_interp_scratch */
  size_t scratch_bytes;
};

/* NEXT: in->top and its pc say where to go on; FAILED: run->exn is set, the node at in->top's pc raised it; DONE: the
 * entry has returned; ENDED: run->exn has left the entry. */
typedef enum aj_flow { AJ_FLOW_NEXT, AJ_FLOW_FAILED, AJ_FLOW_DONE, AJ_FLOW_ENDED } aj_flow;
/* Runs one node. */
typedef aj_flow aj_step_fn(aj_interp *in, aj_frame *frame, const aj_node *node);

struct aj_interp_node { /* what is known of a node beforehand */
  aj_step_fn *step;
  aj_step_fn *plain; /* step of the node alone: another than `step` where a range begins */
  union {
    aj_loop *loop;               /* elementwise op on scalars */
    const aj_program *program;   /* function on scalars; combiner */
    arrjit_array *constant;      /* one reference */
    aj_scalar_loop *scalar_loop; /* while, for: when it can run as programs, or NULL */
  } u;
  aj_program *owned; /* the combiner's program, or NULL */
  aj_range *range;   /* that begins here, or NULL */
  uint32_t output;   /* which output of the entry its result is, plus 1; 0: none */
};

struct aj_interp_code {
  aj_core *core; /* borrowed from the function */
  const aj_module *module;
  aj_interp_node **funcs; /* [func index][node id] */
  uint32_t max_values;    /* operands, results or parameters of any one node or region, at least 1 */
  uint32_t max_host_dims; /* of results of any one node that a callback makes, all ranks together */
  size_t scratch_bytes;
  aj_range *ranges; /* all of the module */
  aj_scalar_loop *scalar_loops;
  aj_mutex lock;
  aj_interp *free; /* guarded by lock */
};

/* ---- frame.c ---- */
void aj_cell_retain(const aj_cell *cell);
/* Gives up the value; the cell is NONE. `run` no longer counts memory that goes with it. */
void aj_cell_drop(aj_run *run, aj_cell *cell);
static inline void aj_cell_clear(aj_run *run, aj_cell *cell) {
  if (cell->tag >= AJ_CELL_ARRAY) aj_cell_drop(run, cell);
}
/* Pushes a frame at pc 0 with empty cells; ROOT and CALL get an env of their own with all symbols unbound. NULL:
 * run->exn. */
aj_frame *aj_stack_push(aj_interp *in, const aj_region *region, aj_why why);
/* Drops the top frame with all that is still in it; what its exn was is the caller's when taken before. */
void aj_stack_pop(aj_interp *in);
/* Gives a parameter its value: copies and retains, or takes over, unless nobody in the region reads it. */
void aj_frame_copy_param(aj_frame *frame, uint32_t index, const aj_cell *cell);
void aj_frame_move_param(aj_interp *in, aj_frame *frame, uint32_t index, aj_cell *cell);
/* Whether the region has a use for a parameter. */
bool aj_frame_wants(const aj_region *region, uint32_t slot);
/* The node at frame's pc is done: drops what is dead after it, goes on to the next. */
aj_flow aj_frame_next(aj_interp *in, aj_frame *frame, const aj_node *node);
/* The node at frame's pc starts to run further in: drops operands that nothing can read any more. */
void aj_frame_enter(aj_interp *in, aj_frame *frame, const aj_node *node);
void aj_stack_free(aj_interp *in);

static inline aj_cell *aj_frame_cell(aj_frame *frame, const aj_value *value) { return &frame->cells[value->slot]; }
static inline aj_cell *aj_frame_operand(aj_frame *frame, const aj_node *node, uint32_t i) {
  return &frame->cells[node->operands[i]->slot];
}
static inline aj_cell *aj_frame_result(aj_frame *frame, const aj_node *node, uint32_t i) {
  return &frame->cells[node->results[i].slot];
}

/* ---- interp_code.c ---- */
aj_interp *aj_interp_take(aj_interp_code *code); /* NULL: no memory */
void aj_interp_give(aj_interp *in);
/* in->scratch with room for `bytes`; what was in it is lost. NULL: run->exn. */
void *aj_interp_scratch(aj_interp *in, size_t bytes);

/* ---- ranges of nodes and loops that become block programs once they are warm (option block_work) ---- */
typedef struct aj_warmth {
  int64_t weight;       /* aj_node_weight of all its nodes */
  _Atomic int64_t work; /* interpreted so far */
  _Atomic bool built;
} aj_warmth;
/* Nodes that the node becomes in a block program, about. */
static inline int64_t aj_node_weight(const aj_node *node) {
  enum { FUNCTION_WEIGHT = 100 };
  return aj_ops[node->op].routine == AJ_ROUTINE_EXPAND ? FUNCTION_WEIGHT : 1;
}
enum { AJ_STEP_WORK = 16 }; /* elements that take as long as a step does beside its elements */
typedef enum aj_heat { AJ_COLD, AJ_WARM, AJ_HEAT_FAILED } aj_heat;
/* Counts work and, when it is enough for what making the program takes, calls `build` on `part` once, whatever the
 * number of runs. COLD: nodes run one by one; FAILED: run->exn is set. */
aj_heat aj_warm(aj_interp *in, aj_warmth *warmth, int64_t work, bool (*build)(aj_interp_code *code, void *part),
                void *part);

/* ---- range_find.c, range_build.c, range.c ---- */
/* Notes the ranges of a function, whose nodes are prepared. False: no memory. */
bool aj_range_find(aj_interp_code *code, aj_func *func);
void aj_ranges_destroy(aj_interp_code *code);

/* ---- scalar_loop.c ---- */
/* Notes a loop that can run as programs. False: no memory. */
bool aj_scalar_loop_find(aj_interp_code *code, const aj_node *node, aj_interp_node *info);
void aj_scalar_loops_destroy(aj_interp_code *code);
/* The loop at the top frame's pc is to begin iteration `iteration`, carried values in in->transfer. WARM: all that were
 * left have run, the values are there again. COLD: nothing was done; FAILED: run->exn is set, the frame to blame is on
 * top. */
aj_heat aj_scalar_loop_run(aj_interp *in, const aj_node *node, aj_scalar_loop *loop, int64_t iteration, int64_t index);

/* ---- values.c ---- */
/* A cell's elements through a view that lives as long as the cell stays put. */
void aj_value_view(const aj_cell *cell, const aj_type *type, aj_view *out);
/* A new array for a result of `type` under the frame's env, counted against the run's memory. NULL: run->exn. */
arrjit_array *aj_value_array(aj_interp *in, const aj_frame *frame, const aj_type *type, bool zero);
/* A private dense copy as an array, of scalars too. NULL: run->exn. */
arrjit_array *aj_value_copy(aj_interp *in, const aj_cell *cell, const aj_type *type);
/* Whether the cell has a dense array that nobody else can see, so that it may be written to; and noting that it is, or
 * that it becomes an output, for the sake of donated inputs. */
bool aj_value_is_private(const aj_cell *cell);
void aj_value_consume(aj_interp *in, const arrjit_array *array);
/* Where result 0 of the frame's node goes: the output that the host has given for it, else a new array. NULL: run->exn.
 */
arrjit_array *aj_value_result(aj_interp *in, const aj_frame *frame, const aj_node *node);
/* in->views[0 ..]: operands [first, first + count). */
void aj_value_views(aj_interp *in, aj_frame *frame, const aj_node *node, uint32_t first, uint32_t count);

/* ---- map_lane.c ---- */
/* The region of a map has come to its end: the lane's results go into the arrays, the next lane begins. */
aj_flow aj_map_yield(aj_interp *in, aj_frame *frame, const aj_node *node);

/* ---- unwind.c ---- */
/* From a failing node at the top: to the handler or finally that takes over. False: out of the run, no frame left. */
bool aj_unwind(aj_interp *in);
/* Same for an exception that goes on from the top frame's try, whose finally has run. */
bool aj_unwind_onward(aj_interp *in);
/* Starts the finally of the try at the top frame's pc; `exn` (taken over, NULL fine) goes on after it. False: run->exn.
 */
bool aj_unwind_finally(aj_interp *in, const aj_node *node, aj_exn *exn);

/* ---- snapshot.c ---- */
/* Encodes all frames, drops them, rebuilds them from what was live. FAILED: no memory to encode, nothing was dropped;
 * ENDED: run->exn is set, no frame is left. */
aj_flow aj_snapshot_resume(aj_interp *in);

/* ---- steps of CONTROL ops, one a row of the op table, and of the other classes ---- */
aj_step_fn aj_step_dim_size, aj_step_if, aj_step_switch, aj_step_while, aj_step_for, aj_step_map, aj_step_call,
    aj_step_try, aj_step_yield, aj_step_raise, aj_step_raise_exn, aj_step_check, aj_step_check_shape, aj_step_callback,
    aj_step_exn_new, aj_step_exn_is, aj_step_exn_field, aj_step_exn_code, aj_step_exn_site, aj_step_exn_cause;
aj_step_fn aj_step_range, aj_step_inline, aj_step_program, aj_step_scalar_const, aj_step_array_const, aj_step_array,
    aj_step_fold, aj_step_view, aj_step_foreign;

/* For routines: true, and run->exn is set, when the run has to end. */

#endif
