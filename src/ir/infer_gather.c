/* Result types of gather and scatter, which share StableHLO's dimension numbers: windows of x, without its collapsed
 * and batch axes, lie along the axes offset_axes of the other array (the result of gather, the updates of scatter); the
 * rest of that array's axes are those of indices without index_axis, the batch space. */
#include "ir/infer.h"

static aj_infer_text operand_text(const aj_infer *in, uint32_t i) {
  return aj_infer_type_text(in, aj_infer_type(in, i));
}

static bool is_ascending(const aj_attr *attr) {
  for (uint32_t i = 1; i < attr->count; i++)
    if (attr->u.ints[i] <= attr->u.ints[i - 1]) return false;
  return true;
}

/* Sets of axes, as bits. */
typedef struct numbers {
  int32_t rank;                 /* of the array that has windows and batch space */
  uint32_t offset;              /* of that array */
  uint32_t collapsed, batch;    /* of x */
  uint32_t mapped, index_batch; /* of x; of indices */
} numbers;

static arrjit_status check_ranks(aj_infer *in, numbers *out) {
  const aj_type *x = aj_infer_type(in, 0), *indices = aj_infer_type(in, 1);
  int64_t index_axis = aj_infer_attr(in, AJ_ATTR_INDEX_AXIS)->u.i;
  uint32_t windows = aj_infer_attr(in, AJ_ATTR_OFFSET_AXES)->count;
  uint32_t others = aj_infer_attr(in, AJ_ATTR_COLLAPSED_AXES)->count + aj_infer_attr(in, AJ_ATTR_X_BATCH)->count;
  if (index_axis < 0 || index_axis > indices->rank)
    return aj_infer_fail(in, ARRJIT_TYPE, "index_axis is %lld; expected one from 0 to the rank of indices, %d",
                         (long long)index_axis, indices->rank);
  out->rank = indices->rank - (index_axis < indices->rank) + (int32_t)windows;
  if (out->rank > ARRJIT_MAX_RANK)
    return aj_infer_fail(in, ARRJIT_TYPE, "windows and indices together have rank %d", out->rank);
  AJ_TRY(aj_infer_axes(in, AJ_ATTR_OFFSET_AXES, out->rank, &out->offset));
  AJ_TRY(aj_infer_axes(in, AJ_ATTR_COLLAPSED_AXES, x->rank, &out->collapsed));
  AJ_TRY(aj_infer_axes(in, AJ_ATTR_START_MAP, x->rank, &out->mapped));
  AJ_TRY(aj_infer_pairs(in, AJ_ATTR_X_BATCH, AJ_ATTR_INDEX_BATCH, &out->batch, &out->index_batch));
  if (windows + others != (uint32_t)x->rank)
    return aj_infer_fail(in, ARRJIT_TYPE,
                         "x is %s; expected offset_axes, collapsed_axes and x_batch to be as many as its rank",
                         operand_text(in, 0).s);
  return ARRJIT_OK;
}

static arrjit_status check_numbers(aj_infer *in, numbers *out) {
  const aj_type *indices = aj_infer_type(in, 1);
  const aj_attr *start_map = aj_infer_attr(in, AJ_ATTR_START_MAP);
  int64_t index_axis = aj_infer_attr(in, AJ_ATTR_INDEX_AXIS)->u.i;
  AJ_TRY(aj_infer_dtype_set(in, 0));
  AJ_TRY(aj_infer_integers(in, 1, false));
  AJ_TRY(check_ranks(in, out));
  if (!is_ascending(aj_infer_attr(in, AJ_ATTR_OFFSET_AXES)) || !is_ascending(aj_infer_attr(in, AJ_ATTR_COLLAPSED_AXES)))
    return aj_infer_fail(in, ARRJIT_TYPE, "expected offset_axes and collapsed_axes in ascending order");
  if (out->batch & (out->collapsed | out->mapped))
    return aj_infer_fail(in, ARRJIT_TYPE, "an axis of x_batch is in collapsed_axes or start_map too");
  if (index_axis < indices->rank && (out->index_batch >> index_axis & 1))
    return aj_infer_fail(in, ARRJIT_TYPE, "index_axis is in index_batch too");
  int64_t components = index_axis < indices->rank ? indices->dims[index_axis] : 1;
  if (components != (int64_t)start_map->count)
    return aj_infer_fail(in, ARRJIT_TYPE,
                         "indices are %s with %s along index_axis; expected %u, one an entry of start_map",
                         operand_text(in, 1).s, aj_infer_dim_text(in, components).s, start_map->count);
  return ARRJIT_OK;
}

