/* arrjit_einsum of arrjit/compose.h. The text is gone through twice: once to check it and to see which labels there are
 * and how many terms have each, once to build. A label that no later term and not the result has is summed over at
 * once.
 */
#include "api/compose.h"
#include "arrjit/compose.h"

/* Labels: 52 letters in the order of ASCII, then the dims of "...", from the last one on. */
enum { LETTERS = 52, LABELS = LETTERS + ARRJIT_MAX_RANK };

typedef struct term {
  aj_value *value;
  int32_t rank;
  int labels[ARRJIT_MAX_RANK];
} term;

typedef struct einsum {
  arrjit_graph *graph;
  const char *text, *at;
  size_t uses[LABELS];     /* terms that have the label and are still to come, and the result */
  size_t comes[LABELS];    /* dims that have the label */
  int64_t extents[LABELS]; /* of "...": one that is not 1, if there is any */
  int32_t dots;            /* dims of "...", at most */
  term out;
} einsum;

static bool fail(einsum *e, const char *what) {
  aj_builder_fail(&e->graph->b, ARRJIT_TYPE, AJ_OP_NONE, "at %d of \"%.80s\": %s", (int)(e->at - e->text), e->text,
                  what);
  return false;
}

static int find_letter(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : -1; }

static bool add_label(einsum *e, term *t, int label) {
  if (t->rank == ARRJIT_MAX_RANK) return fail(e, "more labels than an array can have dims");
  t->labels[t->rank++] = label;
  return true;
}

/* Up to a comma, an arrow or the end. `dots`: dims that "..." stands for. */
static bool read_term(einsum *e, int32_t dots, term *t) {
  bool seen = false;
  for (t->rank = 0; *e->at && *e->at != ',' && *e->at != '-'; e->at++) {
    int letter = find_letter(*e->at);
    if (*e->at == ' ') continue;
    if (letter >= 0) {
      if (!add_label(e, t, letter)) return false;
      continue;
    }
    if (e->at[0] != '.' || e->at[1] != '.' || e->at[2] != '.') return fail(e, "expected a letter or \"...\"");
    if (seen) return fail(e, "\"...\" comes twice in a term");
    for (int32_t i = dots; i-- > 0;)
      if (!add_label(e, t, LETTERS + i)) return false;
    seen = true;
    e->at += 2;
  }
  return true;
}

/* The term of an array: its labels, one a dim. */
static bool read_operand(einsum *e, aj_value *x, term *t) {
  const char *start = e->at;
  t->value = x;
  int32_t letters = 0, rank = x->type->rank;
  bool dots = false;
  for (const char *c = start; *c && *c != ',' && *c != '-'; c++) {
    letters += find_letter(*c) >= 0;
    dots = dots || *c == '.';
  }
  if (dots ? letters > rank : letters != rank)
    return fail(e, dots ? "more letters than the array has dims" : "expected as many letters as the array has dims");
  if (dots && rank - letters > e->dots) e->dots = rank - letters;
  return read_term(e, rank - letters, t);
}

static bool has_label(const term *t, int label, int32_t end) {
  for (int32_t i = 0; i < end; i++)
    if (t->labels[i] == label) return true;
  return false;
}

static void count_labels(einsum *e, const term *t) {
  for (int32_t i = 0; i < t->rank; i++) {
    int label = t->labels[i];
    e->comes[label]++;
    if (!has_label(t, label, i)) e->uses[label]++;
    if (e->comes[label] == 1 || e->extents[label] == 1) e->extents[label] = t->value->type->dims[i];
  }
}

/* The labels of the result: given, or what the rule says. */
static bool read_result(einsum *e) {
  if (*e->at == '\0') {
    for (int32_t i = e->dots; i-- > 0;)
      if (!add_label(e, &e->out, LETTERS + i)) return false;
    for (int i = 0; i < LETTERS; i++)
      if (e->comes[i] == 1 && !add_label(e, &e->out, i)) return false;
  } else {
    const char *start = e->at;
    if (e->at[0] != '-' || e->at[1] != '>') return fail(e, "expected \"->\", as each array has its term");
    e->at += 2;
    if (!read_term(e, e->dots, &e->out)) return false;
    if (*e->at) return fail(e, "expected the end");
    e->at = start + 2;
  }
  for (int32_t i = 0; i < e->out.rank; i++) {
    int label = e->out.labels[i];
    if (e->comes[label] == 0) return fail(e, "the result has a letter that no term has");
    if (has_label(&e->out, label, i)) return fail(e, "the result has a letter twice");
    e->uses[label]++;
  }
  for (int32_t i = 0; i < e->dots; i++)
    if (!has_label(&e->out, LETTERS + i, e->out.rank)) return fail(e, "the result lacks the \"...\" of the terms");
  return true;
}

