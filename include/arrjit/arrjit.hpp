/* libarrjit for C++17 and later, header-only, on top of the C API alone.
 *
 * Policies, written once; those of arrjit.h hold too:
 * - Exceptions are needed: there is no form of this header for programs without them.
 * - Objects own their C object. array, function, cancel and job are counted references; context, graph, result,
 *   runner and closure move. get() gives the C object, for what is not wrapped here.
 * - A status other than ARRJIT_OK is thrown as status_error. Building goes on after an error; graph::finish throws
 *   the first one as build_error, with op, file and line.
 * - What fails while a function runs is in its result: run never throws it, run_or_throw throws arrjit::error, or the
 *   very exception that a callback threw.
 * - Exceptions of callbacks do not unwind through the library: they come back as kind host (callback.hpp).
 * - Numbers take the dtype of the value beside them; nothing else converts.
 * - Functions whose names are words of C++ end in _: if_, and_, not_. */
#ifndef ARRJIT_ARRJIT_HPP
#define ARRJIT_ARRJIT_HPP

#include "arrjit/array.hpp"
#include "arrjit/callback.hpp"
#include "arrjit/closure.hpp"
#include "arrjit/control.hpp"
#include "arrjit/core.hpp"
#include "arrjit/graph.hpp"
#include "arrjit/ops.hpp"
#include "arrjit/run.hpp"
#include "arrjit/runner.hpp"
#include "arrjit/value.hpp"

#endif
