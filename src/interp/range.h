/* Ranges: nodes in a row that run as one block program, so that what lives only between them is never an array. A range
 * is entered at its first node and left behind its last; resume_everywhere runs its nodes one by one. */
#ifndef AJ_INTERP_RANGE_H
#define AJ_INTERP_RANGE_H

#include "interp/frame.h"

typedef struct aj_range_param {
  const aj_value *value; /* an array of the range's shape; a scalar stands for all elements */
  bool dies;             /* nobody reads it after the range */
} aj_range_param;

/* What a warm range runs. */
typedef struct aj_range_code {
  aj_program *program;
  aj_range_param *params;
  const aj_node **results; /* nodes whose values live on */
  const aj_node **before;  /* movement and scalars among the nodes: run one by one, before the program */
  uint32_t *dying;         /* slots to release at the end */
  uint32_t param_count, result_count, before_count, dying_count;
} aj_range_code;

struct aj_range {
  aj_range *next; /* of the module */
  const aj_region *region;
  const aj_node *shape; /* a node whose result has the shape */
  uint32_t first, last; /* pcs */
  aj_warmth warmth;
  aj_range_code code;
  aj_arena arena; /* of what code points to */
};

/* ---- range_find.c ---- */
/* A node that computes element by element on arrays and cannot fail. */
bool aj_range_computes(const aj_node *node);
/* The scalar that a computing node's operand repeats, when the range from pc `first` on need not make an array of it;
 * else NULL. */
const aj_value *aj_range_scalar(const aj_value *operand, uint32_t first);

/* ---- range_build.c ---- */
/* Fills range->code; aj_warm calls it. */
bool aj_range_build(aj_interp_code *code, void *range);

#endif
