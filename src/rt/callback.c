/* Calling the host and taking its failures. The good path allocates nothing: the record of the call is on the stack,
 * and an exn is made only when the host calls arrjit_fail. */
#include "rt/callback.h"

#include <inttypes.h>

#include "rt/bind.h"

/* Runs also when a foreign exception unwinds out of the callback: then nothing may look at the run any more. */
static void end_call(arrjit_call_info *call) {
  if (AJ_LIKELY(call->returned)) return;
  aj_run_unwatch(call->run);
  aj_exn_release(call->failure);
}

static bool raise_unbound(aj_run *run, const aj_slot *slot) {
  char name[256], message[320];
  aj_exn_escape(name, sizeof name, slot->name);
  aj_bounded_printf(message, sizeof message, "callback slot \"%s\" is not bound", name);
  return aj_run_raise(run, ARRJIT_KIND_UNBOUND, 0, message, 0, NULL);
}

/* Native code and loops rely on bools being 0 or 1; anything else is stopped where it comes in. */
static bool raise_bad_bool(aj_run *run, const aj_slot *slot, uint32_t result, int value) {
  char name[256], message[400];
  aj_exn_escape(name, sizeof name, slot->name);
  aj_bounded_printf(message, sizeof message, "callback \"%s\" wrote %d into bool result %u: expected 0 or 1", name,
                    value, (unsigned)result);
  return aj_run_raise(run, ARRJIT_KIND_CALLBACK_CONTRACT, 0, message, 0, NULL);
}

/* Of all dtypes only bool has bytes that are no value. */
static bool check_results(aj_run *run, const aj_slot *slot, const arrjit_view *results) {
  for (uint32_t i = 0; i < slot->result_count; i++) {
    if (AJ_LIKELY(results[i].dtype != ARRJIT_BOOL)) continue;
    const unsigned char *bytes = results[i].data;
    for (size_t k = 0; k < results[i].bytes; k++)
      if (bytes[k] > 1) return raise_bad_bool(run, slot, i, bytes[k]);
  }
  return true;
}

/* What was recorded leaves the callback: so a limit that it met is reached. */
static bool raise_failure(aj_run *run, const arrjit_call_info *call) {
  AJ_ASSERT(!run->exn);
  run->exn = call->failure;
  if (call->needed) aj_run_mark_reached(run, AJ_REACHED_BYTES, call->needed);
  return false;
}

/* The callback said that it failed: with what it told, or in the words of its status. */
static bool take_failure(aj_run *run, arrjit_call_info *call, arrjit_status status) {
  if (!call->failure) {
    const char *text = aj_status_text(status);
    if (text[0] == '?') text = "the callback returned a number that is no arrjit_status";
    return aj_run_raise(run, ARRJIT_KIND_CALLBACK, (int64_t)status, text, 0, NULL);
  }
  return raise_failure(run, call);
}

/* It told of a failure and then that all is well. Going on could hide the failure, and its results may not be there;
 * what it told of becomes the context. */
static bool raise_contradiction(aj_run *run, arrjit_call_info *call) {
  char name[256], message[400];
  aj_exn_escape(name, sizeof name, call->slot->name);
  aj_bounded_printf(message, sizeof message, "callback \"%s\" called arrjit_fail, but returned ARRJIT_OK", name);
  aj_run_raise(run, ARRJIT_KIND_CALLBACK_CONTRACT, 0, message, 0, NULL);
  aj_exn_link(run->exn, NULL, call->failure);
  aj_exn_release(call->failure);
  return false;
}

static arrjit_status call_host(const aj_bound_slot *bound, arrjit_call_info *call, const arrjit_view *args,
                               const arrjit_view *results) {
  const aj_slot *slot = bound->slot;
  if (bound->callback)
    return bound->callback(bound->user, call, slot->param_count, args, slot->is_value ? slot->result_count : 0,
                           results);
  aj_direct_call(bound, args, results);
  return ARRJIT_OK;
}

/* What a callback that returns ok has to have done: "result 1 did not come". False: recorded. */
static bool check_made(arrjit_call_info *call) {
  const aj_slot *slot = call->slot;
  for (uint32_t i = 0; i < slot->result_count && (call->made || call->given); i++) {
    bool made = !call->made || call->made[i] || aj_slot_dynamic_dims(slot, i) == 0;
    bool given = !call->given || i >= 64 || call->given >> i & 1;
    if (made && given) continue;
    char why[120];
    aj_bounded_printf(why, sizeof why, "result %" PRIu32 " of %" PRIu32 " did not come: expected it from %s", i,
                      slot->result_count, made ? "arrjit_call_give" : "arrjit_call_result");
    if (!call->failure || made) aj_call_fail_contract(call, why); /* else it was told why there is none */
    return false;
  }
  return true;
}

/* A callback that says ok. That it had to make a result in another way than it tried leaves no mark. */
static bool end_ok(aj_run *run, arrjit_call_info *call) {
  if (AJ_UNLIKELY(call->failure && !call->own)) return raise_contradiction(run, call);
  if (AJ_UNLIKELY(call->refused || ((call->made || call->given) && !check_made(call)))) return raise_failure(run, call);
  if (AJ_UNLIKELY(call->failure != NULL)) aj_exn_release(call->failure);
  return call->slot->is_value ? check_results(run, call->slot, call->results) : true;
}

bool aj_run_callback(aj_run *run, uint32_t slot, const arrjit_view *args, arrjit_view *results, arrjit_array **made) {
  AJ_ASSERT(slot < run->slot_count && !run->exn);
  const aj_bound_slot *bound = &run->slots[slot];
  if (AJ_UNLIKELY(!bound->callback && !bound->direct))
    return bound->slot->optional ? true : raise_unbound(run, bound->slot);
  __attribute__((cleanup(end_call))) arrjit_call_info call = {
      .run = run, .slot = bound->slot, .results = results, .made = made};
  aj_fpenv_leave(run->fpenv);
  aj_run_note_poll(run, false);
  arrjit_status status = call_host(bound, &call, args, results);
  run->fpenv =
      aj_fpenv_enter(); /* the host may have changed its own state in the callback: that is what to go back to */
  aj_run_note_poll(run, true);
  call.returned = true;
  if (AJ_UNLIKELY(status != ARRJIT_OK)) return take_failure(run, &call, status);
  return end_ok(run, &call);
}
