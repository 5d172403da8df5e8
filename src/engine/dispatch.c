/* One run from its arguments to its result: validates, binds, picks a tier, runs, packs. */
#include "engine/activation.h"
#include "engine/compiler.h"

/* ---- what the call itself must be ---- */

arrjit_status aj_engine_check_options(const arrjit_run_options *o, arrjit_error *error) {
  if (o->struct_bytes != sizeof *o)
    return aj_error_set(error, ARRJIT_MISUSE, "options: struct_bytes is %zu, expected %zu", o->struct_bytes, sizeof *o);
  if ((int)o->mode < ARRJIT_MODE_AUTO || o->mode > ARRJIT_MODE_WHOLE)
    return aj_error_set(error, ARRJIT_MISUSE, "options: there is no mode %d", (int)o->mode);
  if (o->flags & ~ARRJIT_RUN_REQUIRE_NATIVE)
    return aj_error_set(error, ARRJIT_MISUSE, "options: unknown bits in flags 0x%x", o->flags);
  if (o->flags && o->mode != ARRJIT_MODE_WHOLE)
    return aj_error_set(error, ARRJIT_MISUSE, "options: ARRJIT_RUN_REQUIRE_NATIVE needs ARRJIT_MODE_WHOLE");
  if (o->binding_count && !o->bindings) return aj_error_set(error, ARRJIT_MISUSE, "options: bindings is NULL");
  if (o->deadline_ns < 0) return aj_error_set(error, ARRJIT_MISUSE, "options: deadline_ns is negative");
  const arrjit_limits *l = &o->limits;
  if (l->bytes < 0 || l->iterations < 0 || l->depth < 0 || l->wall_ns < 0)
    return aj_error_set(error, ARRJIT_MISUSE, "options: a limit is negative");
  if (l->depth > aj_options[AJ_OPTION_MAX_DEPTH].most)
    return aj_error_set(error, ARRJIT_MISUSE, "options: limits.depth is %lld, expected at most %lld",
                        (long long)l->depth, (long long)aj_options[AJ_OPTION_MAX_DEPTH].most);
  return ARRJIT_OK;
}

static arrjit_status check_call(const arrjit_function *function, const arrjit_run_options *options, size_t input_count,
                                arrjit_array *const *inputs, arrjit_result **out, arrjit_error *error) {
  if (!function) return aj_error_set(error, ARRJIT_MISUSE, "function is NULL");
  if (!out) return aj_error_set(error, ARRJIT_MISUSE, "out is NULL");
  if (input_count && !inputs) return aj_error_set(error, ARRJIT_MISUSE, "inputs is NULL");
  for (size_t i = 0; i < input_count; i++)
    if (!inputs[i]) return aj_error_set(error, ARRJIT_MISUSE, "inputs[%zu] is NULL", i);
  if (!atomic_load_explicit(&function->context, memory_order_relaxed))
    return aj_error_set(error, ARRJIT_MISUSE, "the function's context was destroyed");
  return aj_engine_check_options(options, error);
}

/* ---- which tier ---- */

static void post_interpreted(const arrjit_function *function, const char *why) {
  arrjit_event event = {.code = ARRJIT_EVENT_COMPILE_STOPPED, .function_id = function->id, .time_ns = aj_clock_ns()};
  aj_bounded_printf(event.text, sizeof event.text, "interpreted: %s", why);
  aj_events_post(&function->core->events, &event);
}

/* Waits for the compilation of the run's function; polls meanwhile, so that a waiting run can be stopped. False:
 * run.exn. */
static bool wait_for_code(aj_activation *a, arrjit_status *out_status, arrjit_error *error) {
  enum { SLICE_NS = 5000000 };
  aj_run *run = &a->run;
  bool stoppable = run->cancel || run->job_stop || run->deadline_ns || run->wall_end_ns;
  do {
    *out_status = aj_compiler_wait(a->function, stoppable ? aj_clock_ns() + SLICE_NS : INT64_MAX, error);
    if (stoppable && aj_run_poll(run, false)) return false;
  } while (*out_status == ARRJIT_TIMEOUT);
  return true;
}

