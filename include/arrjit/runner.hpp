/* libarrjit for C++: runners and their jobs. */
#ifndef ARRJIT_RUNNER_HPP
#define ARRJIT_RUNNER_HPP

#include <algorithm>
#include <mutex>

#include "arrjit/run.hpp"
#include "arrjit/runner.h"

namespace arrjit {

namespace detail {
/* A job with all that its callbacks use. */
struct job_state {
  options given;
  std::unique_ptr<arrjit_job, ender<arrjit_job, arrjit_job_release>> raw;
};
} // namespace detail

/* A handle of a job; copies are one handle. The job goes on when all are gone. */
class job {
public:
  explicit job(std::shared_ptr<detail::job_state> state) noexcept : state_(std::move(state)) {}
  arrjit_job *get() const noexcept { return state_->raw.get(); }
  bool done() const { return arrjit_job_done(get()) != 0; }
  void cancel() const { arrjit_job_cancel(get()); }
  /* The result, once; none when the job is not done within timeout_ns. Throws status_error as function::run does,
   * NOT_FOUND the second time, BUSY in a job of the same runner. */
  std::optional<result> wait_for(int64_t timeout_ns) const {
    arrjit_error error = {};
    arrjit_result *raw = nullptr;
    const arrjit_status status = arrjit_job_wait(get(), timeout_ns, &raw, &error);
    if (status == ARRJIT_TIMEOUT) return std::nullopt;
    detail::check(status, error);
    return result(raw);
  }
  result wait() const { return *wait_for(-1); }

private:
  std::shared_ptr<detail::job_state> state_;
};

/* A worker thread with a queue; movable; all calls from any thread. Destroying it ends queued jobs with kind shutdown,
 * stops the running one, and waits; it must not happen in a job of its own. */
class runner {
public:
  explicit runner(const context &of) : state_(std::make_unique<state>()) {
    arrjit_error error = {};
    arrjit_runner *raw = nullptr;
    detail::check(arrjit_runner_create(of.get(), nullptr, &raw, &error), error);
    state_->raw.reset(raw);
  }
  arrjit_runner *get() const noexcept { return state_->raw.get(); }

  /* Queues a run. What the options bind is kept at least until the job is done, whatever becomes of the handle: it is
   * dropped when one more job is submitted, or with the runner. */
  job submit(const function &f, const options &given, const std::vector<array> &inputs) {
    std::vector<arrjit_array *> raw_inputs, outputs;
    for (const array &input : inputs) raw_inputs.push_back(input.get());
    auto made = std::make_shared<detail::job_state>(detail::job_state{given, nullptr});
    const arrjit_run_options c = made->given.get(f.get(), outputs);
    jobs over; /* dropped without the lock: what they bound may use the runner */
    const std::lock_guard<std::mutex> hold(state_->lock);
    state_->drop_done(over);
    state_->kept.reserve(state_->kept.size() + 1); /* from here on nothing but the submission can fail */
    arrjit_error error = {};
    arrjit_job *raw = nullptr;
    detail::check(arrjit_runner_submit(get(), f.get(), &c, raw_inputs.size(), raw_inputs.data(), &raw, &error), error);
    made->raw.reset(raw);
    state_->kept.push_back(made);
    return job(std::move(made));
  }
  template <class... A, class = std::enable_if_t<(std::is_same_v<A, array> && ...)>>
  job submit(const function &f, const options &given, const A &...inputs) {
    return submit(f, given, std::vector<array>{inputs...});
  }

private:
  using jobs = std::vector<std::shared_ptr<detail::job_state>>;
  struct ender {
    void operator()(arrjit_runner *raw) const noexcept {
      if (arrjit_runner_destroy(raw) != ARRJIT_OK) return; /* in a job of its own: it goes on */
    }
  };
  struct state {
    std::mutex lock;
    jobs kept; /* jobs that may still call what their options bound; destroyed after the thread ended */
    std::unique_ptr<arrjit_runner, ender> raw;
    void drop_done(jobs &over) {
      const auto runs = [](const auto &one) { return arrjit_job_done(one->raw.get()) == 0; };
      const auto first = std::partition(kept.begin(), kept.end(), runs);
      over.assign(std::make_move_iterator(first), std::make_move_iterator(kept.end()));
      kept.erase(first, kept.end());
    }
  };
  std::unique_ptr<state> state_;
};

} // namespace arrjit
#endif
