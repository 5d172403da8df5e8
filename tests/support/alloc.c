/* Counting allocator: every block carries its size in front, so a wrong size or a second free is seen at once. */
#include "alloc.h"

#include <stdlib.h>
#include <string.h>

typedef struct head {
  size_t bytes;
  uint64_t magic;
} head;
_Static_assert(sizeof(head) == 16, "keeps malloc's alignment");

static const uint64_t alive = 0x616c6c6f63617465u;

static bool take_call(tk_alloc *alloc, size_t bytes) {
  int64_t call = atomic_fetch_add(&alloc->calls, 1) + 1, most = atomic_load(&alloc->most);
  if (call != atomic_load(&alloc->fail_at) && (!most || bytes <= (uint64_t)most)) return true;
  atomic_fetch_add(&alloc->failed, 1);
  return false;
}

static void *resize(void *user, void *pointer, size_t old_bytes, size_t new_bytes) {
  tk_alloc *alloc = user;
  head *old = pointer ? (head *)pointer - 1 : NULL;
  if (old && (old->magic != alive || old->bytes != old_bytes)) {
    atomic_fetch_add(&alloc->mistakes, 1);
    if (old->magic != alive) return NULL;
    old_bytes = old->bytes;
  }
  head *block = NULL;
  if (new_bytes) {
    if (!take_call(alloc, new_bytes)) return NULL;
    block = malloc(sizeof *block + new_bytes);
    if (!block) return NULL;
    *block = (head){new_bytes, alive};
    /* what is not promised to be zero is not zero */
    memset(block + 1, 0xa5, new_bytes < 4096 ? new_bytes : 4096);
    if (old) memcpy(block + 1, pointer, old_bytes < new_bytes ? old_bytes : new_bytes);
    atomic_fetch_add(&alloc->live_bytes, (int64_t)new_bytes);
    atomic_fetch_add(&alloc->live_blocks, 1);
  }
  if (old) {
    atomic_fetch_sub(&alloc->live_bytes, (int64_t)old_bytes);
    atomic_fetch_sub(&alloc->live_blocks, 1);
    old->magic = 0;
    free(old);
  }
  return block ? block + 1 : NULL;
}

arrjit_allocator tk_alloc_host(tk_alloc *alloc) { return (arrjit_allocator){alloc, resize}; }

void tk_alloc_arm(tk_alloc *alloc, int64_t fail_at) {
  atomic_store(&alloc->calls, 0);
  atomic_store(&alloc->failed, 0);
  atomic_store(&alloc->fail_at, fail_at);
}
