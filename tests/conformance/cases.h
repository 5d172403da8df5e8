/* Cases that are graphs in data: inputs, ops in single assignment with regions, checks. A vocabulary says how each of
 * its ops is built; the rest is common to all of them. */
#ifndef CONFORMANCE_CASES_H
#define CONFORMANCE_CASES_H

#include "corpus.h"

enum { CASE_MOST = 64 };    /* operands, results, axes */
enum { CASE_OMITTED = -1 }; /* the id of an operand or result that is left out: the null value */

typedef struct case_op case_op;
/* PASSED when it was built; SKIPPED or FAILED with run->why else. */
typedef verdict case_vocabulary(case_op *op);

typedef struct case_build {
  corpus_run *run;
  case_vocabulary *vocabulary; /* of case_run */
  void *user;                  /* the vocabulary's own */
  arrjit_graph *graph;
  size_t id_count;
  arrjit_value *values; /* by id */
} case_build;

/* One op of a case; the vocabulary fills `out`. */
struct case_op {
  case_build *build;
  arrjit_graph *g;
  const char *name;
  const json_t *attrs, *regions;
  size_t in_count, out_count;
  json_int_t in_id[CASE_MOST], out_id[CASE_MOST];
  arrjit_value in[CASE_MOST], out[CASE_MOST];
  arrjit_type type[CASE_MOST]; /* of results, where the case says so; else dtype NONE */
};

/* Builders of one and of two operands by the names that a vocabulary has for them. */
typedef arrjit_value case_one(arrjit_graph *g, arrjit_value x);
typedef arrjit_value case_two(arrjit_graph *g, arrjit_value x, arrjit_value y);
typedef struct case_unary {
  const char *name;
  case_one *build;
} case_unary;
typedef struct case_binary {
  const char *name;
  case_two *build;
} case_binary;
/* Those of arrjit/ops.h that scatter. */
typedef arrjit_value case_scatter(arrjit_graph *g, arrjit_value x, arrjit_value indices, arrjit_value updates,
                                  size_t offset_count, const int64_t *offset_axes, size_t collapsed_count,
                                  const int64_t *collapsed_axes, size_t batch_count, const int64_t *x_batch,
                                  const int64_t *index_batch, size_t start_count, const int64_t *start_map,
                                  int64_t index_axis);

/* Builds, runs and judges a case. */
verdict case_run(corpus_run *run, const json_t *one, case_vocabulary *vocabulary, void *user);
/* The same for ops of another form, all of which `builder` builds; an op is an object. */
typedef verdict case_builder(case_build *b, const json_t *ops);
verdict case_run_by(corpus_run *run, const json_t *one, case_builder *builder, void *user);
/* One op; its results are the values of their ids from then on. */
verdict case_build_op(case_build *b, case_vocabulary *vocabulary, const json_t *one);
/* The value of an id; NULL: there is none. */
arrjit_value case_get(const case_build *b, json_int_t id);
void case_set(case_build *b, json_int_t id, arrjit_value value);
/* Ops of a region with these arguments; *out_count values that it returns. */
verdict case_region(case_build *b, case_vocabulary *vocabulary, const json_t *region, size_t arg_count,
                    const arrjit_value *args, size_t *out_count, arrjit_value *out);
/* Builds an op that is in one of the lists, which stand for its number of operands; false: it is in neither. */
bool case_plain(case_op *op, size_t unary_count, const case_unary *unaries, size_t binary_count,
                const case_binary *binaries);
verdict case_unknown(case_op *op); /* SKIPPED: there is no such op */

/* Attributes: integers, a list of them (its length), words. */
int64_t case_int(const case_op *op, const char *name, int64_t otherwise);
size_t case_ints(const case_op *op, const char *name, int64_t *out);
const char *case_text(const case_op *op, const char *name);
bool case_type(const char *text, arrjit_type *out); /* "f32[2,3]"; false: not a type of this library */

/* ---- judge.c ---- */
/* By the check's rule; false and run->why. `relaxed`: sums may be rounded in another order. */
bool case_judge(corpus_run *run, const json_t *check, const tk_block *got, const tk_block *want, bool relaxed);

#endif
