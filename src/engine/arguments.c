/* Arguments and given outputs of a run against the function's signature. Everything is checked before any code runs;
 * what does not fit is kind argument, whose message names which one, what was expected, what came. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/activation.h"
#include "ir/symbol.h"

enum { NAME_BYTES = 80, TYPE_BYTES = 160 };

/* ---- messages ---- */

/* `2 ("x")`, fit for a template. */
static void print_place(uint32_t index, const char *name, char out[NAME_BYTES]) {
  char escaped[NAME_BYTES - 20];
  aj_exn_escape(escaped, sizeof escaped, name ? name : "");
  if (name && *name)
    aj_bounded_printf(out, NAME_BYTES, "%" PRIu32 " (\"%s\")", index, escaped);
  else
    aj_bounded_printf(out, NAME_BYTES, "%" PRIu32, index);
}

static void print_view_type(const aj_view *view, char *out, size_t size) {
  aj_bounded_printf(out, size, "%s", aj_dtypes[view->dtype].name);
  for (int32_t i = 0; i < view->rank; i++) {
    size_t at = strlen(out);
    aj_bounded_printf(out + at, size - at, "%s%" PRId64 "%s", i ? ", " : "[", view->dims[i],
                      i + 1 == view->rank ? "]" : "");
  }
}

static bool fail_type(aj_activation *a, const char *what, const char *place, const aj_type *type, const aj_view *got) {
  char expected[TYPE_BYTES], escaped[TYPE_BYTES], came[TYPE_BYTES], message[600];
  aj_type_print(a->run.module, type, expected, sizeof expected);
  aj_exn_escape(escaped, sizeof escaped, expected);
  print_view_type(got, came, sizeof came);
  aj_bounded_printf(message, sizeof message, "%s %s: expected %s, got %s", what, place, escaped, came);
  return aj_run_raise(&a->run, ARRJIT_KIND_ARGUMENT, 0, message, 0, NULL);
}

static bool fail_extent(aj_activation *a, const char *what, const char *place, int32_t axis, int64_t dim, int64_t got) {
  char name[NAME_BYTES] = "", escaped[NAME_BYTES] = "", message[400];
  if (aj_dim_is_symbol(dim)) aj_dim_print(a->run.module, dim, name, sizeof name);
  aj_exn_escape(escaped, sizeof escaped, name);
  aj_bounded_printf(message, sizeof message, "%s %s: axis %" PRId32 ": expected %s%s%" PRId64 ", got %" PRId64, what,
                    place, axis, escaped, *name ? " = " : "", aj_dim_eval(dim, a->env), got);
  return aj_run_raise(&a->run, ARRJIT_KIND_ARGUMENT, 0, message, 0, NULL);
}

/* ---- inputs ---- */

static bool is_derived(const aj_activation *a, int64_t dim) {
  const aj_module *module = a->run.module;
  return module->derives && aj_dim_is_symbol(dim) && module->symbols.data[aj_dim_symbol(dim)].form != AJ_SYM_PARAM;
}

/* dtype, rank, fixed extents; a symbol is bound where it is met first and compared after. Derived ones are not known
 * yet: check_derived. */
static bool bind_input(aj_activation *a, uint32_t index, const aj_view *view) {
  const aj_func *entry = a->run.module->funcs.data[0];
  const aj_type *type = entry->param_types[index];
  const char *what = "argument";
  char place[NAME_BYTES];
  bool fits = view->dtype == type->dtype && view->rank == type->rank;
  int32_t bad = -1;
  for (int32_t i = 0; fits && bad < 0 && i < type->rank; i++) {
    int64_t dim = type->dims[i];
    if (is_derived(a, dim)) continue;
    if (aj_dim_is_symbol(dim) && a->env[aj_dim_symbol(dim)] < 0)
      a->env[aj_dim_symbol(dim)] = view->dims[i];
    else if (aj_dim_eval(dim, a->env) != view->dims[i])
      bad = i;
  }
  if (AJ_LIKELY(fits && bad < 0)) return true;
  print_place(index, entry->root->params[index]->name, place);
  if (!fits || !aj_dim_is_symbol(type->dims[bad])) return fail_type(a, what, place, type, view);
  return fail_extent(a, what, place, bad, type->dims[bad], view->dims[bad]);
}

