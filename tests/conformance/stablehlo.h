/* Between the files of StableHLO's vocabulary. */
#ifndef CONFORMANCE_STABLEHLO_H
#define CONFORMANCE_STABLEHLO_H

#include "cases.h"

/* The op of a region that is just op(first argument, second argument), in either order; else NULL. */
const char *stablehlo_plain(const json_t *region);

/* ---- stablehlo_complex.c: whether it has built the op ---- */
bool stablehlo_complex(case_op *op);

/* ---- stablehlo_index.c ---- */
case_vocabulary stablehlo_power, stablehlo_reduce_precision, stablehlo_gather, stablehlo_scatter, stablehlo_top_k;

/* ---- stablehlo_product.c ---- */
case_vocabulary stablehlo_dot, stablehlo_convolution, stablehlo_triangular_solve;

/* ---- stablehlo_compose.c ---- */
case_vocabulary stablehlo_fft, stablehlo_batch_norm, stablehlo_broadcast, stablehlo_broadcast_add,
    stablehlo_index_select, stablehlo_mulhi, stablehlo_bitcast_narrower, stablehlo_bessel_i1e, stablehlo_ragged_dot;
verdict stablehlo_scan(case_op *op, case_vocabulary *vocabulary); /* that of its region */

#endif
