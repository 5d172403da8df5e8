/* What values are called in printed text. A node's results are %7, or %7.0 %7.1, where 7 is the node's place in the
 * printed form (what traces call it); parameters of regions are %a0, %a1 ...; a function's own parameters have their
 * names. */
#ifndef AJ_TEXT_NAMES_H
#define AJ_TEXT_NAMES_H

#include "ir/module.h"

typedef struct aj_names {
  aj_mem *mem;
  aj_map map;
  AJ_VEC(const void *) keys; /* nodes, regions, and those parameters of the function that go by their names */
  AJ_VEC(uint32_t) numbers;  /* of a node: its place; of a region: number of its first parameter */
} aj_names;

#define AJ_NAMES_NONE UINT32_MAX

/* False: no memory. Free it either way. */
bool aj_names_make(aj_names *names, const aj_func *func);
void aj_names_free(aj_names *names);
/* Number of a node or region; AJ_NAMES_NONE when it is not of the function. */
uint32_t aj_names_find(const aj_names *names, const void *key);
/* "%7"; "%?" for what is not of the function. */
void aj_names_print(const aj_names *names, const aj_value *value, aj_text *out);
/* Whether a function's parameter goes by its name, so that the text need not say it again. */
bool aj_names_is_plain(const aj_names *names, const aj_value *param);

#endif