static bool fail_count(aj_activation *a, size_t got) {
  char message[120];
  aj_bounded_printf(message, sizeof message, "expected %" PRIu32 " argument%s, got %zu", a->input_count,
                    a->input_count == 1 ? "" : "s", got);
  return aj_run_raise(&a->run, ARRJIT_KIND_ARGUMENT, 0, message, 0, NULL);
}

/* The input itself, or a copy of one whose elements are not aligned: no tier has to care. False: run.exn. */
static bool keep_input(aj_activation *a, uint32_t index, arrjit_array *input) {
  a->inputs[index] = input;
  if (AJ_LIKELY(aj_array_is_aligned(input))) {
    if (a->keeps) aj_array_retain(input);
    return true;
  }
  a->inputs[index] = a->aligned[index] = aj_run_copy(&a->run, &input->view);
  a->copied = true;
  if (!a->inputs[index]) return false;
  if (a->keeps) aj_array_retain(a->inputs[index]);
  return true;
}

static bool derive_symbols(aj_activation *a) {
  return !a->run.module->derives || aj_run_derive(&a->run, a->run.module->funcs.data[0], a->env);
}

bool aj_arguments_bind_blocks(aj_activation *a, const void *const *inputs) {
  memset(a->env, 0xff, a->run.module->symbols.count * sizeof *a->env);
  for (uint32_t i = 0; i < a->input_count; i++) {
    a->lent->arrays[i].view.data = (char *)(uintptr_t)inputs[i]; /* only read */
    if (!keep_input(a, i, &a->lent->arrays[i])) return false;
  }
  return derive_symbols(a);
}

/* Extents of parameters that are computed from others. */
static bool check_derived(aj_activation *a, arrjit_array *const *inputs) {
  const aj_func *entry = a->run.module->funcs.data[0];
  for (uint32_t i = 0; i < a->input_count; i++) {
    const aj_type *type = entry->param_types[i];
    for (int32_t d = 0; d < type->rank; d++) {
      if (!is_derived(a, type->dims[d]) || aj_dim_eval(type->dims[d], a->env) == inputs[i]->view.dims[d]) continue;
      char place[NAME_BYTES];
      print_place(i, entry->root->params[i]->name, place);
      return fail_extent(a, "argument", place, d, type->dims[d], inputs[i]->view.dims[d]);
    }
  }
  return true;
}

bool aj_arguments_bind(aj_activation *a, size_t input_count, arrjit_array *const *inputs) {
  if (input_count != a->input_count) return fail_count(a, input_count);
  memset(a->env, 0xff, a->run.module->symbols.count * sizeof *a->env);
  for (uint32_t i = 0; i < a->input_count; i++) {
    if (!bind_input(a, i, &inputs[i]->view) || !keep_input(a, i, inputs[i])) return false;
  }
  if (!a->run.module->derives) return true;
  return derive_symbols(a) && check_derived(a, inputs);
}

/* ---- callback slots ---- */

bool aj_arguments_check_slots(aj_activation *a) {
  for (uint32_t i = 0; i < a->run.slot_count; i++) {
    const aj_bound_slot *bound = &a->run.slots[i];
    if (bound->slot->optional || bound->callback || bound->direct) continue;
    char name[NAME_BYTES], message[NAME_BYTES + 40];
    aj_exn_escape(name, sizeof name, bound->slot->name);
    aj_bounded_printf(message, sizeof message, "callback slot \"%s\" is not bound", name);
    return aj_run_raise(&a->run, ARRJIT_KIND_UNBOUND, 0, message, 0, NULL);
  }
  return true;
}

/* ---- outputs ---- */

/* Sets the bytes of all elements in a bit map that starts at `low`; true when one was set before. */
static bool mark_bytes(const aj_view *view, uintptr_t low, uint8_t *map) {
  int64_t index[ARRJIT_MAX_RANK] = {0};
  size_t size = aj_dtypes[view->dtype].bytes;
  bool twice = false;
  for (int64_t n = aj_view_count(view); n > 0 && !twice; n--) {
    uintptr_t at = (uintptr_t)view->data - low;
    for (int32_t i = 0; i < view->rank; i++) at += (uintptr_t)(index[i] * view->strides[i]);
    for (size_t k = at; k < at + size; k++) {
      twice = twice || (map[k / 8] >> k % 8 & 1);
      map[k / 8] = (uint8_t)(map[k / 8] | 1u << k % 8);
    }
    for (int32_t i = view->rank - 1; i >= 0 && ++index[i] == view->dims[i]; i--) index[i] = 0;
  }
  return twice;
}

