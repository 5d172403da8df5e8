/* Comparing a result with what a case wants: eq, bits, abs, ulp, allclose. */
#include "cases.h"
#include "floats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct rule {
  bool (*same)(const struct rule *rule, arrjit_dtype dtype, const unsigned char *got, const unsigned char *want);
  double tol, rtol;
} rule;

static uint64_t read_bits(arrjit_dtype dtype, const unsigned char *element) {
  uint64_t bits = 0;
  memcpy(&bits, element, arrjit_dtype_bytes(dtype)); /* little-endian, as the corpora are */
  return bits;
}

/* ---- rules; floats only, other elements are compared exactly ---- */

static bool same_eq(const rule *r, arrjit_dtype dtype, const unsigned char *got, const unsigned char *want) {
  (void)r;
  double a = tk_load_float(dtype, got), b = tk_load_float(dtype, want);
  return a == b || (isnan(a) && isnan(b));
}

static bool same_abs(const rule *r, arrjit_dtype dtype, const unsigned char *got, const unsigned char *want) {
  double a = tk_load_float(dtype, got), b = tk_load_float(dtype, want);
  if (same_eq(r, dtype, got, want)) return true;
  return isfinite(a) && isfinite(b) && fabs(a - b) <= r->tol;
}

static bool same_close(const rule *r, arrjit_dtype dtype, const unsigned char *got, const unsigned char *want) {
  double a = tk_load_float(dtype, got), b = tk_load_float(dtype, want);
  if (same_eq(r, dtype, got, want)) return true;
  return isfinite(a) && isfinite(b) && fabs(a - b) <= r->tol + r->rtol * fabs(b);
}

/* Place in the order of all values of the dtype; both zeros are 0. */
static int64_t place(arrjit_dtype dtype, const unsigned char *element) {
  uint64_t bits = read_bits(dtype, element), sign = UINT64_C(1) << (8 * arrjit_dtype_bytes(dtype) - 1);
  return bits & sign ? -(int64_t)(bits & (sign - 1)) : (int64_t)bits;
}

static bool same_ulp(const rule *r, arrjit_dtype dtype, const unsigned char *got, const unsigned char *want) {
  double a = tk_load_float(dtype, got), b = tk_load_float(dtype, want);
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  if (!isfinite(a) || !isfinite(b)) return a == b;
  int64_t x = place(dtype, got), y = place(dtype, want);
  uint64_t distance = x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
  return (double)distance <= r->tol;
}

/* ---- a check ---- */

static double get_number(const json_t *check, const char *name) {
  return json_number_value(json_object_get(check, name));
}

/* Sums in another order differ by what the largest elements round: relative to those, not to each one. */
static double relax(arrjit_dtype of, const tk_block *want) {
  arrjit_dtype dtype = tk_part(of);
  size_t count = tk_type_count(&want->type) * (dtype == of ? 1 : 2);
  double most = 0, unit = arrjit_dtype_bytes(dtype) == 2 ? 0x1p-7 : dtype == ARRJIT_F64 ? 0x1p-46 : 0x1p-17;
  size_t width = arrjit_dtype_bytes(dtype);
  for (size_t i = 0; i < count; i++) {
    double x = fabs(tk_load_float(dtype, want->data + i * width));
    if (isfinite(x) && x > most) most = x;
  }
  return most * unit;
}

static bool fail_types(corpus_run *run, const tk_block *got, const tk_block *want) {
  tk_text text;
  tk_text_open(&text);
  tk_print_type(text.to, &got->type);
  fputs(" where expected was ", text.to);
  tk_print_type(text.to, &want->type);
  char *said = tk_text_close(&text);
  corpus_say(run, FAILED, "%s", said);
  free(said);
  return false;
}

static bool fail_element(corpus_run *run, const char *how, arrjit_dtype dtype, size_t index, const unsigned char *got,
                         const unsigned char *want) {
  tk_text text;
  tk_text_open(&text);
  fprintf(text.to, "element %zu (%s): ", index, how);
  tk_print_element(text.to, dtype, got);
  fputs(" where expected was ", text.to);
  tk_print_element(text.to, dtype, want);
  char *said = tk_text_close(&text);
  corpus_say(run, FAILED, "%s", said);
  free(said);
  return false;
}