/* The same on a thread of the host, whose own lock is given up meanwhile; a runner's thread does not hold it. */
static bool wait_unlocked(aj_activation *a, arrjit_status *out_status, arrjit_error *error) {
  bool hosts = !a->run.job_stop;
  if (hosts) aj_core_wait_begin(a->run.core);
  bool go_on = wait_for_code(a, out_status, error);
  if (hosts) aj_core_wait_end(a->run.core);
  return go_on;
}

/* The function's code, compiled first when need be; NULL with *out_status OK: run.exn. NULL else: why there is none. */
static const aj_code *get_code(aj_activation *a, arrjit_status *out_status, arrjit_error *error) {
  *out_status = aj_compiler_queue(a->function, error);
  if (*out_status != ARRJIT_OK) return NULL;
  if (!wait_unlocked(a, out_status, error)) {
    *out_status = ARRJIT_OK;
    return NULL;
  }
  return atomic_load_explicit(&a->function->code, memory_order_acquire);
}

/* Only the thread that has the activation counts in it: no read-modify-write that others wait for. */
static void add_runs(_Atomic int64_t *count, int64_t runs) {
  atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + runs, memory_order_relaxed);
}

static bool interpret(aj_activation *a, const arrjit_run_options *o, uint64_t *out_touched) {
  add_runs(&a->interpreted_runs, 1);
  return aj_tier_interpret(a, o, out_touched);
}

/* Native code takes the memory of all its arms when it begins. Where that is refused nothing has happened yet, and the
 * interpreter, which takes only what it comes to need, may do with less. */
static bool run_native(aj_activation *a, const aj_code *code, const arrjit_run_options *o, uint64_t *out_touched) {
  add_runs(&a->native_runs, 1);
  if (aj_tier_native(a, code, o->outputs, out_touched)) return true;
  if (AJ_LIKELY(!a->run.unbegun) || (o->flags & ARRJIT_RUN_REQUIRE_NATIVE)) return false;
  add_runs(&a->native_runs, -1);
  aj_tier_forget(a, out_touched);
  post_interpreted(a->function, "there was no memory for native code to begin with");
  return interpret(a, o, out_touched);
}

static bool is_usable(const aj_activation *a, const aj_code *code, const arrjit_run_options *o) {
  bool complete =
      !(o->flags & ARRJIT_RUN_REQUIRE_NATIVE) || (code->fallback_nodes == 0 && code->interpreted_nodes == 0);
  return complete && aj_tier_has_stack(a, code);
}

/* Why code that is there is not used. */
static arrjit_status explain_unusable(const aj_activation *a, const aj_code *code, arrjit_error *why) {
  if (!aj_tier_has_stack(a, code))
    return aj_error_set(why, ARRJIT_UNAVAILABLE, "too little stack is left on this thread for native code");
  return aj_error_set(why, ARRJIT_UNAVAILABLE, "%lld nodes fall back to routines, %lld to the interpreter",
                      (long long)code->fallback_nodes, (long long)code->interpreted_nodes);
}

/* Whole without usable code: the interpreter and an event, or (native being required) a status. */
static arrjit_status run_otherwise(aj_activation *a, const arrjit_run_options *o, uint64_t *out_touched,
                                   arrjit_error *error) {
  arrjit_error why = {.status = ARRJIT_OK};
  arrjit_status status;
  const aj_code *code = get_code(a, &status, &why);
  if (code && is_usable(a, code, o)) {
    a->succeeded = run_native(a, code, o, out_touched);
    return ARRJIT_OK;
  }
  if (!code && status == ARRJIT_OK) return ARRJIT_OK; /* stopped while waiting: run.exn */
  if (code) status = explain_unusable(a, code, &why);
  if (o->flags & ARRJIT_RUN_REQUIRE_NATIVE) {
    if (error) *error = why;
    return status == ARRJIT_MEMORY ? status : ARRJIT_UNAVAILABLE;
  }
  bool told = atomic_load_explicit(&a->function->native_state, memory_order_acquire) == AJ_NATIVE_NEVER;
  if (code || (status == ARRJIT_LIMIT && !told)) post_interpreted(a->function, why.message);
  a->succeeded = interpret(a, o, out_touched);
  return ARRJIT_OK;
}

