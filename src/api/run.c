/* Running a function on the caller's thread. */
#include "engine/engine.h"

arrjit_status arrjit_run(arrjit_function *function, const arrjit_run_options *options, size_t input_count,
                         arrjit_array *const *inputs, arrjit_result **out, arrjit_error *error) {
  return aj_engine_run(function, options, NULL, input_count, inputs, out, error);
}
