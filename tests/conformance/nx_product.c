/* Nx's products of tensors. */
#include "nx.h"

#include <string.h>

/* What is contracted, and batched, of one operand. */
typedef struct side {
  arrjit_value x;
  size_t contract_count, batch_count;
  int64_t contract[CASE_MOST], batch[CASE_MOST];
} side;

static void fill_axes(nx_op *op, const json_t *list, arrjit_value x, size_t *count, int64_t *out) {
  *count = nx_ints(list, out);
  for (size_t i = 0; i < *count; i++) out[i] = nx_axis(op, out[i], nx_rank(x));
}

static void check_batch(nx_op *op, const side *s, const char *which) {
  for (size_t i = 0; i < s->batch_count; i++) {
    if (s->batch[i] != (int64_t)i)
      nx_raise(op,
               "invalid dot batch axis for the %s tensor, batch axes must be successive dimensions starting from 0, "
               "got [%d",
               which, (int)s->batch[0]);
    for (size_t k = 0; k < s->contract_count; k++)
      if (s->batch[i] == s->contract[k])
        nx_raise(op, "dot batch axes for %s tensor ([%d]) cannot be in contract axes ([%d])", which, (int)s->batch[i],
                 (int)s->contract[k]);
  }
}

static void check_sides(nx_op *op, const side *l, const side *r) {
  if (l->batch_count && !r->batch_count) nx_raise(op, "right tensor must be batched if left tensor is batched");
  if (r->batch_count && !l->batch_count) nx_raise(op, "left tensor must be batched if right tensor is batched");
  check_batch(op, l, "left");
  check_batch(op, r, "right");
  for (size_t i = 0; i < l->contract_count && i < r->contract_count; i++) {
    int64_t a = nx_extent(l->x, l->contract[i]), b = nx_extent(r->x, r->contract[i]);
    if (a != b)
      nx_raise(op,
               "dot/zip expects shapes to be compatible, dimension %d of left-side (%d) does not equal dimension %d of "
               "right-side (%d)",
               (int)l->contract[i], (int)a, (int)r->contract[i], (int)b);
  }
}

/* dot(x, y); dot(x, contracted, y, contracted); dot(x, contracted, batch, y, contracted, batch). Of two alone the last
 * axis of x goes with the one before the last of y; scalars multiply. */
static void build_dot(nx_op *op) {
  size_t count = json_array_size(op->args), step = count / 2;
  const json_t *a = nx_arg(op, 0), *b = nx_arg(op, step);
  arrjit_dtype dtype = nx_join(op, a, b);
  side l = {.x = nx_value_as(op, a, dtype)}, r = {.x = nx_value_as(op, b, dtype)};
  if (step == 1 && (nx_rank(l.x) == 0 || nx_rank(r.x) == 0)) {
    op->out[0] = arrjit_mul(op->g, l.x, r.x);
    return;
  }
  if (step == 1) {
    l = (side){.x = l.x, .contract_count = 1, .contract = {nx_rank(l.x) - 1}};
    r = (side){.x = r.x, .contract_count = 1, .contract = {nx_rank(r.x) > 1 ? nx_rank(r.x) - 2 : 0}};
  } else {
    fill_axes(op, nx_arg(op, 1), l.x, &l.contract_count, l.contract);
    fill_axes(op, nx_arg(op, step + 1), r.x, &r.contract_count, r.contract);
  }
  if (step == 3) {
    fill_axes(op, nx_arg(op, 2), l.x, &l.batch_count, l.batch);
    fill_axes(op, nx_arg(op, 5), r.x, &r.batch_count, r.batch);
  }
  check_sides(op, &l, &r);
  op->out[0] = arrjit_dot(op->g, l.x, r.x, l.batch_count, l.batch, r.batch, l.contract_count, l.contract, r.contract);
}

/* outer(x, y): every element by every other. */
static void build_outer(nx_op *op) {
  arrjit_dtype dtype = nx_join(op, nx_arg(op, 0), nx_arg(op, 1));
  arrjit_value x = nx_flatten(op, nx_value_as(op, nx_arg(op, 0), dtype));
  arrjit_value y = nx_flatten(op, nx_value_as(op, nx_arg(op, 1), dtype));
  op->out[0] = arrjit_mul(op->g, arrjit_expand_dims(op->g, x, 1), y);
}

static const nx_row rows[] = {{"Nx.dot", build_dot}, {"Nx.outer", build_outer}};

nx_build *nx_product_find(const char *name) { return nx_find(name, TK_COUNT(rows), rows); }
