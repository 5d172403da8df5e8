/* Binding the slots of a module to the host's functions, for one run and beyond. For direct ones the description that
 * libffi wants is made here once, with room for the arguments of a call, so that calling allocates nothing. */
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
  bool plain; /* double of a few doubles: needs no libffi */
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

/* C has no type for a 16-bit float, and a complex number is passed otherwise by each platform. */
static bool is_passed(arrjit_dtype dtype) { return !aj_dtype_is_half(dtype) && !aj_dtype_is_complex(dtype); }

/* The dtype of the first that C cannot pass, or none. */
static arrjit_dtype find_unpassed(const aj_slot *slot) {
  for (uint32_t i = 0; i < slot->param_count; i++)
    if (!is_passed(slot->param_types[i]->dtype)) return slot->param_types[i]->dtype;
  bool unpassed = slot->is_value && !is_passed(slot->result_types[0]->dtype);
  return unpassed ? slot->result_types[0]->dtype : ARRJIT_DTYPE_NONE;
}

enum { MOST_PLAIN = 3 };

/* What C itself can call: double of at most MOST_PLAIN doubles, as most functions of numbers are. */
static bool is_plain(const aj_slot *slot) {
  if (!slot->is_value || slot->result_types[0]->dtype != ARRJIT_F64 || slot->param_count > MOST_PLAIN) return false;
  for (uint32_t i = 0; i < slot->param_count; i++)
    if (slot->param_types[i]->dtype != ARRJIT_F64) return false;
  return true;
}

static double call_plain(void (*direct)(void), uint32_t count, const arrjit_view *args) {
  double x[MOST_PLAIN] = {0};
  for (uint32_t i = 0; i < count; i++) memcpy(&x[i], args[i].data, sizeof x[i]);
  switch (count) {
  case 0: return ((double (*)(void))direct)();
  case 1: return ((double (*)(double))direct)(x[0]);
  case 2: return ((double (*)(double, double))direct)(x[0], x[1]);
  default: return ((double (*)(double, double, double))direct)(x[0], x[1], x[2]);
  }
}

static arrjit_status check_scalars(const aj_slot *slot, arrjit_error *error) {
  arrjit_dtype dtype = all_scalars(slot) ? find_unpassed(slot) : ARRJIT_DTYPE_NONE;
  if (aj_dtype_is_complex(dtype))
    return aj_error_set(error, ARRJIT_MISUSE,
                        "slot \"%s\" cannot be bound directly: how C passes %s differs; pass its parts", slot->name,
                        aj_dtypes[dtype].name);
  if (dtype != ARRJIT_DTYPE_NONE)
    return aj_error_set(error, ARRJIT_MISUSE,
                        "slot \"%s\" cannot be bound directly: C has no type for %s; convert to f32", slot->name,
                        aj_dtypes[dtype].name);
  if (all_scalars(slot)) return ARRJIT_OK;
  return aj_error_set(error, ARRJIT_MISUSE, "slot \"%s\" cannot be bound directly: %s", slot->name,
                      slot->result_count > 1 ? "it has several results" : "not all of its types are scalars");
}

/* What libffi needs to call a function for this slot, whose types are scalars; it points into itself, so it never
 * moves.
 */
static arrjit_status describe(aj_mem *mem, const aj_slot *slot, aj_direct **out, arrjit_error *error) {
  uint32_t count = slot->param_count;
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
  direct->plain = is_plain(slot);
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
  if (direct->plain) {
    double result = call_plain(bound->direct, direct->count, args);
    memcpy(results[0].data, &result, sizeof result);
    return;
  }
  scalar value = {0};
  for (uint32_t i = 0; i < direct->count; i++) memcpy(&direct->values[i], args[i].data, aj_dtypes[args[i].dtype].bytes);
  ffi_call(&direct->cif, bound->direct, &value, direct->pointers);
  if (bound->slot->is_value) store_result(results, value);
}

arrjit_status aj_binding_check(const aj_module *module, const arrjit_binding *binding, uint32_t *out_slot,
                               arrjit_error *error) {
  if (!binding->slot) return aj_error_set(error, ARRJIT_MISUSE, "slot is NULL");
  for (uint32_t i = 0; i < module->slots.count; i++) {
    const aj_slot *slot = &module->slots.data[i];
    if (strcmp(slot->name, binding->slot) != 0) continue;
    if (binding->callback && binding->direct)
      return aj_error_set(error, ARRJIT_MISUSE, "slot \"%s\" needs either callback or direct", slot->name);
    *out_slot = i;
    return binding->direct ? check_scalars(slot, error) : ARRJIT_OK;
  }
  return aj_error_set(error, ARRJIT_MISUSE, "the function has no slot \"%s\"", binding->slot);
}