/* Whether one element shares a byte with another, of an array with itself (y NULL) or of two. Spans that touch are
 * looked at byte by byte: columns of one matrix interleave without sharing. False: run.exn. */
static bool share_bytes(aj_activation *a, const arrjit_array *x, const arrjit_array *y, bool *out) {
  *out = false;
  if (y ? !aj_array_overlaps(x, y) : aj_array_is_dense(x)) return true;
  uintptr_t low = (uintptr_t)x->view.data + (uintptr_t)x->span.low;
  uintptr_t high = (uintptr_t)x->view.data + (uintptr_t)x->span.high;
  if (y) {
    uintptr_t other_low = (uintptr_t)y->view.data + (uintptr_t)y->span.low;
    uintptr_t other_high = (uintptr_t)y->view.data + (uintptr_t)y->span.high;
    if (other_low < low) low = other_low;
    if (other_high > high) high = other_high;
  }
  size_t bytes = (high - low) / 8 + 1;
  uint8_t *map = aj_mem_alloc(&a->run.core->mem, bytes);
  if (!map) return aj_run_raise_memory(&a->run, bytes);
  *out = mark_bytes(&x->view, low, map) || (y && mark_bytes(&y->view, low, map));
  aj_mem_free(&a->run.core->mem, map, bytes);
  return true;
}

static bool fail_overlap(aj_activation *a, uint32_t i, uint32_t k) {
  char message[120];
  if (i == k)
    aj_bounded_printf(message, sizeof message, "output %" PRIu32 ": its elements share memory", i);
  else
    aj_bounded_printf(message, sizeof message, "outputs %" PRIu32 " and %" PRIu32 " share memory", k, i);
  return aj_run_raise(&a->run, ARRJIT_KIND_ARGUMENT, 0, message, 0, NULL);
}

/* Callbacks decide on its extents while the run goes on. */
static bool fail_late(aj_activation *a, uint32_t index) {
  const aj_func *entry = a->run.module->funcs.data[0];
  char place[NAME_BYTES], message[NAME_BYTES + 80];
  print_place(index, entry->result_names ? entry->result_names[index] : NULL, place);
  aj_bounded_printf(message, sizeof message,
                    "output %s: its extents are decided on by a callback, so none can be given", place);
  return aj_run_raise(&a->run, ARRJIT_KIND_ARGUMENT, 0, message, 0, NULL);
}

static bool check_output(aj_activation *a, uint32_t index, const aj_view *view) {
  const aj_func *entry = a->run.module->funcs.data[0];
  const aj_type *type = entry->result_types[index];
  if (aj_type_is_late(a->run.module, type)) return fail_late(a, index);
  bool fits = view->dtype == type->dtype && view->rank == type->rank;
  int32_t bad = -1;
  for (int32_t i = 0; fits && bad < 0 && i < type->rank; i++)
    if (aj_dim_eval(type->dims[i], a->env) != view->dims[i]) bad = i;
  if (AJ_LIKELY(fits && bad < 0)) return true;
  char place[NAME_BYTES];
  print_place(index, entry->result_names ? entry->result_names[index] : NULL, place);
  if (!fits) return fail_type(a, "output", place, type, view);
  return fail_extent(a, "output", place, bad, type->dims[bad], view->dims[bad]);
}

bool aj_arguments_check_outputs(aj_activation *a, arrjit_array *const *given) {
  for (uint32_t i = 0; given && i < a->output_count; i++) {
    bool shared = false;
    if (!given[i]) continue;
    if (!check_output(a, i, &given[i]->view) || !share_bytes(a, given[i], NULL, &shared)) return false;
    if (shared) return fail_overlap(a, i, i);
    for (uint32_t k = 0; k < i; k++) {
      if (!given[k]) continue;
      if (!share_bytes(a, given[i], given[k], &shared)) return false;
      if (shared) return fail_overlap(a, i, k);
    }
  }
  return true;
}
