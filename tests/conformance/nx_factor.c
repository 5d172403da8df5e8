/* Factors with signs, and an order, that are Nx's own: qr, eigh, svd. Nx defines them by its other ops, and so are they
 * here; extents are numbers, so that columns are taken one after the other while the graph is built. */
#include "nx.h"

#include <string.h>

/* ---- parts of matrices ---- */

arrjit_value nx_eye(nx_op *op, arrjit_dtype dtype, int64_t rows, int64_t columns) {
  const int64_t dims[] = {rows, columns};
  arrjit_value row = nx_iota(op, ARRJIT_I32, 2, dims, 0), column = nx_iota(op, ARRJIT_I32, 2, dims, 1);
  return nx_as(op, arrjit_eq(op->g, row, column), dtype);
}

arrjit_value nx_adjoint(nx_op *op, arrjit_value a) {
  arrjit_value turned = nx_swap(op, a, nx_rank(a) - 2, nx_rank(a) - 1);
  return tk_is_complex(nx_dtype_of(a)) ? arrjit_conj(op->g, turned) : turned;
}

static int64_t count_rows(arrjit_value a) { return nx_extent(a, nx_rank(a) - 2); }

static int64_t count_columns(arrjit_value a) { return nx_extent(a, nx_rank(a) - 1); }

static arrjit_value get_row(nx_op *op, arrjit_value a, int64_t i) {
  return nx_slice(op, a, nx_rank(a) - 2, i, i + 1, 1);
}

static arrjit_value get_column(nx_op *op, arrjit_value a, int64_t i) {
  return nx_slice(op, a, nx_rank(a) - 1, i, i + 1, 1);
}

static arrjit_value get_element(nx_op *op, arrjit_value a, int64_t i, int64_t k) {
  return get_column(op, get_row(op, a, i), k);
}

/* Numbers of rows, as a column. */
static arrjit_value number_rows(nx_op *op, int64_t rows) {
  const int64_t dims[] = {rows, 1};
  return nx_iota(op, ARRJIT_I64, 2, dims, 0);
}

/* The sum of a column, as a matrix of one element. */
static arrjit_value sum_column(nx_op *op, arrjit_value x) {
  const arrjit_type type = arrjit_value_type(x);
  const int64_t rows[] = {nx_rank(x) - 2};
  return nx_keep(op, arrjit_reduce_sum(op->g, x, 1, rows), &type, 1, rows);
}

static arrjit_value square(nx_op *op, arrjit_value x) { return arrjit_mul(op->g, x, x); }

/* `of` the shape of a, all of its batches. */
static arrjit_value stretch(nx_op *op, arrjit_value of, arrjit_value a, int64_t rows, int64_t columns) {
  arrjit_type type = arrjit_value_type(a);
  type.dims[nx_rank(a) - 2] = rows;
  type.dims[nx_rank(a) - 1] = columns;
  return nx_broadcast(op, of, (size_t)nx_rank(a), type.dims);
}

/* ---- qr ---- */

/* I - scale v v', by which the column below row i becomes 0; the identity where it is. */
static arrjit_value make_reflector(nx_op *op, arrjit_value a, int64_t i) {
  arrjit_graph *g = op->g;
  arrjit_dtype dtype = nx_dtype_of(a);
  int64_t m = count_rows(a);
  arrjit_value row = number_rows(op, m), here = arrjit_const_i64(g, i);
  arrjit_value zero = nx_number(op, dtype, 0), one = nx_number(op, dtype, 1), two = nx_number(op, dtype, 2);
  arrjit_value below = arrjit_select(g, arrjit_gt(g, row, here), get_column(op, a, i), zero);
  arrjit_value head = get_element(op, a, i, i), rest = sum_column(op, square(op, below));
  arrjit_value norm = arrjit_sqrt(g, arrjit_add(g, square(op, head), rest));
  arrjit_value needed = arrjit_ge(g, rest, nx_number(op, dtype, 1e-10));
  arrjit_value first = arrjit_select(g, arrjit_le(g, head, zero), arrjit_sub(g, head, norm),
                                     arrjit_neg(g, arrjit_div(g, rest, arrjit_add(g, head, norm))));
  arrjit_value v = arrjit_div(g, below, arrjit_select(g, needed, first, one));
  v = arrjit_select(g, arrjit_eq(g, row, here), one, v);
  arrjit_value scale = arrjit_select(g, needed, arrjit_div(g, two, sum_column(op, square(op, v))), zero);
  arrjit_value outer = nx_matmul(op, v, nx_adjoint(op, v));
  return arrjit_sub(g, nx_eye(op, dtype, m, m), arrjit_mul(g, scale, outer));
}

