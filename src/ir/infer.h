/* What the rules of inference share. Private to src/ir: others call aj_infer_types. */
#ifndef AJ_IR_INFER_H
#define AJ_IR_INFER_H

#include "ir/build.h"

/* A rule: pushes result types, or fails with a message. */
typedef arrjit_status aj_infer_rule(aj_infer *in);

aj_infer_rule aj_infer_const, aj_infer_iota, aj_infer_full, aj_infer_dim_size;
aj_infer_rule aj_infer_broadcast, aj_infer_reshape, aj_infer_transpose, aj_infer_same_axes, aj_infer_slice,
    aj_infer_concat, aj_infer_pad;
aj_infer_rule aj_infer_dynamic_slice, aj_infer_dynamic_update_slice, aj_infer_gather, aj_infer_scatter, aj_infer_take,
    aj_infer_sort, aj_infer_search, aj_infer_reduce, aj_infer_arg, aj_infer_dot;
aj_infer_rule aj_infer_conv, aj_infer_solve;                                            /* ir/infer_conv.c */
aj_infer_rule aj_infer_cholesky, aj_infer_lu, aj_infer_qr, aj_infer_eigh, aj_infer_svd; /* ir/infer_linalg.c */
aj_infer_rule aj_infer_fft;                                                             /* ir/infer_fft.c */
aj_infer_rule aj_infer_regions, aj_infer_loop, aj_infer_map, aj_infer_combine, aj_infer_cumulative, aj_infer_window_op,
    aj_infer_call, aj_infer_terminator, aj_infer_check, aj_infer_check_shape, aj_infer_callback, aj_infer_exn,
    aj_infer_exn_bool, aj_infer_exn_field, aj_infer_exn_i64, aj_infer_kernel;

/* Only the dtypes of an elementwise op, whatever the shapes: what the broadcasting builder asks first. */
arrjit_status aj_infer_dtypes(aj_infer *in);

/* ---- regions over scalars (ir/infer_map.c) ---- */
/* Whether a node with the op and one of its result types (NULL: it has none) may stand in such a region. */
arrjit_status aj_infer_lane(aj_infer *in, aj_lane_kind kind, const aj_type *result);
/* ---- what rules of ops with regions share (ir/infer_regions.c) ---- */
/* As many regions, each with a terminator. */
arrjit_status aj_infer_expect_regions(aj_infer *in, uint32_t count);

/* ---- signatures of callees and slots (ir/infer_call.c) ---- */
typedef struct aj_signature {
  const char *name;
  uint32_t param_count, result_count;
  const aj_type *const *params, *const *results;
} aj_signature;
aj_signature aj_infer_signature(const aj_infer *in);
/* What the module's symbols stand for, all unknown: from the module's mem, *out_count entries. NULL: no memory. */
int64_t *aj_infer_known(const aj_infer *in, size_t *out_count);
/* Checks counts, dtypes and ranks of the arguments; binds the symbols that stand alone in a parameter dim. */
arrjit_status aj_infer_bind_params(aj_infer *in, const aj_signature *sig, int64_t *known);
/* The dims of a type of the signature as the caller says them. */
arrjit_status aj_infer_translate(aj_infer *in, int64_t *known, const aj_type *type, int64_t *out_dims);

/* ---- failing ---- */
/* The message starts with in->name or the mnemonic. Returns status. */
arrjit_status aj_infer_fail(aj_infer *in, arrjit_status status, const char *format, ...) AJ_PRINTF(3, 4);
/* Texts for messages, cut when long; they live until the end of the full expression. */
typedef struct aj_infer_text {
  char s[200];
} aj_infer_text;
aj_infer_text aj_infer_type_text(const aj_infer *in, const aj_type *type);
aj_infer_text aj_infer_dim_text(const aj_infer *in, int64_t dim);
aj_infer_text aj_infer_name_text(const aj_infer *in, uint32_t operand);
/* "f32[2], i32 and bool" of `count` operands from `first`. */
aj_infer_text aj_infer_types_text(const aj_infer *in, uint32_t first, uint32_t count);

/* ---- looking at what came ---- */
static inline const aj_type *aj_infer_type(const aj_infer *in, uint32_t operand) { return in->operands[operand]->type; }
static inline const aj_attr *aj_infer_attr(const aj_infer *in, aj_attr_name name) {
  return aj_node_attr(in->attrs_of, name);
}
/* The attribute has `count` entries. */
arrjit_status aj_infer_count(aj_infer *in, aj_attr_name name, uint32_t count, const char *what);
/* All entries are axes below rank and none comes twice; bit axis of *out_set. */
arrjit_status aj_infer_axes(aj_infer *in, aj_attr_name name, int32_t rank, uint32_t *out_set);
arrjit_status aj_infer_axis(aj_infer *in, int32_t rank);
/* Two lists of axes, of operands 0 and 1, pair axes of equal extents; bits of the axes. */
arrjit_status aj_infer_pairs(aj_infer *in, aj_attr_name lhs_name, aj_attr_name rhs_name, uint32_t *out_lhs_set,
                             uint32_t *out_rhs_set);
/* A window of `size` fits an extent of operand 0, or only a run can tell. */
arrjit_status aj_infer_window(aj_infer *in, int32_t axis, int64_t size, int64_t extent);
/* Makes *dim the number of windows of `size` along it: none where the window is larger than what it goes over. Step,
 * padding and dilations (1 where the op has none) are entry `entry` of the node's lists; `axis` is named in errors. */
arrjit_status aj_infer_count_windows(aj_infer *in, int32_t entry, int32_t axis, int64_t size, int64_t *dim);
/* Operand i is an array (not an exception) / a scalar of an integer dtype / has the dtype of operand j. */
arrjit_status aj_infer_array(aj_infer *in, uint32_t i);
arrjit_status aj_infer_integers(aj_infer *in, uint32_t i, bool scalar);
arrjit_status aj_infer_same_dtype(aj_infer *in, uint32_t i, uint32_t j);
/* Operand i has a dtype of the op's set; the message names the cast to write. */
arrjit_status aj_infer_dtype_set(aj_infer *in, uint32_t i);
/* A type is bool (and a scalar); the message names the comparison to write. */
arrjit_status aj_infer_predicate(aj_infer *in, const aj_type *type, const char *name, bool scalar);

/* ---- making types ---- */
arrjit_status aj_infer_dim(aj_infer *in, aj_symbol_form form, int64_t a, int64_t b, int64_t *out);
/* The extent of half a spectrum of n numbers. */
arrjit_status aj_infer_half(aj_infer *in, int64_t n, int64_t *out);
/* What a region that takes pairs of elements is called. */
const char *aj_infer_pair_name(aj_op op, uint32_t region);
/* Pushes a result; NULL means lack of memory. */
arrjit_status aj_infer_push(aj_infer *in, const aj_type *type);
/* Makes and pushes a result after checking its rank, symbols and size. */
arrjit_status aj_infer_push_type(aj_infer *in, arrjit_dtype dtype, int32_t rank, const int64_t *dims);
#define AJ_TRY(call)                                                                                                   \
  do {                                                                                                                 \
    arrjit_status try_status_ = (call);                                                                                \
    if (try_status_ != ARRJIT_OK) return try_status_;                                                                  \
  } while (0)

#endif
