/* The IR: a module has functions, a function has a root region, a region has parameters and an ordered list of nodes,
 * the last of which is its terminator. Regions are closed: what they use is a parameter or the result of a node of
 * their own. All of it lives in the module's arena.
 *
 * Sub-regions of a node receive values by position:
 *   if, switch   operands: selector, captures[M]
 *                each region's params: captures[M]
 *   while        operands: init[N], captures[M]
 *                cond and body params: carried[N], captures[M]; cond yields one bool; body yields carried[N]
 *   for          operands: lo, hi, step, init[N], captures[M]
 *                body params: i (i64), carried[N], captures[M]; yields carried[N]
 *   map          operands: args[N], captures[M], all args of one shape
 *                region params: the args' elements at one lane, captures[M], all scalars; yields scalars
 *   reduce       operands: args[N], inits[N], captures[M], all args of one shape
 *                region params: older[N], newer[N], captures[M], all scalars; yields both combined, N scalars
 *   cumulative   the same without inits
 *   reduce_window  as reduce with one arg
 *   try          operands: captures[M]
 *                body params: captures[M]; handlers: exn, captures[M]; finally: captures[M], yields nothing
 *   kernel       see opt/kernel.h
 * A region whose terminator is raise or raise_exn fits any result types. */
#ifndef AJ_IR_MODULE_H
#define AJ_IR_MODULE_H

#include "base/map.h"
#include "base/vec.h"
#include "ir/kind.h"
#include "ir/op.h"

typedef struct aj_value aj_value;
typedef struct aj_node aj_node;
typedef struct aj_region aj_region;
typedef struct aj_func aj_func;
typedef struct aj_module aj_module;

struct aj_value {
  const aj_type *type;
  aj_node *def; /* NULL: a parameter */
  aj_region *region;
  uint32_t index;    /* among the parameters of region, or the results of def */
  uint32_t slot;     /* number in its region: parameters first, then results in order; by aj_func_number */
  aj_value *forward; /* passes: what replaces this value (aj_value_resolve) */
  const char *name;  /* of a function's parameter, or NULL */
};

typedef struct aj_attr {
  aj_attr_name name;
  uint32_t count; /* of ints/dims, bytes of data or text */
  union {
    int64_t i;           /* INT DTYPE KIND SLOT FUNC */
    const int64_t *ints; /* INTS DIMS */
    const void *bytes;   /* BYTES */
    const char *text;    /* TEXT, NUL-terminated; NULL: none */
  } u;
} aj_attr;

typedef struct aj_source {
  const char *file;
  int32_t line;
  const char *label;
} aj_source; /* strings may be NULL */

struct aj_node {
  aj_op op;
  uint32_t pc; /* place in its region; by aj_func_number */
  uint32_t id; /* place in its function in print order, what traces show; by aj_func_number on finished modules */
  uint32_t operand_count, result_count, region_count, attr_count;
  aj_value **operands;
  aj_value *results; /* array of result_count values */
  aj_region **regions;
  aj_attr *attrs; /* ascending by name */
  aj_region *parent;
  aj_source source;
  const aj_node *origin; /* the finished function's node it stands for; NULL in finished modules (itself) */
  uint32_t mark;         /* scratch of a pass or walk; no meaning between them */
};

struct aj_region {
  aj_func *func;
  aj_node *owner; /* NULL: root region of func */
  uint32_t index; /* among owner's regions */
  uint32_t param_count, param_capacity;
  aj_value **params;
  uint32_t node_count, node_capacity;
  aj_node **nodes;
  uint32_t slot_count; /* by aj_func_number */
  uint32_t *last_use;  /* [slot] greatest pc that uses it, AJ_UNUSED when none; by aj_func_number */
  uint32_t *def_pc;    /* [slot] 0 for parameters, else pc of the defining node + 1: first pc at which it is there */
  bool closed;         /* while building: it has ended, its values can no more be used as operands */
  const char *part;    /* while building: "case 2 of the switch", NULL for a function's body */
  aj_source begun;     /* while building: where the construct it is a part of began */
};
#define AJ_UNUSED UINT32_MAX

