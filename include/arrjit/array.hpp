/* libarrjit for C++: arrays. */
#ifndef ARRJIT_ARRAY_HPP
#define ARRJIT_ARRAY_HPP

#include <initializer_list>

#include "arrjit/array.h"
#include "arrjit/core.hpp"

namespace arrjit {

/* A counted reference to an array: copies share it. One that was moved from, or made without arguments, refers to none
 * and may only be assigned to or destroyed. */
class array {
public:
  array() = default;
  /* Own memory; `data` (dense row-major, copied) null: zeros. */
  array(const context &of, const arrjit_type &type, const void *data = nullptr) {
    arrjit_error error = {};
    arrjit_array *raw = nullptr;
    detail::check(arrjit_array_create(of.get(), &type, data, &raw, &error), error);
    raw_.reset(raw);
  }
  array(const array &other) : array(share(other.get())) {}
  array(array &&) noexcept = default;
  array &operator=(const array &other) { return *this = share(other.get()); }
  array &operator=(array &&) noexcept = default;
  ~array() = default;

  /* Over the host's memory, not copied; `owner` is kept until the array and all its views are gone. `strides_bytes`
   * (one a dim) empty: dense row-major. */
  static array wrap(const context &of, const arrjit_type &type, void *data, const ints &strides_bytes = {},
                    std::shared_ptr<void> owner = nullptr) {
    using keeper = std::shared_ptr<void>;
    arrjit_error error = {};
    arrjit_array *raw = nullptr;
    if (!strides_bytes.empty() && strides_bytes.size() != static_cast<size_t>(type.rank))
      detail::misuse("an array is wrapped with another number of strides than dims");
    auto kept = std::make_unique<keeper>(std::move(owner));
    arrjit_release_data *const release = [](void *user, void *) { delete static_cast<keeper *>(user); };
    const int64_t *strides = strides_bytes.empty() ? nullptr : strides_bytes.data();
    detail::check(arrjit_array_wrap(of.get(), &type, data, strides, release, kept.get(), &raw, &error), error);
    (void)kept.release();
    return adopt(raw);
  }
  /* Takes over one reference; shares what the caller keeps. */
  static array adopt(arrjit_array *raw) noexcept {
    array made;
    made.raw_.reset(raw);
    return made;
  }
  static array share(arrjit_array *raw) noexcept {
    if (raw) arrjit_array_retain(raw);
    return adopt(raw);
  }

  arrjit_array *get() const noexcept { return raw_.get(); }
  explicit operator bool() const noexcept { return raw_ != nullptr; }

  arrjit_type type() const { return arrjit_array_type(get()); }
  arrjit_dtype dtype() const { return arrjit_array_dtype(get()); }
  int32_t rank() const { return arrjit_array_rank(get()); }
  int64_t dim(int32_t axis) const {
    if (axis < 0 || axis >= rank()) detail::misuse("an array has no such axis");
    return arrjit_array_dims(get())[axis];
  }
  int64_t count() const { return arrjit_array_count(get()); }
  bool is_dense() const { return arrjit_array_is_dense(get()) != 0; }

  /* Element 0, after a check that elements are of T; writable only while nobody reads. */
  template <class T> T *data() const {
    if (dtype() != dtype_of<std::remove_cv_t<T>>()) detail::misuse("the elements of an array are of another type");
    return static_cast<T *>(arrjit_array_data(get()));
  }
  /* The one element. */
  template <class T> T item() const {
    if (count() != 1) detail::misuse("item() is for arrays of one element");
    return *data<const T>();
  }
  /* All elements in row-major order. */
  template <class T> std::vector<T> to_vector() const {
    const array dense = is_dense() ? *this : copy();
    const T *first = dense.template data<const T>();
    return std::vector<T>(first, first + dense.count());
  }

  /* Shares and keeps the data; start and step are in elements, one a dim. */
  array view(const ints &start, const ints &step, const ints &dims) const {
    const size_t dim_count = static_cast<size_t>(rank());
    if (start.size() != dim_count || step.size() != dim_count || dims.size() != dim_count)
      detail::misuse("a view needs start, step and extent of every dim");
    arrjit_error error = {};
    arrjit_array *raw = nullptr;
    detail::check(arrjit_array_view(get(), start.data(), step.data(), dims.data(), &raw, &error), error);
    return adopt(raw);
  }
  array copy() const {
    arrjit_error error = {};
    arrjit_array *raw = nullptr;
    detail::check(arrjit_array_copy(get(), &raw, &error), error);
    return adopt(raw);
  }

private:
  std::unique_ptr<arrjit_array, detail::ender<arrjit_array, arrjit_array_release>> raw_;
};

/* A scalar: make_scalar(ctx, 2.5) is f64, make_scalar(ctx, int64_t{3}) is i64. */
template <class T> array make_scalar(const context &of, T element) { return array(of, type<T>(), &element); }

namespace detail {
template <class T> array make_array(const context &of, const T *data, size_t count, const ints &dims) {
  int64_t elements = 1;
  for (int64_t dim : dims) elements = dim > 0 && elements <= INT64_MAX / dim ? elements * dim : dim == 0 ? 0 : -1;
  if (elements != static_cast<int64_t>(count)) misuse("an array's dims ask for another number of elements than given");
  return array(of, type<T>(dims), data);
}
} // namespace detail

/* The elements, copied: one dim, or `dims` in row-major order. */
template <class T> array make_array(const context &of, std::initializer_list<T> elements) {
  return detail::make_array(of, elements.begin(), elements.size(), {static_cast<int64_t>(elements.size())});
}
template <class T> array make_array(const context &of, std::initializer_list<T> elements, const ints &dims) {
  return detail::make_array(of, elements.begin(), elements.size(), dims);
}
template <class T> array make_array(const context &of, const std::vector<T> &elements) {
  return detail::make_array(of, elements.data(), elements.size(), {static_cast<int64_t>(elements.size())});
}
template <class T> array make_array(const context &of, const std::vector<T> &elements, const ints &dims) {
  return detail::make_array(of, elements.data(), elements.size(), dims);
}

} // namespace arrjit
#endif
