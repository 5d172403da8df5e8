/* Whether a run has to end. The common answer is no and costs a few loads: no clock is read unless a finally is masked.
 */
#include <inttypes.h>

#include "ir/symbol.h"
#include "rt/run.h"

static int read_flag(const _Atomic int *flag) { return atomic_load_explicit(flag, memory_order_relaxed); }

static int read_stops(const aj_run *run) {
  int stops = read_flag(&run->stop);
  if (run->cancel && read_flag(&run->cancel->triggered)) stops |= AJ_STOP_CANCEL;
  if (run->job_stop) stops |= read_flag(run->job_stop);
  return stops;
}

void aj_run_start_clock(aj_run *run) {
  atomic_store_explicit(&run->stop, AJ_STOP_CLOCK, memory_order_relaxed);
  run->thread = pthread_self();
  run->polled_ns = aj_thread_cpu_ns();
}

/* Threads that help have a time of their own, and polls that are nobody's. */
void aj_run_read_clock(aj_run *run, bool skip) {
  if (!pthread_equal(run->thread, pthread_self())) return;
  int64_t now = aj_thread_cpu_ns(), used = now - run->polled_ns;
  _Atomic int64_t *longest = &run->core->poll_longest_ns;
  int64_t before = atomic_load_explicit(longest, memory_order_relaxed);
  while (!skip && used > before && !atomic_compare_exchange_weak(longest, &before, used)) {}
  run->polled_ns = aj_thread_cpu_ns();
}

static bool is_masked(const aj_run *run) {
  return AJ_UNLIKELY(run->masked_until_ns != 0) && aj_clock_ns() < run->masked_until_ns;
}

bool aj_run_is_due(aj_run *run) {
  int stops = read_stops(run);
  if (AJ_LIKELY(stops == 0)) return false;
  aj_run_note_poll(run, false);
  return (stops & ~(AJ_STOP_CLOCK | AJ_STOP_LIMIT)) != 0 && !is_masked(run);
}

static bool raise_bytes(aj_run *run, int64_t needed) {
  char message[120];
  aj_bounded_printf(message, sizeof message, "the run needs %" PRId64 " bytes, max_run_bytes is %" PRId64, needed,
                    run->max_bytes);
  return aj_run_raise(run, ARRJIT_KIND_MEMORY, 0, message, 0, NULL);
}

/* What has come to pass, and the option or field of arrjit_limits that says how much there may be. */
static bool raise_limit(aj_run *run, const char *what, const char *limit, int64_t value) {
  char message[120];
  aj_bounded_printf(message, sizeof message, "%s, %s is %" PRId64, what, limit, value);
  return aj_run_raise(run, ARRJIT_KIND_LIMIT, 0, message, 0, NULL);
}

static bool raise_wall_time(aj_run *run) {
  enum { MS = 1000000 };
  bool whole = run->wall_ns % MS == 0;
  return raise_limit(run, "the run has used up its wall time", whole ? "max_run_ms" : "wall_ns",
                     whole ? run->wall_ns / MS : run->wall_ns);
}

bool aj_run_raise_limit(aj_run *run, aj_reached limit, int64_t needed) {
  switch (limit) {
  case AJ_REACHED_NONE: break;
  case AJ_REACHED_DEPTH: return raise_limit(run, "calls are nested too deep", "max_depth", run->max_depth);
  case AJ_REACHED_STACK:
    return aj_run_raise(run, ARRJIT_KIND_LIMIT, 0, "calls are nested deeper than the thread's stack", 0, NULL);
  case AJ_REACHED_BYTES: return raise_bytes(run, needed);
  }
  AJ_ASSERT(false);
  return false;
}

static bool raise_reached(aj_run *run) { return aj_run_raise_limit(run, run->reached, run->needed); }

void aj_run_mark_reached(aj_run *run, aj_reached limit, int64_t needed) {
  run->reached = limit;
  run->needed = needed;
  atomic_fetch_or_explicit(&run->stop, AJ_STOP_LIMIT, memory_order_relaxed);
}

bool aj_run_reach(aj_run *run, aj_reached limit, int64_t needed) {
  aj_run_mark_reached(run, limit, needed);
  return raise_reached(run);
}

bool aj_run_may_call(aj_run *run) {
  if (AJ_UNLIKELY(run->reached != AJ_REACHED_NONE) && !is_masked(run)) return raise_reached(run);
  if (AJ_UNLIKELY(run->depth >= run->max_depth)) return aj_run_reach(run, AJ_REACHED_DEPTH, 0);
  return !aj_run_poll(run, false);
}

/* Flags stay set and the counter stays at zero: what ended a run once ends it at each later poll too. */
static void end_run(aj_run *run, int stops) {
  if (stops & AJ_STOP_CANCEL)
    aj_run_raise(run, ARRJIT_KIND_CANCELLED, 0, "the run was cancelled", 0, NULL);
  else if (stops & AJ_STOP_DEADLINE)
    aj_run_raise(run, ARRJIT_KIND_DEADLINE, 0, "the deadline of the run has passed", 0, NULL);
  else if (stops & AJ_STOP_WALL_TIME)
    raise_wall_time(run);
  else if (stops & AJ_STOP_SHUTDOWN)
    aj_run_raise(run, ARRJIT_KIND_SHUTDOWN, 0, "the runner is shutting down", 0, NULL);
  else if (stops & AJ_STOP_LIMIT)
    raise_reached(run);
  else
    raise_limit(run, "the run has used up its loop iterations", "max_iterations", run->max_iterations);
}

bool aj_run_poll(aj_run *run, bool count_iteration) {
  AJ_ASSERT(!run->exn);
  int stops = read_stops(run);
  if (AJ_UNLIKELY(stops & AJ_STOP_CLOCK)) {
    aj_run_note_poll(run, false);
    stops &= ~AJ_STOP_CLOCK;
  }
  if (!count_iteration) stops &= ~AJ_STOP_LIMIT;
  if (is_masked(run)) return false;
  bool ends = stops != 0 || (count_iteration && run->iterations_left <= 0);
  if (AJ_UNLIKELY(ends))
    end_run(run, stops);
  else if (count_iteration)
    run->iterations_left--;
  return ends;
}

bool aj_run_poll_routine(void *user) { return aj_run_poll(user, false); }
aj_poller aj_run_poller(aj_run *run) { return (aj_poller){.stop = aj_run_poll_routine, .user = run}; }

arrjit_array *aj_run_array(aj_run *run, arrjit_dtype dtype, int32_t rank, const int64_t *dims, bool zero) {
  arrjit_array *array = aj_array_create(run->core, dtype, rank, dims, zero);
  int64_t bytes;
  if (array) return array;
  if (aj_array_shape_bytes(dtype, rank, dims, &bytes))
    aj_run_raise_memory(run, (size_t)bytes);
  else
    aj_run_raise_huge(run, dtype, rank, dims);
  return NULL;
}

arrjit_array *aj_run_array_of(aj_run *run, const aj_type *type, const int64_t *env) {
  int64_t dims[ARRJIT_MAX_RANK];
  for (int32_t i = 0; i < type->rank; i++) dims[i] = aj_dim_eval(type->dims[i], env);
  return aj_run_array(run, type->dtype, type->rank, dims, false);
}

arrjit_array *aj_run_copy(aj_run *run, const aj_view *view) {
  aj_poller poller = aj_run_poller(run);
  arrjit_array *copy = aj_run_array(run, view->dtype, view->rank, view->dims, false);
  if (!copy || aj_view_pack_polled(copy->view.data, view, &poller)) return copy;
  aj_array_release(copy);
  return NULL;
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