static arrjit_status run_whole(aj_activation *a, const arrjit_run_options *o, uint64_t *out_touched,
                               arrjit_error *error) {
  const aj_code *code = atomic_load_explicit(&a->function->code, memory_order_acquire);
  if (AJ_UNLIKELY(!code || !is_usable(a, code, o))) return run_otherwise(a, o, out_touched, error);
  a->succeeded = run_native(a, code, o, out_touched);
  return ARRJIT_OK;
}

/* A compilation that found no memory or no thread may be tried again, each time after twice the work, so that trying
 * costs little however often it fails. */
static bool is_hot(const arrjit_function *function, int64_t work) {
  enum { MOST_TRIES = 40 };
  int tries = atomic_load_explicit(&function->hot_tries, memory_order_relaxed);
  int64_t least = aj_core_option(function->core, AJ_OPTION_HOT_WORK);
  if (tries == 0) return work >= least;
  return tries < MOST_TRIES && work >> tries >= (least ? least : 1);
}

/* Auto: native once it is there; until then the interpreter, whose work is counted. */
static void run_auto(aj_activation *a, const arrjit_run_options *o, uint64_t *out_touched) {
  arrjit_function *function = a->function;
  const aj_code *code = atomic_load_explicit(&function->code, memory_order_acquire);
  if (code && aj_tier_has_stack(a, code)) {
    a->succeeded = run_native(a, code, o, out_touched);
    return;
  }
  a->succeeded = interpret(a, o, out_touched);
  if (code || atomic_load_explicit(&function->native_state, memory_order_relaxed) != AJ_NATIVE_NONE) return;
  int64_t work = atomic_fetch_add_explicit(&function->hot_work, a->run.work, memory_order_relaxed) + a->run.work;
  if (!is_hot(function, work)) return;
  atomic_fetch_add_explicit(&function->hot_tries, 1, memory_order_relaxed);
  (void)aj_compiler_queue(function, NULL);
}

/* The status is not OK only when native code was required; else a->succeeded, or run.exn is set. */
static arrjit_status run_tier(aj_activation *a, const arrjit_run_options *o, uint64_t *out_touched,
                              arrjit_error *error) {
  if (AJ_UNLIKELY(a->run.max_bytes != 0) && !aj_tier_fits(a)) return ARRJIT_OK;
  switch (o->mode) {
  case ARRJIT_MODE_AUTO: run_auto(a, o, out_touched); break;
  case ARRJIT_MODE_INTERP: a->succeeded = interpret(a, o, out_touched); break;
  case ARRJIT_MODE_WHOLE: return run_whole(a, o, out_touched, error);
  }
  return ARRJIT_OK;
}

/* ---- the result ---- */

static void release_keeper(void *function) { aj_function_release(function); }

static void pack_outputs(aj_activation *a, const arrjit_run_options *o, arrjit_result *result) {
  result->output_count = a->output_count;
  for (uint32_t i = 0; i < a->output_count; i++) {
    result->outputs[i] = a->outputs[i];
    a->outputs[i] = NULL;
    if (i < 64 && o->outputs && o->outputs[i]) result->touched |= UINT64_C(1) << i;
  }
}

/* The exn keeps the function: its trace, and those of its causes, name nodes. */
static void pack_failure(aj_activation *a, arrjit_result *result) {
  aj_core *core = result->core;
  atomic_fetch_add_explicit(&core->runs_failed, 1, memory_order_relaxed);
  result->exn = a ? a->run.exn : aj_exn_no_memory(core);
  if (!a) return;
  AJ_ASSERT(result->exn);
  a->run.exn = NULL;
  if (result->exn == aj_exn_no_memory(core)) return;
  AJ_ASSERT(!result->exn->keep);
  aj_function_retain(a->function);
  result->exn->keep = a->function;
  result->exn->keep_release = release_keeper;
}

/* `a` NULL: there was no memory for it. */
static void pack_result(aj_activation *a, const arrjit_run_options *o, uint64_t touched, arrjit_result *result) {
  result->touched = touched;
  result->consumed = a ? a->run.consumed : 0;
  if (a && a->succeeded)
    pack_outputs(a, o, result);
  else
    pack_failure(a, result);
}