static arrjit_status set_bound(aj_run *run, aj_bound_slot *bound, arrjit_callback_fn *callback, void *user,
                               void (*direct)(void), arrjit_error *error) {
  if (direct && !bound->call) {
    arrjit_status status = describe(&run->core->mem, bound->slot, &bound->call, error);
    if (status != ARRJIT_OK) return status;
  }
  bound->callback = callback;
  bound->user = user;
  bound->direct = direct;
  return ARRJIT_OK;
}

static arrjit_status bind_one(aj_run *run, const arrjit_binding *binding, arrjit_error *error) {
  uint32_t slot;
  arrjit_status status = aj_binding_check(run->module, binding, &slot, error);
  if (status != ARRJIT_OK) return status;
  aj_bound_slot *bound = &run->slots[slot];
  if (bound->callback || bound->direct)
    return aj_error_set(error, ARRJIT_MISUSE, "slot \"%s\" is bound twice", binding->slot);
  if (!binding->callback && !binding->direct)
    return aj_error_set(error, ARRJIT_MISUSE, "slot \"%s\" needs either callback or direct", binding->slot);
  return set_bound(run, bound, binding->callback, binding->user, binding->direct, error);
}

/* Room for the slots, or what an earlier run has left of it: nothing is bound then. */
static bool clear_slots(aj_run *run) {
  uint32_t count = (uint32_t)run->module->slots.count;
  if (!run->slots && count) {
    run->slots = aj_mem_array(&run->core->mem, count, sizeof *run->slots);
    if (!run->slots) return false;
    for (uint32_t i = 0; i < count; i++) run->slots[i].slot = &run->module->slots.data[i];
  }
  run->slot_count = count;
  for (uint32_t i = 0; i < count; i++) {
    run->slots[i].callback = NULL;
    run->slots[i].direct = NULL;
  }
  return true;
}

/* Puts the binding's number before the message. */
static void name_binding(arrjit_error *error, size_t i) {
  if (!error) return;
  char message[sizeof error->message];
  memcpy(message, error->message, sizeof message);
  aj_error_set(error, error->status, "binding %zu: %s", i, message);
}

/* Slots that nothing binds stay empty: whether that is a failure shows when they are called. */
arrjit_status aj_run_bind(aj_run *run, size_t count, const arrjit_binding *bindings, arrjit_error *error) {
  arrjit_status status = ARRJIT_OK;
  if (!clear_slots(run)) return aj_error_memory(error, "the bindings of a run");
  for (size_t i = 0; i < count && status == ARRJIT_OK; i++) {
    status = bind_one(run, &bindings[i], error);
    if (status != ARRJIT_OK) name_binding(error, i);
  }
  for (uint32_t i = 0; run->defaults && i < run->slot_count && status == ARRJIT_OK; i++) {
    const aj_default *own = run->defaults->slots[i];
    aj_bound_slot *bound = &run->slots[i];
    if (own && !bound->callback && !bound->direct)
      status = set_bound(run, bound, own->callback, own->user, own->direct, error);
  }
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

/* ---- a function's own bindings ---- */

aj_defaults *aj_defaults_create(aj_core *core, uint32_t count) {
  aj_defaults *defaults = aj_mem_alloc(&core->mem, sizeof *defaults + count * sizeof(aj_default *));
  if (!defaults) return NULL;
  atomic_init(&defaults->refs, 1);
  defaults->core = core;
  defaults->count = count;
  return defaults;
}

void aj_defaults_release(aj_defaults *defaults) {
  if (!defaults || atomic_fetch_sub_explicit(&defaults->refs, 1, memory_order_acq_rel) != 1) return;
  aj_core *core = defaults->core;
  for (uint32_t i = 0; i < defaults->count; i++) {
    aj_default *own = defaults->slots[i];
    if (!own || atomic_fetch_sub_explicit(&own->refs, 1, memory_order_acq_rel) != 1) continue;
    if (own->destroy) own->destroy(own->user);
    aj_mem_free(&core->mem, own, sizeof *own);
  }
  aj_mem_free(&core->mem, defaults, sizeof *defaults + defaults->count * sizeof(aj_default *));
}
