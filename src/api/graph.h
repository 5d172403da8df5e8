/* A graph under construction: the builder, the constructs that are open, and what the files graph*.c share. The host
 * may pass anything; whatever is wrong becomes the graph's first error, and every later call does nothing. */
#ifndef AJ_API_GRAPH_H
#define AJ_API_GRAPH_H

#ifndef ARRJIT_NO_LOCATIONS
#define ARRJIT_NO_LOCATIONS
#endif
#include "arrjit/graph.h"
#include "engine/engine.h"
#include "ir/build.h"

typedef enum aj_frame_kind {
  AJ_FRAME_FUNC,
  AJ_FRAME_IF,
  AJ_FRAME_SWITCH,
  AJ_FRAME_WHILE,
  AJ_FRAME_FOR,
  AJ_FRAME_TRY,
  AJ_FRAME_MAP,
  AJ_FRAME_REDUCE,
  AJ_FRAME_CUMULATIVE,
  AJ_FRAME_REDUCE_WINDOW,
  AJ_FRAME_SELECT_AND_SCATTER,
  AJ_FRAME_SORT_BY
} aj_frame_kind;
typedef enum aj_frame_stage { AJ_STAGE_FIRST, AJ_STAGE_NEXT, AJ_STAGE_FINALLY } aj_frame_stage;

/* A function or construct that is begun and not ended. After an error frames are still pushed and popped, so that ends
 * know how many null values to give. */
typedef struct aj_frame {
  aj_frame_kind kind;
  aj_frame_stage stage; /* if: then, else; while: cond, body; try: body, handler, finally */
  uint32_t yields;      /* most values that an arm was given, or carried ones */
  aj_source source;     /* of the begin */
  aj_func *func;        /* what was being built before: a function's frame changes it */
  aj_region *outer;
  aj_lane_kind lane;
  size_t heads, regions, kinds; /* where the frame's parts begin in the graph's lists */
} aj_frame;

struct arrjit_graph {
  arrjit_context *context;   /* not retained: only used while the host may use it */
  aj_core *core;             /* retained */
  aj_module *module;         /* NULL once finished */
  arrjit_function *function; /* what came of it, retained: values of the graph point into its module */
  aj_builder b;
  AJ_VEC(aj_frame) frames;     /* innermost last; [0] is main until it returns */
  size_t lost_frames;          /* begun above the limit or without memory, innermost of all */
  AJ_VEC(aj_value *) heads;    /* operands of open constructs before their captures */
  AJ_VEC(aj_region *) regions; /* arms and bodies of open constructs */
  AJ_VEC(int64_t) kinds;       /* of handlers; axes of reductions; axis, and reverse of cumulatives */
  AJ_VEC(aj_value *) scratch;  /* operands of the node being made */
  AJ_VEC(const char *) labels; /* joined labels, innermost last */
};

/* The entries of a list from index `from` on; an empty list has no address to count from. */
#define AJ_LIST_FROM(list, from) ((list).data ? (list).data + (from) : NULL)

static inline aj_value *aj_graph_value(arrjit_value value) { return (aj_value *)(uintptr_t)value; }
static inline arrjit_value aj_host_value(const aj_value *value) { return (arrjit_value)(const void *)value; }

/* ---- graph.c ---- */
/* Whether anything can be built: a graph, not finished, without an error. NULL is fine. Used in a building function, it
 * also makes that function's name the one that errors are told under; so does opening or closing a construct. */
#define aj_graph_ready(graph) aj_graph_enter(graph, __func__)
bool aj_graph_enter(arrjit_graph *graph, const char *function);
/* Errors from here on are this function's, unless it is none of the host's. */
void aj_graph_name_call(arrjit_graph *graph, const char *function);
/* A pointer that must not be NULL when there is something to read; if it is, an error that names it. */
bool aj_graph_given(arrjit_graph *graph, const char *what, const void *pointer, size_t count);
/* Greatest count of values or types that a host may give to one call. */
#define AJ_GRAPH_MOST (UINT32_MAX / 4)
/* False after an error: above it. */
bool aj_graph_counted(arrjit_graph *graph, size_t count);
/* Clears the scratch list, and adds values to it; false: an error. */
bool aj_graph_operands(arrjit_graph *graph, size_t count, const arrjit_value *values);
bool aj_graph_add_operands(arrjit_graph *graph, size_t count, const arrjit_value *values);
/* Writes results to the host's array, or null values; `out` may be NULL. */
void aj_graph_give(arrjit_value *out, size_t count, const aj_node *node);

