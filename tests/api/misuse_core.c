/* Rows of misuse: contexts, names of tables, arrays. */
#include "misuse.h"

#define NONE_OF(type) ((type)9999)

static arrjit_context_options options_of(size_t bytes, const arrjit_allocator *allocator) {
  return (arrjit_context_options){.struct_bytes = bytes, .allocator = allocator};
}

static void creation(misuse *m) {
  const arrjit_allocator bare = {NULL, NULL};
  const arrjit_executor idle = {NULL, NULL};
  arrjit_context_options zero = options_of(0, NULL), longer = options_of(sizeof zero + 8, NULL),
                         no_resize = options_of(sizeof zero, &bare), no_submit = options_of(sizeof zero, NULL);
  no_submit.executor = &idle;
  REFUSED(m, arrjit_context_create, "options", "with struct_bytes 0", ARRJIT_MISUSE, "struct_bytes is 0",
          arrjit_context_create(&zero, &m->outs.context, e));
  REFUSED(m, arrjit_context_create, "options", "of another size", ARRJIT_MISUSE, "expected",
          arrjit_context_create(&longer, &m->outs.context, e));
  REFUSED(m, arrjit_context_create, "options", "with an allocator of nothing", ARRJIT_MISUSE, "allocator",
          arrjit_context_create(&no_resize, &m->outs.context, e));
  REFUSED(m, arrjit_context_create, "options", "with an executor of nothing", ARRJIT_MISUSE, "submit is NULL",
          arrjit_context_create(&no_submit, &m->outs.context, e));
  REFUSED(m, arrjit_context_create, "out", "NULL", ARRJIT_MISUSE, "out is NULL", arrjit_context_create(NULL, NULL, e));
  GIVES(m, arrjit_context_destroy, "context", "NULL", arrjit_context_destroy(NULL) == ARRJIT_OK);
}

static void options(misuse *m) {
  arrjit_context *c = m->f->context;
  REFUSED(m, arrjit_context_set_option, "context", "NULL", ARRJIT_MISUSE, "context is NULL",
          arrjit_context_set_option(NULL, ARRJIT_OPTION_MAX_DEPTH, 1, e));
  REFUSED(m, arrjit_context_set_option, "option", "negative", ARRJIT_MISUSE, "option -1",
          arrjit_context_set_option(c, (arrjit_option)-1, 1, e));
  REFUSED(m, arrjit_context_set_option, "option", "none", ARRJIT_MISUSE, "option 9999",
          arrjit_context_set_option(c, NONE_OF(arrjit_option), 1, e));
  REFUSED(m, arrjit_context_set_option, "value", "below the range", ARRJIT_MISUSE,
          "max_depth is 0, expected 1 to 100000", arrjit_context_set_option(c, ARRJIT_OPTION_MAX_DEPTH, 0, e));
  REFUSED(m, arrjit_context_set_option, "value", "above the range", ARRJIT_MISUSE, "expected 0 to 1",
          arrjit_context_set_option(c, ARRJIT_OPTION_RESUME_EVERYWHERE, 2, e));
  GIVES(m, arrjit_context_get_option, "context", "NULL", arrjit_context_get_option(NULL, ARRJIT_OPTION_MAX_DEPTH) == 0);
  GIVES(m, arrjit_context_get_option, "option", "negative", arrjit_context_get_option(c, (arrjit_option)-1) == 0);
  GIVES(m, arrjit_context_get_option, "option", "none", arrjit_context_get_option(c, NONE_OF(arrjit_option)) == 0);
  GIVES(m, arrjit_context_get_option, "context", "after refusals, as it was",
        arrjit_context_get_option(c, ARRJIT_OPTION_MAX_DEPTH) == 1000);
}

