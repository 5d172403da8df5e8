/* A run: all that one call of a function owns, whatever tier it is in. Private to its thread. */
#ifndef AJ_RT_RUN_H
#define AJ_RT_RUN_H

#include "arrjit/run.h"
#include "base/vec.h"
#include "rt/exn.h"
#include "rt/fpenv.h"

struct arrjit_cancel {
  _Atomic int64_t refs;
  aj_core *core;
  _Atomic int triggered;
};
arrjit_cancel *aj_cancel_create(aj_core *core); /* NULL: no memory */
void aj_cancel_retain(arrjit_cancel *cancel);
void aj_cancel_release(arrjit_cancel *cancel); /* NULL is fine */

typedef struct aj_bound_slot { /* a callback slot with its binding */
  arrjit_callback_fn *callback;
  void *user;
  void (*direct)(void);
  const aj_slot *slot;
  struct aj_direct *call; /* how libffi calls `direct` */
} aj_bound_slot;

/* Exceptions that compiled code owns: of all its functions that are active, innermost last. */
enum { AJ_NH_EXNS = 6 };
typedef struct aj_nh_exns {
  int64_t count, capacity; /* capacity 0: in `few` */
  aj_exn **many;
  aj_exn *few[AJ_NH_EXNS];
} aj_nh_exns;

/* Bits of aj_run.stop. CLOCK stops nothing: it makes each poll take the slow way, where its time is measured. LIMIT
 * stops back-edges and calls only, which are the same in every tier; other polls are not. */
enum {
  AJ_STOP_DEADLINE = 1,
  AJ_STOP_CANCEL = 2,
  AJ_STOP_SHUTDOWN = 4,
  AJ_STOP_WALL_TIME = 8,
  AJ_STOP_CLOCK = 16,
  AJ_STOP_LIMIT = 32
};

/* Limits that stay reached through AJ_STOP_LIMIT. Others do so by themselves: flags stay set, counters at 0. */
typedef enum aj_reached { AJ_REACHED_NONE, AJ_REACHED_DEPTH, AJ_REACHED_STACK, AJ_REACHED_BYTES } aj_reached;

typedef struct aj_run {
  aj_core *core;
  const aj_module *module; /* finished */
  void *function;          /* arrjit_function *, retained: exceptions keep it for their traces */
  uint32_t slot_count;
  aj_bound_slot *slots;         /* by aj_run_bind */
  struct aj_defaults *defaults; /* what the function binds, one reference; NULL: nothing */
  aj_fpenv fpenv;               /* what aj_fpenv_enter gave when the run began: the host's state for its callbacks */
  /* polling: `stop` is looked at by every tier at back-edges and between blocks */
  _Atomic int stop; /* AJ_STOP_* bits, set by timer, cancel, shutdown; looked at first */
  arrjit_cancel *cancel;
  const _Atomic int *job_stop; /* AJ_STOP_* bits of a runner's job, or NULL */
  int64_t deadline_ns;         /* 0: none */
  int64_t wall_ns;             /* of wall time; 0: no limit */
  int64_t wall_end_ns;         /* when it is used up; 0: no limit */
  aj_timer_entry timer;
  int64_t max_iterations;     /* back-edges; 0: no limit */
  int64_t iterations_left;    /* INT64_MAX: no limit */
  int64_t depth, max_depth;   /* calls inside the graph */
  aj_reached reached;         /* the one that was, last */
  int64_t max_bytes;          /* of memory; 0: no limit */
  int64_t needed;             /* AJ_REACHED_BYTES: what was too much */
  const struct aj_need *need; /* of its functions, when memory is limited; else NULL (rt/need.h) */
  AJ_VEC(int64_t) needs;      /* of active functions together, by depth */
  uint64_t donated;           /* bit i: input i may be written to: nothing else lies in it */
  uint64_t consumed;          /* those that were, or whose memory is an output's now */
  aj_exn *exn;                /* in flight: set exactly when a step reports failure */
  int64_t masked_until_ns;    /* grace of a finally: until then aj_run_poll is false and counts nothing; 0: none */
  int64_t polled_ns;          /* option poll_clock: CPU time of the run's thread at the last poll */
  pthread_t thread;           /* and that thread */
  int64_t work;               /* nodes times elements interpreted so far: what auto mode counts */
  /* what compiled code holds, here so that nothing is lost when a foreign exception unwinds through it */
  aj_nh_exns exns;
  struct aj_nh_block *blocks;    /* of active functions, innermost first */
  bool unbegun;                  /* compiled code found no memory to begin with: nothing has happened yet */
  AJ_VEC(arrjit_array *) arrays; /* whose extents showed only while it ran */
  arrjit_array **outputs;        /* where outputs go whose extents are such */
} aj_run;

/* True when the run has to end: then run->exn is set (cancelled, deadline, shutdown or limit). Cheap; call at every
 * back-edge (count_iteration true) and between blocks. */
bool aj_run_poll(aj_run *run, bool count_iteration);
/* Whether a call may be made, which it does not count: the depth is below its limit, no limit was reached before, and
 * no poll ends the run. False: run->exn is set. */
