/* libarrjit for C++: functions, what a run is given, what comes of it. */
#ifndef ARRJIT_RUN_HPP
#define ARRJIT_RUN_HPP

#include <cstring>

#include "arrjit/callback.hpp"

namespace arrjit {

/* Ends runs; from any thread, also before the run. Copies are one handle. */
class cancel {
public:
  explicit cancel(const context &of) {
    arrjit_error error = {};
    arrjit_cancel *raw = nullptr;
    detail::check(arrjit_cancel_create(of.get(), &raw, &error), error);
    raw_.reset(raw, arrjit_cancel_release);
  }
  void trigger() const noexcept { arrjit_cancel_trigger(raw_.get()); }
  arrjit_cancel *get() const noexcept { return raw_.get(); }

private:
  std::shared_ptr<arrjit_cancel> raw_;
};

/* ---- what a run is given ---- */

/* Made once, used for any number of runs, also at once on several threads if what is bound allows that. Copies share
 * the functions that were bound. */
class options {
public:
  options() { c_.struct_bytes = sizeof c_; }

  options &mode(arrjit_mode mode) {
    c_.mode = mode;
    return *this;
  }
  /* ARRJIT_RUN_* */
  options &flags(unsigned flags) {
    c_.flags = flags;
    return *this;
  }
  /* Binds a host function to a slot; it is copied or moved, and lives as long as these options and the jobs that use
   * them. It is either called with the call (const call &) and returns nothing, or a status as C callbacks do; or has a
   * plain signature: scalars in, one scalar or void out, such as [&](int64_t item) -> double { ... }; std::function
   * gives one to what is generic. */
  template <class F> options &bind(std::string slot, F &&f) {
    using held = detail::held_function<std::decay_t<F>>;
    auto kept = std::make_shared<held>(held{std::move(slot), std::forward<F>(f)});
    const arrjit_binding binding = kept->binding();
    return add(binding, std::move(kept));
  }
  /* A C function of exactly the slot's scalars, called without any wrapping: the fastest, and it must not throw. */
  template <class R, class... A> options &bind_direct(std::string slot, R (*f)(A...)) {
    auto kept = std::make_shared<std::string>(std::move(slot));
    arrjit_binding binding = {};
    binding.slot = kept->c_str();
    binding.direct = reinterpret_cast<void (*)()>(f);
    return add(binding, std::move(kept));
  }
  /* Result i is written there, and returned. */
  options &output(size_t i, array to) {
    if (outputs_.size() <= i) outputs_.resize(i + 1);
    outputs_[i] = std::move(to);
    return *this;
  }
  /* Input i may be overwritten. */
  options &donate(unsigned i) {
    if (i > 63) detail::misuse("only the first 64 inputs can be donated");
    c_.donated |= uint64_t{1} << i;
    return *this;
  }
  options &cancelled_by(cancel handle) {
    cancel_ = std::move(handle);
    return *this;
  }
  options &limits(const arrjit_limits &limits) {
    c_.limits = limits;
    return *this;
  }
  /* On the clock of arrjit_clock_ns; 0: none. */
  options &deadline_ns(int64_t when) {
    c_.deadline_ns = when;
    return *this;
  }

  /* For the C functions: valid while these options live unchanged; `outputs` is what it points to, one a result of the
   * function to be run. */
  arrjit_run_options get(const arrjit_function *to_run, std::vector<arrjit_array *> &outputs) const {
    arrjit_run_options c = c_;
    c.binding_count = bindings_.size();
    c.bindings = bindings_.data();
    c.cancel = cancel_ ? cancel_->get() : nullptr;
    if (outputs_.empty()) return c;
    if (outputs_.size() > arrjit_function_result_count(to_run)) detail::misuse("more outputs are given than results");
    outputs.assign(arrjit_function_result_count(to_run), nullptr);
    for (size_t i = 0; i < outputs_.size(); i++) outputs[i] = outputs_[i].get();
    c.outputs = outputs.data();
    return c;
  }

private:
  /* A slot that was bound before is bound anew. */
  options &add(const arrjit_binding &binding, std::shared_ptr<void> kept) {
    size_t i = 0;
    while (i < bindings_.size() && std::strcmp(bindings_[i].slot, binding.slot) != 0) i++;
    if (i == bindings_.size()) {
      kept_.emplace_back();
      bindings_.emplace_back();
    }
    bindings_[i] = binding;
    kept_[i] = std::move(kept);
    return *this;
  }
  arrjit_run_options c_ = {};
  std::vector<arrjit_binding> bindings_;
  std::vector<std::shared_ptr<void>> kept_;
  std::vector<array> outputs_;
  std::optional<cancel> cancel_;
};

/* ---- what comes of a run ---- */

/* <ok, outputs> or <error, kind, reason, trace>, borrowed. */
class result_view {
public:
  explicit result_view(arrjit_result *raw) noexcept : raw_(raw) {}
  arrjit_result *get() const noexcept { return raw_; }