static arrjit_status run_checked(aj_activation *a, const arrjit_run_options *o, const _Atomic int *stop,
                                 size_t input_count, arrjit_array *const *inputs, uint64_t *out_touched,
                                 arrjit_error *error) {
  if (aj_activation_enter(a, o, stop) && aj_arguments_bind(a, input_count, inputs) && aj_arguments_check_slots(a) &&
      aj_arguments_check_outputs(a, o->outputs))
    return run_tier(a, o, out_touched, error);
  return ARRJIT_OK; /* run.exn */
}

/* Runs also when a foreign exception unwinds through the run. */
static void end_activation(aj_activation **place) { aj_activation_end(*place); }
static void end_result(arrjit_result **place) { aj_result_destroy(*place); }

arrjit_status aj_engine_run(arrjit_function *function, const arrjit_run_options *options, const _Atomic int *stop,
                            size_t input_count, arrjit_array *const *inputs, arrjit_result **out, arrjit_error *error) {
  static const arrjit_run_options defaults = {.struct_bytes = sizeof defaults};
  const arrjit_run_options *o = options ? options : &defaults;
  arrjit_status status = check_call(function, o, input_count, inputs, out, error);
  if (status != ARRJIT_OK) return status;
  __attribute__((cleanup(end_result))) arrjit_result *result = aj_result_create(
      function->core, function->module->funcs.data[0]->result_count); /* all room: what succeeds stays so */
  __attribute__((cleanup(end_activation))) aj_activation *a = result ? aj_activation_begin(function) : NULL;
  if (!result) return aj_error_memory(error, "a result");
  uint64_t touched = 0;
  if (a) {
    if (a->keeps || o->binding_count) status = aj_run_bind(&a->run, o->binding_count, o->bindings, error);
    if (status == ARRJIT_OK)
      status = run_checked(a, o, stop, input_count, inputs, &touched, error);
    else if (status == ARRJIT_MEMORY)
      status = ARRJIT_OK, (void)aj_run_raise_memory(&a->run, 0);
    if (status != ARRJIT_OK) return status;
  }
  pack_result(a, o, touched, result);
  *out = result;
  result = NULL;
  return error ? aj_error_clear(error) : ARRJIT_OK;
}

/* ---- on blocks of the host ---- */

static arrjit_status run_blocks(aj_activation *a, const arrjit_run_options *o, const void *const *inputs,
                                void *const *outputs, arrjit_error *error) {
  uint64_t touched = 0;
  if (!aj_activation_enter(a, o, NULL)) return ARRJIT_OK; /* run.exn */
  if (!aj_activation_lend(a)) return aj_run_raise_memory(&a->run, 0), ARRJIT_OK;
  if (!aj_arguments_bind_blocks(a, inputs) || !aj_arguments_check_slots(a)) return ARRJIT_OK;
  for (uint32_t i = 0; i < a->output_count; i++) a->lent->outputs[i]->view.data = outputs[i];
  arrjit_run_options with_outputs = *o;
  with_outputs.outputs = a->lent->outputs;
  return run_tier(a, &with_outputs, &touched, error);
}

arrjit_status aj_engine_run_blocks(arrjit_function *function, const arrjit_run_options *o, const void *const *inputs,
                                   void *const *outputs, arrjit_result **out_failure, arrjit_error *error) {
  *out_failure = NULL;
  if (!atomic_load_explicit(&function->context, memory_order_relaxed))
    return aj_error_set(error, ARRJIT_MISUSE, "the function's context was destroyed");
  __attribute__((cleanup(end_activation))) aj_activation *a = aj_activation_begin(function);
  arrjit_status status = ARRJIT_OK;
  if (a && (a->keeps || o->binding_count)) status = aj_run_bind(&a->run, o->binding_count, o->bindings, error);
  if (a && status == ARRJIT_OK) status = run_blocks(a, o, inputs, outputs, error);
  if (status != ARRJIT_OK || (a && a->succeeded)) return status;
  arrjit_result *result = aj_result_create(function->core, 0);
  if (!result) return aj_error_memory(error, "a result");
  pack_failure(a, result);
  *out_failure = result;
  return ARRJIT_OK;
}
