/* The tiers as the engine sees them: the same inputs, the same outputs, whichever runs. */
#include "engine/activation.h"
#include "ir/symbol.h"
#include "rt/need.h"

enum {
  LEAF_STACK_BYTES = 64 << 10, /* what native code and the helpers it calls need at least */
  FRAME_BYTES = 4 << 10        /* of a native function whose code does not say */
};

/* What was computed aside goes to the arrays that were given, now that all inputs have been read. */
static bool write_given(aj_activation *a, arrjit_array *const *given) {
  aj_poller poller = aj_run_poller(&a->run);
  for (uint32_t i = 0; given && i < a->output_count; i++) {
    if (!given[i] || given[i] == a->outputs[i]) continue;
    if (!aj_view_unpack_polled(&given[i]->view, a->outputs[i]->view.data, &poller)) return false;
    aj_array_release(a->outputs[i]);
    a->outputs[i] = given[i];
    aj_array_retain(given[i]);
  }
  return true;
}

/* A given output can be written directly when no input lies in it: code may write before it has read all. `packs`: of
 * inputs that are not dense it reads copies. */
static bool is_direct(const aj_activation *a, const arrjit_array *given, bool packs) {
  if (!given || !aj_array_is_dense(given) || !aj_array_is_aligned(given)) return false;
  for (uint32_t i = 0; i < a->input_count; i++) {
    const arrjit_array *input = a->inputs[i];
    if (aj_array_overlaps(given, input) && !(packs && !aj_array_is_dense(input))) return false;
  }
  return true;
}

/* Given outputs that can be written directly are outputs from the start. */
static void set_direct(aj_activation *a, arrjit_array *const *given, bool packs, uint64_t *out_touched) {
  for (uint32_t i = 0; given && i < a->output_count; i++) {
    if (!is_direct(a, given[i], packs)) continue;
    a->outputs[i] = given[i];
    aj_array_retain(given[i]);
    if (i < 64) *out_touched |= UINT64_C(1) << i;
  }
}

/* ---- memory ---- */

bool aj_tier_fits(aj_activation *a) {
  const aj_need *need = aj_function_need(a->function);
  if (!need) return aj_run_raise_memory(&a->run, 0);
  int64_t copies = 0; /* of inputs that some tier wants in another form */
  for (uint32_t i = 0; i < a->input_count; i++) {
    const arrjit_array *x = a->inputs[i];
    if (!a->aligned[i] && aj_array_is_dense(x)) continue;
    if (!aj_i64_add(copies, (int64_t)aj_view_bytes(&x->view), &copies)) copies = INT64_MAX;
  }
  return aj_need_begin(&a->run, need, copies, a->env);
}

/* ---- the interpreter ---- */

/* Whether a donated input can be overwritten: it is the host's own array, and nothing else lies in it. */
static bool is_lone(const aj_activation *a, uint32_t input, arrjit_array *const *given) {
  const arrjit_array *x = a->inputs[input];
  if (a->aligned[input] || x->view.rank == 0 || !aj_array_is_dense(x)) return false;
  for (uint32_t i = 0; i < a->input_count; i++)
    if (i != input && aj_array_overlaps(x, a->inputs[i])) return false;
  for (uint32_t i = 0; given && i < a->output_count; i++)
    if (given[i] && aj_array_overlaps(x, given[i])) return false;
  return true;
}

static uint64_t find_lone(const aj_activation *a, uint64_t donated, arrjit_array *const *given) {
  uint64_t lone = 0;
  for (uint32_t i = 0; i < a->input_count && i < 64; i++)
    if ((donated >> i & 1) && is_lone(a, i, given)) lone |= UINT64_C(1) << i;
  return lone;
}

bool aj_tier_interpret(aj_activation *a, const arrjit_run_options *o, uint64_t *out_touched) {
  arrjit_array *const *given = o->outputs;
  set_direct(a, given, false, out_touched);
  if (o->donated) a->run.donated = find_lone(a, o->donated, given);
  if (!aj_interp_run(a->function->interp, &a->run, a->env, a->inputs, a->outputs)) return false;
  return write_given(a, given);
}

/* ---- native code: dense in, dense out, nothing that overlaps ---- */

bool aj_tier_has_stack(const aj_activation *a, const aj_code *code) {
  int64_t entry = code->entry_frame_bytes ? code->entry_frame_bytes : FRAME_BYTES;
  int64_t called = a->function->has_calls ? a->run.max_depth : 0;
  return (int64_t)a->stack_left - LEAF_STACK_BYTES > entry + code->frame_bytes * called;
}

static bool pack_inputs(aj_activation *a) {
  for (uint32_t i = 0; i < a->input_count; i++) {
    arrjit_array *input = a->inputs[i];
    if (!aj_array_is_dense(input)) {
      input = a->packed[i] = aj_run_copy(&a->run, &input->view);
      a->copied = true;
      if (!input) return false;
    }
    a->in_data[i] = input->view.data;
  }
  return true;
}

static bool make_outputs(aj_activation *a, arrjit_array *const *given, uint64_t *out_touched) {
  const aj_func *entry = a->run.module->funcs.data[0];
  set_direct(a, given, true, out_touched);
  for (uint32_t i = 0; i < a->output_count; i++) {
    a->out_data[i] = NULL;
    if (aj_type_is_late(a->run.module, entry->result_types[i])) continue; /* the code makes it */
    if (!a->outputs[i]) {
      a->outputs[i] = aj_run_array_of(&a->run, entry->result_types[i], a->env);
      if (!a->outputs[i]) return false;
    }
    a->out_data[i] = a->outputs[i]->view.data;
  }
  return true;
}

bool aj_tier_native(aj_activation *a, const aj_code *code, arrjit_array *const *given, uint64_t *out_touched) {
  /* Outputs first: that there is no memory for one is known at once, but copies of inputs can take long. */
  if (!make_outputs(a, given, out_touched) || !pack_inputs(a)) {
    a->run.unbegun = a->run.exn->kind == ARRJIT_KIND_MEMORY;
    return false;
  }
  if (code->entry(&a->run, a->in_data, a->out_data, a->env) != 0) return false;
  return write_given(a, given);
}

void aj_tier_forget(aj_activation *a, uint64_t *out_touched) {
  aj_exn_release(a->run.exn);
  a->run.exn = NULL;
  a->run.unbegun = false;
  aj_activation_drop_arrays(a);
  *out_touched = 0;
}
