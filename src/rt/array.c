/* Arrays. One with its own memory is a single allocation, the elements behind the header; others point into memory of
 * the host or of another array. A view keeps the array at the root, so chains of views never grow. */
#include "rt/array.h"

#include <string.h>

enum { ALIGNMENT = 64 };

bool aj_array_shape_bytes(arrjit_dtype dtype, int32_t rank, const int64_t *dims, int64_t *out_bytes) {
  if (dtype <= ARRJIT_DTYPE_NONE || (size_t)dtype >= AJ_DTYPE_COUNT || rank < 0 || rank > ARRJIT_MAX_RANK) return false;
  int64_t bytes = aj_dtypes[dtype].bytes;
  bool empty = false;
  for (int32_t i = 0; i < rank; i++) {
    if (dims[i] < 0) return false;
    /* Extents beside a 0 count too: every product of some of them stays in range, in whatever order it is made. */
    if (dims[i] == 0)
      empty = true;
    else if (!aj_i64_mul(bytes, dims[i], &bytes))
      return false;
  }
  *out_bytes = empty ? 0 : bytes;
  return true;
}

/* The header but for the view, field by field: the view alone is ten times as big, and mostly unused. */
static void set_up(arrjit_array *array, aj_core *core) {
  aj_core_retain(core);
  atomic_init(&array->refs, 1);
  array->core = core;
  array->base = NULL;
  array->block = NULL;
  array->block_bytes = 0;
  array->release = NULL;
  array->adopted = 0;
  array->release_user = array->release_data = NULL;
}

/* In steps that are modulo 2^64, as addresses are. */
static aj_span find_span(const aj_view *view) {
  aj_span span = {.dense = aj_view_is_dense(view)};
  uint64_t low = 0, high = 0;
  bool empty = false;
  for (int32_t i = 0; i < view->rank; i++) {
    uint64_t reach = (uint64_t)view->strides[i] * (uint64_t)(view->dims[i] - 1);
    empty = empty || view->dims[i] == 0;
    span.stride_bits |= (uint64_t)view->strides[i];
    *(view->strides[i] < 0 ? &low : &high) += reach;
  }
  if (empty) return span;
  span.low = (int64_t)low;
  span.high = (int64_t)(high + aj_dtypes[view->dtype].bytes);
  return span;
}

void aj_array_retype(arrjit_array *array, arrjit_dtype dtype) {
  array->view.dtype = dtype;
  aj_view_set_dense(&array->view);
  array->span.dense = true;
}

/* Room for the header, for moving the elements up to their alignment, and for them. */
arrjit_array *aj_array_create(aj_core *core, arrjit_dtype dtype, int32_t rank, const int64_t *dims, bool zero) {
  int64_t bytes;
  size_t whole;
  if (!aj_array_shape_bytes(dtype, rank, dims, &bytes) || (uint64_t)bytes > SIZE_MAX) return NULL;
  if (!aj_size_add((size_t)bytes, sizeof(arrjit_array) + ALIGNMENT, &whole)) return NULL;
  arrjit_array *array = aj_mem_raw(&core->mem, whole);
  if (!array) return NULL;
  set_up(array, core);
  array->block = array;
  array->block_bytes = whole;
  array->view.dtype = dtype;
  array->view.rank = rank;
  if (rank) memcpy(array->view.dims, dims, (size_t)rank * sizeof *dims);
  aj_view_set_dense(&array->view);
  array->span = (aj_span){.high = bytes, .stride_bits = aj_dtypes[dtype].bytes, .dense = true};
  uintptr_t behind = (uintptr_t)(array + 1);
  array->view.data = (char *)(array + 1) + ((ALIGNMENT - behind % ALIGNMENT) % ALIGNMENT);
  if (zero && bytes) memset(array->view.data, 0, (size_t)bytes);
  return array;
}

arrjit_array *aj_array_wrap(aj_core *core, const aj_view *view, arrjit_release_data *release, void *user, void *data) {
  arrjit_array *array = aj_mem_raw(&core->mem, sizeof *array);
  if (!array) return NULL;
  set_up(array, core);
  array->release = release;
  array->release_user = user;
  array->release_data = data;
  array->view = *view;
  array->span = find_span(view);
  return array;
}

void aj_array_lend(arrjit_array *array, aj_core *core, const aj_view *view) {
  memset(array, 0, sizeof *array);
  atomic_init(&array->refs, 1);
  array->core = core;
  array->view = *view;
  array->span = find_span(view);
}

/* A view of a view is one of the root. */
arrjit_array *aj_array_share(arrjit_array *base, const aj_view *view) {
  arrjit_array *root = base->base ? base->base : base;
  arrjit_array *array = aj_array_wrap(root->core, view, NULL, NULL, NULL);
  if (!array) return NULL;
  AJ_ASSERT(!root->base);
  aj_array_retain(root);
  array->base = root;
  return array;
}

static void release_donor(void *user, void *donor) {
  (void)user;
  aj_array_release(donor);
}

/* What was adopted before is adopted again from the same donor: so a value that goes in and out many times makes no
 * chain. */
arrjit_array *aj_array_adopt(arrjit_array *input, uint32_t index) {
  arrjit_array *donor = input->adopted ? input->release_data : input;
  arrjit_array *array = aj_array_wrap(input->core, &input->view, release_donor, NULL, donor);
  if (!array) return NULL;
  aj_array_retain(donor);
  array->adopted = index + 1;
  return array;
}

bool aj_array_owns(const arrjit_array *array) {
  while (array->base || array->adopted) array = array->base ? array->base : array->release_data;
  return array->block != NULL;
}

arrjit_array *aj_array_copy(aj_core *core, const aj_view *view) {
  arrjit_array *copy = aj_array_create(core, view->dtype, view->rank, view->dims, false);
  if (copy && aj_view_count(view)) aj_view_pack(copy->view.data, view);
  return copy;
}

arrjit_array *aj_array_dense(arrjit_array *array) {
  if (!aj_array_is_dense(array)) return aj_array_copy(array->core, &array->view);
  aj_array_retain(array);
  return array;
}

/* The core goes last: it holds the allocator. */
static void free_array(arrjit_array *array) {
  AJ_ASSERT(!array->block || !array->base); /* own memory or another's */
  aj_core *core = array->core;
  if (array->release) array->release(array->release_user, array->release_data);
  aj_mem_free(&core->mem, array, array->block ? array->block_bytes : sizeof *array);
  aj_core_release(core);
}

/* A view that goes may take its base along, which is no view itself: so the loop ends after two rounds. */
void aj_array_release(arrjit_array *array) {
  while (array && atomic_fetch_sub_explicit(&array->refs, 1, memory_order_acq_rel) == 1) {
    arrjit_array *base = array->base;
    free_array(array);
    array = base;
  }
}
