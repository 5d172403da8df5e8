/* The kinds of a context: a tree with payload signatures. Shared by reference count: functions and results outlive
 * contexts. */
#ifndef AJ_IR_KIND_H
#define AJ_IR_KIND_H

#include "base/error.h"
#include "base/thread.h"
#include "ir/type.h"

typedef struct aj_kind_field {
  arrjit_dtype dtype;
  int32_t rank;
} aj_kind_field;
typedef struct aj_kind_info {
  char *name;
  arrjit_kind parent;   /* itself for a root */
  uint32_t field_count; /* the parent's included */
  aj_kind_field *fields;
  bool open; /* any number of further fields may follow */
} aj_kind_info;
typedef struct aj_kinds aj_kinds;

aj_kinds *aj_kinds_create(aj_mem *mem); /* with the rows of kinds.def; NULL: no memory */
void aj_kinds_retain(aj_kinds *kinds);
void aj_kinds_release(aj_kinds *kinds);
/* A table that shows what `base` has now and takes kinds of its own, which nobody else sees. `base` must live as long.
 * NULL: no memory. */
aj_kinds *aj_kinds_fork(aj_kinds *base);
uint32_t aj_kinds_forked(const aj_kinds *fork); /* kinds up to this number are the base's */
/* Adds a fork's own kinds to its base, all or none; numbers[i]: what its i-th own kind is there. One that the base has
 * meanwhile must be the same. Errors: GRAPH (it is not), LIMIT, MEMORY. */
arrjit_status aj_kinds_join(const aj_kinds *fork, arrjit_kind *numbers, arrjit_error *error);
arrjit_status aj_kinds_add(aj_kinds *kinds, const char *name, arrjit_kind parent, const char *fields, arrjit_kind *out,
                           arrjit_error *error);
arrjit_kind aj_kinds_find(const aj_kinds *kinds, const char *name, size_t length); /* ARRJIT_KIND_NONE: no such */
/* Stable address, immutable; NULL for a number that is none. Lock-free. */
const aj_kind_info *aj_kinds_get(const aj_kinds *kinds, arrjit_kind kind);
bool aj_kinds_is(const aj_kinds *kinds, arrjit_kind kind, arrjit_kind ancestor);
/* Whether a handler for `handler` takes a failure of `kind`: as aj_kinds_is, but kinds below exit only by their own
 * name. */
bool aj_kinds_catches(const aj_kinds *kinds, arrjit_kind handler, arrjit_kind kind);
uint32_t aj_kinds_count(const aj_kinds *kinds);

#endif
