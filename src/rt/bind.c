/* Binding the slots of a module to the host's functions for one run. For direct ones the description that libffi wants
 * is made here once, with room for the arguments of a call, so that calling allocates nothing. */
#include "rt/bind.h"

#include <ffi.h>
#include <string.h>

typedef union scalar {
  uint8_t u8;
  uint16_t u16;
  uint32_t u32;
  uint64_t u64;
  float f32;
  double f64;
  ffi_arg wide;
} scalar;

typedef struct aj_direct {
  ffi_cif cif;
  uint32_t count;
  ffi_type **types;
  void **pointers; /* to values */
  scalar *values;
} aj_direct;

struct _ffi_type *aj_ffi_type(arrjit_dtype dtype) {
  const aj_dtype_info *info = &aj_dtypes[dtype];
  if (info->cls == AJ_CLASS_FLOAT) return info->bytes == sizeof(float) ? &ffi_type_float : &ffi_type_double;
  bool is_signed = info->cls == AJ_CLASS_INT;
  switch (info->bytes) {
  case 1: return is_signed ? &ffi_type_sint8 : &ffi_type_uint8;
  case 2: return is_signed ? &ffi_type_sint16 : &ffi_type_uint16;
  case 4: return is_signed ? &ffi_type_sint32 : &ffi_type_uint32;
  default: return is_signed ? &ffi_type_sint64 : &ffi_type_uint64;
  }
}

/* One block: the record, then values (the strictest alignment first), types, pointers. */
static size_t direct_bytes(uint32_t count) {
  return sizeof(aj_direct) + count * (sizeof(ffi_type *) + sizeof(void *) + sizeof(scalar));
}

/* Whether a C function can take the arguments by value and return the result. */
static bool all_scalars(const aj_slot *slot) {
  for (uint32_t i = 0; i < slot->param_count; i++)
    if (!aj_type_is_scalar(slot->param_types[i])) return false;
  return slot->is_value ? slot->result_count == 1 && aj_type_is_scalar(slot->result_types[0]) : true;
}

/* What libffi needs to call a function for this slot; it points into itself, so it never moves. */
static arrjit_status describe(aj_mem *mem, const aj_slot *slot, aj_direct **out, arrjit_error *error) {
  uint32_t count = slot->param_count;
  if (!all_scalars(slot))
    return aj_error_set(error, ARRJIT_MISUSE, "slot \"%s\" cannot be bound directly: %s", slot->name,
                        slot->result_count > 1 ? "it has several results" : "not all of its types are scalars");
  aj_direct *direct = aj_mem_alloc(mem, direct_bytes(count));
  if (!direct) return aj_error_memory(error, "a direct binding");
  direct->count = count;
  direct->values = (scalar *)(direct + 1);
  direct->types = (ffi_type **)(direct->values + count);
  direct->pointers = (void **)(direct->types + count);
  for (uint32_t i = 0; i < count; i++) {
    direct->types[i] = aj_ffi_type(slot->param_types[i]->dtype);
    direct->pointers[i] = &direct->values[i];
  }
  ffi_type *result = slot->is_value ? aj_ffi_type(slot->result_types[0]->dtype) : &ffi_type_void;
  if (ffi_prep_cif(&direct->cif, FFI_DEFAULT_ABI, count, result, direct->types) == FFI_OK) {
    *out = direct;
    return ARRJIT_OK;
  }
  aj_mem_free(mem, direct, direct_bytes(count));
  return aj_error_set(error, ARRJIT_UNAVAILABLE, "slot \"%s\": libffi cannot call a function of that signature",
                      slot->name);
}

