/* arrjit-diff [--quick] [--op NAME] [--dtype NAME] [--seed S]: the same bits in interp, interp with resume everywhere
 * and whole, made for the CPU at hand and each lesser level of it, for every op of the table, every dtype, special
 * values, lengths and layouts. Exit 1 on any difference. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"

arrjit_graph *diff_graph(diff *d) {
  arrjit_graph *graph = NULL;
  arrjit_error error;
  if (arrjit_graph_create(d->context, &graph, &error) != ARRJIT_OK) tk_die("no graph: %s", error.message);
  return graph;
}

static bool wants_level(const diff *d, aj_op op, arrjit_dtype dtype, int64_t isa) {
  if (isa == 0) return true;
  if (!tk_native() || isa > tk_isa_levels()) return false;
  if (!d->quick) return true;
  bool lowered = (aj_ops[op].flags & AJ_F_ELEMENTWISE) || aj_ops[op].rule == AJ_R_REDUCE;
  bool often = dtype == ARRJIT_F32 || dtype == ARRJIT_F64 || dtype == ARRJIT_F16 || dtype == ARRJIT_I32;
  return lowered && often && isa == 1 + d->finished % 8;
}

/* All levels are parsed from the same text, so that traces of failures name the same places. */
bool diff_finish(diff *d, arrjit_graph *graph, aj_op op, arrjit_dtype dtype, diff_function *out) {
  arrjit_function *function = NULL;
  arrjit_error error;
  char *text = NULL;
  size_t bytes = 0;
  *out = (diff_function){{NULL}};
  arrjit_status status = arrjit_graph_finish(graph, &function, &error);
  arrjit_graph_destroy(graph);
  if (status == ARRJIT_OK) status = arrjit_function_print(function, ARRJIT_PRINT_INPUT, &text, &bytes, &error);
  d->finished++;
  for (int isa = 0; isa < DIFF_LEVELS && status == ARRJIT_OK; isa++)
    if (wants_level(d, op, dtype, isa))
      status = arrjit_function_parse(d->context, text, bytes, "diff.air", &out->at[isa], &error);
  arrjit_function_release(function);
  if (text) arrjit_text_free(d->context, text, bytes);
  if (status == ARRJIT_OK) return true;
  printf("%s %s: refused: %s\n", aj_ops[op].name, aj_dtypes[dtype].name, error.message);
  diff_release_function(out);
  d->differences++;
  return false;
}

void diff_release_function(diff_function *function) {
  for (int isa = 0; isa < DIFF_LEVELS; isa++) arrjit_function_release(function->at[isa]);
}

void diff_add_data(diff *d, diff_inputs *inputs, const arrjit_type *type, tk_layout layout, const void *data) {
  inputs->arrays[inputs->count++] = tk_layout_array(d->context, type, layout, data);
}

void diff_add(diff *d, diff_inputs *inputs, const arrjit_type *type, tk_role role, int64_t bound, bool tame,
              tk_layout layout) {
  size_t count = tk_type_count(type);
  void *data = tk_new(count, arrjit_dtype_bytes(type->dtype));
  tk_fill(type->dtype, role, bound, tame, &d->pick, count, data);
  diff_add_data(d, inputs, type, layout, data);
  free(data);
}

void diff_release_inputs(diff_inputs *inputs) {
  for (size_t i = 0; i < inputs->count; i++) arrjit_array_release(inputs->arrays[i]);
  inputs->count = 0;
}

static void print_case(diff *d, arrjit_function *function, const diff_inputs *inputs) {
  char *text = NULL;
  size_t bytes = 0;
  if (arrjit_function_print(function, ARRJIT_PRINT_INPUT, &text, &bytes, NULL) == ARRJIT_OK) {
    printf("%.*s", bytes > 4000 ? 4000 : (int)bytes, text);
    arrjit_text_free(d->context, text, bytes);
  }
  for (size_t i = 0; i < inputs->count; i++) {
    arrjit_array *dense = NULL;
    if (arrjit_array_copy(inputs->arrays[i], &dense, NULL) != ARRJIT_OK) continue;
    arrjit_type type = arrjit_array_type(dense);
    printf("  input %zu: ", i);
    tk_print_type(stdout, &type);
    putchar(' ');
    tk_print_elements(stdout, &type, arrjit_array_data(dense), 40);
    putchar('\n');
    arrjit_array_release(dense);
  }
}

static void report(diff *d, aj_op op, arrjit_dtype dtype, tk_mode mode, const char *why, arrjit_function *function,
                   const diff_inputs *inputs) {
  if (d->differences++ > 20) return; /* enough to see */
  printf("DIFFERENCE: %s %s, interp against %s, isa %" PRId64 ": %s\n", aj_ops[op].name, aj_dtypes[dtype].name,
         tk_mode_name(mode), d->isa, why);
  print_case(d, function, inputs);
}

static int64_t size_of(const tk_outcome *o) {
  int64_t size = 1; /* the tag; or the whole failure */
  for (size_t i = 0; i < o->output_count; i++) size += (int64_t)tk_type_count(&o->outputs[i].type);
  return size;
}

