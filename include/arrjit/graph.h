/* libarrjit: building graphs. Element and array operations are in arrjit/ops.h; here are functions, parameters,
 * control flow, failures and callbacks.
 *
 * Errors stick: a building call that fails returns the null value, later calls pass it on, and arrjit_graph_finish
 * reports the first error with the op, the types that came and the host's file and line. So a host checks once.
 * Arrays that a call fills with values (`out`, `out_results`, `out_values`) may be NULL where they are not wanted, and
 * get null values after an error. Texts and types are copied. Symbols in the signature of a declared function or a slot
 * stand for what the arguments of each call bring; a parameter or argument must name each.
 * The macros capture file and line of the call; call the function itself, `(arrjit_add)(g, x, y)`, to leave them out.
 */
#ifndef ARRJIT_GRAPH_H
#define ARRJIT_GRAPH_H

#include "arrjit/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A value of a graph under construction; NULL is the null value. Valid until the graph is destroyed. */
typedef const struct arrjit_value_s *arrjit_value;
/* A function of a graph, for arrjit_call; valid as long as the graph. -1 is none. */
typedef int32_t arrjit_callee;
/* A callback slot of a graph. -1 is none. */
typedef int32_t arrjit_slot;

/* Makes an empty graph; its entry function "main" is open. MISUSE, MEMORY. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_graph_create(arrjit_context *context, arrjit_graph **out,
                                                             arrjit_error *error);
/* Drops a graph, finished or not. Functions made from it live on. NULL is fine. */
ARRJIT_API void arrjit_graph_destroy(arrjit_graph *graph);
/* Closes the graph: infers, verifies, and gives the function whose entry is "main". On failure `error` tells the first
 * thing that went wrong and the graph can only be destroyed. After success no more can be built. The caller
 * owns *out. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_graph_finish(arrjit_graph *graph, arrjit_function **out,
                                                             arrjit_error *error);
/* The first error so far, ARRJIT_OK when there is none. */
ARRJIT_API arrjit_status arrjit_graph_error(const arrjit_graph *graph, arrjit_error *error);
/* Notes where the next node was built; `file` is copied, a line below 0 is unknown. Returns graph. The macros of this
 * header and ops.h use it. */
ARRJIT_API arrjit_graph *arrjit_at(arrjit_graph *graph, const char *file, int line);
/* Labels of nodes built from here to the matching pop, "outer/inner" when nested; shown in traces. A pop without a
 * push is an error; labels that are open at finish end there. */
ARRJIT_API void arrjit_label_push(arrjit_graph *graph, const char *label);
ARRJIT_API void arrjit_label_pop(arrjit_graph *graph);

/* A type from its parts; `dims` may be NULL when rank is 0. A type that is none (a rank without dims, one above
 * ARRJIT_MAX_RANK) is refused by whatever it is given to, which says why. */
ARRJIT_API arrjit_type arrjit_type_make(arrjit_dtype dtype, int32_t rank, const int64_t *dims);
/* The type of a value; dtype ARRJIT_BOOL, rank -1 for the null value and for exceptions. A type of rank -1 says
 * exception in the signature of a declared function. */
ARRJIT_API arrjit_type arrjit_value_type(arrjit_value value);
/* A symbol for an unknown extent of the function being built; the same name gives the same symbol. 0 when out of
 * memory. Extents made of symbols (n - 2 of a slice) are computed when the function is entered, also those that only an
 * arm uses which then does not run: one that is below 0 or overflows fails the call there, kind shape. */
ARRJIT_API int64_t arrjit_symbol(arrjit_graph *graph, const char *name);

/* The next parameter of the function being built. Its symbols are bound by the argument's shape. */
ARRJIT_API arrjit_value arrjit_param(arrjit_graph *graph, const char *name, const arrjit_type *type);
/* Ends the function being built with its results; one that has raised gives count 0. `names` may be NULL. */
ARRJIT_API void arrjit_return(arrjit_graph *graph, size_t count, const arrjit_value *values, const char *const *names);

/* A constant: `data` is dense row-major, copied. Symbols are not allowed in type. */
ARRJIT_API arrjit_value arrjit_const(arrjit_graph *graph, const arrjit_type *type, const void *data);
/* Scalar constants. */
ARRJIT_API arrjit_value arrjit_const_bool(arrjit_graph *graph, int value);
ARRJIT_API arrjit_value arrjit_const_i32(arrjit_graph *graph, int32_t value);
ARRJIT_API arrjit_value arrjit_const_i64(arrjit_graph *graph, int64_t value);
ARRJIT_API arrjit_value arrjit_const_f32(arrjit_graph *graph, float value);
ARRJIT_API arrjit_value arrjit_const_f64(arrjit_graph *graph, double value);
/* A scalar of the dtype of `like`, which must represent `value` exactly when it is an integer type. */
ARRJIT_API arrjit_value arrjit_const_like(arrjit_graph *graph, arrjit_value like, double value);

