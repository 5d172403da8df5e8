/* Life of exceptions. What raising again makes borrows message, payload and frames from its origin and keeps that
 * alive. Causes and contexts form a graph without cycles: an exn is linked before anyone else sees it. */
#include "rt/exn.h"

#include <string.h>

aj_exn *aj_exn_no_memory(aj_core *core) { return core->no_memory; }

/* The shared one is never changed, counted or freed. */
static bool is_no_memory(const aj_exn *exn) { return exn == exn->core->no_memory; }

static aj_exn *create_empty(aj_core *core, arrjit_kind kind, int64_t code) {
  aj_exn *exn = aj_mem_alloc(&core->mem, sizeof *exn);
  if (!exn) return NULL;
  aj_core_retain(core);
  atomic_init(&exn->refs, 1);
  exn->core = core;
  exn->kind = kind;
  exn->code = code;
  exn->depth = 1;
  return exn;
}

aj_exn *aj_exn_create_room(aj_core *core, arrjit_kind kind, int64_t code, const char *message, uint32_t payload_count) {
  aj_exn *exn = create_empty(core, kind, code);
  if (!exn) return NULL;
  if (message) {
    size_t bytes = strlen(message) + 1;
    exn->message = aj_mem_raw(&core->mem, bytes);
    if (exn->message) memcpy(exn->message, message, bytes);
  }
  if (payload_count) exn->payload = aj_mem_array(&core->mem, payload_count, sizeof *exn->payload);
  exn->payload_count = exn->payload ? payload_count : 0;
  if ((!message || exn->message) && exn->payload_count == payload_count) return exn;
  aj_exn_release(exn);
  return NULL;
}

bool aj_exn_set_payload(aj_exn *exn, uint32_t i, const aj_view *view) {
  AJ_ASSERT(i < exn->payload_count && !exn->payload[i]);
  exn->payload[i] = aj_array_copy(exn->core, view);
  return exn->payload[i] != NULL;
}

aj_exn *aj_exn_create(aj_core *core, arrjit_kind kind, int64_t code, const char *message, uint32_t payload_count,
                      arrjit_array *const *payload) {
  aj_exn *exn = aj_exn_create_room(core, kind, code, message, payload_count);
  for (uint32_t i = 0; exn && i < payload_count; i++)
    if (!aj_exn_set_payload(exn, i, &payload[i]->view)) {
      aj_exn_release(exn);
      return NULL;
    }
  return exn;
}

aj_exn *aj_exn_create_views(aj_core *core, arrjit_kind kind, int64_t code, const char *message, uint32_t payload_count,
                            const aj_view *payload) {
  aj_exn *exn = aj_exn_create_room(core, kind, code, message, payload_count);
  for (uint32_t i = 0; exn && i < payload_count; i++)
    if (!aj_exn_set_payload(exn, i, &payload[i])) {
      aj_exn_release(exn);
      return NULL;
    }
  return exn;
}

/* Who owns what exn shows: itself, or what it was raised again from. */
static aj_exn *find_root(aj_exn *exn) { return exn->origin ? exn->origin : exn; }

aj_exn *aj_exn_again(const aj_exn *exn) {
  aj_exn *old = (aj_exn *)(uintptr_t)exn; /* only its reference counts change */
  if (is_no_memory(exn)) return old;
  aj_exn *again = create_empty(exn->core, exn->kind, exn->code);
  if (!again) return NULL;
  if (exn->trace.capacity) {
    again->trace.sites = aj_mem_array(&exn->core->mem, exn->trace.capacity, sizeof *exn->trace.sites);
    if (!again->trace.sites) {
      aj_exn_release(again);
      return NULL;
    }
    memcpy(again->trace.sites, exn->trace.sites, exn->trace.capacity * sizeof *exn->trace.sites);
    again->trace.capacity = exn->trace.capacity;
  }
  again->trace.count = exn->trace.count;
  again->trace.total = exn->trace.total;
  again->origin = find_root(old);
  aj_exn_retain(again->origin);
  again->message = exn->message;
  again->payload = exn->payload;
  again->payload_count = exn->payload_count;
  again->frames = exn->frames;
  again->frame_count = exn->frame_count;
  again->host = exn->host;
  aj_exn_link(again, exn->cause, exn->context);
  return again;
}

/* ---- links ---- */

void aj_exn_retain(aj_exn *exn) {
  if (is_no_memory(exn)) return;
  int64_t before = atomic_fetch_add_explicit(&exn->refs, 1, memory_order_relaxed);
  AJ_ASSERT(before > 0);
  (void)before;
}

/* A link that is there stays: what was linked first lies nearer to the cause. */
static void link_one(aj_exn *exn, aj_exn **place, aj_exn *other) {
  if (!other || *place || is_no_memory(exn) || find_root(other) == find_root(exn) || other->depth >= AJ_EXN_DEPTH)
    return;
  AJ_ASSERT(other->depth >= 1 && other->core == exn->core);
  aj_exn_retain(other);
  *place = other;
  if (exn->depth <= other->depth) exn->depth = other->depth + 1;
}

void aj_exn_link(aj_exn *exn, aj_exn *cause, aj_exn *context) {
  link_one(exn, &exn->cause, cause);
  link_one(exn, &exn->context, context);
}

/* ---- the end ---- */

/* Called once for each pointer that was taken, since the record has one owner. */
static void destroy_host(aj_host_ref *host) {
  if (!host) return;
  aj_core *core = host->core;
  if (host->destroy) host->destroy(host->pointer);
  aj_mem_free(&core->mem, host, sizeof *host);
}

/* Of one that is no copy: what copies borrowed from it. It may be incomplete. */
static void free_owned(aj_exn *exn) {
  aj_mem *mem = &exn->core->mem;
  if (exn->message) aj_mem_free(mem, exn->message, strlen(exn->message) + 1);
  for (uint32_t i = 0; i < exn->payload_count; i++) aj_array_release(exn->payload[i]);
  aj_mem_free(mem, exn->payload, exn->payload_count * sizeof *exn->payload);
  for (uint32_t i = 0; i < exn->frame_count; i++)
    if (exn->frames[i]) aj_mem_free(mem, exn->frames[i], strlen(exn->frames[i]) + 1);
  aj_mem_free(mem, exn->frames, exn->frame_count * sizeof *exn->frames);
  destroy_host(exn->host);
}

/* Takes one reference; the last one puts exn on the list of the dead. */
static void drop(aj_exn *exn, aj_exn **dead) {
  if (!exn || is_no_memory(exn) || atomic_fetch_sub_explicit(&exn->refs, 1, memory_order_acq_rel) != 1) return;
  exn->next_dead = *dead;
  *dead = exn;
}

/* A list in place of recursion: an exn, its causes and its origin may all go at once. */
void aj_exn_release(aj_exn *exn) {
  aj_exn *dead = NULL;
  drop(exn, &dead);
  while (dead) {
    aj_exn *gone = dead;
    aj_core *core = gone->core;
    dead = gone->next_dead;
    drop(gone->cause, &dead);
    drop(gone->context, &dead);
    drop(gone->origin, &dead);
    if (!gone->origin) free_owned(gone);
    aj_mem_free(&core->mem, gone->trace.sites, gone->trace.capacity * sizeof *gone->trace.sites);
    if (gone->keep_release) gone->keep_release(gone->keep);
    aj_mem_free(&core->mem, gone, sizeof *gone);
    aj_core_release(core);
  }
}
