/* Making checked nodes: operand and attribute checks, result types, source tags. Used by the API's builder, the parser
 * and passes. Errors stick in the builder: after the first every call returns NULL. */
#ifndef AJ_IR_BUILD_H
#define AJ_IR_BUILD_H

#include "ir/symbol.h"

/* Regions that run on scalars: what may stand in them. */
typedef enum aj_lane_kind {
  AJ_LANE_NONE,      /* no such region: anything */
  AJ_LANE_MAP,       /* scalars and exceptions, elementwise ops, control flow, failures */
  AJ_LANE_COMBINER,  /* scalars and elementwise ops that cannot fail */
  AJ_LANE_COMPARATOR /* the same */
} aj_lane_kind;
/* "map", as messages call what the region is in. */
const char *aj_lane_name(aj_lane_kind kind);

typedef struct aj_builder {
  aj_module *module;
  aj_func *func;
  aj_region *region;     /* where nodes go; nodes after its terminator are made but dropped */
  aj_source source;      /* tag of the next nodes */
  const aj_node *origin; /* origin of the next nodes, or NULL */
  const char *call;      /* of the host that builds, without "arrjit_": what errors are named by; NULL: by the op */
  arrjit_error error;    /* the first error; status ARRJIT_OK: none */
  int64_t max_nodes, max_const_bytes; /* 0: no limit */
  aj_lane_kind lane;                  /* what the region is in which nodes go */
} aj_builder;

void aj_builder_init(aj_builder *b, aj_module *module);
/* Notes the first error with the builder's source; op may be AJ_OP_NONE. Returns NULL always. */
aj_value *aj_builder_fail(aj_builder *b, arrjit_status status, aj_op op, const char *format, ...) AJ_PRINTF(4, 5);
bool aj_builder_ok(const aj_builder *b);

/* Appends a node without regions; checks everything by the op table. Results are node->results. NULL: error. Operands
 * may be NULL only after an error. Never broadcasts. */
aj_node *aj_build(aj_builder *b, aj_op op, uint32_t operand_count, aj_value *const *operands, uint32_t attr_count,
                  const aj_attr *attrs);
/* First result of it. */
aj_value *aj_build1(aj_builder *b, aj_op op, uint32_t operand_count, aj_value *const *operands, uint32_t attr_count,
                    const aj_attr *attrs);
/* Elementwise op with operands broadcast to each other as NumPy does, check_shape nodes added where extents cannot be
 * proved equal. */
aj_value *aj_build_elementwise(aj_builder *b, aj_op op, uint32_t operand_count, aj_value *const *operands,
                               uint32_t attr_count, const aj_attr *attrs);
/* aj_build, after check_shape nodes for extents that must agree and cannot be proved to: operands of concat, dot,
 * broadcast, arguments of calls and callbacks. */
aj_node *aj_build_fitted(aj_builder *b, aj_op op, uint32_t operand_count, aj_value *const *operands,
                         uint32_t attr_count, const aj_attr *attrs);
/* A node with regions that end with terminators and may use outer values: those become parameters of the regions, after
 * the ones they have, and operands after the given ones (ir/capture.c). */
aj_node *aj_build_regions(aj_builder *b, aj_op op, uint32_t operand_count, aj_value *const *operands,
                          uint32_t attr_count, const aj_attr *attrs, uint32_t region_count, aj_region *const *regions);
/* Broadcasts all to the shape they have together, in place, as aj_build_elementwise does. False: an error. */
bool aj_build_broadcast_all(aj_builder *b, aj_op op, uint32_t count, aj_value **values);
/* Broadcast to a type's shape by trailing dims (a no-op when it has it already). */
aj_value *aj_build_broadcast_to(aj_builder *b, aj_value *x, int32_t rank, const int64_t *dims);
/* Constants: scalar from bits, or any type from dense data. */
aj_value *aj_build_const(aj_builder *b, const aj_type *type, const void *data, size_t bytes);
aj_value *aj_build_scalar(aj_builder *b, arrjit_dtype dtype, const void *element);

/* Parts of the calls above. Whether a value may be operand `index` of an op here; if not, an error. */
bool aj_builder_check_operand(aj_builder *b, aj_op op, uint32_t index, const aj_value *value);
/* Whether a value is a bool scalar; if not, an error that names the comparison to write. `name` is what messages call
 * it. */
bool aj_builder_check_predicate(aj_builder *b, aj_op op, const char *name, const aj_value *value);
/* x with check_shape nodes for extents that are not proved to be `dims`; an error where they never can be. */
aj_value *aj_build_check_shape(aj_builder *b, aj_value *x, const int64_t *dims);
/* Types, makes and places the node that `probe` describes: op, operands, attributes, regions. */
aj_node *aj_builder_finish_node(aj_builder *b, const aj_node *probe);
/* Notes an error of status MEMORY; returns NULL. */
aj_node *aj_builder_no_memory(aj_builder *b);

/* Attributes for the calls above; arrays must live until the call returns, it copies them. */
aj_attr aj_attr_int(aj_attr_name name, int64_t value);
aj_attr aj_attr_ints(aj_attr_name name, size_t count, const int64_t *values);
aj_attr aj_attr_bytes(aj_attr_name name, const void *data, size_t bytes);
aj_attr aj_attr_text(aj_attr_name name, const char *text);

/* ---- inference (ir/infer.c) ---- */
enum { AJ_MAX_RESULTS = 65535 };
enum { AJ_COMBINE_ARGS = 16 }; /* most arrays that one combiner takes */
typedef struct aj_infer {
  aj_func *func;
  aj_op op;
  uint32_t operand_count;
  aj_value *const *operands;
  const aj_node *attrs_of; /* node that has the attributes (and regions) */
  const char *name;        /* what messages start with; NULL: the op */
  AJ_VEC(const aj_type *) results;
  arrjit_error *error; /* filled on failure: names op, what came, what was expected */
} aj_infer;
/* Whether nodes of the op may stand inside a map. */
bool aj_op_fits_map(aj_op op);
/* Result types of an op by its rule, or why it is not well formed. Region ops: from their regions' terminators (the
 * caller has built them). Also the verifier's check of every node. Caller frees results with in->func->module->mem. */
arrjit_status aj_infer_types(aj_infer *in);
/* Elements of a shape, symbols counted as 1; false when the product of the extents that are not 0 overflows. */
bool aj_dims_count(int32_t rank, const int64_t *dims, int64_t *out_elements, bool *out_symbolic);
/* "f32[2, n]" into a fixed field. */
void aj_type_print(const aj_module *module, const aj_type *type, char *out, size_t size);
void aj_dim_print(const aj_module *module, int64_t dim, char *out, size_t size);

#endif