/* ---- building ---- */

static void drop_axis(term *t, int32_t axis) {
  t->rank--;
  for (int32_t i = axis; i < t->rank; i++) t->labels[i] = t->labels[i + 1];
}

/* Dims a < b of one label become one, in front. */
static void take_diagonal(einsum *e, term *t, int32_t a, int32_t b) {
  arrjit_graph *graph = e->graph;
  int64_t sizes[ARRJIT_MAX_RANK], offsets[ARRJIT_MAX_RANK], both[] = {a, b};
  const int64_t *dims = t->value->type->dims, grid[] = {dims[a], 2};
  int label = t->labels[a];
  for (int32_t i = 0; i < t->rank; i++) {
    sizes[i] = i == a || i == b ? 1 : dims[i];
    offsets[i] = i + 1;
  }
  const aj_attr attrs[] = {aj_attr_ints(AJ_ATTR_OFFSET_AXES, (size_t)t->rank - 2, offsets),
                           aj_attr_ints(AJ_ATTR_COLLAPSED_AXES, 2, both),
                           aj_attr_ints(AJ_ATTR_X_BATCH, 0, both),
                           aj_attr_ints(AJ_ATTR_INDEX_BATCH, 0, both),
                           aj_attr_ints(AJ_ATTR_START_MAP, 2, both),
                           aj_attr_int(AJ_ATTR_INDEX_AXIS, 1),
                           aj_attr_ints(AJ_ATTR_SIZES, (size_t)t->rank, sizes)};
  aj_value *operands[] = {t->value, aj_compose_iota(graph, 2, grid, 0)};
  t->value = aj_compose_fitted(graph, AJ_OP_GATHER, 2, operands, AJ_COUNT(attrs), attrs);
  drop_axis(t, b);
  drop_axis(t, a);
  for (int32_t i = t->rank; i > 0; i--) t->labels[i] = t->labels[i - 1];
  t->labels[0] = label;
  t->rank++;
}

static bool take_diagonals(einsum *e, term *t) {
  for (int32_t b = 1; b < t->rank; b++) {
    int32_t a = 0;
    while (t->labels[a] != t->labels[b]) a++;
    if (a == b) continue;
    if (!aj_dim_equal(t->value->type->dims[a], t->value->type->dims[b]))
      return fail(e, "the term before has a letter twice whose extents are not the same");
    take_diagonal(e, t, a, b);
    if (!t->value) return false;
    b = 0;
  }
  return true;
}

/* Dims of "..." that are 1 here and not elsewhere go: the others are as if repeated. */
static void drop_ones(einsum *e, term *t) {
  int64_t dims[ARRJIT_MAX_RANK];
  int32_t rank = 0, before = t->rank;
  for (int32_t i = 0, axis = 0; axis < before; axis++) {
    int64_t dim = t->value->type->dims[axis];
    if (t->labels[i] >= LETTERS && dim == 1 && e->extents[t->labels[i]] != 1) {
      drop_axis(t, i);
      continue;
    }
    dims[rank++] = dim;
    i++;
  }
  if (rank < before) t->value = aj_compose_reshape(e->graph, t->value, rank, dims);
}

/* Sums over what nothing needs any more, nor `other` has (NULL: nothing). */
static void sum_out(einsum *e, term *t, const term *other) {
  int64_t axes[ARRJIT_MAX_RANK] = {0};
  size_t count = 0;
  int32_t rank = 0;
  for (int32_t i = 0; i < t->rank; i++) {
    int label = t->labels[i];
    if (e->uses[label] == 0 && !(other && has_label(other, label, other->rank)))
      axes[count++] = i;
    else
      t->labels[rank++] = label;
  }
  t->rank = rank;
  const aj_attr attr = aj_attr_ints(AJ_ATTR_AXES, count, axes);
  if (count && t->value) t->value = aj_build1(&e->graph->b, AJ_OP_REDUCE_SUM, 1, &t->value, 1, &attr);
}

