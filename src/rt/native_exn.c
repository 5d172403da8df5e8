/* Exceptions as values in compiled code: the list of those that the run owns for its active functions, and what
 * handlers do with them. */
#include "rt/native_helpers.h"

#include <string.h>

/* ---- the list ---- */

static aj_exn **entries(aj_nh_exns *exns) { return exns->capacity ? exns->many : exns->few; }

static bool grow(aj_run *run, aj_nh_exns *exns) {
  int64_t room = exns->capacity ? exns->capacity : AJ_NH_EXNS;
  if (exns->count < room) return true;
  size_t bytes = (size_t)room * sizeof(aj_exn *);
  aj_exn **more = aj_mem_resize(&run->core->mem, exns->many, exns->capacity ? bytes : 0, 2 * bytes);
  if (!more) return false;
  if (!exns->capacity) memcpy(more, exns->few, sizeof exns->few);
  exns->many = more;
  exns->capacity = 2 * room;
  return true;
}

/* Takes over a reference. False: it is released, run->exn is not set. */
static bool keep(aj_run *run, aj_nh_exns *exns, aj_exn *exn) {
  if (!grow(run, exns)) {
    aj_exn_release(exn);
    return false;
  }
  entries(exns)[exns->count++] = exn;
  return true;
}

void aj_nh_exns_trim(aj_nh_exns *exns, int64_t mark, aj_exn *const *kept, int64_t kept_count) {
  aj_exn **list = entries(exns);
  int64_t out = mark;
  for (int64_t i = mark; i < exns->count; i++) {
    bool stays = false;
    for (int64_t k = 0; k < kept_count && !stays; k++) stays = kept[k] == list[i];
    if (stays)
      list[out++] = list[i];
    else
      aj_exn_release(list[i]);
  }
  exns->count = out;
}

/* ---- making and reading them ---- */

static aj_exn *keep_new(aj_run *run, aj_nh_exns *exns, const aj_nh_site *site, const int64_t *iterations, aj_exn *exn) {
  if (exn && keep(run, exns, exn)) return exn;
  aj_run_raise_memory(run, sizeof(aj_exn));
  aj_nh_trace(run, site, iterations);
  return NULL;
}

aj_exn *aj_nh_exn_new(aj_run *run, aj_nh_exns *exns, const aj_nh_site *site, const int64_t *iterations,
                      const int64_t *env, void *const *payload) {
  const aj_node *node = site->code;
  const aj_attr *message = aj_node_attr(node, AJ_ATTR_MESSAGE);
  uint32_t count = node->operand_count;
  aj_view few[4], *views = count <= AJ_COUNT(few) ? few : aj_mem_array(&run->core->mem, count, sizeof *views);
  aj_exn *exn = NULL;
  if (views) {
    for (uint32_t i = 0; i < count; i++) {
      bool sized = aj_view_from_type(&views[i], node->operands[i]->type, env);
      AJ_ASSERT(sized);
      (void)sized;
      views[i].data = payload[i];
    }
    exn = aj_exn_create_views(run->core, (arrjit_kind)aj_node_int(node, AJ_ATTR_KIND), aj_node_int(node, AJ_ATTR_CODE),
                              message ? message->u.text : NULL, count, views);
    if (views != few) aj_mem_free(&run->core->mem, views, count * sizeof *views);
  }
  return keep_new(run, exns, site, iterations, exn);
}

aj_exn *aj_nh_exn_cause(aj_run *run, aj_nh_exns *exns, const aj_nh_site *site, const int64_t *iterations, aj_exn *exn) {
  aj_exn *cause = exn->cause ? exn->cause : exn;
  aj_exn_retain(cause);
  return keep_new(run, exns, site, iterations, cause);
}

int32_t aj_nh_exn_is(aj_run *run, const aj_exn *exn, int64_t kind) {
  return aj_kinds_is(run->core->kinds, exn->kind, (arrjit_kind)kind);
}

/* The payload field when it is there and has the type that is asked for, else zeros. */
int32_t aj_nh_exn_field(const aj_exn *exn, const aj_node *code, const int64_t *env, void *out) {
  int64_t field = aj_node_int(code, AJ_ATTR_FIELD);
  aj_view want;
  if (!aj_view_from_type(&want, code->results[1].type, env)) return 0;
  const arrjit_array *array = field >= 0 && field < exn->payload_count ? exn->payload[field] : NULL;
  bool fits = array && array->view.dtype == want.dtype && array->view.rank == want.rank &&
              memcmp(array->view.dims, want.dims, (size_t)want.rank * sizeof *want.dims) == 0;
  if (fits)
    memcpy(out, array->view.data, aj_view_bytes(&want));
  else
    memset(out, 0, aj_view_bytes(&want));
  return fits;
}

int64_t aj_nh_exn_site(const aj_exn *exn) { return exn->trace.count ? (int64_t)exn->trace.sites[0].node->id : -1; }

/* ---- raising and handling ---- */