/* Functions inside a graph. A declared function has a signature before its body, so it can call itself. */
ARRJIT_API arrjit_callee arrjit_declare(arrjit_graph *graph, const char *name, size_t param_count,
                                        const arrjit_type *params, size_t result_count, const arrjit_type *results);
/* Starts the body of a declared function and gives its parameters; ends with arrjit_return. May be nested in building
 * another function, whose building goes on after it. */
ARRJIT_API void arrjit_define(arrjit_graph *graph, arrjit_callee callee, arrjit_value *out_params);
ARRJIT_API void arrjit_call(arrjit_graph *graph, arrjit_callee callee, size_t arg_count, const arrjit_value *args,
                            arrjit_value *out_results);

/* Control flow. Values of outer regions may be used inside. Each arm or body ends by the next call of its construct,
 * which takes what the arm yields; after arrjit_raise an arm yields nothing: give count 0. Only a raise of the arm's
 * own ends it: one that cannot come to its end otherwise, such as by an if that raises in both arms, yields all the
 * same. if:     arrjit_if_begin(g, pred) ... arrjit_if_else(g, n, then_values) ... arrjit_if_end(g, n, else_values,
 * out) switch: arrjit_switch_begin(g, index) ... arrjit_switch_case(g, n, values) ... arrjit_switch_end(g, n, values,
 * out) arrjit_switch_case ends one case and starts the next index is an i64 scalar; out of range takes the last case
 *   while:  arrjit_while_begin(g, n, init, vars) ... arrjit_while_body(g, pred, vars) ...
 *           arrjit_while_end(g, n, next, out)
 *           `vars` are the carried values, first as the condition sees them, then as the body does
 *   for:    arrjit_for_begin(g, lo, hi, step, n, init, &i, vars) ... arrjit_for_end(g, n, next, out)
 *           i runs from lo while i < hi (step < 0: i > hi)
 *           lo, hi, step are i64 scalars; step 0 fails with kind arith
 *   try:    arrjit_try_begin(g) ... arrjit_try_handler(g, n, values, kind, &exn) ...
 *           arrjit_try_finally(g, n, values) ... arrjit_try_end(g, n, values, out)
 *           arrjit_try_handler and arrjit_try_finally end the body or the handler before; at least one is there
 *           a finally yields nothing: its arrjit_try_end takes n = 0, and out has the count of the try
 *   map:    arrjit_map_begin(g, n, args, lanes) ... arrjit_map_end(g, m, values, out)
 *           what is between runs once for each lane, an element of args (n >= 1 arrays, broadcast to each other), and
 *           the m scalars it yields become m arrays of that shape; `lanes` are the elements as scalars
 *           inside are scalars and exceptions only: elementwise ops, if, switch, while, for, try, raise, check; of
 *           values from outside scalars may be used
 *           the lowest row-major lane that fails fails the map; each lane may take as many loop iterations as the
 *           run had left before the map, and what lanes take is not taken off
 *   reduce: arrjit_reduce_begin(g, n, args, inits, axis_count, axes, older, newer) ...
 *           arrjit_reduce_end(g, n, combined, out)
 *           folds n arrays (1 to 16, broadcast to each other) together over axes (ARRJIT_ALL_AXES: all, axes is not
 *           read); `inits` are n scalars of the arrays' dtypes; what is between combines n scalars `older` with n
 *           scalars `newer` into n of the same dtypes; results are n arrays of the args' shape without axes
 *           the order is fixed, that of arrjit_reduce_sum, in lanes and blocks: so the combiner ought to be associative
 *           and commutative; each init joins once, as the older one, at the end; over no elements results are the inits
 *           inside are scalars and elementwise ops that cannot fail; of values from outside scalars may be used; a
 *           callback, raise, check, checked op or control flow in there is an error
 *   cumulative: arrjit_cumulative_begin(g, n, args, axis, reverse, older, newer) ...
 *           arrjit_cumulative_end(g, n, combined, out)
 *           results are n arrays of the args' shape: at each place the elements up to and with it along axis, combined
 *           in the order of arrjit_cumsum; reverse 1: from it on (0: not). What is between is as for reduce
 *   reduce_window: arrjit_reduce_window_begin(g, n, args, inits, rank, sizes, strides, low, high, base_dilation,
 *           window_dilation, older, newer) ... arrjit_reduce_window_end(g, n, combined, out)
 *           at each place the elements of a window of n arrays (1 to 16, broadcast to each other), combined from inits
 *           on, row-major; lists have one entry a dim; NULL but for sizes: strides and dilations of 1, padding (low,
 *           high, which may be negative) of 0
 *           padding, and the holes that base_dilation makes, are the inits, as StableHLO has it; a window larger than a
 *           dim gives no places; a symbolic dim that it exceeds by more than a stride, kind shape. What is between is
 *           as for reduce
 *   select_and_scatter: arrjit_select_and_scatter_begin(g, x, source, init, rank, sizes, strides, low, high, &left,
 *           &right) ... arrjit_select_and_scatter_combine(g, stays, &older, &newer) ...
 *           arrjit_select_and_scatter_end(g, combined, &out)
 *           an array of x's type: init, a scalar, everywhere, and each element `newer` of source, row-major, combined
 *           with the element `older` at the place that its window of x selects: the first place, row-major, that is no
 *           padding, until the first part says false of the element there (left) and a later one (right), which then
 *           takes its turn. A window of padding alone selects none. Windows are as for reduce_window, without dilation;
 *           source has x's dtype and an element for each window: the shape that a reduce_window has. The parts are as
 *           for sort_by and reduce
 *   sort_by: arrjit_sort_by_begin(g, n, args, axis, left, right) ... arrjit_sort_by_end(g, before, n, out)
 *           n arrays (1 to 16, broadcast to each other) sorted together along axis: what is between says of n scalars
 *           `left`, an element of each, and n scalars `right` whether the left ones go before: a bool scalar. Stable:
 *           elements of which neither goes before the other keep their order. Results are the n arrays, sorted; where
 *           what is between contradicts itself, they are some permutation, the same however it runs. It may hold what
 *           a reduce may */
