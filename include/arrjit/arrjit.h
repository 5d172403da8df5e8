/* libarrjit: a JIT for array expression graphs with control flow, failures as values and callbacks into the host.
 *
 * Policies, written once:
 * - Ownership. *_create, *_finish, *_parse, *_submit and arrjit_run give one reference to the caller, which ends with
 *   *_destroy or *_release. Arguments are borrowed for the call; what is kept is retained or copied, and says so.
 * - Errors. Functions that return arrjit_status write their out-parameters on ARRJIT_OK only, and fill the caller's
 *   arrjit_error (NULL is fine). What happens while a function runs is in its result, never in the status.
 * - Misuse (NULL where an object is needed, a number out of range) gives ARRJIT_MISUSE, never a crash; a pointer to
 *   something that was freed is beyond that. Functions without a status return 0, NULL or "" for NULL.
 * - Threads. Contexts, functions, closures, runners, jobs, cancel handles: any thread at any time. Arrays: any thread,
 * while nobody writes the data. A graph and a result: one thread at a time.
 * - Lifetime. Strings and arrays returned as borrowed live as long as the object they came from.
 * - Nothing prints, exits, aborts, throws, longjmps, installs signal handlers or atexit functions.
 * - Structs that the host fills begin with struct_bytes = sizeof the struct; zero elsewhere means the default. */
#ifndef ARRJIT_ARRJIT_H
#define ARRJIT_ARRJIT_H

#include "arrjit/array.h"
#include "arrjit/closure.h"
#include "arrjit/compose.h"
#include "arrjit/core.h"
#include "arrjit/graph.h"
#include "arrjit/half.h"
#include "arrjit/ops.h"
#include "arrjit/random.h"
#include "arrjit/run.h"
#include "arrjit/runner.h"

#endif
