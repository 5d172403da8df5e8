/* Making the exn of a failure in a run. Whatever memory is lacking, some exn is set: in the last resort the core's own.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rt/need.h"

bool aj_run_raise_memory(aj_run *run, size_t bytes) {
  AJ_ASSERT(!run->exn);
  char message[64] = AJ_NO_MEMORY_MESSAGE;
  if (bytes) aj_bounded_printf(message, sizeof message, AJ_NO_MEMORY_MESSAGE " for %zu bytes", bytes);
  run->exn = aj_exn_create(run->core, ARRJIT_KIND_MEMORY, 0, message, 0, NULL);
  if (!run->exn) run->exn = aj_exn_no_memory(run->core);
  return false;
}

bool aj_run_raise_huge(aj_run *run, arrjit_dtype dtype, int32_t rank, const int64_t *dims) {
  char message[64 + ARRJIT_MAX_RANK * 24];
  aj_bounded_printf(message, sizeof message, AJ_NO_MEMORY_MESSAGE " for %s", aj_dtypes[dtype].name);
  for (int32_t i = 0; i < rank; i++) {
    size_t at = strlen(message);
    aj_bounded_printf(message + at, sizeof message - at, "%s%" PRId64 "%s", i ? ", " : "[", dims[i],
                      i + 1 == rank ? "], whose bytes are more than an i64 counts" : "");
  }
  return aj_run_raise(run, ARRJIT_KIND_MEMORY, 0, message, 0, NULL);
}

bool aj_run_raise_huge_type(aj_run *run, const aj_type *type, const int64_t *env) {
  int64_t dims[ARRJIT_MAX_RANK];
  for (int32_t i = 0; i < type->rank; i++) dims[i] = aj_dim_eval(type->dims[i], env);
  return aj_run_raise_huge(run, type->dtype, type->rank, dims);
}

/* What could not be raised for lack of memory, without the payload it may have been too big for, is the context of kind
 * memory. */
static bool raise_memory_for(aj_run *run, arrjit_kind kind, int64_t code, const char *message) {
  aj_exn *lost = aj_exn_create(run->core, kind, code, message, 0, NULL);
  aj_run_raise_memory(run, 0);
  aj_exn_link(run->exn, NULL, lost);
  aj_exn_release(lost);
  return false;
}

bool aj_run_raise(aj_run *run, arrjit_kind kind, int64_t code, const char *message, uint32_t payload_count,
                  arrjit_array *const *payload) {
  AJ_ASSERT(!run->exn);
  run->exn = aj_exn_create(run->core, kind, code, message, payload_count, payload);
  return run->exn ? false : raise_memory_for(run, kind, code, message);
}

bool aj_run_raise_views(aj_run *run, arrjit_kind kind, int64_t code, const char *message, uint32_t payload_count,
                        const aj_view *payload) {
  AJ_ASSERT(!run->exn);
  run->exn = aj_exn_create_views(run->core, kind, code, message, payload_count, payload);
  return run->exn ? false : raise_memory_for(run, kind, code, message);
}

/* Views of scalars leave dims and strides unset: nobody reads them at rank 0. */
static void set_scalar(aj_view *view, arrjit_dtype dtype, const void *data) {
  view->dtype = dtype;
  view->rank = 0;
  view->data = (char *)(uintptr_t)data; /* only read: payload is copied */
}

/* Element `lane` in row-major order; a scalar stands for all lanes. */
static const char *find_element(const aj_view *view, int64_t lane) {
  const char *at = view->data;
  for (int32_t i = view->rank - 1; i >= 0; i--) {
    at += lane % view->dims[i] * view->strides[i];
    lane /= view->dims[i];
  }
  return at;
}

bool aj_run_raise_sem(aj_run *run, const aj_sem_fail *fail, uint32_t operand_count, const aj_view *operands) {
  enum { MOST_OPERANDS = 4 }; /* checked ops have fewer */
  aj_view payload[1 + MOST_OPERANDS];
  uint32_t count = 0;
  AJ_ASSERT(operand_count <= MOST_OPERANDS);
  if (fail->kind == ARRJIT_KIND_ARITH) {
    set_scalar(&payload[count++], ARRJIT_I64, &fail->lane);
    for (uint32_t i = 0; i < operand_count && i < MOST_OPERANDS; i++)
      set_scalar(&payload[count++], operands[i].dtype, find_element(&operands[i], fail->lane));
  } else if (fail->kind == ARRJIT_KIND_INDEX) {
    set_scalar(&payload[count++], ARRJIT_I64, &fail->position);
    set_scalar(&payload[count++], ARRJIT_I64, &fail->index);
    set_scalar(&payload[count++], ARRJIT_I64, &fail->axis);
    set_scalar(&payload[count++], ARRJIT_I64, &fail->bound);
  }
  return aj_run_raise_views(run, fail->kind, fail->code, fail->message, count, payload);
}

bool aj_run_raise_extent(aj_run *run, int32_t axis, int64_t dim, int64_t expected, int64_t got) {
  char message[160], name[64] = "";
  const char *symbol = aj_dim_is_symbol(dim) ? run->module->symbols.data[aj_dim_symbol(dim)].name : NULL;
  if (symbol) aj_exn_escape(name, sizeof name, symbol);
  (void)snprintf(message, sizeof message, "axis %" PRId32 " has extent %" PRId64 ", expected %s%s%" PRId64, axis, got,
                 name, symbol ? " = " : "", expected);
  return aj_run_raise(run, ARRJIT_KIND_SHAPE, 0, message, 0, NULL);
}

static bool derive(aj_run *run, const aj_func *func, uint32_t first, uint32_t count, int64_t *env) {
  uint32_t symbol;
  if (aj_symbols_derive(func, first, count, env, &symbol) == AJ_BIND_OK) return true;
  char name[128], escaped[160], message[256];
  aj_dim_print(run->module, aj_symbol_dim(symbol), name, sizeof name);
  aj_exn_escape(escaped, sizeof escaped, name);
  aj_bounded_printf(message, sizeof message, "extent %s is below 0 or too large", escaped);
  return aj_run_raise(run, ARRJIT_KIND_SHAPE, 0, message, 0, NULL);
}

bool aj_run_derive(aj_run *run, const aj_func *func, int64_t *env) { return derive(run, func, 0, 0, env); }

bool aj_run_bind_extents(aj_run *run, const aj_node *callback, arrjit_array *const *made, int64_t *env) {
  const aj_func *func = callback->parent->func;
  const aj_slot *slot = &func->module->slots.data[aj_node_int(callback, AJ_ATTR_SLOT)];
  for (uint32_t i = 0; i < slot->result_count; i++)
    for (int32_t d = 0; d < slot->result_types[i]->rank; d++)
      if (slot->result_types[i]->dims[d] == ARRJIT_DYNAMIC_DIM)
        env[aj_dim_symbol(callback->results[i].type->dims[d])] = made[i]->view.dims[d];
  uint32_t first = (uint32_t)aj_node_int(callback, AJ_ATTR_BINDS);
  return derive(run, func, first, aj_slot_all_dynamic_dims(slot), env) &&
         aj_need_enter(run, run->depth, run->module->funcs.data[func->index], env);
}