struct aj_func {
  aj_module *module;
  uint32_t index;
  const char *name;
  uint32_t param_count, result_count; /* of the signature, known before the body */
  const aj_type **param_types, **result_types;
  const char **result_names; /* entries may be NULL */
  aj_region *root;           /* NULL until defined */
  uint32_t node_count;       /* nodes of all regions, by aj_func_number */
  uint32_t next_node_symbol; /* above the number of every NODE symbol of it so far */
};

/* Symbols are numbered per module. Each belongs to a function; derived ones are computed from earlier ones as soon as
 * those are bound. NODE symbols are bound in the order of their numbers, each by one node. */
typedef enum aj_symbol_form {
  AJ_SYM_PARAM, /* bound by the first parameter dim that names it */
  AJ_SYM_NODE,  /* bound by a node of its function (a callback result); a is its number in the function */
  AJ_SYM_ADD,
  AJ_SYM_SUB,
  AJ_SYM_MUL,
  AJ_SYM_FLOOR_DIV,
  AJ_SYM_LESS /* a - b, or 0 where that is below 0. Of dims a and b; below 0 or overflow: kind shape */
} aj_symbol_form;
typedef struct aj_symbol {
  const char *name; /* NULL for derived */
  uint32_t func;
  aj_symbol_form form;
  int64_t a, b;   /* dims */
  uint32_t after; /* 0: known at entry; else one more than the greatest number of a NODE symbol it is computed from */
} aj_symbol;

typedef struct aj_slot {
  const char *name;
  bool is_value; /* else io */
  bool optional, pure;
  uint32_t param_count, result_count;
  const aj_type **param_types, **result_types; /* dims of results may be ARRJIT_DYNAMIC_DIM */
} aj_slot;
/* Dims of the result, or of all results, that the callback decides on. */
uint32_t aj_slot_dynamic_dims(const aj_slot *slot, uint32_t result);
uint32_t aj_slot_all_dynamic_dims(const aj_slot *slot);

struct aj_module {
  aj_arena arena;
  aj_mem *mem;
  aj_kinds *kinds;         /* of the context, retained by whoever owns the module */
  AJ_VEC(aj_func *) funcs; /* [0] is the entry, "main" */
  AJ_VEC(aj_symbol) symbols;
  bool derives; /* some symbol is not just what an argument brings */
  AJ_VEC(aj_slot) slots;
  AJ_VEC(const aj_type *) types; /* interned */
  aj_map type_map;
  aj_map symbol_map; /* by function, form and name or dims */
  aj_map text_map;   /* interned strings: files, labels */
  AJ_VEC(const char *) texts;
  uint64_t node_total, const_bytes;
  const aj_module *origin; /* the finished module an optimised copy came from, or NULL: it outlives the copy */
  bool borrows;            /* while it is filled from its origin: bytes of constants stay there */
};

/* ---- modules (ir/module.c) ---- */
aj_module *aj_module_create(aj_mem *mem, aj_kinds *kinds); /* NULL: no memory */
/* A finished module whose kinds are a fork of `base` gets those of `base`, with its own kinds added there, all or none.
 * Errors: those of aj_kinds_join. */
arrjit_status aj_module_join_kinds(aj_module *module, aj_kinds *base, arrjit_error *error);
void aj_module_destroy(aj_module *module);
/* A copy for the optimiser, deep but for the bytes of constants; its nodes' origin is the node of `module` (or that
 * one's origin). NULL: no memory. */
aj_module *aj_module_clone(const aj_module *module);
const char *aj_module_text(aj_module *module, const char *s, size_t length); /* interned; NULL: no memory */
const aj_type *aj_module_type(aj_module *module, arrjit_dtype dtype, int32_t rank, const int64_t *dims);
const aj_type *aj_module_exn_type(aj_module *module);
aj_func *aj_module_add_func(aj_module *module, const char *name, uint32_t param_count, const aj_type *const *params,
                            uint32_t result_count, const aj_type *const *results);
