/* Between the files of Nx's vocabulary: an op of Nx is a call with arguments and options, as Elixir writes them. A file
 * an area, each of which finds its ops by name. Nx promotes types, fills in options and checks shapes before it
 * computes; so do these, and build what is left to compute.
 *
 * What is wrong with a call is told by nx_raise, in Nx's words, or by the graph's own error; either way the op goes on
 * with null values and its end says so. A case that must be refused passes when its last op was, in Nx's words. */
#ifndef CONFORMANCE_NX_H
#define CONFORMANCE_NX_H

#include "cases.h"

typedef struct nx_op {
  case_build *build;
  arrjit_graph *g;
  const char *name; /* "Nx.add" */
  const json_t *args, *opts;
  verdict told;     /* PASSED until nx_raise or nx_skip: the first of them */
  size_t out_count; /* 1, unless it is set: the result is a tuple */
  arrjit_value out[CASE_MOST];
} nx_op;

typedef void nx_build(nx_op *op); /* fills op->out */
typedef struct nx_row {
  const char *name;
  nx_build *build;
} nx_row;
typedef nx_build *nx_finder(const char *name); /* NULL: not of this area */
nx_build *nx_find(const char *name, size_t count, const nx_row *rows);

/* ---- the areas ---- */
nx_finder nx_elementwise_find, nx_compare_find, nx_create_find, nx_shape_find, nx_diagonal_find, nx_index_find,
    nx_reduce_find, nx_statistics_find, nx_window_find, nx_product_find, nx_linalg_find, nx_random_find, nx_sample_find,
    nx_fft_find;

/* ---- nx.c: refusals, arguments, options ---- */
/* Nx refuses the call; `format` makes a part of what Nx says, by which a case that must be refused is judged. */
void nx_raise(nx_op *op, const char *format, ...) __attribute__((format(printf, 2, 3)));
void nx_skip(nx_op *op, const char *format, ...) __attribute__((format(printf, 2, 3)));
const json_t *nx_arg(const nx_op *op, size_t k); /* NULL: not given */
const json_t *nx_option(const nx_op *op, const char *name);
int64_t nx_int(const nx_op *op, const char *name, int64_t otherwise);
bool nx_flag(const nx_op *op, const char *name, bool otherwise);
/* ":same" is "same"; "" when it is no atom. */
const char *nx_atom(const json_t *value);
/* Elements of a list or a tuple; how many there are. */
size_t nx_count(const json_t *value);
const json_t *nx_element(const json_t *value, size_t k);
/* Integers of a list or a tuple, or one integer: how many. */
size_t nx_ints(const json_t *value, int64_t *out);
/* A type such as ":f32" or {:f, 32}; `otherwise` when there is none, NONE and a skip when this library has it not. */
arrjit_dtype nx_type(nx_op *op, const json_t *value, arrjit_dtype otherwise);
/* A tensor; a literal is one of Nx's default type for it. */
arrjit_value nx_value(nx_op *op, const json_t *value);
arrjit_value nx_tensor(nx_op *op, size_t k); /* of argument k */
/* All tensors of nested tuples and lists, in order; how many. */
size_t nx_tensors(nx_op *op, const json_t *value, arrjit_value *out);

/* ---- nx_types.c: promotion ---- */
bool nx_is_literal(const json_t *value);
arrjit_dtype nx_literal_type(const json_t *value); /* of a literal on its own */
arrjit_value nx_literal(nx_op *op, const json_t *value, arrjit_dtype dtype);
arrjit_dtype nx_merge(arrjit_dtype a, arrjit_dtype b);
/* The type that two arguments meet in: a literal gives way to a tensor's type where it can. */
arrjit_dtype nx_join(nx_op *op, const json_t *a, const json_t *b);
/* An argument in a dtype. */
arrjit_value nx_value_as(nx_op *op, const json_t *value, arrjit_dtype dtype);
arrjit_dtype nx_floating(arrjit_dtype dtype);  /* f32 for integers, else itself */
arrjit_dtype nx_aggregate(arrjit_dtype dtype); /* of sums: integers have 32 bits or more */
bool nx_is_integer(arrjit_dtype dtype);
typedef struct nx_format {
  arrjit_dtype dtype, bits; /* an unsigned integer as wide */
  int mantissa, exponent;   /* bits behind the point, the largest power of two */
} nx_format;
const nx_format *nx_format_of(arrjit_dtype dtype); /* NULL: no real float */
arrjit_dtype nx_dtype_of(arrjit_value x);
/* As Nx writes it: {:s, 32} */
typedef struct nx_name {
  char text[16];
} nx_name;
nx_name nx_type_name(arrjit_dtype dtype);