static void multiply(einsum *e, term *lhs, const term *rhs) {
  int64_t lists[4][ARRJIT_MAX_RANK]; /* batch of lhs, of rhs, contracted of lhs, of rhs */
  size_t batch = 0, contract = 0;
  int labels[2 * ARRJIT_MAX_RANK];
  int32_t rank = 0;
  for (int32_t i = 0; i < lhs->rank; i++) {
    for (int32_t k = 0; k < rhs->rank; k++) {
      if (rhs->labels[k] != lhs->labels[i]) continue;
      bool kept = e->uses[lhs->labels[i]] > 0;
      size_t at = kept ? batch++ : contract++;
      lists[kept ? 0 : 2][at] = i;
      lists[kept ? 1 : 3][at] = k;
      if (kept) labels[rank++] = lhs->labels[i];
    }
  }
  for (int32_t i = 0; i < lhs->rank; i++)
    if (!has_label(rhs, lhs->labels[i], rhs->rank)) labels[rank++] = lhs->labels[i];
  for (int32_t k = 0; k < rhs->rank; k++)
    if (!has_label(lhs, rhs->labels[k], lhs->rank)) labels[rank++] = rhs->labels[k];
  const aj_attr attrs[] = {
      aj_attr_ints(AJ_ATTR_LHS_BATCH, batch, lists[0]), aj_attr_ints(AJ_ATTR_RHS_BATCH, batch, lists[1]),
      aj_attr_ints(AJ_ATTR_LHS_CONTRACT, contract, lists[2]), aj_attr_ints(AJ_ATTR_RHS_CONTRACT, contract, lists[3])};
  aj_value *both[] = {lhs->value, rhs->value};
  lhs->value = aj_compose_fitted(e->graph, AJ_OP_DOT, 2, both, AJ_COUNT(attrs), attrs);
  if (!lhs->value) return; /* a rank above the greatest too */
  lhs->rank = rank;
  for (int32_t i = 0; i < rank; i++) lhs->labels[i] = labels[i];
}

static aj_value *finish(einsum *e, term *t) {
  int64_t axes[ARRJIT_MAX_RANK] = {0};
  for (int32_t i = 0; i < e->out.rank; i++) e->uses[e->out.labels[i]] = 1;
  sum_out(e, t, NULL);
  if (!t->value) return NULL;
  for (int32_t i = 0; i < e->out.rank; i++)
    for (int32_t k = 0; k < t->rank; k++)
      if (t->labels[k] == e->out.labels[i]) axes[i] = k;
  AJ_ASSERT(t->rank == e->out.rank);
  const aj_attr attr = aj_attr_ints(AJ_ATTR_AXES, (size_t)t->rank, axes);
  return aj_build1(&e->graph->b, AJ_OP_TRANSPOSE, 1, &t->value, 1, &attr);
}

/* All of the text but for what the result says. */
static bool check_terms(einsum *e, size_t count) {
  term t;
  for (size_t i = 0; i < count; i++) {
    if (i > 0 && *e->at != ',') return fail(e, "expected a comma and a term for each array");
    e->at += i > 0;
    if (!read_operand(e, e->graph->scratch.data[i], &t)) return false;
    count_labels(e, &t);
  }
  return read_result(e);
}

static aj_value *build_terms(einsum *e, size_t count) {
  term all = {0}, next;
  e->at = e->text;
  for (size_t i = 0; i < count; i++) {
    e->at += i > 0;
    if (!read_operand(e, e->graph->scratch.data[i], &next)) return NULL;
    for (int32_t k = 0; k < next.rank; k++)
      if (!has_label(&next, next.labels[k], k)) e->uses[next.labels[k]]--;
    drop_ones(e, &next);
    if (!next.value || !take_diagonals(e, &next)) return NULL;
    sum_out(e, &next, i ? &all : NULL);
    if (i) sum_out(e, &all, &next);
    if (!next.value || (i && !all.value)) return NULL;
    if (i)
      multiply(e, &all, &next);
    else
      all = next;
    if (!all.value) return NULL;
  }
  return finish(e, &all);
}

arrjit_value arrjit_einsum(arrjit_graph *graph, const char *text, size_t count, const arrjit_value *xs) {
  if (!aj_graph_ready(graph) || !aj_graph_given(graph, "text", text, 1) || !aj_graph_operands(graph, count, xs))
    return NULL;
  einsum e = {.graph = graph, .text = text, .at = text};
  if (count == 0) {
    fail(&e, "no array came; expected at least one");
    return NULL;
  }
  for (size_t i = 0; i < count; i++) {
    aj_value *x = aj_compose_array(graph, AJ_OP_CONCAT, (uint32_t)i, xs[i]);
    if (!x) return NULL;
    if (x->type->dtype == ARRJIT_BOOL) {
      fail(&e, "an array is bool; expected numbers: write convert(x, dtype)");
      return NULL;
    }
    if (x->type->dtype != graph->scratch.data[0]->type->dtype) {
      fail(&e, "the arrays have two dtypes; dtypes never convert by themselves");
      return NULL;
    }
  }
  return check_terms(&e, count) ? aj_host_value(build_terms(&e, count)) : NULL;
}