bool aj_run_may_call(aj_run *run);
/* Raises that a limit is reached. `needed`: bytes, for BYTES. Always returns false. */
bool aj_run_raise_limit(aj_run *run, aj_reached limit, int64_t needed);
/* From now on every back-edge and call raises it, unless a finally masks it. */
void aj_run_mark_reached(aj_run *run, aj_reached limit, int64_t needed);
/* Both. */
bool aj_run_reach(aj_run *run, aj_reached limit, int64_t needed);
/* aj_run_poll of the run `user`, for routines. */
bool aj_run_poll_routine(void *user);
aj_poller aj_run_poller(aj_run *run);
/* Whether a poll would end the run. Any thread that works for it may ask; only its own then polls. */
bool aj_run_is_due(aj_run *run);
/* The poll clock: starts on the calling thread, the run's; when it is on, time up to now counts as between polls, or
 * (skip) does not: the host had it. */
void aj_run_start_clock(aj_run *run);
void aj_run_read_clock(aj_run *run, bool skip);
static inline void aj_run_note_poll(aj_run *run, bool skip) {
  if (AJ_UNLIKELY(atomic_load_explicit(&run->stop, memory_order_relaxed) & AJ_STOP_CLOCK)) aj_run_read_clock(run, skip);
}
/* Watches the run's deadline and wall time, when it has such: call before the first poll. False: run->exn is set. */
bool aj_run_watch(aj_run *run);
/* After the last poll, whatever aj_run_watch gave. */
void aj_run_unwatch(aj_run *run);
/* A new dense array. NULL: run->exn. */
arrjit_array *aj_run_array(aj_run *run, arrjit_dtype dtype, int32_t rank, const int64_t *dims, bool zero);
/* The same of a type under env. */
arrjit_array *aj_run_array_of(aj_run *run, const aj_type *type, const int64_t *env);
/* A dense copy of a view; polls. NULL: run->exn. */
arrjit_array *aj_run_copy(aj_run *run, const aj_view *view);
/* Sets run->exn. Kind memory when it cannot be made. Always returns false, for `return aj_run_raise(...)`. */
bool aj_run_raise(aj_run *run, arrjit_kind kind, int64_t code, const char *message, uint32_t payload_count,
                  arrjit_array *const *payload);
/* The exn of a failed routine: arith has payload (lane, operand elements at lane), index (position, index, axis,
 * bound). */
bool aj_run_raise_sem(aj_run *run, const aj_sem_fail *fail, uint32_t operand_count, const aj_view *operands);
/* Kind memory: there is none for so many bytes; 0: not known how many. */
bool aj_run_raise_memory(aj_run *run, size_t bytes);
/* Kind memory: an array of these extents has more bytes than can be counted. */
bool aj_run_raise_huge(aj_run *run, arrjit_dtype dtype, int32_t rank, const int64_t *dims);
/* The same of a type under env. */
bool aj_run_raise_huge_type(aj_run *run, const aj_type *type, const int64_t *env);
bool aj_run_raise_views(aj_run *run, arrjit_kind kind, int64_t code, const char *message, uint32_t payload_count,
                        const aj_view *payload);
/* Kind shape: an extent is `got`, but `dim` (a number, or a symbol that stands for `expected`) was asked for. */
bool aj_run_raise_extent(aj_run *run, int32_t axis, int64_t dim, int64_t expected, int64_t got);
/* Computes in env what derives from the parameters' extents. False: one is out of range, run->exn is set (kind shape).
 */
bool aj_run_derive(aj_run *run, const aj_func *func, int64_t *env);
/* The extents that a callback node has bound, from the arrays that it made (NULL where a result has none), and what
 * derives from them. False: as above. */
bool aj_run_bind_extents(aj_run *run, const aj_node *callback, arrjit_array *const *made, int64_t *env);
/* Releases what compiled code still holds. */
void aj_run_release_native(aj_run *run);
enum { AJ_FINALLY_GRACE_NS = 10000000 }; /* how long masked_until_ns lies ahead when a finally begins */

/* ---- callbacks (rt/callback.c) ---- */
/* Calls slot with dense arguments; value results are pre-sized, zeroed by the caller, but those with dynamic dims:
 * their views have ARRJIT_DYNAMIC_DIM in `dims` and no data, their entries of `made` (which has one a result, NULL when
 * the slot has no such dims) are NULL. The callback makes them; then the views show them and `made` has them, counted
 * against the run's memory and the caller's also when the call failed. False: run->exn is set (host frames in it, no
 * site yet). An unbound optional io slot does nothing; an unbound required one raises unbound. Direct C functions go
 * through libffi here; native code may call them straight. FP state is the host's during the call. */
bool aj_run_callback(aj_run *run, uint32_t slot, const arrjit_view *args, arrjit_view *results, arrjit_array **made);
/* Binds by name, and what no binding names to run->defaults; MISUSE for a name that is no slot, a binding with neither
 * or both functions, or a direct one whose slot is not all scalars. run->slots is made when it is NULL, else used
 * again: a warm run allocates nothing. */
arrjit_status aj_run_bind(aj_run *run, size_t count, const arrjit_binding *bindings, arrjit_error *error);
/* Frees run->slots, also after a failed binding; NULL is fine. */
void aj_run_unbind(aj_run *run);

#endif