/* A name or signature that is refused, or a parent; ADD_KIND(how, name, parent, fields, part of the message). */
static void kinds(misuse *m) {
  arrjit_context *c = m->f->context;
  arrjit_kind *out = &m->outs.kind;
  const char *too_long =
      "a_name_much_longer_than_any_host_needs_for_a_kind_that_it_adds_to_the_tree_of_kinds_of_a_context_"
      "_and_then_some_more_letters_so_that_it_is_above_every_sensible_limit_of_names_and_a_few_more_"
      "_and_then_some_more_letters_so_that_it_is_above_every_sensible_limit_of_names_and_a_few_more_";
#define ADD_KIND(argument, how, name, parent, fields, part)                                                            \
  REFUSED(m, arrjit_context_add_kind, argument, how, ARRJIT_MISUSE, part,                                              \
          arrjit_context_add_kind(c, name, parent, fields, out, e))
  REFUSED(m, arrjit_context_add_kind, "context", "NULL", ARRJIT_MISUSE, "context is NULL",
          arrjit_context_add_kind(NULL, "k", ARRJIT_KIND_ERROR, "", out, e));
  REFUSED(m, arrjit_context_add_kind, "out", "NULL", ARRJIT_MISUSE, "out is NULL",
          arrjit_context_add_kind(c, "k", ARRJIT_KIND_ERROR, "", NULL, e));
  ADD_KIND("name", "NULL", NULL, ARRJIT_KIND_ERROR, "", "name is NULL");
  ADD_KIND("name", "empty", "", ARRJIT_KIND_ERROR, "", "no name of a kind");
  ADD_KIND("name", "with a blank", "a b", ARRJIT_KIND_ERROR, "", "no name of a kind");
  ADD_KIND("name", "too long", too_long, ARRJIT_KIND_ERROR, "", "no name of a kind");
  ADD_KIND("name", "taken", "arith", ARRJIT_KIND_ERROR, "", "\"arith\" already");
  ADD_KIND("parent", "none", "k", ARRJIT_KIND_NONE, "", "no kind");
  ADD_KIND("parent", "out of range", "k", 4711, "", "4711");
  ADD_KIND("parent", "negative", "k", -3, "", "-3");
  ADD_KIND("fields", "NULL", "k", ARRJIT_KIND_ERROR, NULL, "fields is NULL");
  ADD_KIND("fields", "with an unknown dtype", "k", ARRJIT_KIND_ERROR, "f63[0]", "f63");
  ADD_KIND("fields", "without a rank", "k", ARRJIT_KIND_ERROR, "f64", "f64[0]");
  ADD_KIND("fields", "of too large a rank", "k", ARRJIT_KIND_ERROR, "f64[17]", "17");
  ADD_KIND("fields", "that end in a comma", "k", ARRJIT_KIND_ERROR, "f64[0],", "signature");
  REFUSED(m, arrjit_context_find_kind, "context", "NULL", ARRJIT_MISUSE, "context is NULL",
          arrjit_context_find_kind(NULL, "arith", out, e));
  REFUSED(m, arrjit_context_find_kind, "name", "NULL", ARRJIT_MISUSE, "name is NULL",
          arrjit_context_find_kind(c, NULL, out, e));
  REFUSED(m, arrjit_context_find_kind, "out", "NULL", ARRJIT_MISUSE, "out is NULL",
          arrjit_context_find_kind(c, "arith", NULL, e));
  REFUSED(m, arrjit_context_find_kind, "name", "unknown", ARRJIT_NOT_FOUND, "\"k\"",
          arrjit_context_find_kind(c, "k", out, e));
  GIVES(m, arrjit_context_kind_name, "context", "NULL",
        strcmp(arrjit_context_kind_name(NULL, ARRJIT_KIND_ARITH), "?") == 0);
  GIVES(m, arrjit_context_kind_name, "kind", "none", strcmp(arrjit_context_kind_name(c, 0), "?") == 0);
  GIVES(m, arrjit_context_kind_name, "kind", "negative", strcmp(arrjit_context_kind_name(c, -1), "?") == 0);
  GIVES(m, arrjit_context_kind_name, "kind", "too large", strcmp(arrjit_context_kind_name(c, INT32_MAX), "?") == 0);
  GIVES(m, arrjit_context_kind_is, "context", "NULL",
        !arrjit_context_kind_is(NULL, ARRJIT_KIND_ARITH, ARRJIT_KIND_ERROR));
  GIVES(m, arrjit_context_kind_is, "kind", "none", !arrjit_context_kind_is(c, 0, ARRJIT_KIND_ERROR));
  GIVES(m, arrjit_context_kind_is, "ancestor", "too large", !arrjit_context_kind_is(c, ARRJIT_KIND_ARITH, INT32_MAX));
#undef ADD_KIND
}

