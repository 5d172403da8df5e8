#include "unwind_throw.h"

#include <cstdio>
#include <stdexcept>

arrjit_status unwind_callback(void *user, arrjit_call_info *, size_t, const arrjit_view *, size_t,
                              const arrjit_view *) {
  if (*static_cast<const int *>(user)) throw std::runtime_error("thrown by the host");
  return ARRJIT_OK;
}

double unwind_direct(double x) {
  if (x > 0) throw std::runtime_error("thrown by the host");
  return x;
}

int unwind_catch(arrjit_function *function, const arrjit_run_options *options, size_t input_count,
                 arrjit_array *const *inputs, arrjit_result **out, arrjit_status *out_status, char out_what[64]) {
  try {
    *out_status = arrjit_run(function, options, input_count, inputs, out, nullptr);
    return 0;
  } catch (const std::exception &e) {
    std::snprintf(out_what, 64, "%s", e.what());
    return 1;
  }
}