ARRJIT_API void arrjit_if_begin(arrjit_graph *graph, arrjit_value pred);
ARRJIT_API void arrjit_if_else(arrjit_graph *graph, size_t count, const arrjit_value *values);
ARRJIT_API void arrjit_if_end(arrjit_graph *graph, size_t count, const arrjit_value *values, arrjit_value *out);
ARRJIT_API void arrjit_switch_begin(arrjit_graph *graph, arrjit_value index);
ARRJIT_API void arrjit_switch_case(arrjit_graph *graph, size_t count, const arrjit_value *values);
ARRJIT_API void arrjit_switch_end(arrjit_graph *graph, size_t count, const arrjit_value *values, arrjit_value *out);
ARRJIT_API void arrjit_while_begin(arrjit_graph *graph, size_t count, const arrjit_value *init, arrjit_value *out_vars);
ARRJIT_API void arrjit_while_body(arrjit_graph *graph, arrjit_value pred, arrjit_value *out_vars);
ARRJIT_API void arrjit_while_end(arrjit_graph *graph, size_t count, const arrjit_value *next, arrjit_value *out);
ARRJIT_API void arrjit_for_begin(arrjit_graph *graph, arrjit_value lo, arrjit_value hi, arrjit_value step, size_t count,
                                 const arrjit_value *init, arrjit_value *out_index, arrjit_value *out_vars);
ARRJIT_API void arrjit_for_end(arrjit_graph *graph, size_t count, const arrjit_value *next, arrjit_value *out);
ARRJIT_API void arrjit_try_begin(arrjit_graph *graph);
ARRJIT_API void arrjit_try_handler(arrjit_graph *graph, size_t count, const arrjit_value *values, arrjit_kind kind,
                                   arrjit_value *out_exn);
ARRJIT_API void arrjit_try_finally(arrjit_graph *graph, size_t count, const arrjit_value *values);
ARRJIT_API void arrjit_try_end(arrjit_graph *graph, size_t count, const arrjit_value *values, arrjit_value *out);
ARRJIT_API void arrjit_map_begin(arrjit_graph *graph, size_t count, const arrjit_value *args, arrjit_value *out_lanes);
ARRJIT_API void arrjit_map_end(arrjit_graph *graph, size_t count, const arrjit_value *values, arrjit_value *out);
ARRJIT_API void arrjit_reduce_begin(arrjit_graph *graph, size_t count, const arrjit_value *args,
                                    const arrjit_value *inits, size_t axis_count, const int64_t *axes,
                                    arrjit_value *out_older, arrjit_value *out_newer);
