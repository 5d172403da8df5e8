/* libarrjit: random numbers, as building calls that are made of several operations; otherwise as arrjit/compose.h.
 *
 * There is no state. A key is a u32[2] from which one call draws; the same key, call and shape give the same numbers in
 * every tier, on every machine, in every version of a major one. So a key is used once: split it first, or fold a
 * number into it (the step of a loop, say), and draw with what comes of that. Drawing twice with one key gives numbers
 * that depend on each other; splitting a key that was drawn with does so too.
 *
 * Blocks are Threefry-2x32 of 20 rounds and Philox-4x32 of 10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as
 * easy as 1, 2, 3; SC11). Element i of a draw, row-major, comes of the block with the 64-bit counter i: JAX's
 * threefry2x32 with jax_threefry_partitionable, its default since 0.5. It is elementwise, so it fuses with what uses
 * it, has symbols for extents, and a longer draw begins with a shorter one. Keys, splits and bits are those of JAX; Nx
 * and JAX's older way, which draw element i and i + n / 2 from one block, can be had by arrjit_threefry2x32 of such
 * counters. What is made of the bits is this library's own, as each call says. None of it is for cryptography.
 *
 * Normal and Gumbel numbers of f16 and bf16 are drawn as those of f32 and rounded once; uniform ones have fewer bits
 * from the start. rank and dims are the shape; dims may be symbols. Calls draw arrays, so they have no place in a map:
 * draw outside and pass the array in. */
#ifndef ARRJIT_RANDOM_H
#define ARRJIT_RANDOM_H

#include "arrjit/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- blocks ---- */

/* Threefry-2x32, 20 rounds: two words for each pair of words. key: u32[2]; counters: 2 arrays, out: 2 values, all u32
 * of one shape, to which counters are broadcast. out may be NULL, or be counters; null values after an error. */
ARRJIT_API void arrjit_threefry2x32(arrjit_graph *graph, arrjit_value key, const arrjit_value *counters,
                                    arrjit_value *out);
/* Philox-4x32, 10 rounds: as arrjit_threefry2x32, with 4 counters and 4 values. */
ARRJIT_API void arrjit_philox4x32(arrjit_graph *graph, arrjit_value key, const arrjit_value *counters,
                                  arrjit_value *out);

/* ---- keys ---- */

/* The key of a seed, an integer scalar: its upper and its lower half as 64 bits, with the sign's if it has one.
 * Result: u32[2]. */
ARRJIT_API arrjit_value arrjit_random_key(arrjit_graph *graph, arrjit_value seed);
/* count keys of one: row i is the block with counter i. count may be a symbol. Result: u32[count, 2]. */
ARRJIT_API arrjit_value arrjit_random_split(arrjit_graph *graph, arrjit_value key, int64_t count);
/* The key for a number, an integer scalar modulo 2^32: the block with that counter, so row `data` of a split. Result:
 * u32[2]. */
ARRJIT_API arrjit_value arrjit_random_fold_in(arrjit_graph *graph, arrjit_value key, arrjit_value data);

/* ---- draws ---- */

/* Random bits. u64: the first word of the block above the second; u32, u16, u8: the lowest bits of their exclusive or.
 * dtype: one of those. Result: dtype[dims]. */
ARRJIT_API arrjit_value arrjit_random_bits(arrjit_graph *graph, arrjit_value key, arrjit_dtype dtype, int32_t rank,
                                           const int64_t *dims);
/* Numbers of [0, 1): k * 2^-p, k the top p bits of random bits: 53 of u64 for f64; of u32 24 for f32, 11 for f16, 8 for
 * bf16. dtype: a float. Result: dtype[dims]. */
ARRJIT_API arrjit_value arrjit_random_uniform(arrjit_graph *graph, arrjit_value key, arrjit_dtype dtype, int32_t rank,
                                              const int64_t *dims);
/* Numbers of [lo, hi): lo + u * (hi - lo) of a uniform u (f16 and bf16: one of f32); where that is rounded to hi or
 * above, the number before hi. lo, hi: floats of one dtype, broadcast to the shape; where lo is not below hi: lo. hi -
 * lo has to be finite. Result: their dtype. */
ARRJIT_API arrjit_value arrjit_random_uniform_in(arrjit_graph *graph, arrjit_value key, arrjit_value lo,
                                                 arrjit_value hi, int32_t rank, const int64_t *dims);
