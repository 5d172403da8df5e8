/* dot: products over contracted dims. Operands are packed so that the innermost loop is contiguous; which way does not
 * matter for the bits, only the rule does, and that follows from the types (README.md). */
#include "sem/routine.h"

#include <string.h>

#include "sem/tree.h"

typedef struct axis_list {
  int32_t count;
  int64_t axes[ARRJIT_MAX_RANK];
} axis_list;
typedef struct dot_plan {
  const aj_sem_call *call;
  arrjit_dtype dtype;
  size_t bytes;
  axis_list lhs_batch, rhs_batch, lhs_contract, rhs_contract, lhs_free, rhs_free;
  int64_t batch, m, n, k; /* extents */
  aj_poller poller;
} dot_plan;

/* One operand, dense in the order wanted: the operand itself or a packed copy. */
typedef struct packed {
  const char *data;
  char *copy;
  size_t copy_bytes;
} packed;

static axis_list get_axes(const aj_node *node, aj_attr_name name) {
  axis_list list = {0};
  const aj_attr *attr = aj_node_attr(node, name);
  for (uint32_t i = 0; i < attr->count; i++) list.axes[list.count++] = attr->u.ints[i];
  return list;
}

static axis_list get_free_axes(int32_t rank, const axis_list *batch, const axis_list *contract) {
  axis_list list = {0};
  uint32_t taken = 0;
  for (int32_t i = 0; i < batch->count; i++) taken |= 1u << batch->axes[i];
  for (int32_t i = 0; i < contract->count; i++) taken |= 1u << contract->axes[i];
  for (int32_t i = 0; i < rank; i++)
    if (!(taken >> i & 1)) list.axes[list.count++] = i;
  return list;
}

static int64_t get_extent(const aj_view *view, const axis_list *list) {
  int64_t product = 1;
  for (int32_t i = 0; i < list->count; i++) product *= view->dims[list->axes[i]];
  return product;
}

/* Whether the product of extents in the type is at least 16; a symbolic one counts as 16. */
static bool is_wide(const aj_type *type, const axis_list *list) {
  int64_t product = 1;
  for (int32_t i = 0; i < list->count; i++) {
    int64_t dim = type->dims[list->axes[i]];
    if (aj_dim_is_symbol(dim) || dim > 16) dim = 16;
    product = product * dim > 16 ? 16 : product * dim;
  }
  return product >= 16;
}

static bool uses_chains(const dot_plan *plan) {
  const aj_type *lhs = plan->call->node->operands[0]->type, *rhs = plan->call->node->operands[1]->type;
  const axis_list *free_axes = &plan->lhs_free;
  bool last_free = free_axes->count > 0 && free_axes->axes[free_axes->count - 1] == lhs->rank - 1;
  return is_wide(rhs, &plan->rhs_free) || (last_free && is_wide(lhs, free_axes));
}

/* x with its dims in the order batch, first, second. */
static aj_sem_status pack(dot_plan *plan, const aj_view *x, const axis_list *batch, const axis_list *first,
                          const axis_list *second, packed *out) {
  const axis_list *lists[] = {batch, first, second};
  aj_view ordered = {.dtype = x->dtype, .data = x->data};
  for (int32_t l = 0; l < 3; l++) {
    for (int32_t i = 0; i < lists[l]->count; i++) {
      ordered.dims[ordered.rank] = x->dims[lists[l]->axes[i]];
      ordered.strides[ordered.rank++] = x->strides[lists[l]->axes[i]];
    }
  }
  out->data = x->data;
  if (aj_view_is_dense(&ordered)) return AJ_SEM_OK;
  out->copy_bytes = aj_view_bytes(&ordered);
  out->copy = aj_mem_raw(plan->call->mem, out->copy_bytes);
  if (out->copy == NULL) return AJ_SEM_MEMORY;
  out->data = out->copy;
  return aj_view_pack_polled(out->copy, &ordered, &plan->poller) ? AJ_SEM_OK : AJ_SEM_STOPPED;
}

/* out[rows, columns] = a[rows, k] times b[k, columns], each output one chain. */
typedef struct product {
  const dot_plan *plan;
  char *out;
  const char *a, *b;
  int64_t columns;
} product;

/* A row of one tile, in pieces of the chain. */
static bool multiply_tile(const product *p, aj_poller *poller, int64_t i, int64_t j, size_t width) {
  enum { PIECE = 2048 };
  aj_dot_chain *chain = aj_loops_here()->dot_chains[p->plan->dtype];
  size_t bytes = p->plan->bytes, k = (size_t)p->plan->k, columns = (size_t)p->columns;
  char *out = p->out + ((size_t)i * columns + (size_t)j) * bytes;
  const char *a = p->a + (size_t)i * k * bytes, *b = p->b + (size_t)j * bytes;
  for (size_t at = 0, piece; at < k; at += piece) {
    piece = k - at < PIECE ? k - at : PIECE;
    chain(piece, width, out, a + at * bytes, b + at * columns * bytes, columns, at > 0);
    if (aj_poller_stops(poller, (int64_t)((piece + 4) * width / 8))) return false;
  }
  return true;
}

