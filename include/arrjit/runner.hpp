/* libarrjit for C++: runners and their jobs. */
#ifndef ARRJIT_RUNNER_HPP
#define ARRJIT_RUNNER_HPP

#include <functional>

#include "arrjit/run.hpp"
#include "arrjit/runner.h"

namespace arrjit {

/* A job, borrowed: what a completion gets. */
class job_view {
public:
  explicit job_view(arrjit_job *raw) noexcept : raw_(raw) {}
  arrjit_job *get() const noexcept { return raw_; }
  bool done() const { return arrjit_job_done(raw_) != 0; }
  /* Asks it to end with kind cancelled. */
  void cancel() const { arrjit_job_cancel(raw_); }
  /* The result, once; none when the job is not done. Throws status_error as function::run does, NOT_FOUND the second
   * time. */
  std::optional<result> take() const {
    return give([this](arrjit_result **out, arrjit_error *error) { return arrjit_job_take(raw_, out, error); });
  }

protected:
  template <class F> static std::optional<result> give(const F &ask) {
    arrjit_error error = {};
    arrjit_result *raw = nullptr;
    const arrjit_status status = ask(&raw, &error);
    if (status == ARRJIT_TIMEOUT) return std::nullopt;
    detail::check(status, error);
    return result(raw);
  }

private:
  arrjit_job *raw_;
};

/* Called once when a job is done, as arrjit_completion tells. It must not throw: nobody could catch that. */
using completion = std::function<void(job_view)>;

namespace detail {
/* A job with all that its callbacks use. Shared by the handles, and by the library until the job is done. */
struct job_state {
  options given;
  completion on_done;
  std::unique_ptr<arrjit_job, ender<arrjit_job, arrjit_job_release>> raw;
};

inline void complete(void *user, arrjit_job *raw) noexcept {
  const std::unique_ptr<std::shared_ptr<job_state>> shared(static_cast<std::shared_ptr<job_state> *>(user));
  job_state &state = **shared;
  state.given = options(); /* what was bound ends with the job, not with its last handle */
  const completion on_done = std::move(state.on_done);
  if (on_done) on_done(job_view(raw));
}
} // namespace detail

/* A handle of a job; copies are one handle. The job goes on when all are gone. */
class job : public job_view {
public:
  explicit job(std::shared_ptr<detail::job_state> state) noexcept
      : job_view(state->raw.get()), state_(std::move(state)) {}
  /* As take, after waiting until the job is done, at most timeout_ns. Throws status_error BUSY in a job of the same
   * runner. */
  std::optional<result> wait_for(int64_t timeout_ns) const {
    return give(
        [&](arrjit_result **out, arrjit_error *error) { return arrjit_job_wait(get(), timeout_ns, out, error); });
  }
  result wait() const { return *wait_for(-1); }

private:
  std::shared_ptr<detail::job_state> state_;
};

/* Runs jobs one after the other on a thread of its own, or on the host's; movable; all calls from any thread.
 * Destroying it ends its jobs as arrjit_runner_destroy does, and must not happen in a job or completion of its own. */
class runner {
public:
  explicit runner(const context &of) : runner(of, arrjit_runner_options()) {}
  /* struct_bytes is set here; completions are given to submit. */
  runner(const context &of, arrjit_runner_options given) {
    if (given.completion) detail::misuse("a runner's completions are given to submit");
    given.struct_bytes = sizeof given;
    arrjit_error error = {};
    arrjit_runner *raw = nullptr;
    detail::check(arrjit_runner_create(of.get(), &given, &raw, &error), error);
    raw_.reset(raw);
  }
  arrjit_runner *get() const noexcept { return raw_.get(); }

  /* Queues a run. What the options bind is kept until the job is done, whatever becomes of the handle. `on_done` may be
   * called before this returns. Throws status_error: MISUSE, MEMORY, LIMIT, BUSY; then nothing was queued. */
  job submit(const function &f, const options &given, const std::vector<array> &inputs, completion on_done = nullptr) {
    std::vector<arrjit_array *> raw_inputs, outputs;
    for (const array &input : inputs) raw_inputs.push_back(input.get());
    auto state = std::make_shared<detail::job_state>(detail::job_state{given, std::move(on_done), nullptr});
    auto shared = std::make_unique<std::shared_ptr<detail::job_state>>(state);
    const arrjit_run_options run = given.get(f.get(), outputs);
    arrjit_job_options c = {};
    c.struct_bytes = sizeof c;
    c.run = &run;
    c.completion = detail::complete;
    c.user = shared.get();
    arrjit_error error = {};
    arrjit_job *raw = nullptr;
    detail::check(arrjit_runner_submit_job(get(), f.get(), &c, raw_inputs.size(), raw_inputs.data(), &raw, &error),
                  error);
    (void)shared.release(); /* complete has it, perhaps had it */
    state->raw.reset(raw);
    return job(std::move(state));
  }
  template <class... A, class = std::enable_if_t<(std::is_same_v<A, array> && ...)>>
  job submit(const function &f, const options &given, const A &...inputs) {
    return submit(f, given, std::vector<array>{inputs...});
  }

  arrjit_runner_statistics statistics() const {
    arrjit_runner_statistics out = {};
    arrjit_runner_get_statistics(get(), &out);
    return out;
  }

private:
  struct ender {
    void operator()(arrjit_runner *raw) const noexcept {
      if (arrjit_runner_destroy(raw) != ARRJIT_OK) return; /* in a job of its own: it goes on */
    }
  };
  std::unique_ptr<arrjit_runner, ender> raw_;
};

} // namespace arrjit
#endif