/* Normal numbers, of mean 0 and variance 1: sqrt(2) * erf_inv(v), v the odd multiple k * 2^-p between -1 and 1 of p + 1
 * random bits with the last one set, p 53 for f64, else 24. Symmetric, never 0, |x| < 5.42 (f64: 8.30). dtype: a float.
 * Result: dtype[dims]. */
ARRJIT_API arrjit_value arrjit_random_normal(arrjit_graph *graph, arrjit_value key, arrjit_dtype dtype, int32_t rank,
                                             const int64_t *dims);
/* Gumbel numbers: -log(-log(u)), u the odd multiple of 2^-p between 0 and 1 of p random bits with the last one set, p
 * 53 for f64, else 24; all finite. dtype: a float. Result: dtype[dims]. */
ARRJIT_API arrjit_value arrjit_random_gumbel(arrjit_graph *graph, arrjit_value key, arrjit_dtype dtype, int32_t rank,
                                             const int64_t *dims);
/* Integers of [lo, hi), each as likely as the others: Lemire's method (Fast random integer generation in an interval;
 * 2019), x * (hi - lo) >> width of random bits x, of u32, for 64-bit dtypes u64. Try t draws with the key that t is
 * folded into; elements that would be too likely take their bits from the next try, which is a loop over the whole
 * array that nearly always ends at once, and whose iterations a limit of iterations counts. lo, hi: integers of one
 * dtype, broadcast to the shape; where lo is not below hi the run fails, kind runtime. Result: their dtype. */
ARRJIT_API arrjit_value arrjit_random_integers(arrjit_graph *graph, arrjit_value key, arrjit_value lo, arrjit_value hi,
                                               int32_t rank, const int64_t *dims);
/* True with probability p: whether a uniform number of p's dtype (f16, bf16: f32) is below p. p: a float, broadcast to
 * the shape; 1 and more: always, 0, less and NaN: never. Result: bool[dims]. */
ARRJIT_API arrjit_value arrjit_random_bernoulli(arrjit_graph *graph, arrjit_value key, arrjit_value p, int32_t rank,
                                                const int64_t *dims);
/* Positions along axis, each with a probability in proportion to e^logit: the argmax of logits plus Gumbel numbers, in
 * f32 for f16 and bf16. logits: a float; to draw several times, broadcast it. An empty axis: kind shape. Result: i64,
 * the dims of logits without axis. */
ARRJIT_API arrjit_value arrjit_random_categorical(arrjit_graph *graph, arrjit_value key, arrjit_value logits,
                                                  int64_t axis);
/* 0 .. count - 1 in random order: the argsort of random u64 bits. Those are one cipher's blocks of different counters,
 * so no two are the same, and no order is more likely for a tie. count may be a symbol. Result: i64[count]. */
ARRJIT_API arrjit_value arrjit_random_permutation(arrjit_graph *graph, arrjit_value key, int64_t count);
/* x with its slices along axis in random order: a take at a permutation. Result: the type of x. */
ARRJIT_API arrjit_value arrjit_random_shuffle(arrjit_graph *graph, arrjit_value key, arrjit_value x, int64_t axis);

#ifndef ARRJIT_NO_LOCATIONS
#define arrjit_threefry2x32(g, ...) (arrjit_threefry2x32)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_philox4x32(g, ...) (arrjit_philox4x32)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_random_key(g, ...) (arrjit_random_key)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_random_split(g, ...) (arrjit_random_split)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_random_fold_in(g, ...) (arrjit_random_fold_in)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_random_bits(g, ...) (arrjit_random_bits)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_random_uniform(g, ...) (arrjit_random_uniform)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_random_uniform_in(g, ...) (arrjit_random_uniform_in)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_random_normal(g, ...) (arrjit_random_normal)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_random_gumbel(g, ...) (arrjit_random_gumbel)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_random_integers(g, ...) (arrjit_random_integers)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_random_bernoulli(g, ...) (arrjit_random_bernoulli)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_random_categorical(g, ...) (arrjit_random_categorical)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_random_permutation(g, ...) (arrjit_random_permutation)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_random_shuffle(g, ...) (arrjit_random_shuffle)(ARRJIT_AT_(g), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