/* ---- nx_values.c: small things on values ---- */
int64_t nx_rank(arrjit_value x); /* 0 of the null value */
int64_t nx_extent(arrjit_value x, int64_t axis);
/* A shape as Nx writes it: {2, 3} */
typedef struct nx_dims {
  char text[128];
} nx_dims;
nx_dims nx_shape_name(arrjit_value x);
arrjit_value nx_as(nx_op *op, arrjit_value x, arrjit_dtype dtype);
arrjit_value nx_float(nx_op *op, arrjit_value x);                /* in its floating type */
arrjit_value nx_complex(nx_op *op, arrjit_value x);              /* in the complex type that it fits */
arrjit_value nx_truth(nx_op *op, arrjit_value x);                /* bool: whether it is not 0 */
arrjit_value nx_u8(nx_op *op, arrjit_value x);                   /* of bool: Nx's answer to a question */
arrjit_value nx_number(nx_op *op, arrjit_dtype dtype, double x); /* a scalar */
arrjit_value nx_full(nx_op *op, arrjit_dtype dtype, double x, size_t rank, const int64_t *dims);
arrjit_value nx_iota(nx_op *op, arrjit_dtype dtype, size_t rank, const int64_t *dims, int64_t axis);
arrjit_value nx_reshape(nx_op *op, arrjit_value x, size_t rank, const int64_t *dims);
arrjit_value nx_flatten(nx_op *op, arrjit_value x);
/* x stretched to these dims, its own being the last of them, as Nx.broadcast does. */
arrjit_value nx_broadcast(nx_op *op, arrjit_value x, size_t rank, const int64_t *dims);
arrjit_value nx_slice(nx_op *op, arrjit_value x, int64_t axis, int64_t from, int64_t to, int64_t step);
arrjit_value nx_swap(nx_op *op, arrjit_value x, int64_t a, int64_t b); /* two axes */
arrjit_value nx_move_axis(nx_op *op, arrjit_value x, int64_t from, int64_t to);
/* An axis that may count from the end; a refusal, and 0, when there is none. */
int64_t nx_axis(nx_op *op, int64_t axis, int64_t rank);
/* Option `name` as axes of x, all of them when it is not given: how many. */
size_t nx_axes(nx_op *op, const char *name, arrjit_value x, int64_t *out);
/* A reduction's result with dims of 1 in the places of `axes` of the type before it. */
arrjit_value nx_keep(nx_op *op, arrjit_value x, const arrjit_type *type, size_t count, const int64_t *axes);
/* lhs[.., m, k] by rhs[.., k, n], leading dims together. */
arrjit_value nx_matmul(nx_op *op, arrjit_value lhs, arrjit_value rhs);
int64_t nx_product(size_t count, const int64_t *dims);

/* ---- nx_factor.c: matrices in factors, with Nx's signs; leading dims are batches ---- */
arrjit_value nx_eye(nx_op *op, arrjit_dtype dtype, int64_t rows, int64_t columns);
arrjit_value nx_adjoint(nx_op *op, arrjit_value a);
/* a[.., m, n] = q[.., m, m] r[.., m, n]; r's diagonal is positive where a reflection was needed. */
void nx_factor_qr(nx_op *op, arrjit_value a, arrjit_value *q, arrjit_value *r);
/* Of symmetric a[.., n, n]: values[.., n], the largest magnitude first, and vectors as columns. */
void nx_factor_eigh(nx_op *op, arrjit_value a, arrjit_value *values, arrjit_value *vectors);
/* a[.., m, n] = u[.., m, k] diag(s[.., k]) vt[.., k, n], k the lesser of m and n. */
void nx_factor_svd(nx_op *op, arrjit_value a, arrjit_value *u, arrjit_value *s, arrjit_value *vt);

/* ---- nx_random.c: numbers from a key, u32[2], that has been split off ---- */
typedef struct nx_draw {
  arrjit_dtype dtype;
  size_t rank;
  int64_t dims[CASE_MOST];
} nx_draw;
nx_draw nx_draw_read(nx_op *op, arrjit_dtype otherwise); /* options type and shape */
/* keys[0] goes on, keys[1] is drawn from. */
void nx_split_key(nx_op *op, arrjit_value key, arrjit_value keys[2]);
arrjit_value nx_random_bits(nx_op *op, arrjit_value key, const nx_draw *of); /* of an unsigned dtype */
arrjit_value nx_uniform(nx_op *op, arrjit_value key, const nx_draw *of, arrjit_value low, arrjit_value high);
arrjit_value nx_normal(nx_op *op, arrjit_value key, const nx_draw *of);
arrjit_value nx_gumbel(nx_op *op, arrjit_value key, const nx_draw *of);
arrjit_value nx_randint(nx_op *op, arrjit_value key, const nx_draw *of, arrjit_value low, arrjit_value high);
/* The op's key is split for `Nx.Random.name`, whose result goes with the key that goes on; it has been for
 * `Nx.Random.name_split`, whose result is alone. */
typedef arrjit_value nx_sampler(nx_op *op, arrjit_value key);
void nx_draw_by(nx_op *op, nx_sampler *sampler);

#endif