/* Rows [from, to): tiles of columns outside, so that a tile of b stays in cache while the rows pass. */
static bool multiply_rows(const product *p, aj_poller *poller, int64_t from, int64_t to) {
  for (int64_t j = 0; j < p->columns; j += AJ_DOT_TILE) {
    size_t width = (size_t)(p->columns - j < AJ_DOT_TILE ? p->columns - j : AJ_DOT_TILE);
    for (int64_t i = from; i < to; i++)
      if (!multiply_tile(p, poller, i, j, width)) return false;
  }
  return true;
}

static int64_t share_rows(void *frame, int64_t from, int64_t to) {
  const product *p = frame;
  const aj_sem_call *call = p->plan->call;
  aj_poller poller = {.stop = call->team->due, .user = call->poll_user};
  return multiply_rows(p, &poller, from, to) ? AJ_BLOCKS_DONE : AJ_BLOCKS_STOPPED;
}

/* Rows that one of several threads does at a time; 0: they are not worth more than one. */
static int64_t find_grain(const product *p, int64_t rows) {
  enum { LEAST_ROWS = 16, LEAST_PRODUCTS = 1 << 20, BLOCKS = 4 };
  const aj_sem_call *call = p->plan->call;
  int64_t threads = call->team ? call->team->threads(call->poll_user) : 1, products;
  bool many = !aj_i64_mul(p->plan->k, p->columns, &products) || !aj_i64_mul(products, rows, &products) ||
              products >= LEAST_PRODUCTS;
  if (threads < 2 || !many || rows < 2 * LEAST_ROWS) return 0;
  int64_t grain = rows / (threads * BLOCKS);
  return grain < LEAST_ROWS ? LEAST_ROWS : grain;
}

static bool multiply_chains(dot_plan *plan, char *out, const char *a, const char *b, int64_t rows, int64_t columns) {
  product p = {.plan = plan, .out = out, .a = a, .b = b, .columns = columns};
  int64_t grain = find_grain(&p, rows);
  if (grain == 0) return multiply_rows(&p, &plan->poller, 0, rows);
  const aj_sem_call *call = plan->call;
  while (call->team->share(call->poll_user, share_rows, &p, rows, grain) != AJ_BLOCKS_DONE)
    if (call->poll(call->poll_user)) return false;
  return true;
}

/* One output by the lane rule: both operands contiguous. */
static bool multiply_lanes(dot_plan *plan, aj_dot_lanes *lanes, char *out, const char *a, const char *b) {
  int64_t step = (int64_t)aj_reduce_lanes(plan->dtype) * AJ_REDUCE_STEPS, levels[64], block;
  if (plan->k <= step) {
    lanes((size_t)plan->k, out, a, b);
    return !aj_poller_stops(&plan->poller, plan->k + 8);
  }
  aj_tree tree = {.combine = aj_sem_loop(AJ_OP_ADD, plan->dtype, plan->dtype),
                  .width = 1,
                  .bytes = plan->bytes,
                  .levels = (char *)levels};
  for (int64_t i = 0; i < plan->k; i += step) {
    size_t n = (size_t)(plan->k - i < step ? plan->k - i : step), at = (size_t)i * plan->bytes;
    lanes(n, &block, a + at, b + at);
    aj_tree_push(&tree, (char *)&block);
    if (aj_poller_stops(&plan->poller, (int64_t)n + 8)) return false;
  }
  aj_tree_finish(&tree, out);
  return true;
}

static aj_sem_status run_lanes(dot_plan *plan, packed *lhs, packed *rhs) {
  const aj_view *in = plan->call->in;
  aj_sem_status packed_lhs = pack(plan, &in[0], &plan->lhs_batch, &plan->lhs_free, &plan->lhs_contract, lhs);
  if (packed_lhs != AJ_SEM_OK) return packed_lhs;
  aj_sem_status packed_rhs = pack(plan, &in[1], &plan->rhs_batch, &plan->rhs_free, &plan->rhs_contract, rhs);
  if (packed_rhs != AJ_SEM_OK) return packed_rhs;
  aj_dot_lanes *lanes = aj_loops_here()->dot_lanes[plan->dtype];
  size_t row = (size_t)plan->k * plan->bytes;
  char *out = plan->call->out->data;
  for (int64_t i = 0; i < plan->batch * plan->m; i++) {
    for (int64_t j = 0; j < plan->n; j++, out += plan->bytes)
      if (!multiply_lanes(plan, lanes, out, lhs->data + (size_t)i * row,
                          rhs->data + (size_t)(i / plan->m * plan->n + j) * row))
        return AJ_SEM_STOPPED;
  }
  return AJ_SEM_OK;
}

