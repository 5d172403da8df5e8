/* Results: outputs or an exn, and the strings that were asked for. */
#include "rt/result.h"

static size_t result_bytes(uint32_t output_room) {
  return sizeof(arrjit_result) + output_room * sizeof(arrjit_array *);
}

arrjit_result *aj_result_create(aj_core *core, uint32_t output_room) {
  arrjit_result *result = aj_mem_alloc(&core->mem, result_bytes(output_room));
  if (!result) return NULL;
  aj_core_retain(core);
  result->core = core;
  result->output_room = output_room;
  return result;
}

/* Results of causes nest no deeper than AJ_EXN_DEPTH, and so does this. */
void aj_result_destroy(arrjit_result *result) {
  if (!result) return;
  aj_core *core = result->core;
  aj_mem *mem = &core->mem;
  aj_result_destroy(result->cause);
  aj_result_destroy(result->context);
  for (uint32_t i = 0; i < result->output_count; i++) aj_array_release(result->outputs[i]);
  aj_mem_free(mem, result->message, result->message_bytes);
  aj_mem_free(mem, result->text, result->text_bytes);
  if (result->exn) aj_mem_free(mem, result->arms, result->exn->trace.count * sizeof *result->arms);
  aj_exn_release(result->exn);
  aj_mem_free(mem, result, result_bytes(result->output_room));
  aj_core_release(core);
}

/* Kept in the result once made, so that the host may hold on to it. A failure for lack of memory may be tried again. */
static const char *make_text(const arrjit_result *result, void (*render)(const aj_exn *, aj_text *), char **text,
                             size_t *bytes) {
  if (!result->exn) return "";
  if (*text) return *text;
  aj_text out;
  aj_text_init(&out, &result->core->mem);
  render(result->exn, &out);
  aj_text_puts(&out, ""); /* a buffer even when nothing was added */
  if (out.failed) {
    aj_text_free(&out);
    return "";
  }
  *text = out.data;
  *bytes = out.capacity;
  return *text;
}

/* Where there is no memory for its text, that of kind memory is the template: ours have nothing to fill in. */
const char *aj_result_message(arrjit_result *result) {
  const char *text = make_text(result, aj_exn_render, &result->message, &result->message_bytes);
  const aj_exn *exn = result->exn;
  return !*text && exn && exn->kind == ARRJIT_KIND_MEMORY && exn->message ? exn->message : text;
}

const char *aj_result_text(arrjit_result *result) {
  return make_text(result, aj_exn_report, &result->text, &result->text_bytes);
}

size_t aj_result_trace_count(const arrjit_result *result) {
  return result->exn ? (size_t)result->exn->frame_count + result->exn->trace.count : 0;
}

static const char *or_empty(const char *s) { return s ? s : ""; }

/* Names and files are the module's, which the exn keeps alive; only "case 7" and the like have to be made. */
bool aj_result_trace(arrjit_result *result, size_t index, arrjit_trace_entry *out) {
  const aj_exn *exn = result->exn;
  if (index < exn->frame_count) {
    *out = (arrjit_trace_entry){"", "", exn->frames[index], "", 0, -1, "", -1};
    return true;
  }
  uint32_t i = (uint32_t)(index - exn->frame_count);
  if (!result->arms) result->arms = aj_mem_array(&result->core->mem, exn->trace.count, sizeof *result->arms);
  if (!result->arms) return false;
  aj_site site = aj_trace_get(&exn->trace, i);
  const aj_node *node = site.node;
  *out = (arrjit_trace_entry){.function = node->parent->func->name,
                              .op = aj_ops[node->op].name,
                              .label = or_empty(node->source.label),
                              .file = or_empty(node->source.file),
                              .line = node->source.line,
                              .node = (int32_t)node->id,
                              .arm = aj_arm_text(result->arms[i], site),
                              .iteration = site.iteration};
  return true;
}

arrjit_result *aj_result_linked(arrjit_result *result, arrjit_result **place, aj_exn *exn) {
  if (*place || !exn) return *place;
  arrjit_result *linked = aj_result_create(result->core, 0);
  if (!linked) return NULL;
  aj_exn_retain(exn);
  linked->exn = exn;
  return *place = linked;
}