void nx_factor_qr(nx_op *op, arrjit_value a, arrjit_value *q, arrjit_value *r) {
  int64_t m = count_rows(a), n = count_columns(a), last = m > n ? n : m - 1;
  *q = stretch(op, nx_eye(op, nx_dtype_of(a), m, m), a, m, m);
  for (int64_t i = 0; i < last; i++) {
    arrjit_value h = make_reflector(op, a, i);
    a = nx_matmul(op, h, a);
    *q = nx_matmul(op, *q, h);
  }
  *r = arrjit_triu(op->g, a, 0);
}

/* ---- by rotations of two columns, until they are orthogonal ---- */

enum { SWEEPS = 12 }; /* each squares what is left, so that this is more than enough */

/* The identity but for c at [p, p] and [q, q], s at [p, q], -s at [q, p]: it makes the off-diagonal element `pq` of a
 * symmetric matrix 0, whose diagonal has pp and qq. */
static arrjit_value make_rotation(nx_op *op, int64_t n, int64_t p, int64_t q, arrjit_value pp, arrjit_value qq,
                                  arrjit_value pq) {
  arrjit_graph *g = op->g;
  arrjit_dtype dtype = nx_dtype_of(pp);
  arrjit_value zero = nx_number(op, dtype, 0), one = nx_number(op, dtype, 1), two = nx_number(op, dtype, 2);
  arrjit_value none = arrjit_eq(g, pq, zero), safe = arrjit_select(g, none, one, pq);
  arrjit_value tau = arrjit_div(g, arrjit_sub(g, qq, pp), arrjit_mul(g, two, safe));
  arrjit_value root = arrjit_sqrt(g, arrjit_add(g, one, square(op, tau)));
  arrjit_value t = arrjit_div(g, one, arrjit_add(g, tau, arrjit_copysign(g, root, tau)));
  t = arrjit_select(g, none, zero, t);
  arrjit_value c = arrjit_div(g, one, arrjit_sqrt(g, arrjit_add(g, one, square(op, t)))), s = arrjit_mul(g, t, c);
  const int64_t dims[] = {n, n};
  arrjit_value row = nx_iota(op, ARRJIT_I64, 2, dims, 0), column = nx_iota(op, ARRJIT_I64, 2, dims, 1);
  arrjit_value at_p = arrjit_const_i64(g, p), at_q = arrjit_const_i64(g, q);
  arrjit_value row_p = arrjit_eq(g, row, at_p), row_q = arrjit_eq(g, row, at_q), same = arrjit_eq(g, row, column);
  arrjit_value on = arrjit_and(g, same, arrjit_or(g, row_p, row_q));
  arrjit_value out = arrjit_select(g, on, c, nx_eye(op, dtype, n, n));
  out = arrjit_select(g, arrjit_and(g, row_p, arrjit_eq(g, column, at_q)), s, out);
  return arrjit_select(g, arrjit_and(g, row_q, arrjit_eq(g, column, at_p)), arrjit_neg(g, s), out);
}