void aj_nh_raise_exn(aj_run *run, const aj_nh_site *site, const int64_t *iterations, aj_exn *exn, aj_exn *cause) {
  run->exn = aj_exn_again(exn);
  if (!run->exn)
    aj_run_raise_memory(run, sizeof(aj_exn));
  else if (cause)
    aj_exn_link(run->exn, cause, NULL);
  aj_nh_trace(run, site, iterations);
}

void aj_nh_cause(aj_run *run, aj_exn *cause) { aj_exn_link(run->exn, cause, NULL); }

int32_t aj_nh_match(aj_run *run, const aj_node *try_node) {
  const aj_attr *kinds = aj_node_attr(try_node, AJ_ATTR_KINDS);
  for (uint32_t i = 0; kinds && i < kinds->count; i++)
    if (aj_kinds_catches(run->core->kinds, (arrjit_kind)kinds->u.ints[i], run->exn->kind)) return (int32_t)i;
  return -1;
}

aj_exn *aj_nh_take(aj_run *run, aj_nh_exns *exns) {
  aj_exn *exn = run->exn;
  run->exn = NULL;
  if (keep(run, exns, exn)) return exn;
  aj_run_raise_memory(run, sizeof(aj_exn));
  return NULL;
}

void aj_nh_context(aj_run *run, aj_exn *handled) { aj_exn_link(run->exn, NULL, handled); }

void aj_nh_drop(aj_run *run) {
  aj_exn_release(run->exn);
  run->exn = NULL;
}

aj_exn *aj_nh_begin_finally(aj_run *run, aj_nh_exns *exns) {
  return run->exn->kind == ARRJIT_KIND_SHUTDOWN ? NULL : aj_nh_take(run, exns);
}

int32_t aj_nh_mask(aj_run *run) {
  if (run->masked_until_ns != 0) return 0;
  run->masked_until_ns = aj_clock_ns() + AJ_FINALLY_GRACE_NS;
  return 1;
}

void aj_nh_unmask(aj_run *run, int32_t began) {
  if (began) run->masked_until_ns = 0;
}

void aj_nh_again(aj_run *run, aj_exn *exn) {
  aj_exn_retain(exn);
  run->exn = exn;
}

void aj_nh_retain(aj_exn *exn) { aj_exn_retain(exn); }

int32_t aj_nh_adopt(aj_run *run, aj_nh_exns *exns, const aj_nh_site *site, const int64_t *iterations, aj_exn *exn) {
  return keep_new(run, exns, site, iterations, exn) == NULL;
}

/* ---- by name ---- */

typedef struct aj_native_helper helper;
#define HELPER(name) {#name, (void *)(uintptr_t)name}

const helper *aj_native_helpers(uint32_t *out_count) {
  static const helper table[] = {HELPER(aj_nh_poll),           HELPER(aj_nh_raise),       HELPER(aj_nh_check),
                                 HELPER(aj_nh_checked),        HELPER(aj_nh_trace),       HELPER(aj_nh_outward),
                                 HELPER(aj_nh_bad_step),       HELPER(aj_nh_check_view),  HELPER(aj_nh_check_shape),
                                 HELPER(aj_nh_fallback),       HELPER(aj_nh_callback),    HELPER(aj_nh_first_false),
                                 HELPER(aj_nh_exn_new),        HELPER(aj_nh_exn_cause),   HELPER(aj_nh_exn_is),
                                 HELPER(aj_nh_exn_field),      HELPER(aj_nh_exn_site),    HELPER(aj_nh_raise_exn),
                                 HELPER(aj_nh_cause),          HELPER(aj_nh_check_code),  HELPER(aj_nh_match),
                                 HELPER(aj_nh_take),           HELPER(aj_nh_context),     HELPER(aj_nh_drop),
                                 HELPER(aj_nh_begin_finally),  HELPER(aj_nh_mask),        HELPER(aj_nh_unmask),
                                 HELPER(aj_nh_again),          HELPER(aj_nh_retain),      HELPER(aj_nh_adopt),
                                 HELPER(aj_nh_exns_trim),      HELPER(aj_nh_block),       HELPER(aj_nh_block_free),
                                 HELPER(aj_nh_array),          HELPER(aj_nh_arrays_trim), HELPER(aj_nh_output),
                                 HELPER(aj_nh_callback_sized), HELPER(aj_nh_enter),       HELPER(aj_sem_fma_f32),
                                 HELPER(aj_sem_fma_f64),       HELPER(aj_nh_copy),        HELPER(aj_nh_zero),
                                 HELPER(aj_nh_fill),           HELPER(aj_nh_blocks),      HELPER(aj_nh_due),
                                 HELPER(aj_sem_fmod_f32),      HELPER(aj_sem_fmod_f64),   HELPER(aj_sem_pow_i64),
                                 HELPER(aj_sem_pow_u64)};
  *out_count = (uint32_t)AJ_COUNT(table);
  return table;
}