ARRJIT_API void arrjit_reduce_end(arrjit_graph *graph, size_t count, const arrjit_value *values, arrjit_value *out);
ARRJIT_API void arrjit_cumulative_begin(arrjit_graph *graph, size_t count, const arrjit_value *args, int64_t axis,
                                        int64_t reverse, arrjit_value *out_older, arrjit_value *out_newer);
ARRJIT_API void arrjit_cumulative_end(arrjit_graph *graph, size_t count, const arrjit_value *values, arrjit_value *out);
ARRJIT_API void arrjit_select_and_scatter_begin(arrjit_graph *graph, arrjit_value x, arrjit_value source,
                                                arrjit_value init, int32_t rank, const int64_t *sizes,
                                                const int64_t *strides, const int64_t *low, const int64_t *high,
                                                arrjit_value *out_left, arrjit_value *out_right);
ARRJIT_API void arrjit_select_and_scatter_combine(arrjit_graph *graph, arrjit_value stays, arrjit_value *out_older,
                                                  arrjit_value *out_newer);
ARRJIT_API void arrjit_select_and_scatter_end(arrjit_graph *graph, arrjit_value combined, arrjit_value *out);
ARRJIT_API void arrjit_sort_by_begin(arrjit_graph *graph, size_t count, const arrjit_value *args, int64_t axis,
                                     arrjit_value *out_left, arrjit_value *out_right);
ARRJIT_API void arrjit_sort_by_end(arrjit_graph *graph, arrjit_value before, size_t count, arrjit_value *out);
ARRJIT_API void arrjit_reduce_window_begin(arrjit_graph *graph, size_t count, const arrjit_value *args,
                                           const arrjit_value *inits, int32_t rank, const int64_t *sizes,
                                           const int64_t *strides, const int64_t *low, const int64_t *high,
                                           const int64_t *base_dilation, const int64_t *window_dilation,
                                           arrjit_value *out_older, arrjit_value *out_newer);
ARRJIT_API void arrjit_reduce_window_end(arrjit_graph *graph, size_t count, const arrjit_value *values,
                                         arrjit_value *out);

/* Failures. `message` is a template: {0} {1} ... stand for payload values, {{ and }} for braces, other braces for
 * themselves; NULL: the kind's name. A placeholder that no payload value stands behind is an error. A rendered message
 * has at most 4096 bytes; one that was cut ends with "...". The failing lane of a check counts as the last value.
 * A raise ends its region; what is built after it in the region is dropped, being unreachable. */
ARRJIT_API void arrjit_raise(arrjit_graph *graph, arrjit_kind kind, int64_t code, const char *message,
                             size_t payload_count, const arrjit_value *payload);
/* Kind runtime, code 0. */
ARRJIT_API void arrjit_runtime_raise(arrjit_graph *graph, const char *message, size_t payload_count,
                                     const arrjit_value *payload);
/* Fails when pred (bool, any rank) has a false lane; the first (lowest row-major) one's index is appended to the
 * payload when pred is an array. Gives `values` back in out_values: use those, so that they depend on the check. */
ARRJIT_API void arrjit_check(arrjit_graph *graph, arrjit_value pred, arrjit_kind kind, int64_t code,
                             const char *message, size_t payload_count, const arrjit_value *payload, size_t value_count,
                             const arrjit_value *values, arrjit_value *out_values);
/* An exception as a value. */
ARRJIT_API arrjit_value arrjit_exn_new(arrjit_graph *graph, arrjit_kind kind, int64_t code, const char *message,
                                       size_t payload_count, const arrjit_value *payload);
/* Raises an exception value; the new exception shares its payload. */
ARRJIT_API void arrjit_raise_exn(arrjit_graph *graph, arrjit_value exn);
/* Raises `exn` with `cause` as its cause. */
ARRJIT_API void arrjit_raise_from(arrjit_graph *graph, arrjit_value exn, arrjit_value cause);
/* Whether its kind is `kind` or below it: a bool scalar. */
ARRJIT_API arrjit_value arrjit_exn_is(arrjit_graph *graph, arrjit_value exn, arrjit_kind kind);
/* Payload field i as an array of `type` (no symbols): *out_present (bool scalar) is false, and the value zero, when the
 * exception has no such field or it has another dtype or shape. */
ARRJIT_API arrjit_value arrjit_exn_field(arrjit_graph *graph, arrjit_value exn, int64_t field, const arrjit_type *type,
                                         arrjit_value *out_present);

