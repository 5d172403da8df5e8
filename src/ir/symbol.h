/* Symbolic extents: making derived ones while building, computing all of them when a function is entered. */
#ifndef AJ_IR_SYMBOL_H
#define AJ_IR_SYMBOL_H

#include "ir/module.h"

/* The symbol of that name of the function, made when new; as a dim (negative). 0: no memory. */
int64_t aj_symbol_named(aj_func *func, const char *name);
/* The NODE symbol of that number of the function, made when new; as a dim. 0: no memory. */
int64_t aj_symbol_node(aj_func *func, uint32_t number);
/* Appends a symbol, equal to no other; its name is not copied, `after` is found. Its dim; 0: no memory. */
int64_t aj_symbol_add(aj_module *module, const aj_symbol *symbol);
/* a op b for dims of one function, folded where both are numbers and by a + 0, a * 1, a / 1 and the like; the same
 * expression gives the same symbol. false: no memory, or a number below 0 or out of range. */
bool aj_dim_make(aj_func *func, aj_symbol_form form, int64_t a, int64_t b, int64_t *out);
/* Proven equal: the same number or symbol (or expression). */
static inline bool aj_dim_equal(int64_t a, int64_t b) { return a == b; }

/* env has module->symbols.count entries. */
typedef enum aj_bind { AJ_BIND_OK, AJ_BIND_MISMATCH, AJ_BIND_RANGE } aj_bind;
/* Number for a dim. */
static inline int64_t aj_dim_eval(int64_t dim, const int64_t *env) { return dim >= 0 ? dim : env[~dim]; }
/* Computes derived symbols of func that follow from those bound now: at entry (first 0, count 0), or by a node that has
 * bound the NODE symbols [first, first + count). AJ_BIND_RANGE when one is below 0 or overflows (*out_symbol: which).
 */
aj_bind aj_symbols_derive(const aj_func *func, uint32_t first, uint32_t count, int64_t *env, uint32_t *out_symbol);
/* Whether some extent of the type is not known when its function is entered. */
bool aj_type_is_late(const aj_module *module, const aj_type *type);

/* What a dim of one function is in another, `to`: known[s] is what symbol s stands for there, AJ_DIM_UNKNOWN while not
 * known; derived symbols are made in `to` and added to it. Symbols that are bound are named the same in `to` when
 * by_name, else UNBOUND. RANGE: an extent below 0 or out of range. */
#define AJ_DIM_UNKNOWN INT64_MIN
typedef enum aj_translate {
  AJ_TRANSLATE_OK,
  AJ_TRANSLATE_MEMORY,
  AJ_TRANSLATE_UNBOUND,
  AJ_TRANSLATE_RANGE
} aj_translate;
aj_translate aj_dim_translate(aj_func *to, bool by_name, int64_t *known, int64_t dim, int64_t *out);

#endif
