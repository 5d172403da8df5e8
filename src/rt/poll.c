/* Whether a run has to end. The common answer is no and costs a few loads: no clock is read unless a finally is masked.
 */
#include "rt/run.h"

static int read_flag(const _Atomic int *flag) { return atomic_load_explicit(flag, memory_order_relaxed); }

static int read_stops(const aj_run *run) {
  int stops = read_flag(&run->stop);
  if (run->cancel && read_flag(&run->cancel->triggered)) stops |= AJ_STOP_CANCEL;
  if (run->job_stop) stops |= read_flag(run->job_stop);
  return stops;
}

/* Flags stay set and the counter stays at zero: what ended a run once ends it at each later poll too. */
static bool end_run(aj_run *run, int stops) {
  if (stops & AJ_STOP_CANCEL)
    aj_run_raise(run, ARRJIT_KIND_CANCELLED, 0, "the run was cancelled", 0, NULL);
  else if (stops & AJ_STOP_DEADLINE)
    aj_run_raise(run, ARRJIT_KIND_DEADLINE, 0, "the deadline of the run has passed", 0, NULL);
  else if (stops & AJ_STOP_WALL_TIME)
    aj_run_raise(run, ARRJIT_KIND_LIMIT, 0, "the run has used up its wall time", 0, NULL);
  else if (stops & AJ_STOP_SHUTDOWN)
    aj_run_raise(run, ARRJIT_KIND_SHUTDOWN, 0, "the runner is shutting down", 0, NULL);
  else
    aj_run_raise(run, ARRJIT_KIND_LIMIT, 0, "the run has used up its loop iterations", 0, NULL);
  return true;
}

bool aj_run_poll(aj_run *run, bool count_iteration) {
  AJ_ASSERT(!run->exn);
  if (AJ_UNLIKELY(run->masked_until_ns != 0) && aj_clock_ns() < run->masked_until_ns) return false;
  int stops = read_stops(run);
  bool exhausted = count_iteration && run->iterations_left <= 0;
  if (AJ_UNLIKELY(stops != 0 || exhausted)) return end_run(run, stops);
  if (count_iteration) run->iterations_left--;
  return false;
}

/* One timer for both: the earlier ends the run. What has passed needs none: the first poll ends the run. */
bool aj_run_watch(aj_run *run) {
  bool wall = run->wall_end_ns != 0 && (run->deadline_ns == 0 || run->wall_end_ns < run->deadline_ns);
  int64_t end = wall ? run->wall_end_ns : run->deadline_ns;
  int bit = wall ? AJ_STOP_WALL_TIME : AJ_STOP_DEADLINE;
  if (end == 0) return true;
  if (end <= aj_clock_ns()) {
    atomic_fetch_or_explicit(&run->stop, bit, memory_order_relaxed);
    return true;
  }
  if (aj_timer_add(&run->core->timer, &run->timer, end, &run->stop, bit)) return true;
  return aj_run_raise(run, ARRJIT_KIND_LIMIT, 0, "the system has no thread to watch the deadline", 0, NULL);
}

void aj_run_unwatch(aj_run *run) {
  if (run->deadline_ns != 0 || run->wall_end_ns != 0) aj_timer_remove(&run->core->timer, &run->timer);
}

/* max_bytes 0 is no limit, but an impossible sum is refused all the same. */
bool aj_run_charge(aj_run *run, size_t bytes) {
  int64_t sum;
  bool counted = bytes <= INT64_MAX && aj_i64_add(run->bytes, (int64_t)bytes, &sum);
  if (AJ_UNLIKELY(!counted || (run->max_bytes && sum > run->max_bytes)))
    return aj_run_raise(run, ARRJIT_KIND_MEMORY, 0, "the run needs more memory than it may use", 0, NULL);
  run->bytes = sum;
  return true;
}