/* ---- graph_value.c ---- */
/* The host's type as one of function `to`, symbols mapped by name; `allow`: what not every type may be, an exception
 * (rank -1) or one with dynamic dims. NULL: error. */
enum { AJ_ALLOW_EXN = 1, AJ_ALLOW_DYNAMIC = 2 };
const aj_type *aj_graph_type(arrjit_graph *graph, const char *what, const arrjit_type *type, aj_func *to,
                             unsigned allow);
/* Types of a signature, in the module's arena. NULL: error. */
const aj_type **aj_graph_types(arrjit_graph *graph, const char *what, size_t count, const arrjit_type *types,
                               aj_func *to, unsigned allow);
/* A name: not NULL, not empty. */
bool aj_graph_name(arrjit_graph *graph, const char *what, const char *name);

/* ---- graph_op.c ---- */
/* An attribute as generated builders give it. */
typedef struct aj_graph_attr {
  aj_attr_name name;
  size_t count;
  const int64_t *ints;
  int64_t i;
} aj_graph_attr;
/* What the generated builders of ops.h call: operands, more operands, attributes. */
arrjit_value aj_graph_op(arrjit_graph *graph, aj_op op, size_t operand_count, const arrjit_value *operands,
                         size_t extra_count, const arrjit_value *extra, size_t attr_count, const aj_graph_attr *attrs);
/* The same with several results: each goes where out[i] says, if that is not NULL. */
void aj_graph_ops(arrjit_graph *graph, aj_op op, size_t operand_count, const arrjit_value *operands, size_t extra_count,
                  const arrjit_value *extra, size_t attr_count, const aj_graph_attr *attrs, size_t result_count,
                  arrjit_value *const *out);

/* ---- graph_frame.c ---- */
/* Opens a construct; NULL when it is lost (limit, memory): an error, but its end will be matched. */
#define aj_frame_push(graph, kind) aj_frame_open(graph, kind, __func__)
aj_frame *aj_frame_open(arrjit_graph *graph, aj_frame_kind kind, const char *function);
/* The innermost construct, which must be of this kind. */
#define aj_frame_top(graph, kind) aj_frame_find(graph, kind, __func__)
aj_frame *aj_frame_find(arrjit_graph *graph, aj_frame_kind kind, const char *function);
/* Starts an arm or body of the innermost construct; NULL: error. */
aj_region *aj_frame_begin_arm(arrjit_graph *graph, aj_frame *frame);
/* Ends the arm that is being built with what it yields, unless it has raised. */
void aj_frame_end_arm(arrjit_graph *graph, aj_frame *frame, size_t count, const arrjit_value *values);
/* Closes the innermost construct: makes its node and gives its results, or null values after an error. */
void aj_frame_finish(arrjit_graph *graph, aj_frame *frame, aj_op op, uint32_t attr_count, const aj_attr *attrs,
                     size_t count, arrjit_value *out);
/* Forgets the innermost construct (that was lost, or after an error). */
void aj_frame_pop(arrjit_graph *graph);
/* An end whose begin was lost, or is not the innermost: null values. */
void aj_frame_lost(arrjit_graph *graph, size_t count, arrjit_value *out);
const char *aj_frame_name(aj_frame_kind kind);

/* ---- graph_combine.c ---- */
/* What begins and ends a reduce_window, told under the name of `function`. */
void aj_windows_begin(arrjit_graph *graph, const char *function, size_t count, const arrjit_value *args,
                      const arrjit_value *inits, int32_t rank, const int64_t *const lists[6], arrjit_value *out_older,
                      arrjit_value *out_newer);
void aj_windows_end(arrjit_graph *graph, const char *function, size_t count, const arrjit_value *values,
                    arrjit_value *out);

#endif
