/* A failure as lines of text. Everything in it comes from the exn and the finished module, so all tiers give the same
 * bytes: error: arith: integer division by zero payload 0: i64 = 3 at checked_div #12 in main (model.c:40) [layer/norm]
 *     at while #4 in main (model.c:31) body iteration 5
 *   caused by: runtime: ... */
#include <inttypes.h>
#include <string.h>

#include "ir/module.h"
#include "rt/exn.h"

/* Where a tree was checked out differs between machines; the report must not. */
static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static void report_site(aj_site site, aj_text *out) {
  const aj_node *node = site.node;
  char room[AJ_ARM_TEXT_BYTES];
  const char *arm = aj_arm_text(room, site);
  aj_text_printf(out, "  at %s #%" PRIu32 " in ", aj_ops[node->op].name, node->id);
  aj_text_puts(out, node->parent->func->name);
  if (node->source.file) {
    aj_text_puts(out, " (");
    aj_text_puts(out, base_name(node->source.file));
    aj_text_printf(out, ":%" PRId32 ")", node->source.line);
  }
  if (node->source.label) {
    aj_text_puts(out, " [");
    aj_text_puts(out, node->source.label);
    aj_text_puts(out, "]");
  }
  if (*arm) aj_text_printf(out, " %s", arm);
  if (site.iteration >= 0 && site.arm == AJ_ARM_LANE)
    aj_text_printf(out, " %" PRId64, site.iteration);
  else if (site.iteration >= 0)
    aj_text_printf(out, " iteration %" PRId64, site.iteration);
  aj_text_puts(out, "\n");
}

/* Scalars get their dtype too, which messages leave out. */
static void report_payload(const aj_exn *exn, aj_text *out) {
  for (uint32_t i = 0; i < exn->payload_count; i++) {
    const aj_view *view = &exn->payload[i]->view;
    aj_text_printf(out, "  payload %" PRIu32 ": ", i);
    if (view->rank == 0) aj_text_printf(out, "%s = ", aj_dtypes[view->dtype].name);
    aj_exn_render_array(exn->payload[i], out);
    aj_text_puts(out, "\n");
  }
}

/* The host's own frames are the innermost: the graph called them. */
static void report_trace(const aj_exn *exn, aj_text *out) {
  for (uint32_t i = 0; i < exn->frame_count; i++) {
    aj_text_puts(out, "  at host: ");
    aj_text_puts(out, exn->frames[i]);
    aj_text_puts(out, "\n");
  }
  uint64_t omitted = exn->trace.total - exn->trace.count;
  for (uint32_t i = 0; i < exn->trace.count; i++) {
    if (omitted && i == AJ_TRACE_INNER) aj_text_printf(out, "  ... %" PRIu64 " entries left out\n", omitted);
    report_site(aj_trace_get(&exn->trace, i), out);
  }
  if (omitted && exn->trace.count <= AJ_TRACE_INNER)
    aj_text_printf(out, "  ... %" PRIu64 " entries left out\n", omitted);
}

static void report_one(const aj_exn *exn, const char *heading, aj_text *out) {
  const aj_kind_info *info = aj_kinds_get(exn->core->kinds, exn->kind);
  aj_text_puts(out, heading);
  aj_text_puts(out, info ? info->name : "?");
  aj_text_puts(out, ": ");
  aj_exn_render(exn, out);
  aj_text_puts(out, "\n");
  if (exn->code) aj_text_printf(out, "  code: %" PRId64 "\n", exn->code);
  report_payload(exn, out);
  report_trace(exn, out);
}

void aj_exn_report(const aj_exn *exn, aj_text *out) {
  /* Depth first, cause before context. Links may be shared, so the number of blocks is bounded, not only their depth;
   * with at most two pushed for one taken the stack cannot overflow. */
  struct {
    const aj_exn *exn;
    const char *heading;
  } stack[AJ_EXN_DEPTH + 1];
  uint32_t count = 0;
  stack[count].exn = exn;
  stack[count++].heading = "error: ";
  for (uint32_t blocks = 0; count && blocks < AJ_EXN_DEPTH; blocks++) {
    const aj_exn *next = stack[--count].exn;
    report_one(next, stack[count].heading, out);
    if (next->context && next->context != next->cause) {
      stack[count].exn = next->context;
      stack[count++].heading = "while handling: ";
    }
    if (next->cause) {
      stack[count].exn = next->cause;
      stack[count++].heading = "caused by: ";
    }
  }
}