/* a' = J' a J, v' = v J of a symmetric a; or a' = a J of any a, whose columns' products are what counts. */
static void rotate(nx_op *op, bool symmetric, int64_t p, int64_t q, arrjit_value *a, arrjit_value *v) {
  arrjit_value pp, qq, pq;
  if (symmetric) {
    pp = get_element(op, *a, p, p);
    qq = get_element(op, *a, q, q);
    pq = get_element(op, *a, p, q);
  } else {
    arrjit_value x = get_column(op, *a, p), y = get_column(op, *a, q);
    pp = sum_column(op, square(op, x));
    qq = sum_column(op, square(op, y));
    pq = sum_column(op, arrjit_mul(op->g, x, y));
  }
  arrjit_value j = make_rotation(op, count_columns(*a), p, q, pp, qq, pq);
  if (nx_rank(j) < nx_rank(*a)) j = stretch(op, j, *a, count_columns(*a), count_columns(*a));
  *a = nx_matmul(op, *a, j);
  if (symmetric) *a = nx_matmul(op, nx_adjoint(op, j), *a);
  *v = nx_matmul(op, *v, j);
}

static void rotate_all(nx_op *op, bool symmetric, arrjit_value *a, arrjit_value *v) {
  int64_t n = count_columns(*a);
  arrjit_value vars[2], init[2] = {*a, stretch(op, nx_eye(op, nx_dtype_of(*a), n, n), *a, n, n)}, sweep, out[2] = {0};
  arrjit_for_begin(op->g, arrjit_const_i64(op->g, 0), arrjit_const_i64(op->g, SWEEPS), arrjit_const_i64(op->g, 1), 2,
                   init, &sweep, vars);
  for (int64_t p = 0; p < n; p++)
    for (int64_t q = p + 1; q < n; q++) rotate(op, symmetric, p, q, &vars[0], &vars[1]);
  arrjit_for_end(op->g, 2, vars, out);
  *a = out[0];
  *v = out[1];
}

/* Columns of a in the order of places, [.., n]. */
static arrjit_value take_columns(nx_op *op, arrjit_value a, arrjit_value places) {
  arrjit_value each = arrjit_expand_dims(op->g, places, nx_rank(places) - 1);
  return arrjit_take_along_axis(op->g, a, stretch(op, each, a, count_rows(a), count_columns(a)), nx_rank(a) - 1);
}

void nx_factor_eigh(nx_op *op, arrjit_value a, arrjit_value *values, arrjit_value *vectors) {
  int64_t n = count_rows(a), last = nx_rank(a) - 1;
  arrjit_value v, places;
  rotate_all(op, true, &a, &v);
  arrjit_value on = arrjit_select(op->g, arrjit_convert(op->g, nx_eye(op, ARRJIT_U8, n, n), ARRJIT_BOOL), a,
                                  nx_number(op, nx_dtype_of(a), 0));
  arrjit_value diagonal = arrjit_reduce_sum(op->g, on, 1, &last);
  arrjit_top_k(op->g, arrjit_abs(op->g, diagonal), n, last - 1, NULL, &places);
  *values = arrjit_take_along_axis(op->g, diagonal, places, last - 1);
  *vectors = take_columns(op, v, places);
}

static void factor_tall(nx_op *op, arrjit_value a, arrjit_value *u, arrjit_value *s, arrjit_value *v) {
  int64_t rows = nx_rank(a) - 2;
  arrjit_value right, places, zero = nx_number(op, nx_dtype_of(a), 0), one = nx_number(op, nx_dtype_of(a), 1);
  rotate_all(op, false, &a, &right);
  arrjit_value sizes = arrjit_sqrt(op->g, arrjit_reduce_sum(op->g, square(op, a), 1, &rows));
  arrjit_top_k(op->g, sizes, nx_extent(sizes, rows), rows, s, &places);
  *v = take_columns(op, right, places);
  arrjit_value by = arrjit_expand_dims(op->g, arrjit_select(op->g, arrjit_eq(op->g, *s, zero), one, *s), rows);
  *u = arrjit_div(op->g, take_columns(op, a, places), by);
}

void nx_factor_svd(nx_op *op, arrjit_value a, arrjit_value *u, arrjit_value *s, arrjit_value *vt) {
  arrjit_value v;
  bool wide = count_rows(a) < count_columns(a);
  if (wide) {
    factor_tall(op, nx_adjoint(op, a), &v, s, u);
  } else {
    factor_tall(op, a, u, s, &v);
  }
  *vt = nx_adjoint(op, v);
}