/* libffi widens integer results to a register, so the value's own bytes are found by its type, not by its address. */
static void store_result(const arrjit_view *result, scalar value) {
  const aj_dtype_info *info = &aj_dtypes[result->dtype];
  scalar narrow = value;
  if (info->cls == AJ_CLASS_BOOL)
    narrow.u8 = (uint8_t)value.wide != 0;
  else if (info->cls != AJ_CLASS_FLOAT && info->bytes == 1)
    narrow.u8 = (uint8_t)value.wide;
  else if (info->cls != AJ_CLASS_FLOAT && info->bytes == 2)
    narrow.u16 = (uint16_t)value.wide;
  else if (info->cls != AJ_CLASS_FLOAT && info->bytes == 4)
    narrow.u32 = (uint32_t)value.wide;
  memcpy(result->data, &narrow, info->bytes);
}

/* Arguments are copied out of the host's views first: these may be unaligned, and libffi reads by type. The copies live
 * in the binding; a run calls one function at a time, and a run inside the callback has bindings of its own. */
void aj_direct_call(const aj_bound_slot *bound, const arrjit_view *args, const arrjit_view *results) {
  aj_direct *direct = bound->call;
  AJ_ASSERT(direct && direct->count == bound->slot->param_count);
  scalar value = {0};
  for (uint32_t i = 0; i < direct->count; i++) memcpy(&direct->values[i], args[i].data, aj_dtypes[args[i].dtype].bytes);
  ffi_call(&direct->cif, bound->direct, &value, direct->pointers);
  if (bound->slot->is_value) store_result(results, value);
}

static aj_bound_slot *find_slot(aj_run *run, const char *name) {
  for (uint32_t i = 0; i < run->slot_count; i++)
    if (strcmp(run->slots[i].slot->name, name) == 0) return &run->slots[i];
  return NULL;
}

static arrjit_status bind_one(aj_run *run, size_t i, const arrjit_binding *binding, arrjit_error *error) {
  if (!binding->slot) return aj_error_set(error, ARRJIT_MISUSE, "binding %zu: slot is NULL", i);
  aj_bound_slot *bound = find_slot(run, binding->slot);
  if (!bound)
    return aj_error_set(error, ARRJIT_MISUSE, "binding %zu: the function has no slot \"%s\"", i, binding->slot);
  if (bound->callback || bound->direct)
    return aj_error_set(error, ARRJIT_MISUSE, "binding %zu: slot \"%s\" is bound twice", i, binding->slot);
  if (!binding->callback == !binding->direct)
    return aj_error_set(error, ARRJIT_MISUSE, "binding %zu: slot \"%s\" needs either callback or direct", i,
                        binding->slot);
  if (binding->direct) {
    arrjit_status status = describe(&run->core->mem, bound->slot, &bound->call, error);
    if (status != ARRJIT_OK) return status;
  }
  bound->callback = binding->callback;
  bound->user = binding->user;
  bound->direct = binding->direct;
  return ARRJIT_OK;
}

/* Slots that no binding names stay empty: whether that is a failure shows when they are called. */
arrjit_status aj_run_bind(aj_run *run, size_t count, const arrjit_binding *bindings, arrjit_error *error) {
  uint32_t slot_count = (uint32_t)run->module->slots.count;
  AJ_ASSERT(!run->slots);
  if (slot_count) {
    run->slots = aj_mem_array(&run->core->mem, slot_count, sizeof *run->slots);
    if (!run->slots) return aj_error_memory(error, "the bindings of a run");
    run->slot_count = slot_count;
    for (uint32_t i = 0; i < slot_count; i++) run->slots[i].slot = &run->module->slots.data[i];
  }
  arrjit_status status = ARRJIT_OK;
  for (size_t i = 0; i < count && status == ARRJIT_OK; i++) status = bind_one(run, i, &bindings[i], error);
  if (status != ARRJIT_OK) aj_run_unbind(run);
  return status;
}

void aj_run_unbind(aj_run *run) {
  aj_mem *mem = &run->core->mem;
  for (uint32_t i = 0; i < run->slot_count; i++)
    if (run->slots[i].call) aj_mem_free(mem, run->slots[i].call, direct_bytes(run->slots[i].call->count));
  aj_mem_free(mem, run->slots, run->slot_count * sizeof *run->slots);
  run->slots = NULL;
  run->slot_count = 0;
}