static void happenings(misuse *m) {
  arrjit_statistics statistics;
  arrjit_event event;
  memset(&statistics, 0x5a, sizeof statistics);
  GIVES(m, arrjit_context_get_statistics, "context", "NULL",
        (arrjit_context_get_statistics(NULL, &statistics), statistics.live_bytes == 0));
  SURVIVES(m, arrjit_context_get_statistics, "out", "NULL", arrjit_context_get_statistics(m->f->context, NULL));
  GIVES(m, arrjit_context_next_event, "context", "NULL", arrjit_context_next_event(NULL, &event) == 0);
  GIVES(m, arrjit_context_next_event, "out", "NULL", arrjit_context_next_event(m->f->context, NULL) == 0);
  REFUSED(m, arrjit_context_wait_idle, "context", "NULL", ARRJIT_MISUSE, NULL, arrjit_context_wait_idle(NULL, -1));
}

static void names(misuse *m) {
  GIVES(m, arrjit_status_text, "status", "none", strcmp(arrjit_status_text(NONE_OF(arrjit_status)), "?") == 0);
  GIVES(m, arrjit_status_text, "status", "negative", strcmp(arrjit_status_text((arrjit_status)-1), "?") == 0);
  GIVES(m, arrjit_dtype_name, "dtype", "none", strcmp(arrjit_dtype_name(ARRJIT_DTYPE_NONE), "?") == 0);
  GIVES(m, arrjit_dtype_name, "dtype", "too large", strcmp(arrjit_dtype_name(NONE_OF(arrjit_dtype)), "?") == 0);
  GIVES(m, arrjit_dtype_name, "dtype", "negative", strcmp(arrjit_dtype_name((arrjit_dtype)-1), "?") == 0);
  GIVES(m, arrjit_dtype_bytes, "dtype", "none", arrjit_dtype_bytes(ARRJIT_DTYPE_NONE) == 0);
  GIVES(m, arrjit_dtype_bytes, "dtype", "too large", arrjit_dtype_bytes(NONE_OF(arrjit_dtype)) == 0);
  GIVES(m, arrjit_option_name, "option", "none", strcmp(arrjit_option_name(NONE_OF(arrjit_option)), "?") == 0);
  GIVES(m, arrjit_option_name, "option", "negative", strcmp(arrjit_option_name((arrjit_option)-1), "?") == 0);
  GIVES(m, arrjit_event_name, "code", "none", strcmp(arrjit_event_name(NONE_OF(arrjit_event_code)), "?") == 0);
  GIVES(m, arrjit_event_name, "code", "negative", strcmp(arrjit_event_name((arrjit_event_code)-1), "?") == 0);
  GIVES(m, arrjit_op_count, "nothing", "to misuse", arrjit_op_count() > 0);
  REFUSED(m, arrjit_op_get, "index", "out of range", ARRJIT_MISUSE, NULL,
          arrjit_op_get(arrjit_op_count(), &m->outs.row));
  REFUSED(m, arrjit_op_get, "index", "huge", ARRJIT_MISUSE, NULL, arrjit_op_get(SIZE_MAX, &m->outs.row));
  REFUSED(m, arrjit_op_get, "out", "NULL", ARRJIT_MISUSE, NULL, arrjit_op_get(0, NULL));
  GIVES(m, arrjit_version, "nothing", "to misuse", arrjit_version()[0] != 0);
}

