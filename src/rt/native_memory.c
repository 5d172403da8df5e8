/* Memory of compiled code: the block of each active function, and arrays whose extents show only while the function
 * runs. The run knows both, so that they go with it when a foreign exception unwinds through the code. */
#include <string.h>

#include "rt/native_helpers.h"

/* ---- blocks ---- */

/* Stands right before a block, which is aligned by hand in the memory that it was allocated as. */
typedef struct aj_nh_block {
  struct aj_nh_block *outer;
  char *memory;
  size_t bytes;
} block_head;

/* False: run->exn. */
static bool slot_bytes(aj_run *run, const aj_nh_slot *slot, const int64_t *env, size_t *out) {
  *out = 0;
  for (uint32_t i = 0; i < slot->type_count; i++) {
    aj_view view;
    if (!aj_view_from_type(&view, slot->types[i], env)) return aj_run_raise_huge_type(run, slot->types[i], env);
    size_t bytes = aj_view_bytes(&view);
    if (bytes > *out) *out = bytes;
  }
  if (!aj_size_add(*out, AJ_NH_ALIGN - 1, out)) return aj_run_raise_memory(run, SIZE_MAX);
  *out &= ~(size_t)(AJ_NH_ALIGN - 1);
  return true;
}

static void *refuse_block(aj_run *run, size_t bytes) {
  run->unbegun = run->depth == 0;
  if (!run->exn) aj_run_raise_memory(run, bytes);
  return NULL;
}

void *aj_nh_block(aj_run *run, const aj_nh_block_plan *plan, const int64_t *env, int64_t *offsets) {
  size_t total = 0, bytes;
  for (uint32_t s = 0; s < plan->slot_count; s++) {
    offsets[s] = (int64_t)total;
    if (!slot_bytes(run, &plan->slots[s], env, &bytes)) return refuse_block(run, 0);
    if (!aj_size_add(total, bytes, &total) || total > INT64_MAX / 2) return refuse_block(run, SIZE_MAX);
  }
  total += 2 * AJ_NH_ALIGN;
  char *memory = aj_mem_raw(&run->core->mem, total);
  if (!memory) return refuse_block(run, total);
  char *block = (char *)(((uintptr_t)memory + 2 * AJ_NH_ALIGN - 1) & ~(uintptr_t)(AJ_NH_ALIGN - 1));
  block_head *head = (block_head *)(void *)block - 1;
  *head = (block_head){run->blocks, memory, total};
  run->blocks = head;
  return block;
}

void aj_nh_block_free(aj_run *run) {
  block_head head = *run->blocks;
  aj_mem_free(&run->core->mem, head.memory, head.bytes);
  run->blocks = head.outer;
}

/* ---- arrays ---- */

/* Takes over a reference, also when there is no memory to note it: then run->exn is set. */
static bool keep_array(aj_run *run, arrjit_array *array) {
  if (AJ_VEC_PUSH(&run->core->mem, &run->arrays, array)) return true;
  aj_array_release(array);
  return aj_run_raise_memory(run, 0);
}

void *aj_nh_array(aj_run *run, const aj_nh_site *site, const int64_t *iterations, const aj_type *type,
                  const int64_t *env) {
  arrjit_array *array = aj_run_array_of(run, type, env);
  if (array && keep_array(run, array)) return array->view.data;
  aj_nh_trace(run, site, iterations);
  return NULL;
}

void aj_nh_arrays_trim(aj_run *run, int64_t mark) {
  while ((int64_t)run->arrays.count > mark) aj_array_release(run->arrays.data[--run->arrays.count]);
}

int32_t aj_nh_output(aj_run *run, const aj_nh_site *site, const int64_t *iterations, int64_t index, const aj_type *type,
                     const int64_t *env, const void *data) {
  aj_poller poller = aj_run_poller(run);
  arrjit_array *array = aj_run_array_of(run, type, env);
  if (!array || !aj_bytes_copy(array->view.data, data, aj_view_bytes(&array->view), &poller)) {
    aj_array_release(array);
    aj_nh_trace(run, site, iterations);
    return 1;
  }
  run->outputs[index] = array;
  return 0;
}

/* ---- results that a callback makes ---- */

static bool keep_made(aj_run *run, uint32_t count, arrjit_array **made) {
  bool ok = true;
  for (uint32_t i = 0; i < count; i++) {
    if (!made[i]) continue;
    if (ok)
      ok = keep_array(run, made[i]);
    else
      aj_array_release(made[i]);
  }
  return ok;
}

typedef struct making { /* what must go when the callback does not come back */
  uint32_t count;
  arrjit_array **made;
} making;

static void end_making(making *m) {
  for (uint32_t i = 0; i < m->count; i++) aj_array_release(m->made[i]);
}

int32_t aj_nh_callback_sized(aj_run *run, const aj_nh_site *site, const int64_t *iterations, int64_t *env,
                             const arrjit_view *args, arrjit_view *results, arrjit_array **made) {
  uint32_t count = site->code->result_count;
  memset(made, 0, count * sizeof(arrjit_array *));
  __attribute__((cleanup(end_making))) making m = {count, made};
  bool ok = aj_run_callback(run, (uint32_t)aj_node_int(site->code, AJ_ATTR_SLOT), args, results, made) &&
            aj_run_bind_extents(run, site->code, made, env);
  if (ok) {
    m.count = 0; /* the run has them, or they are gone */
    ok = keep_made(run, count, made);
  }
  if (!ok) aj_nh_trace(run, site, iterations);
  return !ok;
}

/* ---- all of it ---- */

void aj_run_release_native(aj_run *run) {
  if (!run->blocks && run->arrays.capacity == 0 && run->exns.count == 0 && run->exns.capacity == 0) return;
  while (run->blocks) aj_nh_block_free(run);
  aj_nh_arrays_trim(run, 0);
  AJ_VEC_FREE(&run->core->mem, &run->arrays);
  aj_nh_exns_trim(&run->exns, 0, NULL, 0);
  if (run->exns.capacity) aj_mem_free(&run->core->mem, run->exns.many, (size_t)run->exns.capacity * sizeof(aj_exn *));
  run->exns.capacity = 0;
}