static aj_sem_status run_chains(dot_plan *plan, packed *lhs, packed *rhs) {
  const aj_view *in = plan->call->in;
  aj_sem_status packed_lhs = pack(plan, &in[0], &plan->lhs_batch, &plan->lhs_free, &plan->lhs_contract, lhs);
  if (packed_lhs != AJ_SEM_OK) return packed_lhs;
  aj_sem_status packed_rhs = pack(plan, &in[1], &plan->rhs_batch, &plan->rhs_contract, &plan->rhs_free, rhs);
  if (packed_rhs != AJ_SEM_OK) return packed_rhs;
  size_t a = (size_t)(plan->m * plan->k) * plan->bytes, b = (size_t)(plan->k * plan->n) * plan->bytes;
  size_t c = (size_t)(plan->m * plan->n) * plan->bytes;
  for (int64_t i = 0; i < plan->batch; i++) {
    size_t at = (size_t)i;
    if (!multiply_chains(plan, plan->call->out->data + at * c, lhs->data + at * a, rhs->data + at * b, plan->m,
                         plan->n))
      return AJ_SEM_STOPPED;
  }
  return AJ_SEM_OK;
}

/* Few columns and many rows: the transposed product, whose columns are our rows, then turned back. */
static aj_sem_status run_chains_transposed(dot_plan *plan, packed *lhs, packed *rhs) {
  const aj_view *in = plan->call->in;
  aj_sem_status packed_lhs = pack(plan, &in[0], &plan->lhs_batch, &plan->lhs_contract, &plan->lhs_free, lhs);
  if (packed_lhs != AJ_SEM_OK) return packed_lhs;
  aj_sem_status packed_rhs = pack(plan, &in[1], &plan->rhs_batch, &plan->rhs_free, &plan->rhs_contract, rhs);
  if (packed_rhs != AJ_SEM_OK) return packed_rhs;
  size_t a = (size_t)(plan->m * plan->k) * plan->bytes, b = (size_t)(plan->k * plan->n) * plan->bytes;
  size_t c = (size_t)(plan->m * plan->n) * plan->bytes;
  char *turned = aj_mem_raw(plan->call->mem, c);
  if (turned == NULL) return AJ_SEM_MEMORY;
  aj_view view = {.dtype = plan->dtype, .rank = 2, .data = turned, .dims = {plan->m, plan->n}};
  view.strides[0] = (int64_t)plan->bytes;
  view.strides[1] = (int64_t)plan->bytes * plan->m;
  bool ok = true;
  for (int64_t i = 0; ok && i < plan->batch; i++) {
    size_t at = (size_t)i;
    ok = multiply_chains(plan, turned, rhs->data + at * b, lhs->data + at * a, plan->n, plan->m);
    ok = ok && aj_view_pack_polled(plan->call->out->data + at * c, &view, &plan->poller);
  }
  aj_mem_free(plan->call->mem, turned, c);
  return ok ? AJ_SEM_OK : AJ_SEM_STOPPED;
}

aj_sem_status aj_routine_dot(const aj_sem_call *call) {
  const aj_node *node = call->node;
  const aj_view *lhs = &call->in[0], *rhs = &call->in[1];
  dot_plan plan = {
      .call = call, .dtype = lhs->dtype, .bytes = aj_dtypes[lhs->dtype].bytes, .poller = aj_routine_poller(call)};
  if (aj_view_count(call->out) == 0) return AJ_SEM_OK;
  if (aj_view_count(lhs) == 0 || aj_view_count(rhs) == 0) { /* nothing to add up: +0 */
    bool ok = aj_bytes_zero(call->out->data, aj_view_bytes(call->out), &plan.poller);
    return ok ? AJ_SEM_OK : AJ_SEM_STOPPED;
  }
  plan.lhs_batch = get_axes(node, AJ_ATTR_LHS_BATCH);
  plan.rhs_batch = get_axes(node, AJ_ATTR_RHS_BATCH);
  plan.lhs_contract = get_axes(node, AJ_ATTR_LHS_CONTRACT);
  plan.rhs_contract = get_axes(node, AJ_ATTR_RHS_CONTRACT);
  plan.lhs_free = get_free_axes(lhs->rank, &plan.lhs_batch, &plan.lhs_contract);
  plan.rhs_free = get_free_axes(rhs->rank, &plan.rhs_batch, &plan.rhs_contract);
  plan.batch = get_extent(lhs, &plan.lhs_batch);
  plan.m = get_extent(lhs, &plan.lhs_free);
  plan.n = get_extent(rhs, &plan.rhs_free);
  plan.k = get_extent(lhs, &plan.lhs_contract);
  packed a = {0}, b = {0};
  bool turn = plan.n < 16 && plan.m > plan.n;
  aj_sem_status status = !uses_chains(&plan) ? run_lanes(&plan, &a, &b)
                         : turn              ? run_chains_transposed(&plan, &a, &b)
                                             : run_chains(&plan, &a, &b);
  aj_mem_free(call->mem, a.copy, a.copy_bytes);
  aj_mem_free(call->mem, b.copy, b.copy_bytes);
  return status;
}
