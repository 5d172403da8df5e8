/* Windows of an array at index vectors: what gather and scatter share. For every point of the batch space (indices
 * without index_axis) an index vector of start_map's length gives the start of a window of x. */
#ifndef AJ_SEM_WINDOWS_H
#define AJ_SEM_WINDOWS_H

#include "sem/sem.h"

/* What a walk over the batch space moves in; bytes. */
enum { AJ_WALK_INDICES, AJ_WALK_X, AJ_WALK_RESULT, AJ_WALK_COUNT };

typedef struct aj_windows {
  const aj_sem_call *call;
  int64_t sizes[ARRJIT_MAX_RANK]; /* by axis of x; 1 on collapsed and batch axes */
  uint32_t offset, collapsed;     /* bits of axes: of the windows in the other array; of x, batch axes too */
  int32_t rank;                   /* of the batch space */
  int64_t dims[ARRJIT_MAX_RANK];  /* of it */
  int64_t steps[AJ_WALK_COUNT][ARRJIT_MAX_RANK]; /* by batch dim; that of the result is the caller's to set */
  uint32_t component_count;
  int64_t component_step;
  int64_t axes[ARRJIT_MAX_RANK], last[ARRJIT_MAX_RANK]; /* by component: axis of x, last start that fits */
} aj_windows;

/* A place in the batch space; starts zeroed. */
typedef struct aj_window {
  int64_t position; /* row-major */
  int64_t at[ARRJIT_MAX_RANK], offset[AJ_WALK_COUNT];
} aj_window;

/* `sizes` are those of the windows, one an axis of x that is neither collapsed nor a batch axis. */
void aj_windows_init(aj_windows *windows, const aj_sem_call *call, const int64_t *sizes);
int64_t aj_windows_count(const aj_windows *windows);
/* Goes on in row-major order; false, and back at the start, after the last. */
bool aj_windows_next(const aj_windows *windows, aj_window *window);
/* The window's start in x, in bytes, clamped so that the window fits; -1 - k when component k of the index does not
 * fit and `clamped` is false. */
int64_t aj_windows_start(const aj_windows *windows, const aj_window *window, bool clamped);
/* The failure of component k. */
aj_sem_status aj_windows_fail(const aj_windows *windows, const aj_window *window, int64_t k);

#endif