/* Callback slots. An io slot has only arguments, which pass through; a value slot has one or more results.
 * A slot is bound to a host function for each run. Flags are ARRJIT_SLOT_*. */
#define ARRJIT_SLOT_OPTIONAL                                                                                           \
  1u /* io only: unbound means pass-through; results of a value slot come from nowhere else */
/* Value slots only: equal arguments give equal results and nothing else happens. Finishing the graph drops calls whose
 * results nothing needs, merges calls of one arm or body that have the same arguments, and puts each before the first
 * node that has its results or whose arms use them: there it runs, and fails when it does. Calls with dynamic results
 * stay as they are. */
#define ARRJIT_SLOT_PURE 2u
/* A dim of a result may be ARRJIT_DYNAMIC_DIM: the callback allocates that result (arrjit_call_result). The value of a
 * call then has a symbol of its own for each such dim (arrjit_value_type), bound anew at every call, which later nodes
 * of the same arm or body, and what is inside them, may use; what leaves an arm or body must have other dims. */
ARRJIT_API arrjit_slot arrjit_slot_io(arrjit_graph *graph, const char *name, size_t param_count,
                                      const arrjit_type *params, unsigned flags);
ARRJIT_API arrjit_slot arrjit_slot_value(arrjit_graph *graph, const char *name, size_t param_count,
                                         const arrjit_type *params, size_t result_count, const arrjit_type *results,
                                         unsigned flags);
/* Calls the host. For an io slot `out` has the arguments again (use those to depend on the call). */
ARRJIT_API void arrjit_callback(arrjit_graph *graph, arrjit_slot slot, size_t arg_count, const arrjit_value *args,
                                arrjit_value *out);

#ifndef ARRJIT_NO_LOCATIONS
#define ARRJIT_AT_(g) arrjit_at((g), __FILE__, __LINE__)
#define arrjit_param(g, ...) (arrjit_param)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_return(g, ...) (arrjit_return)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_const(g, ...) (arrjit_const)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_call(g, ...) (arrjit_call)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_if_begin(g, ...) (arrjit_if_begin)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_switch_begin(g, ...) (arrjit_switch_begin)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_while_begin(g, ...) (arrjit_while_begin)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_for_begin(g, ...) (arrjit_for_begin)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_try_begin(g) (arrjit_try_begin)(ARRJIT_AT_(g))
#define arrjit_raise(g, ...) (arrjit_raise)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_runtime_raise(g, ...) (arrjit_runtime_raise)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_check(g, ...) (arrjit_check)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_exn_new(g, ...) (arrjit_exn_new)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_raise_exn(g, ...) (arrjit_raise_exn)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_raise_from(g, ...) (arrjit_raise_from)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_if_else(g, ...) (arrjit_if_else)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_if_end(g, ...) (arrjit_if_end)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_switch_case(g, ...) (arrjit_switch_case)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_switch_end(g, ...) (arrjit_switch_end)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_while_body(g, ...) (arrjit_while_body)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_while_end(g, ...) (arrjit_while_end)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_for_end(g, ...) (arrjit_for_end)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_try_handler(g, ...) (arrjit_try_handler)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_try_finally(g, ...) (arrjit_try_finally)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_try_end(g, ...) (arrjit_try_end)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_map_begin(g, ...) (arrjit_map_begin)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_map_end(g, ...) (arrjit_map_end)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_reduce_begin(g, ...) (arrjit_reduce_begin)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_reduce_end(g, ...) (arrjit_reduce_end)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_cumulative_begin(g, ...) (arrjit_cumulative_begin)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_cumulative_end(g, ...) (arrjit_cumulative_end)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_select_and_scatter_begin(g, ...) (arrjit_select_and_scatter_begin)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_select_and_scatter_combine(g, ...) (arrjit_select_and_scatter_combine)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_select_and_scatter_end(g, ...) (arrjit_select_and_scatter_end)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_sort_by_begin(g, ...) (arrjit_sort_by_begin)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_sort_by_end(g, ...) (arrjit_sort_by_end)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_reduce_window_begin(g, ...) (arrjit_reduce_window_begin)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_reduce_window_end(g, ...) (arrjit_reduce_window_end)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_define(g, ...) (arrjit_define)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_declare(g, ...) (arrjit_declare)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_slot_io(g, ...) (arrjit_slot_io)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_slot_value(g, ...) (arrjit_slot_value)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_label_push(g, ...) (arrjit_label_push)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_label_pop(g) (arrjit_label_pop)(ARRJIT_AT_(g))
#define arrjit_callback(g, ...) (arrjit_callback)(ARRJIT_AT_(g), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