static bool same_type(const tk_block *a, const tk_block *b) {
  return a->type.dtype == b->type.dtype && a->type.rank == b->type.rank &&
         memcmp(a->type.dims, b->type.dims, (size_t)a->type.rank * sizeof(int64_t)) == 0;
}

/* A block with the same numbers as floats of another dtype; false: they are neither i32 nor floats. */
static bool recast(const tk_block *from, arrjit_dtype dtype, tk_block *out) {
  arrjit_dtype old = from->type.dtype;
  size_t count = tk_type_count(&from->type), width = arrjit_dtype_bytes(old), to = arrjit_dtype_bytes(dtype);
  *out = *from;
  out->type.dtype = dtype;
  out->bytes = count * to;
  out->data = tk_new(out->bytes + 1, 1);
  bool stored = tk_is_float(dtype) && (old == ARRJIT_I32 || tk_is_float(old));
  for (size_t i = 0; stored && i < count; i++) {
    const unsigned char *element = from->data + i * width;
    int32_t whole = 0;
    if (old == ARRJIT_I32) memcpy(&whole, element, sizeof whole);
    stored = tk_store_float(dtype, old == ARRJIT_I32 ? whole : tk_load_float(old, element), out->data + i * to);
  }
  return stored;
}

static bool judge(corpus_run *run, const json_t *check, const tk_block *got, const tk_block *want, bool relaxed) {
  const char *how = json_string_value(json_object_get(check, "cmp"));
  arrjit_dtype dtype = got->type.dtype;
  rule r = {.same = same_eq, .tol = get_number(check, "tol")};
  if (strcmp(how, "bits") == 0) return corpus_match_bits(run, check, got);
  if (!same_type(got, want)) return fail_types(run, got, want);
  if (strcmp(how, "abs") == 0) {
    r.same = same_abs;
  } else if (strcmp(how, "ulp") == 0) {
    r.same = same_ulp;
  } else if (strcmp(how, "allclose") == 0) {
    r = (rule){.same = same_close, .tol = get_number(check, "atol"), .rtol = get_number(check, "rtol")};
  } else if (strcmp(how, "eq") != 0) {
    corpus_say(run, FAILED, "a check by %s", how);
    return false;
  }
  if (relaxed && tk_is_float(tk_part(dtype)))
    r = (rule){.same = same_close, .tol = relax(dtype, want), .rtol = get_number(check, "rtol")};
  size_t count = tk_type_count(&got->type) * (tk_is_complex(dtype) ? 2 : 1); /* complex: part by part */
  dtype = tk_part(dtype);
  size_t width = arrjit_dtype_bytes(dtype);
  for (size_t i = 0; i < count; i++) {
    const unsigned char *a = got->data + i * width, *b = want->data + i * width;
    bool same = tk_is_float(dtype) ? r.same(&r, dtype, a, b) : memcmp(a, b, width) == 0;
    if (!same) return fail_element(run, how, dtype, i, a, b);
  }
  return true;
}

/* Nx's nearness asks for no dtype: of two computed values never, else where the check says so. */
static bool allows_dtypes(const json_t *check) {
  bool near = strcmp(json_string_value(json_object_get(check, "cmp")), "allclose") == 0;
  return json_is_true(json_object_get(check, "no_dtype")) || (near && json_is_true(json_object_get(check, "relation")));
}

bool case_judge(corpus_run *run, const json_t *check, const tk_block *got, const tk_block *want, bool relaxed) {
  arrjit_dtype mine = got->type.dtype, other = want->type.dtype;
  tk_block made;
  if (mine == other || !allows_dtypes(check)) return judge(run, check, got, want, relaxed);
  bool turn = !tk_is_float(mine), same = recast(turn ? got : want, turn ? other : mine, &made);
  same = same ? judge(run, check, turn ? &made : got, turn ? want : &made, relaxed) : fail_types(run, got, want);
  free(made.data);
  return same;
}
