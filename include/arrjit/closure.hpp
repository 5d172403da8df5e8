/* libarrjit for C++: a function as a plain C function pointer of a given type. */
#ifndef ARRJIT_CLOSURE_HPP
#define ARRJIT_CLOSURE_HPP

#include "arrjit/closure.h"
#include "arrjit/run.hpp"

namespace arrjit {

namespace detail {

/* What arrjit_closure_signature calls a type. */
template <class T> std::string c_name() {
  using pointee = std::remove_pointer_t<T>;
  using element = std::remove_cv_t<pointee>;
  if constexpr (std::is_pointer_v<T>) {
    const std::string name = std::is_const_v<pointee> ? "const " : "";
    if constexpr (std::is_void_v<element>)
      return name + "void *";
    else
      return name + c_name<element>() + " *";
  } else {
    switch (dtype_of<T>()) {
    case ARRJIT_BOOL: return "bool";
    case ARRJIT_F32: return "float";
    case ARRJIT_F64: return "double";
    default: return (std::is_signed_v<T> ? "int" : "uint") + std::to_string(8 * sizeof(T)) + "_t";
    }
  }
}

template <class... A> std::string c_params() {
  std::string list;
  ((list += list.empty() ? c_name<A>() : ", " + c_name<A>()), ...);
  return list.empty() ? "void" : list;
}

} // namespace detail

/* closure<double(double, double)> c(f); double (*p)(double, double) = c.pointer();
 * Which type a function has, and what becomes of failures, is told in arrjit/closure.h. Movable. The pointer, and what
 * the options bind, live as long as this object: no call may be under way when it is destroyed. */
template <class Signature> class closure;
template <class R, class... A> class closure<R(A...)> {
public:
  /* Throws status_error: what arrjit_closure_create tells, and TYPE when the function is of another C type than
   * R(A...). `flags` are ARRJIT_CLOSURE_*. */
  explicit closure(const function &f, const options &given = options(), unsigned flags = 0) : given_(given) {
    std::vector<arrjit_array *> outputs;
    const arrjit_run_options run = given_.get(f.get(), outputs);
    arrjit_closure_options c = {};
    c.struct_bytes = sizeof c;
    c.flags = flags;
    c.run = &run;
    arrjit_error error = {};
    arrjit_closure *raw = nullptr;
    detail::check(arrjit_closure_create(f.get(), &c, &raw, &error), error);
    raw_.reset(raw);
    check_type();
  }
  arrjit_closure *get() const noexcept { return raw_.get(); }

  R (*pointer() const noexcept)(A...) { return reinterpret_cast<R (*)(A...)>(arrjit_closure_pointer(get())); }
  const char *signature() const { return arrjit_closure_signature(get()); }
  /* The first failure since the last take. */
  std::optional<result> take_error() const {
    arrjit_result *raw = arrjit_closure_take_error(get());
    if (!raw) return std::nullopt;
    return result(raw);
  }
  int64_t failures() const { return arrjit_closure_failures(get()); }

private:
  void check_type() const {
    const std::string params = " (*)(" + detail::c_params<A...>() + ")", is = signature();
    if (is == detail::c_name<R>() + params) return;
    if (std::is_same_v<R, int> && is == "int" + params) return; /* int32_t is another name for it */
    const std::string text = "the function is " + is + ", not " + detail::c_name<R>() + params;
    throw status_error(detail::make_error(ARRJIT_TYPE, text.c_str()));
  }
  options given_;
  std::unique_ptr<arrjit_closure, detail::ender<arrjit_closure, arrjit_closure_release>> raw_;
};

} // namespace arrjit
#endif