aj_func *aj_module_find_func(const aj_module *module, const char *name);
int32_t aj_module_add_slot(aj_module *module, const aj_slot *slot); /* copies; -1: no memory */

/* ---- nodes and regions (ir/node.c): all return NULL or false when there is no memory ---- */
aj_region *aj_region_create(aj_func *func, aj_node *owner, uint32_t index);
aj_value *aj_region_add_param(aj_region *region, const aj_type *type);
/* Not yet in a region. Operands and attrs are copied; results have the given types; regions are NULL entries to fill.
 */
aj_node *aj_node_create(aj_func *func, aj_op op, uint32_t operand_count, aj_value *const *operands, uint32_t attr_count,
                        const aj_attr *attrs, uint32_t result_count, const aj_type *const *result_types,
                        uint32_t region_count);
bool aj_region_append(aj_region *region, aj_node *node);
bool aj_region_insert(aj_region *region, uint32_t pc, aj_node *node);
bool aj_node_add_operand(aj_node *node, aj_value *value);
const aj_attr *aj_node_attr(const aj_node *node, aj_attr_name name); /* NULL: it has none */
int64_t aj_node_int(const aj_node *node, aj_attr_name name);         /* 0 when it has none */
aj_node *aj_region_terminator(const aj_region *region);              /* NULL when it has none yet */
/* Number of values that loop or region ops take before their captures: if 1, while N, for 3 + N, map N, cumulative N,
 * reduce 2 N, reduce_window 2, try 0, kernel all. */
uint32_t aj_node_capture_start(const aj_node *node);
/* Follows forward pointers, shortening them. */
aj_value *aj_value_resolve(aj_value *value);
/* Rewrites all operands of a function through aj_value_resolve. */
void aj_func_resolve(aj_func *func);
/* Whether it can be dropped when unused: no raise, no effect, no loop, no call, here and in its regions. */
bool aj_node_is_pure(const aj_node *node);
/* The same of the node alone, whatever is in its regions. */
bool aj_node_is_quiet(const aj_node *node);
/* Whether it may fail by itself (not in its regions or callees): by its flags, or because its extents show only when it
 * runs, as for a slice or reshape of symbolic ones. */
bool aj_node_may_raise(const aj_node *node);

/* ---- numbering and liveness (ir/live.c) ---- */
/* Sets slots, pcs, last uses (and ids when the module has no origin). Call after every edit, before anything that reads
 * them. Iterative: any depth, any size. False: no memory. */
bool aj_func_number(aj_func *func);
bool aj_module_number(aj_module *module);
typedef enum aj_live_mode { AJ_LIVE_BEFORE, AJ_LIVE_AFTER, AJ_LIVE_RAISE, AJ_LIVE_INSIDE } aj_live_mode;
/* Whether `slot` of region is live at (pc, mode): design/tracing.md section 4 as restated in ir/README.md. The one
 * liveness function: encoder, decoder and verifier of frames call it. */
bool aj_live(const aj_region *region, uint32_t pc, aj_live_mode mode, uint32_t slot);

/* ---- pure slots (ir/pure_calls.c) ---- */
/* Settles which calls of pure slots a finished module has, and where; numbers it. Once, after numbering. False: no
 * memory.
 */
bool aj_module_settle_pure(aj_module *module);

/* ---- walking without recursion (ir/walk.c) ---- */
typedef struct aj_walk {
  aj_func *func;
  aj_region *region;
  uint32_t pc;
  bool skip;
} aj_walk;
/* Pre-order over all nodes of a function, a node before those in its regions: aj_walk_start, then aj_walk_next until
 * NULL. Goes by the pcs of nodes that own regions: append and insert keep them right, other edits need aj_func_number
 * first. */
void aj_walk_start(aj_walk *walk, aj_func *func);
aj_node *aj_walk_next(aj_walk *walk);
/* Skips the regions of the node returned last. */
void aj_walk_skip(aj_walk *walk);

#endif