  bool ok() const { return arrjit_result_ok(raw_) != 0; }
  explicit operator bool() const { return ok(); }
  size_t output_count() const { return arrjit_result_output_count(raw_); }
  /* Throws status_error MISUSE when there is none: of a failed run it tells why that failed. */
  array output(size_t i = 0) const {
    if (!ok()) detail::misuse((std::string("the run failed: ") + kind_name() + ": " + message()).c_str());
    return need(arrjit_result_output(raw_, i), "a result has no such output");
  }
  uint64_t consumed() const { return arrjit_result_consumed(raw_); }
  uint64_t touched() const { return arrjit_result_touched(raw_); }

  arrjit_kind kind() const { return arrjit_result_kind(raw_); }
  const char *kind_name() const { return arrjit_result_kind_name(raw_); }
  int64_t code() const { return arrjit_result_code(raw_); }
  const char *message() const { return arrjit_result_message(raw_); }
  size_t payload_count() const { return arrjit_result_payload_count(raw_); }
  array payload(size_t i) const { return need(arrjit_result_payload(raw_, i), "a result has no such payload field"); }
  void *host_pointer() const { return arrjit_result_host_pointer(raw_); }
  /* Innermost first; strings live as long as the result. */
  std::vector<arrjit_trace_entry> trace() const {
    std::vector<arrjit_trace_entry> entries(arrjit_result_trace_count(raw_));
    for (size_t i = 0; i < entries.size(); i++) detail::check(arrjit_result_trace(raw_, i, &entries[i]));
    return entries;
  }
  int64_t trace_omitted() const { return arrjit_result_trace_omitted(raw_); }
  std::optional<result_view> cause() const { return wrap(arrjit_result_cause(raw_)); }
  std::optional<result_view> context() const { return wrap(arrjit_result_context(raw_)); }
  /* Kind, reason, trace and causes in several lines. */
  const char *text() const { return arrjit_result_text(raw_); }

  /* The C++ exception that a callback threw; null when it failed otherwise. */
  std::exception_ptr exception() const {
    if (ok() || kind() != ARRJIT_KIND_HOST || code() != exception_code || !host_pointer()) return nullptr;
    return static_cast<const detail::exception_box *>(host_pointer())->exception;
  }
  /* Throws it again: the same object. */
  void rethrow_if_host() const {
    if (const std::exception_ptr thrown = exception()) std::rethrow_exception(thrown);
  }

private:
  static array need(arrjit_array *found, const char *problem) {
    if (!found) detail::misuse(problem);
    return array::share(found);
  }
  static std::optional<result_view> wrap(arrjit_result *found) {
    if (!found) return std::nullopt;
    return result_view(found);
  }
  arrjit_result *raw_;
};

/* Owns what a run gave; movable; outlives the function and the context. */
class result : public result_view {
public:
  explicit result(arrjit_result *raw) noexcept : result_view(raw), owner_(raw) {}
  result(result &&other) noexcept : result_view(other.get()), owner_(std::move(other.owner_)) {}
  result &operator=(result &&other) noexcept {
    owner_ = std::move(other.owner_);
    static_cast<result_view &>(*this) = result_view(owner_.get());
    return *this;
  }
  /* Itself when ok; else throws the C++ exception that a callback threw, or arrjit::error. */
  result or_throw() &&;

private:
  std::unique_ptr<arrjit_result, detail::ender<arrjit_result, arrjit_result_destroy>> owner_;
};

/* A failed run as an exception; it keeps the result. */
class error : public std::runtime_error {
public:
  explicit error(result &&failed)
      : std::runtime_error(std::string(failed.kind_name()) + ": " + failed.message()),
        failed_(std::make_shared<result>(std::move(failed))) {}
  arrjit_kind kind() const { return failed_->kind(); }
  const char *kind_name() const { return failed_->kind_name(); }
  int64_t code() const { return failed_->code(); }
  const char *message() const { return failed_->message(); }
  const char *text() const { return failed_->text(); }
  const result_view &failed() const noexcept { return *failed_; }

private:
  std::shared_ptr<result> failed_;
};

inline result result::or_throw() && {
  if (ok()) return std::move(*this);
  rethrow_if_host();
  throw error(std::move(*this));
}

/* ---- functions ---- */

/* A counted reference to a finished function; all calls from any thread. */
class function {
public:
  function(const function &other) noexcept : function(other.get()) { arrjit_function_retain(get()); }
  function(function &&) noexcept = default;
  function &operator=(const function &other) noexcept { return *this = function(other); }
  function &operator=(function &&) noexcept = default;
  ~function() = default;
  /* Takes over one reference. */
  static function adopt(arrjit_function *raw) noexcept { return function(raw); }
  /* From .air text; `name` stands for the file in messages. */
  static function parse(const context &of, const std::string &text, const char *name = "") {
    arrjit_error error = {};
    arrjit_function *raw = nullptr;
    detail::check(arrjit_function_parse(of.get(), text.data(), text.size(), name, &raw, &error), error);
    return adopt(raw);
  }
  arrjit_function *get() const noexcept { return raw_.get(); }

