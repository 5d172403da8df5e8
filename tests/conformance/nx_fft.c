/* Nx's Fourier transforms. */
#include "nx.h"

#include <string.h>

/* Axes that are transformed, and over how many elements each. */
typedef struct span {
  size_t count;
  int64_t axes[CASE_MOST], lengths[CASE_MOST];
} span;

/* A number, or :power_of_two for the next one; none for the extent itself. 0: neither. */
static int64_t read_length(const json_t *length, int64_t extent) {
  int64_t power = 1;
  if (!length || json_is_null(length)) return extent;
  if (json_is_integer(length)) return json_integer_value(length);
  if (strcmp(nx_atom(length), "power_of_two") != 0) return 0;
  while (power < extent) power *= 2;
  return power;
}

typedef arrjit_value transform(arrjit_graph *g, arrjit_value x, size_t axis_count, const int64_t *axes,
                               const int64_t *lengths);

static span read_axis(nx_op *op, arrjit_value x) {
  span s = {.count = 1, .axes = {nx_axis(op, nx_int(op, "axis", -1), nx_rank(x))}};
  s.lengths[0] = read_length(nx_option(op, "length"), nx_extent(x, s.axes[0]));
  return s;
}

static void build_one(nx_op *op, transform *by) {
  arrjit_value x = nx_complex(op, nx_tensor(op, 0));
  span s = read_axis(op, x);
  if (s.lengths[0] == 0)
    nx_raise(op, "expected an integer or :power_of_two as length, got: :%s", nx_atom(nx_option(op, "length")));
  op->out[0] = by(op->g, x, s.count, s.axes, s.lengths);
}

static void build_fft(nx_op *op) { build_one(op, arrjit_fft); }
static void build_ifft(nx_op *op) { build_one(op, arrjit_ifft); }

static void build_rfft(nx_op *op) {
  arrjit_value x = nx_float(op, nx_tensor(op, 0));
  span s = read_axis(op, x);
  if (tk_is_complex(nx_dtype_of(x)))
    nx_raise(op, "Nx.rfft/2 expects a real tensor, got type: %s", nx_type_name(nx_dtype_of(x)).text);
  op->out[0] = arrjit_rfft(op->g, x, s.count, s.axes, s.lengths);
}

/* Without a length, that of a real tensor with an even number of elements. */
static void build_irfft(nx_op *op) {
  arrjit_value x = nx_complex(op, nx_tensor(op, 0));
  span s = read_axis(op, x);
  if (nx_option(op, "length") && !json_is_integer(nx_option(op, "length")))
    nx_raise(op, "expected a positive integer as length, got: :%s", nx_atom(nx_option(op, "length")));
  op->out[0] = arrjit_irfft(op->g, x, s.count, s.axes, nx_option(op, "length") ? s.lengths : NULL);
}

/* Over two axes, the last ones unless `axes` names them. */
static void build_two(nx_op *op, transform *by) {
  arrjit_value x = nx_complex(op, nx_tensor(op, 0));
  const json_t *axes = nx_option(op, "axes"), *lengths = nx_option(op, "lengths");
  int64_t rank = nx_rank(x), named[CASE_MOST] = {-2, -1};
  span s = {.count = 2};
  if (rank < 2) nx_raise(op, "expected a tensor with rank > 1, got tensor with rank %d", (int)rank);
  if (op->told != PASSED) return;
  if (axes) nx_ints(axes, named);
  for (size_t i = 0; i < s.count; i++) {
    s.axes[i] = nx_axis(op, named[i], rank);
    s.lengths[i] = read_length(nx_element(lengths, i), nx_extent(x, s.axes[i]));
    if (s.lengths[i] == 0) nx_raise(op, "expected :lengths to be a list of lengths or :power_of_two, got: ");
  }
  op->out[0] = by(op->g, x, s.count, s.axes, s.lengths);
}

static void build_fft2(nx_op *op) { build_two(op, arrjit_fft); }
static void build_ifft2(nx_op *op) { build_two(op, arrjit_ifft); }

static const nx_row rows[] = {{"Nx.fft", build_fft},     {"Nx.ifft", build_ifft}, {"Nx.fft2", build_fft2},
                              {"Nx.ifft2", build_ifft2}, {"Nx.rfft", build_rfft}, {"Nx.irfft", build_irfft}};

nx_build *nx_fft_find(const char *name) { return nx_find(name, TK_COUNT(rows), rows); }
