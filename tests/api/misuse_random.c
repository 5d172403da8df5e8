/* Misuse of random numbers. */
#include "misuse.h"

#define NAMED(m, function, argument, how, part, ...)                                                                   \
  WRONG(m, arrjit_##function, argument, how, #function ": " part, __VA_ARGS__)
#define KEY arrjit_random_key(g, p->integer)
#define KEY_OF(g, x) arrjit_random_key(g, x)

/* What gives values through pointers: null values after an error. */
static arrjit_value threefry(arrjit_graph *g, arrjit_value key, const arrjit_value *counters) {
  arrjit_value out[2] = {key, key};
  arrjit_threefry2x32(g, key, counters, out);
  return out[1];
}

static arrjit_value philox(arrjit_graph *g, arrjit_value key, const arrjit_value *counters) {
  arrjit_value out[4] = {key, key, key, key};
  arrjit_philox4x32(g, key, counters, out);
  return out[3];
}

static void blocks(misuse *m) {
#define FOUR(x) ((const arrjit_value[]){x, x, x, x})
#define CALL_THREEFRY(g, x) threefry(g, x, FOUR(x))
#define CALL_PHILOX(g, x) philox(g, x, FOUR(x))
  ALL_REFUSE(m, arrjit_threefry2x32, "x", CALL_THREEFRY);
  ALL_REFUSE(m, arrjit_philox4x32, "x", CALL_PHILOX);
  NAMED(m, threefry2x32, "key", "floats", "key is f64[3]; expected u32[2]", threefry(g, p->vector, FOUR(KEY)));
  NAMED(m, philox4x32, "key", "a scalar", "key is i64; expected u32[2]", philox(g, p->integer, FOUR(KEY)));
  NAMED(m, threefry2x32, "counters", "i64", "an operand is i64; expected counters of u32",
        threefry(g, KEY, FOUR(p->integer)));
  NAMED(m, philox4x32, "counters", "of two shapes", "operands are u32[2], u32[2], u32[2] and u32[3]",
        philox(g, KEY, (const arrjit_value[]){KEY, KEY, KEY, arrjit_convert(g, p->integers, ARRJIT_U32)}));
  ABSENT(m, arrjit_threefry2x32, "counters", "counters", threefry(g, KEY, NULL));
  ABSENT(m, arrjit_philox4x32, "counters", "counters", philox(g, KEY, NULL));
}

static void keys(misuse *m) {
#define CALL_SPLIT(g, x) arrjit_random_split(g, x, 2)
#define CALL_FOLD(g, x) arrjit_random_fold_in(g, x, x)
  ALL_REFUSE(m, arrjit_random_key, "x", KEY_OF);
  NAMED(m, random_key, "seed", "a float", "an operand is f64; expected an integer scalar", KEY_OF(g, p->real));
  NAMED(m, random_key, "seed", "a vector", "an operand has rank 1", KEY_OF(g, p->integers));
  ALL_REFUSE(m, arrjit_random_split, "x", CALL_SPLIT);
  NAMED(m, random_split, "key", "floats", "key is f64[3]", arrjit_random_split(g, p->vector, 2));
  NAMED(m, random_split, "count", "no extent", "entry 0 of shape is -9", arrjit_random_split(g, KEY, -9));
  ALL_REFUSE(m, arrjit_random_fold_in, "x", CALL_FOLD);
  NAMED(m, random_fold_in, "data", "a float", "an operand is f64; expected an integer scalar",
        arrjit_random_fold_in(g, KEY, p->real));
}

/* Those that take a dtype and a shape. */
static void draws(misuse *m) {
#define CALL_DRAW(g, x) DRAW(g, x, ARRJIT_DRAWN, 1, I64S(3))
#define REFUSE_DRAW(name, wrong)                                                                                       \
  ALL_REFUSE(m, arrjit_random_##name, "x", CALL_DRAW);                                                                 \
  NAMED(m, random_##name, "key", "floats", "key is f64[3]", DRAW(g, p->vector, ARRJIT_DRAWN, 0, NULL));                \
  NAMED(m, random_##name, "dtype", "another", "dtype", DRAW(g, KEY, wrong, 0, NULL));                                  \
  NAMED(m, random_##name, "dtype", "none", "dtype 0", DRAW(g, KEY, ARRJIT_DTYPE_NONE, 0, NULL));                       \
  NAMED(m, random_##name, "dtype", "no number of one", "dtype 77", DRAW(g, KEY, (arrjit_dtype)77, 0, NULL));           \
  NAMED(m, random_##name, "rank", "negative", "rank is -1", DRAW(g, KEY, ARRJIT_DRAWN, -1, I64S(1)));                  \
  NAMED(m, random_##name, "rank", "17", "rank is 17", DRAW(g, KEY, ARRJIT_DRAWN, 17, I64S(1)));                        \
  NAMED(m, random_##name, "dims", "no extent", "entry 1 of shape is -9", DRAW(g, KEY, ARRJIT_DRAWN, 2, I64S(1, -9)));  \
  NAMED(m, random_##name, "dims", "too many", "the result would have more bytes than can be addressed",                \
        DRAW(g, KEY, ARRJIT_DRAWN, 2, I64S(INT64_MAX, 9)));                                                            \
  ABSENT(m, arrjit_random_##name, "dims", "dims", DRAW(g, KEY, ARRJIT_DRAWN, 1, NULL))
#define ARRJIT_DRAWN ARRJIT_U32
#define DRAW arrjit_random_bits
  REFUSE_DRAW(bits, ARRJIT_I32);
#undef ARRJIT_DRAWN
#define ARRJIT_DRAWN ARRJIT_F32
#undef DRAW
#define DRAW arrjit_random_uniform
  REFUSE_DRAW(uniform, ARRJIT_C64);
#undef DRAW
#define DRAW arrjit_random_normal
  REFUSE_DRAW(normal, ARRJIT_U32);
#undef DRAW
#define DRAW arrjit_random_gumbel
  REFUSE_DRAW(gumbel, ARRJIT_BOOL);
#undef DRAW
}

static void ranges(misuse *m) {
#define CALL_UNIFORM_IN(g, x) arrjit_random_uniform_in(g, x, x, x, 0, NULL)
#define CALL_INTEGERS(g, x) arrjit_random_integers(g, x, x, x, 0, NULL)
#define CALL_BERNOULLI(g, x) arrjit_random_bernoulli(g, x, x, 0, NULL)
  ALL_REFUSE(m, arrjit_random_uniform_in, "x", CALL_UNIFORM_IN);
  ALL_REFUSE(m, arrjit_random_integers, "x", CALL_INTEGERS);
  ALL_REFUSE(m, arrjit_random_bernoulli, "x", CALL_BERNOULLI);
#define UNIFORM_IN(lo, hi, ...) arrjit_random_uniform_in(g, KEY, lo, hi, __VA_ARGS__)
#define INTEGERS(lo, hi, ...) arrjit_random_integers(g, KEY, lo, hi, __VA_ARGS__)
#define BERNOULLI(x, ...) arrjit_random_bernoulli(g, KEY, x, __VA_ARGS__)
  NAMED(m, random_uniform_in, "lo", "an integer", "an operand is i64", UNIFORM_IN(p->integer, p->real, 0, NULL));
  NAMED(m, random_uniform_in, "hi", "of another dtype", "lo is f64 and hi f32",
        UNIFORM_IN(p->real, arrjit_const_f32(g, 1), 0, NULL));
  NAMED(m, random_uniform_in, "hi", "of another shape", "", UNIFORM_IN(p->real, p->five, 1, I64S(3)));
  NAMED(m, random_uniform_in, "rank", "negative", "rank is -1", UNIFORM_IN(p->real, p->real, -1, NULL));
  ABSENT(m, arrjit_random_uniform_in, "dims", "dims", UNIFORM_IN(p->real, p->real, 1, NULL));
  NAMED(m, random_integers, "hi", "a float", "an operand is f64", INTEGERS(p->integer, p->real, 0, NULL));
  NAMED(m, random_integers, "hi", "of another dtype", "lo is i64 and hi i32",
        INTEGERS(p->integer, arrjit_const_i32(g, 1), 0, NULL));
  NAMED(m, random_integers, "lo", "of a higher rank", "", INTEGERS(p->integers, p->integer, 0, NULL));
  NAMED(m, random_integers, "dims", "no extent", "entry 0 of shape is -9",
        INTEGERS(p->integer, p->integer, 1, I64S(-9)));
  NAMED(m, random_integers, "rank", "17", "rank is 17", INTEGERS(p->integer, p->integer, 17, NULL));
  ABSENT(m, arrjit_random_integers, "dims", "dims", INTEGERS(p->integer, p->integer, 1, NULL));
  NAMED(m, random_bernoulli, "p", "bool", "an operand is bool", BERNOULLI(p->flag, 0, NULL));
  NAMED(m, random_bernoulli, "p", "of another shape", "", BERNOULLI(p->five, 1, I64S(3)));
  ABSENT(m, arrjit_random_bernoulli, "dims", "dims", BERNOULLI(p->real, 1, NULL));
}

static void choices(misuse *m) {
#define CALL_CATEGORICAL(g, x) arrjit_random_categorical(g, x, x, 0)
#define CALL_PERMUTATION(g, x) arrjit_random_permutation(g, x, 3)
#define CALL_SHUFFLE(g, x) arrjit_random_shuffle(g, x, x, 0)
  ALL_REFUSE(m, arrjit_random_categorical, "x", CALL_CATEGORICAL);
  NAMED(m, random_categorical, "logits", "integers", "an operand is i64[3]",
        arrjit_random_categorical(g, KEY, p->integers, 0));
  NAMED(m, random_categorical, "axis", "out of range", "axis is 1", arrjit_random_categorical(g, KEY, p->vector, 1));
  NAMED(m, random_categorical, "key", "floats", "key is f64[3]", arrjit_random_categorical(g, p->vector, p->vector, 0));
  ALL_REFUSE(m, arrjit_random_permutation, "x", CALL_PERMUTATION);
  NAMED(m, random_permutation, "key", "floats", "key is f64[3]", arrjit_random_permutation(g, p->vector, 3));
  NAMED(m, random_permutation, "count", "no extent", "entry 0 of shape is -9", arrjit_random_permutation(g, KEY, -9));
  ALL_REFUSE(m, arrjit_random_shuffle, "x", CALL_SHUFFLE);
  NAMED(m, random_shuffle, "key", "floats", "key is f64[3]", arrjit_random_shuffle(g, p->vector, p->vector, 0));
  NAMED(m, random_shuffle, "axis", "negative", "axis is -1", arrjit_random_shuffle(g, KEY, p->vector, -1));
}

void misuse_random(misuse *m) {
  blocks(m);
  keys(m);
  draws(m);
  ranges(m);
  choices(m);
}