void misuse_contexts(misuse *m) {
  creation(m);
  options(m);
  kinds(m);
  happenings(m);
  names(m);
}

/* ---- arrays ---- */

static void bad_types(misuse *m) {
  arrjit_context *c = m->f->context;
  arrjit_array **out = &m->outs.array;
  double data[3] = {1, 2, 3};
  const struct {
    const char *how;
    arrjit_type type;
    const char *part;
  } rows[] = {
      {"without a dtype", TYPE(F64, 3), "dtype 0"},
      {"of an unknown dtype", arrjit_type_make(NONE_OF(arrjit_dtype), 1, I64S(3)), "dtype 9999"},
      {"of a negative rank", {.dtype = ARRJIT_F64, .rank = -1}, "rank -1"},
      {"of rank 17", {.dtype = ARRJIT_F64, .rank = 17}, "rank 17"},
      {"with a negative extent", TYPE(F64, 3, -2), "extent -2"},
      {"too large to count", TYPE(F64, INT64_MAX, 2), "overflow"},
      {"too large to address", TYPE(F64, INT64_MAX / 8 + 1), "overflow"},
      {"made from rank 2 and no dims", arrjit_type_make(ARRJIT_F64, 2, NULL), "rank"},
  };
  for (size_t i = 0; i < TK_COUNT(rows); i++) {
    arrjit_type type = rows[i].type;
    if (i == 0) type.dtype = ARRJIT_DTYPE_NONE;
    REFUSED(m, arrjit_array_create, "type", rows[i].how, ARRJIT_MISUSE, rows[i].part,
            arrjit_array_create(c, &type, NULL, out, e));
    REFUSED(m, arrjit_array_wrap, "type", rows[i].how, ARRJIT_MISUSE, rows[i].part,
            arrjit_array_wrap(c, &type, data, NULL, NULL, NULL, out, e));
  }
}

static void array_creation(misuse *m) {
  arrjit_context *c = m->f->context;
  arrjit_array **out = &m->outs.array;
  arrjit_type type = TYPE(F64, 3);
  double data[3] = {1, 2, 3};
  REFUSED(m, arrjit_array_create, "context", "NULL", ARRJIT_MISUSE, "context is NULL",
          arrjit_array_create(NULL, &type, data, out, e));
  REFUSED(m, arrjit_array_create, "type", "NULL", ARRJIT_MISUSE, "type is NULL",
          arrjit_array_create(c, NULL, data, out, e));
  REFUSED(m, arrjit_array_create, "out", "NULL", ARRJIT_MISUSE, "out is NULL",
          arrjit_array_create(c, &type, data, NULL, e));
  REFUSED(m, arrjit_array_wrap, "context", "NULL", ARRJIT_MISUSE, "context is NULL",
          arrjit_array_wrap(NULL, &type, data, NULL, NULL, NULL, out, e));
  REFUSED(m, arrjit_array_wrap, "type", "NULL", ARRJIT_MISUSE, "type is NULL",
          arrjit_array_wrap(c, NULL, data, NULL, NULL, NULL, out, e));
  REFUSED(m, arrjit_array_wrap, "data", "NULL", ARRJIT_MISUSE, "data is NULL",
          arrjit_array_wrap(c, &type, NULL, NULL, NULL, NULL, out, e));
  REFUSED(m, arrjit_array_wrap, "out", "NULL", ARRJIT_MISUSE, "out is NULL",
          arrjit_array_wrap(c, &type, data, NULL, NULL, NULL, NULL, e));
  REFUSED(m, arrjit_array_wrap, "strides_bytes", "past the address space", ARRJIT_MISUSE, "strides_bytes",
          arrjit_array_wrap(c, &type, data, I64S(INT64_MAX / 2 + 1), NULL, NULL, out, e));
  bad_types(m);
}

