/* What tests of the C++ headers stand on: a context over a counting allocator, and running a function in every mode
 * with the demand that all of them show the same. A test is a cmocka function; it fails by an exception, so that what
 * it made is destroyed:
 *
 *   static void test_x(void **state) {
 *     fixture &f = get(state);
 *     ...
 *     EXPECT(run_all(f, function, options, input).output().item<double>() == 3);
 *   }
 *
 * When a fixture ends nothing of the library's may be left. */
#ifndef TK_FIXTURE_HPP
#define TK_FIXTURE_HPP

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "arrjit/arrjit.hpp"

extern "C" {
#include "outcome.h"
#include "test_main.h"
}

struct test_failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] inline void fail_test(const char *file, int line, const std::string &what) {
  throw test_failed(std::string(file) + ":" + std::to_string(line) + ": " + what);
}

#define EXPECT(condition)                                                                                              \
  do {                                                                                                                 \
    if (!(condition)) fail_test(__FILE__, __LINE__, #condition);                                                       \
  } while (false)

/* The statement throws E; `caught` is it, in the block that follows. */
template <class E, class F> E expect_throw(const char *file, int line, F &&statement) {
  try {
    statement();
  } catch (const E &caught) {
    return caught;
  }
  fail_test(file, line, "nothing was thrown");
}
#define EXPECT_THROW(E, ...) expect_throw<E>(__FILE__, __LINE__, [&] { __VA_ARGS__; })

/* ---- the allocator ---- */

struct counting_allocator {
  std::atomic<int64_t> live_bytes{0}, mistakes{0};

  /* Each block has its size in front, as far as alignment asks for. */
  static void *resize(void *user, void *pointer, size_t old_bytes, size_t new_bytes) {
    counting_allocator &self = *static_cast<counting_allocator *>(user);
    unsigned char *block = pointer ? static_cast<unsigned char *>(pointer) - head : nullptr;
    size_t had = 0;
    if (block) std::memcpy(&had, block, sizeof had);
    if (had != old_bytes) self.mistakes++;
    if (new_bytes == 0) {
      self.live_bytes -= static_cast<int64_t>(had);
      std::free(block);
      return nullptr;
    }
    block = static_cast<unsigned char *>(std::realloc(block, head + new_bytes));
    if (!block) return nullptr;
    std::memcpy(block, &new_bytes, sizeof new_bytes);
    self.live_bytes += static_cast<int64_t>(new_bytes) - static_cast<int64_t>(had);
    return block + head;
  }
  arrjit_allocator host() { return {this, resize}; }

private:
  static constexpr size_t head = alignof(std::max_align_t) > sizeof(size_t) ? alignof(std::max_align_t)
                                                                            : sizeof(size_t);
};

/* ---- the fixture ---- */

#ifdef TK_NATIVE_MODULE
inline constexpr bool has_native = true;
inline constexpr const char *native_path = TK_NATIVE_MODULE;
#else
inline constexpr bool has_native = false;
inline constexpr const char *native_path = "";
#endif

struct fixture {
  counting_allocator memory;
  arrjit_allocator host = memory.host();
  arrjit::context ctx{context_options()};

  arrjit_context_options context_options() const {
    arrjit_context_options options = {};
    options.allocator = &host;
    options.native_path = *native_path ? native_path : nullptr;
    return options;
  }
};

inline fixture &get(void **state) { return *static_cast<fixture *>(*state); }

inline int set_up(void **state) {
  *state = new fixture;
  return 0;
}

inline int tear_down(void **state) {
  const std::unique_ptr<fixture> f(static_cast<fixture *>(*state));
  int failed = 0;
  try {
    f->ctx.close();
  } catch (const arrjit::status_error &e) {
    print_error("context: %s\n", e.what());
    failed = 1;
  }
  const long long left = f->memory.live_bytes, mistakes = f->memory.mistakes;
  if (left) print_error("%lld bytes leaked\n", left);
  if (mistakes) print_error("%lld blocks freed with a wrong size\n", mistakes);
  return failed || left || mistakes;
}

/* cmocka's failures jump over destructors, so they are raised out here. */
template <void (*Test)(void **)> void guarded(void **state) {
  std::string why;
  try {
    Test(state);
    return;
  } catch (const std::exception &e) {
    why = e.what();
  }
  print_error("%s\n", why.c_str());
  std::string().swap(why);
  fail();
}

#define CPP_TEST(function) {#function, guarded<function>, set_up, tear_down, nullptr}

/* ---- running in every mode ---- */

/* What a run showed, to compare with. */
class shown {
public:
  explicit shown(const arrjit::result &of) { tk_outcome_take(&outcome_, of.get(), nullptr); }
  shown(const shown &) = delete;
  shown &operator=(const shown &) = delete;
  ~shown() { tk_outcome_free(&outcome_); }
  /* "" or what differs first. */
  std::string difference(const shown &other) const {
    char *why = nullptr;
    if (tk_outcome_same(&outcome_, &other.outcome_, &why)) return "";
    std::string text = why;
    std::free(why);
    return text;
  }

private:
  tk_outcome outcome_ = {};
};

template <class... A>
arrjit::result run_whole(const arrjit::function &function, const arrjit::options &with, const A &...inputs) {
  const int64_t before = function.statistics().native_runs;
  arrjit::result got = function.run(with, inputs...);
  const arrjit_function_statistics s = function.statistics();
  if (s.native_runs == before || s.interpreted_nodes || s.fallback_nodes)
    throw test_failed("whole: not all was native");
  return got;
}

/* Runs by the interpreter, the same with all frames rebuilt at every pc, native code, and auto after a compilation;
 * gives the first result. */
template <class... A>
arrjit::result run_all(fixture &f, const arrjit::function &function, arrjit::options with, const A &...inputs) {
  arrjit::result first = function.run(with.mode(ARRJIT_MODE_INTERP), inputs...);
  const shown expected(first);
  const auto same = [&](const char *mode, const arrjit::result &got) {
    const std::string why = expected.difference(shown(got));
    if (!why.empty()) throw test_failed(std::string("interp and ") + mode + " differ: " + why);
  };
  f.ctx.set_option(ARRJIT_OPTION_RESUME_EVERYWHERE, 1);
  same("resume", function.run(with, inputs...));
  f.ctx.set_option(ARRJIT_OPTION_RESUME_EVERYWHERE, 0);
  if (has_native) same("whole", run_whole(function, with.mode(ARRJIT_MODE_WHOLE), inputs...));
  f.ctx.set_option(ARRJIT_OPTION_HOT_WORK, 0);
  with.mode(ARRJIT_MODE_AUTO);
  same("auto", function.run(with, inputs...));
  f.ctx.wait_idle();
  same("auto, compiled", function.run(with, inputs...));
  return first;
}

#endif