  /* Runs on this thread: run(inputs...), run(options, inputs...) or run(options, vector of inputs). What fails while it
   * runs is in the result. Throws status_error for misuse, native code that was required and is not to be had, and
   * when not even a result could be allocated. */
  result run(const options &given, const std::vector<array> &inputs) const {
    std::vector<arrjit_array *> raw;
    for (const array &input : inputs) raw.push_back(input.get());
    return run_raw(given, raw.size(), raw.data());
  }
  template <class... A, class = std::enable_if_t<(std::is_same_v<A, array> && ...)>>
  result run(const options &given, const A &...inputs) const {
    arrjit_array *const raw[] = {inputs.get()..., nullptr};
    return run_raw(given, sizeof...(A), raw);
  }
  template <class... A, class = std::enable_if_t<(std::is_same_v<A, array> && ...)>>
  result run(const A &...inputs) const {
    return run(options(), inputs...);
  }
  /* The same; a failure is thrown: the exception that a callback threw, or arrjit::error. */
  template <class... A> result run_or_throw(const A &...a) const { return run(a...).or_throw(); }

  /* Binds a host function, as options::bind does, for all runs that do not bind the slot themselves. It is destroyed
   * when the slot is bound anew or the function is gone, and the last run that uses it has ended. */
  template <class F> void bind(std::string slot, F &&f) const {
    using held = detail::held_function<std::decay_t<F>>;
    auto kept = std::make_unique<held>(held{std::move(slot), std::forward<F>(f)});
    const arrjit_binding binding = kept->binding();
    const auto destroy = [](void *user) { delete static_cast<held *>(user); };
    arrjit_error error = {};
    detail::check(arrjit_function_bind(get(), &binding, destroy, &error), error);
    (void)kept.release();
  }
  uint32_t id() const { return arrjit_function_id(get()); }
  size_t param_count() const { return arrjit_function_param_count(get()); }
  size_t result_count() const { return arrjit_function_result_count(get()); }
  arrjit_type param_type(size_t i) const {
    arrjit_type type = {};
    detail::check(arrjit_function_param(get(), i, nullptr, &type));
    return type;
  }
  arrjit_type result_type(size_t i) const {
    arrjit_type type = {};
    detail::check(arrjit_function_result(get(), i, nullptr, &type));
    return type;
  }
  arrjit_function_statistics statistics() const {
    arrjit_function_statistics out = {};
    arrjit_function_get_statistics(get(), &out);
    return out;
  }
  /* Queues compilation for any shapes; wait tells whether it was ready within timeout_ns (< 0: no limit). */
  void prepare() const {
    arrjit_error error = {};
    detail::check(arrjit_function_prepare(get(), nullptr, &error), error);
  }
  bool wait(int64_t timeout_ns = -1) const {
    arrjit_error error = {};
    const arrjit_status status = arrjit_function_wait(get(), timeout_ns, &error);
    if (status != ARRJIT_TIMEOUT) detail::check(status, error);
    return status == ARRJIT_OK;
  }
  std::string print(const context &of, arrjit_print_stage stage = ARRJIT_PRINT_INPUT) const {
    arrjit_error error = {};
    char *raw = nullptr;
    size_t bytes = 0;
    detail::check(arrjit_function_print(get(), stage, &raw, &bytes, &error), error);
    const auto end = [&](char *text) { arrjit_text_free(of.get(), text, bytes); };
    const std::unique_ptr<char, decltype(end)> text(raw, end);
    return std::string(raw, bytes);
  }

private:
  explicit function(arrjit_function *raw) noexcept : raw_(raw) {}
  result run_raw(const options &given, size_t count, arrjit_array *const *inputs) const {
    arrjit_error error = {};
    arrjit_result *raw = nullptr;
    std::vector<arrjit_array *> outputs;
    const arrjit_run_options c = given.get(get(), outputs);
    detail::check(arrjit_run(get(), &c, count, inputs, &raw, &error), error);
    return result(raw);
  }
  std::unique_ptr<arrjit_function, detail::ender<arrjit_function, arrjit_function_release>> raw_;
};

} // namespace arrjit
#endif
