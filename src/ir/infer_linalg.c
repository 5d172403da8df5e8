/* The result types of factors of matrices: x is [batch dims, rows, columns], and each result has the batch dims. */
#include "ir/infer.h"

#include <string.h>

static arrjit_status check_matrix(aj_infer *in, bool square) {
  AJ_TRY(aj_infer_dtype_set(in, 0));
  const aj_type *x = aj_infer_type(in, 0);
  bool fits = x->rank >= 2 && (!square || aj_dim_equal(x->dims[x->rank - 2], x->dims[x->rank - 1]));
  if (fits) return ARRJIT_OK;
  return aj_infer_fail(in, ARRJIT_TYPE, "x is %s; expected %s matrices, in any batch dims", aj_infer_type_text(in, x).s,
                       square ? "square" : "one or more");
}

/* Pushes a result: the batch dims of x, then `count` more. */
static arrjit_status push(aj_infer *in, arrjit_dtype dtype, int32_t count, const int64_t *more) {
  const aj_type *x = aj_infer_type(in, 0);
  int64_t dims[ARRJIT_MAX_RANK];
  memcpy(dims, x->dims, (size_t)x->rank * sizeof *dims);
  memcpy(dims + x->rank - 2, more, (size_t)count * sizeof *dims);
  return aj_infer_push_type(in, dtype, x->rank - 2 + count, dims);
}

static arrjit_status push_matrix(aj_infer *in, int64_t rows, int64_t columns) {
  return push(in, aj_infer_type(in, 0)->dtype, 2, (const int64_t[]){rows, columns});
}

static arrjit_status push_vector(aj_infer *in, arrjit_dtype dtype, int64_t extent) {
  return push(in, dtype, 1, &extent);
}

/* The extents of the matrices, and the lesser of them. */
typedef struct matrix {
  int64_t rows, columns, least;
} matrix;

static arrjit_status get_matrix(aj_infer *in, matrix *out) {
  AJ_TRY(check_matrix(in, false));
  const aj_type *x = aj_infer_type(in, 0);
  int64_t rows = x->dims[x->rank - 2], columns = x->dims[x->rank - 1], least = rows < columns ? rows : columns;
  if ((rows < 0 || columns < 0) && !aj_dim_equal(rows, columns)) { /* rows, but for what they have more */
    AJ_TRY(aj_infer_dim(in, AJ_SYM_LESS, rows, columns, &least));
    AJ_TRY(aj_infer_dim(in, AJ_SYM_SUB, rows, least, &least));
  }
  *out = (matrix){rows, columns, least};
  return ARRJIT_OK;
}

static bool is_full(const aj_infer *in) { return aj_infer_attr(in, AJ_ATTR_FULL)->u.i != 0; }

static arrjit_status check_full(aj_infer *in) {
  int64_t full = aj_infer_attr(in, AJ_ATTR_FULL)->u.i;
  if (full != 0 && full != 1) return aj_infer_fail(in, ARRJIT_TYPE, "full is %lld; expected 0 or 1", (long long)full);
  return ARRJIT_OK;
}

arrjit_status aj_infer_cholesky(aj_infer *in) {
  AJ_TRY(check_matrix(in, true));
  return aj_infer_push(in, aj_infer_type(in, 0));
}

arrjit_status aj_infer_lu(aj_infer *in) {
  matrix x;
  AJ_TRY(get_matrix(in, &x));
  AJ_TRY(aj_infer_push(in, aj_infer_type(in, 0)));
  AJ_TRY(push_vector(in, ARRJIT_I64, x.least));
  return push_vector(in, ARRJIT_I64, x.rows);
}

arrjit_status aj_infer_qr(aj_infer *in) {
  matrix x;
  AJ_TRY(check_full(in));
  AJ_TRY(get_matrix(in, &x));
  int64_t inner = is_full(in) ? x.rows : x.least;
  AJ_TRY(push_matrix(in, x.rows, inner));
  return push_matrix(in, inner, x.columns);
}

arrjit_status aj_infer_eigh(aj_infer *in) {
  AJ_TRY(check_matrix(in, true));
  const aj_type *x = aj_infer_type(in, 0);
  AJ_TRY(push_vector(in, aj_dtype_part(x->dtype), x->dims[x->rank - 1]));
  return aj_infer_push(in, x);
}

arrjit_status aj_infer_svd(aj_infer *in) {
  matrix x;
  AJ_TRY(check_full(in));
  AJ_TRY(get_matrix(in, &x));
  AJ_TRY(push_matrix(in, x.rows, is_full(in) ? x.rows : x.least));
  AJ_TRY(push_vector(in, aj_dtype_part(aj_infer_type(in, 0)->dtype), x.least));
  return push_matrix(in, is_full(in) ? x.columns : x.least, x.columns);
}
