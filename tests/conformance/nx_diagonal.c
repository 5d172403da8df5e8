/* Nx's diagonals and triangles. */
#include "nx.h"

#include <stdlib.h>
#include <string.h>

/* ---- triangles ---- */

static bool want_matrix(nx_op *op, arrjit_value x) {
  if (nx_rank(x) < 2) nx_raise(op, "%s/2 expects a tensor with at least 2 dimensions, got: ", op->name + strlen("Nx."));
  return op->told == PASSED;
}

static void build_tril(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0);
  if (want_matrix(op, x)) op->out[0] = arrjit_tril(op->g, x, nx_int(op, "k", 0));
}

static void build_triu(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0);
  if (want_matrix(op, x)) op->out[0] = arrjit_triu(op->g, x, nx_int(op, "k", 0));
}

/* ---- diagonals ---- */

/* Whether a diagonal that far off the main one is within a matrix. */
static bool want_offset(nx_op *op, int64_t offset, int64_t rows, int64_t columns) {
  if (offset >= columns) nx_raise(op, "offset must be less than length of axis 1 when positive, got: %d", (int)offset);
  if (-offset >= rows)
    nx_raise(op, "absolute value of offset must be less than length of axis 0 when negative, got: %d", (int)offset);
  return op->told == PASSED;
}

static int64_t count_diagonal(int64_t offset, int64_t rows, int64_t columns) {
  int64_t down = offset < 0 ? rows + offset : rows, right = offset > 0 ? columns - offset : columns;
  return down < right ? down : right;
}

/* Elements of the last two dims, in a row, at every columns + 1st place. */
static void build_take_diagonal(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0);
  int64_t rank = nx_rank(x), offset = nx_int(op, "offset", 0), dims[ARRJIT_MAX_RANK];
  if (rank < 2) nx_raise(op, "take_diagonal/2 expects tensor of rank 2 or higher, got tensor of rank: %d", (int)rank);
  if (op->told != PASSED) return;
  int64_t rows = nx_extent(x, rank - 2), columns = nx_extent(x, rank - 1);
  if (!want_offset(op, offset, rows, columns)) return;
  int64_t count = count_diagonal(offset, rows, columns), first = offset < 0 ? -offset * columns : offset;
  for (int64_t i = 0; i + 2 < rank; i++) dims[i] = nx_extent(x, i);
  dims[rank - 2] = rows * columns;
  arrjit_value flat = nx_reshape(op, x, (size_t)rank - 1, dims);
  op->out[0] = nx_slice(op, flat, rank - 2, first, first + (count - 1) * (columns + 1) + 1, columns + 1);
}

/* The vector `diagonal` where column - row is offset, `other` elsewhere; dims: rows, columns. */
static arrjit_value lay_diagonal(nx_op *op, arrjit_value diagonal, arrjit_value other, const int64_t *dims,
                                 int64_t offset) {
  int64_t axis = offset < 0 ? 1 : 0; /* along which the vector starts with its matrix */
  const int64_t low[] = {0}, high[] = {dims[axis] - nx_extent(diagonal, 0)}, axes[] = {axis};
  arrjit_value row = nx_iota(op, ARRJIT_I64, 2, dims, 0), column = nx_iota(op, ARRJIT_I64, 2, dims, 1);
  arrjit_value there = arrjit_eq(op->g, arrjit_sub(op->g, column, row), arrjit_const_i64(op->g, offset));
  arrjit_value line = arrjit_pad(op->g, diagonal, nx_number(op, nx_dtype_of(diagonal), 0), 1, low, high, low);
  return arrjit_select(op->g, there, arrjit_broadcast(op->g, line, 2, dims, 1, axes), other);
}

static void build_make_diagonal(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0);
  int64_t offset = nx_int(op, "offset", 0), n = nx_extent(x, 0) + llabs(offset);
  if (nx_rank(x) != 1)
    nx_raise(op, "make_diagonal/2 expects tensor of rank 1, got tensor of rank: %d", (int)nx_rank(x));
  const int64_t dims[] = {n, n};
  op->out[0] = lay_diagonal(op, x, nx_full(op, nx_dtype_of(x), 0, 2, dims), dims, offset);
}

static void build_put_diagonal(nx_op *op) {
  arrjit_dtype dtype = nx_join(op, nx_arg(op, 0), nx_arg(op, 1));
  arrjit_value x = nx_value_as(op, nx_arg(op, 0), dtype), diagonal = nx_value_as(op, nx_arg(op, 1), dtype);
  const int64_t dims[] = {nx_extent(x, 0), nx_extent(x, 1)};
  int64_t offset = nx_int(op, "offset", 0), length = nx_extent(diagonal, 0);
  if (nx_rank(x) != 2) nx_raise(op, "put_diagonal/3 expects tensor of rank 2, got tensor of rank: %d", (int)nx_rank(x));
  if (nx_rank(diagonal) != 1)
    nx_raise(op, "put_diagonal/3 expects diagonal of rank 1, got tensor of rank: %d", (int)nx_rank(diagonal));
  if (!want_offset(op, offset, dims[0], dims[1])) return;
  int64_t count = count_diagonal(offset, dims[0], dims[1]);
  if (count != length)
    nx_raise(op, "expected diagonal tensor of length: %d, got diagonal tensor of length: %d", (int)count, (int)length);
  op->out[0] = lay_diagonal(op, diagonal, x, dims, offset);
}

static const nx_row rows[] = {{"Nx.tril", build_tril},
                              {"Nx.triu", build_triu},
                              {"Nx.take_diagonal", build_take_diagonal},
                              {"Nx.make_diagonal", build_make_diagonal},
                              {"Nx.put_diagonal", build_put_diagonal}};

nx_build *nx_diagonal_find(const char *name) { return nx_find(name, TK_COUNT(rows), rows); }