/* Extents of the batch space, in order: next[0], next[1] ... of indices without index_axis. */
static int64_t next_batch(const aj_infer *in, int32_t *next) {
  *next += *next == aj_infer_attr(in, AJ_ATTR_INDEX_AXIS)->u.i;
  return aj_infer_type(in, 1)->dims[(*next)++];
}

/* ---- gather ---- */

static arrjit_status check_sizes(aj_infer *in, const numbers *n) {
  const aj_type *x = aj_infer_type(in, 0);
  const aj_attr *sizes = aj_infer_attr(in, AJ_ATTR_SIZES);
  AJ_TRY(aj_infer_count(in, AJ_ATTR_SIZES, (uint32_t)x->rank, "the rank of x"));
  for (int32_t i = 0; i < x->rank; i++) {
    bool batch = n->batch >> i & 1;
    if (!batch) AJ_TRY(aj_infer_window(in, i, sizes->u.ints[i], x->dims[i]));
    if ((batch || (n->collapsed >> i & 1)) && sizes->u.ints[i] != 1)
      return aj_infer_fail(in, ARRJIT_TYPE, "axis %d is %s; expected its size to be 1", i,
                           batch ? "in x_batch" : "collapsed");
  }
  return ARRJIT_OK;
}

arrjit_status aj_infer_gather(aj_infer *in) {
  numbers n;
  int64_t dims[ARRJIT_MAX_RANK];
  AJ_TRY(check_numbers(in, &n));
  AJ_TRY(check_sizes(in, &n));
  int32_t batch = 0, window = 0;
  for (int32_t i = 0; i < n.rank; i++) {
    if (!(n.offset >> i & 1)) {
      dims[i] = next_batch(in, &batch);
      continue;
    }
    while ((n.collapsed | n.batch) >> window & 1) window++;
    dims[i] = aj_infer_attr(in, AJ_ATTR_SIZES)->u.ints[window++];
  }
  return aj_infer_push_type(in, aj_infer_type(in, 0)->dtype, n.rank, dims);
}

/* ---- scatter ---- */

arrjit_status aj_infer_scatter(aj_infer *in) {
  numbers n;
  AJ_TRY(check_numbers(in, &n));
  AJ_TRY(aj_infer_same_dtype(in, 2, 0));
  const aj_type *x = aj_infer_type(in, 0), *updates = aj_infer_type(in, 2);
  if (updates->rank != n.rank)
    return aj_infer_fail(in, ARRJIT_TYPE, "updates are %s; expected rank %d, that of indices and windows together",
                         operand_text(in, 2).s, n.rank);
  int32_t batch = 0, window = 0;
  for (int32_t i = 0; i < n.rank; i++) {
    if (n.offset >> i & 1) {
      while ((n.collapsed | n.batch) >> window & 1) window++;
      AJ_TRY(aj_infer_window(in, window, updates->dims[i], x->dims[window]));
      window++;
      continue;
    }
    int64_t extent = next_batch(in, &batch);
    if (!aj_dim_equal(updates->dims[i], extent))
      return aj_infer_fail(in, ARRJIT_TYPE, "updates are %s and indices %s; extent %s of axis %d should be %s",
                           operand_text(in, 2).s, operand_text(in, 1).s, aj_infer_dim_text(in, updates->dims[i]).s, i,
                           aj_infer_dim_text(in, extent).s);
  }
  return aj_infer_push(in, x);
}
