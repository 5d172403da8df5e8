/* Arrays as nested lists. A dim longer than MOST_SHOWN is cut in the middle unless all is asked for. */
#include <inttypes.h>

#include "cli/cli.h"

enum { MOST_SHOWN = 12, SHOWN_BEFORE = 6, SHOWN_AFTER = 3 };

typedef struct shown {
  FILE *file;
  arrjit_dtype dtype;
  int32_t rank;
  const int64_t *dims, *strides;
  bool full, cut;
} shown;

/* Depth is at most ARRJIT_MAX_RANK. */
static void show_dim(shown *s, int32_t dim, const char *data) {
  if (dim == s->rank) {
    cli_print_element(s->file, s->dtype, data);
    return;
  }
  int64_t extent = s->dims[dim];
  fputc('[', s->file);
  for (int64_t i = 0; i < extent; i++) {
    if (i) fputs(", ", s->file);
    if (!s->full && extent > MOST_SHOWN && i == SHOWN_BEFORE) {
      fputs("..., ", s->file);
      i = extent - SHOWN_AFTER;
      s->cut = true;
    }
    show_dim(s, dim + 1, data + i * s->strides[dim]);
  }
  fputc(']', s->file);
}

void cli_show(FILE *file, arrjit_dtype dtype, int32_t rank, const int64_t *dims, const int64_t *strides_bytes,
              const void *data, bool full) {
  shown s = {file, dtype, rank, dims, strides_bytes, full, false};
  int64_t count = 1;
  for (int32_t i = 0; i < rank; i++) count *= dims[i];
  if (count == 0) s.rank = rank ? 1 : 0; /* "[]" whichever extent is 0 */
  const int64_t none = 0;
  if (count == 0) s.dims = &none;
  show_dim(&s, 0, data);
  if (s.cut) fprintf(file, " (%" PRId64 " elements)", count);
}

void cli_show_result(FILE *file, const char *name, size_t index, const arrjit_array *array, bool full) {
  arrjit_type type = arrjit_array_type(array);
  char text[512];
  cli_type_text(NULL, &type, text, sizeof text);
  if (name && *name)
    fprintf(file, "%s: %s = ", name, text);
  else
    fprintf(file, "%zu: %s = ", index, text);
  cli_show(file, type.dtype, type.rank, type.dims, arrjit_array_strides_bytes(array), arrjit_array_data(array), full);
  fputc('\n', file);
}
