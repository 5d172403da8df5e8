/* What several passes share: the regions of a function in order, rebuilding a region's node list. */
#ifndef AJ_OPT_REGIONS_H
#define AJ_OPT_REGIONS_H

#include "opt/opt.h"

typedef AJ_VEC(aj_region *) aj_region_list;

/* All regions of a function that hold nodes, an owner's before those inside it. False: no memory. Free with
 * AJ_VEC_FREE. */
bool aj_regions_list(aj_mem *mem, aj_func *func, aj_region_list *out);

/* Takes the nodes out of a region, to be appended again one by one. The array stays the region's arena's. */
typedef struct aj_taken {
  aj_node **nodes;
  uint32_t count;
} aj_taken;
aj_taken aj_region_take(aj_region *region);

/* Appends the nodes of `arm`, the region of `node` that runs, to `region` in place of the node; *out_ended: it raises,
 * so that `region` ends here. False: no memory. Followed by aj_func_resolve. */
bool aj_region_splice(aj_region *region, aj_node *node, aj_region *arm, bool *out_ended);

/* A builder that appends to `region` in the name of `node`: its source and origin. */
void aj_builder_at(aj_builder *b, aj_region *region, const aj_node *node);
/* MEMORY or INTERNAL of a builder that failed inside a pass, OK of one that did not. */
arrjit_status aj_builder_status(const aj_builder *b, arrjit_error *error);

/* Whether a value is one number: the result of a const whose data is a single element. *out points at the element. */
bool aj_value_const(const aj_value *value, const void **out);

#endif