static void views(misuse *m) {
  arrjit_array *base = m->array;
  const struct {
    const char *argument, *how;
    int64_t start, step, dim;
    const char *part;
  } rows[] = {
      {"step", "0", 0, 0, 1, "step"},
      {"start", "negative", -1, 1, 1, "start -1"},
      {"start", "behind the end", 4, 1, 0, "start 4"},
      {"start", "at the end of a view with elements", 3, 1, 1, "start 3"},
      {"dims", "negative", 0, 1, -1, "extent"},
      {"dims", "longer than the base", 0, 1, 4, "extent 4"},
      {"dims", "longer than the base by steps", 0, 2, 3, "step 2"},
      {"dims", "beyond the first element, going back", 1, -1, 3, "step -1"},
      {"dims", "so large that the end overflows", 1, INT64_MAX, 3, "outside"},
      {"step", "so negative that the end overflows", 1, INT64_MIN, 3, "outside"},
  };
  for (size_t i = 0; i < TK_COUNT(rows); i++)
    REFUSED(m, arrjit_array_view, rows[i].argument, rows[i].how, ARRJIT_MISUSE, rows[i].part,
            arrjit_array_view(base, &rows[i].start, &rows[i].step, &rows[i].dim, &m->outs.array, e));
  REFUSED(m, arrjit_array_view, "base", "NULL", ARRJIT_MISUSE, "base is NULL",
          arrjit_array_view(NULL, I64S(0), I64S(1), I64S(1), &m->outs.array, e));
  REFUSED(m, arrjit_array_view, "start", "NULL", ARRJIT_MISUSE, "start is NULL",
          arrjit_array_view(base, NULL, I64S(1), I64S(1), &m->outs.array, e));
  REFUSED(m, arrjit_array_view, "step", "NULL", ARRJIT_MISUSE, "step is NULL",
          arrjit_array_view(base, I64S(0), NULL, I64S(1), &m->outs.array, e));
  REFUSED(m, arrjit_array_view, "dims", "NULL", ARRJIT_MISUSE, "dims is NULL",
          arrjit_array_view(base, I64S(0), I64S(1), NULL, &m->outs.array, e));
  REFUSED(m, arrjit_array_view, "out", "NULL", ARRJIT_MISUSE, "out is NULL",
          arrjit_array_view(base, I64S(0), I64S(1), I64S(1), NULL, e));
}

void misuse_arrays(misuse *m) {
  array_creation(m);
  views(m);
  REFUSED(m, arrjit_array_copy, "array", "NULL", ARRJIT_MISUSE, "array is NULL",
          arrjit_array_copy(NULL, &m->outs.array, e));
  REFUSED(m, arrjit_array_copy, "out", "NULL", ARRJIT_MISUSE, "out is NULL", arrjit_array_copy(m->array, NULL, e));
  SURVIVES(m, arrjit_array_retain, "array", "NULL", arrjit_array_retain(NULL));
  SURVIVES(m, arrjit_array_release, "array", "NULL", arrjit_array_release(NULL));
  GIVES(m, arrjit_array_type, "array", "NULL",
        arrjit_array_type(NULL).dtype == ARRJIT_DTYPE_NONE && arrjit_array_type(NULL).rank == 0);
  GIVES(m, arrjit_array_dtype, "array", "NULL", arrjit_array_dtype(NULL) == ARRJIT_DTYPE_NONE);
  GIVES(m, arrjit_array_rank, "array", "NULL", arrjit_array_rank(NULL) == 0);
  GIVES(m, arrjit_array_dims, "array", "NULL", arrjit_array_dims(NULL) == NULL);
  GIVES(m, arrjit_array_strides_bytes, "array", "NULL", arrjit_array_strides_bytes(NULL) == NULL);
  GIVES(m, arrjit_array_data, "array", "NULL", arrjit_array_data(NULL) == NULL);
  GIVES(m, arrjit_array_count, "array", "NULL", arrjit_array_count(NULL) == 0);
  GIVES(m, arrjit_array_bytes, "array", "NULL", arrjit_array_bytes(NULL) == 0);
  GIVES(m, arrjit_array_is_dense, "array", "NULL", arrjit_array_is_dense(NULL) == 0);
}