static void compare_run(diff *d, aj_op op, arrjit_dtype dtype, arrjit_function *function, tk_mode mode,
                        const diff_inputs *inputs, const tk_outcome *first) {
  tk_outcome other;
  tk_call call = {.input_count = inputs->count, .inputs = inputs->arrays};
  char *why = NULL;
  tk_run_mode(d->context, function, mode, &call, &other);
  if (!tk_outcome_same(first, &other, &why))
    report(d, op, dtype, mode, why, function, inputs);
  else
    d->compared[op] += size_of(first);
  if (mode == TK_WHOLE) {
    arrjit_function_statistics s;
    arrjit_function_get_statistics(function, &s);
    if (!other.native) report(d, op, dtype, mode, "no native code ran", function, inputs);
    if (s.interpreted_nodes) report(d, op, dtype, mode, "nodes left to the interpreter", function, inputs);
    if (s.fallback_nodes && aj_ops[op].lowering != AJ_LOWER_FALLBACK)
      report(d, op, dtype, mode, "nodes left to routines", function, inputs);
  }
  free(why);
  tk_outcome_free(&other);
}

void diff_compare(diff *d, aj_op op, arrjit_dtype dtype, const diff_function *function, const diff_inputs *inputs) {
  tk_outcome first;
  tk_call call = {.input_count = inputs->count, .inputs = inputs->arrays};
  tk_run_mode(d->context, function->at[0], TK_INTERP, &call, &first);
  if (first.status != ARRJIT_OK) report(d, op, dtype, TK_INTERP, first.error.message, function->at[0], inputs);
  compare_run(d, op, dtype, function->at[0], TK_RESUME, inputs, &first);
  for (d->isa = 0; d->isa < DIFF_LEVELS; d->isa++) {
    if (!tk_mode_exists(TK_WHOLE) || !function->at[d->isa]) continue;
    if (arrjit_context_set_option(d->context, ARRJIT_OPTION_ISA, d->isa, NULL) != ARRJIT_OK) tk_die("no such level");
    compare_run(d, op, dtype, function->at[d->isa], TK_WHOLE, inputs, &first);
  }
  d->isa = 0;
  tk_outcome_free(&first);
}

/* Complex numbers only where the op has no others: they are made of the ops on their parts. */
static bool is_quick(aj_op op, arrjit_dtype dtype) {
  if (dtype == ARRJIT_C64) return !tk_opcase_dtype(op, ARRJIT_F32);
  return dtype == ARRJIT_F32 || dtype == ARRJIT_I32 || dtype == ARRJIT_U8 || dtype == ARRJIT_BOOL ||
         dtype == ARRJIT_F64 || dtype == ARRJIT_F16 || dtype == ARRJIT_BF16;
}

static int usage(void) {
  fputs("usage: arrjit-diff [--quick] [--op NAME] [--dtype NAME] [--seed S]\n", stderr);
  return 2;
}

int main(int argc, char **argv) {
  diff d = {.context = tk_context(NULL), .pick = {1}};
  const char *only_op = NULL, *only_dtype = NULL;
  for (int i = 1; i < argc; i++) {
    bool more = i + 1 < argc;
    if (strcmp(argv[i], "--quick") == 0) {
      d.quick = true;
    } else if (more && strcmp(argv[i], "--op") == 0) {
      only_op = argv[++i];
    } else if (more && strcmp(argv[i], "--dtype") == 0) {
      only_dtype = argv[++i];
    } else if (more && strcmp(argv[i], "--seed") == 0) {
      d.pick.state = strtoull(argv[++i], NULL, 10);
    } else {
      return usage();
    }
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  int64_t total = 0, ops = 0;
  for (aj_op op = AJ_OP_NONE; op < AJ_OP_COUNT; op++) {
    if (!tk_opcase_covers(op) || (only_op && strcmp(aj_ops[op].name, only_op) != 0)) continue;
    for (arrjit_dtype dtype = ARRJIT_BOOL; dtype < AJ_DTYPE_COUNT; dtype++) {
      if (!tk_opcase_dtype(op, dtype) || (only_dtype && strcmp(aj_dtypes[dtype].name, only_dtype) != 0)) continue;
      if (d.quick && !only_dtype && !is_quick(op, dtype)) continue;
      if (aj_ops[op].flags & AJ_F_ELEMENTWISE) {
        diff_elementwise(&d, op, dtype);
      } else {
        diff_others(&d, op, dtype);
      }
    }
    if (!only_dtype && !d.compared[op]) printf("%s: nothing was compared\n", aj_ops[op].name), d.differences++;
    printf("%-22s %12" PRId64 "\n", aj_ops[op].name, d.compared[op]);
    total += d.compared[op], ops++;
  }
  for (arrjit_dtype dtype = ARRJIT_BOOL; dtype < AJ_DTYPE_COUNT && !only_op; dtype++) diff_check_shape(&d, dtype);
  if (!only_op) {
    printf("%-22s %12" PRId64 "\n", aj_ops[AJ_OP_CHECK_SHAPE].name, d.compared[AJ_OP_CHECK_SHAPE]);
    total += d.compared[AJ_OP_CHECK_SHAPE], ops++;
  }
  printf("%" PRId64 " ops, %" PRId64 " comparisons, %" PRId64 " differences\n", ops, total, d.differences);
  if (arrjit_context_destroy(d.context) != ARRJIT_OK) tk_die("the context is still in use");
  return d.differences != 0;
}
