/* A host allocator that counts, checks the sizes it is told, and can fail at the n-th call. Safe from any thread. */
#ifndef TK_ALLOC_H
#define TK_ALLOC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "arrjit/core.h"

typedef struct tk_alloc {
  _Atomic int64_t live_bytes, live_blocks;
  _Atomic int64_t calls;    /* that asked for memory, the failing ones included */
  _Atomic int64_t failed;   /* that were refused */
  _Atomic int64_t mistakes; /* a block freed or resized with another size than it has, or that is none */
  _Atomic int64_t fail_at;  /* this call (counted from 1) is refused; 0: none */
  _Atomic int64_t most;     /* bytes that one call may ask for; 0: any */
} tk_alloc;

/* The allocator to give to a context; `alloc` must outlive all that uses it. */
arrjit_allocator tk_alloc_host(tk_alloc *alloc);
/* Starts counting calls anew; the `fail_at`-th from now is refused (0: none). */
void tk_alloc_arm(tk_alloc *alloc, int64_t fail_at);

#endif
