/* Callbacks: binding, calling, the host's floating-point state. */
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "engine/engine.h"
#include "rt/fpenv.h"
#include "test_main.h"

/* Slots: log io (f64); pick value (f64, i64) -> f64; mask value (f64[3]) -> bool[3]; maybe io optional (f64). */
enum { LOG, PICK, MASK, MAYBE };
typedef struct fixture {
  tk_alloc alloc;
  arrjit_allocator host;
  aj_core *core;
  aj_module *module;
  aj_run run;
} fixture;

static void add_slot(fixture *f, const char *name, bool optional, uint32_t params, const aj_type *const *types,
                     uint32_t results, const aj_type *const *result_types) {
  aj_slot slot = {.name = name,
                  .is_value = results > 0,
                  .optional = optional,
                  .param_count = params,
                  .result_count = results,
                  .param_types = (const aj_type **)(uintptr_t)types,
                  .result_types = (const aj_type **)(uintptr_t)result_types};
  assert_true(aj_module_add_slot(f->module, &slot) >= 0);
}

static void begin(fixture *f) {
  memset(f, 0, sizeof *f);
  f->host = tk_alloc_host(&f->alloc);
  f->core = aj_core_create(&f->host);
  assert_non_null(f->core);
  f->module = aj_module_create(&f->core->mem, f->core->kinds);
  assert_non_null(f->module);
  const int64_t three = 3;
  const aj_type *f64 = aj_module_type(f->module, ARRJIT_F64, 0, NULL),
                *i64 = aj_module_type(f->module, ARRJIT_I64, 0, NULL);
  const aj_type *numbers = aj_module_type(f->module, ARRJIT_F64, 1, &three);
  const aj_type *flags = aj_module_type(f->module, ARRJIT_BOOL, 1, &three);
  const aj_type *pair[] = {f64, i64};
  add_slot(f, "log", false, 1, &f64, 0, NULL);
  add_slot(f, "pick", false, 2, pair, 1, &f64);
  add_slot(f, "mask", false, 1, &numbers, 1, &flags);
  add_slot(f, "maybe", true, 1, &f64, 0, NULL);
  f->run = (aj_run){.core = f->core, .module = f->module};
}

static void end(fixture *f) {
  aj_run_unbind(&f->run);
  aj_exn_release(f->run.exn);
  aj_module_destroy(f->module);
  aj_core_release(f->core);
  assert_int_equal(atomic_load(&f->alloc.live_bytes), 0);
  assert_int_equal(atomic_load(&f->alloc.mistakes), 0);
}

static void bind(fixture *f, const char *slot, arrjit_callback_fn *callback, void *user) {
  arrjit_binding binding = {slot, callback, user, NULL};
  arrjit_error error;
  aj_run_unbind(&f->run);
  if (aj_run_bind(&f->run, 1, &binding, &error) != ARRJIT_OK) fail_msg("%s", error.message);
}

static arrjit_view view_of(arrjit_dtype dtype, void *data) {
  return (arrjit_view){dtype, 0, NULL, data, aj_dtypes[dtype].bytes};
}

static bool call_log(fixture *f, double x) {
  arrjit_view arg = {ARRJIT_F64, 0, NULL, &x, sizeof x};
  return aj_run_callback(&f->run, LOG, &arg, NULL, NULL);
}

/* The failure in the run, as the host would see it. */
static arrjit_result *take_result(fixture *f) {
  arrjit_result *result = aj_result_create(f->core, 0);
  assert_non_null(f->run.exn);
  result->exn = f->run.exn;
  f->run.exn = NULL;
  return result;
}

/* ---- good calls ---- */

static arrjit_status note(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                          size_t result_count, const arrjit_view *results) {
  (void)call, (void)results;
  assert_int_equal(arg_count, 1);
  assert_int_equal(result_count, 0);
  *(double *)user = *(const double *)args[0].data;
  return ARRJIT_OK;
}

static arrjit_status pick(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                          size_t result_count, const arrjit_view *results) {
  (void)call, (void)arg_count, (void)result_count;
  *(double *)results[0].data = *(const double *)args[0].data * (double)*(const int64_t *)args[1].data + *(double *)user;
  return ARRJIT_OK;
}

static void test_io_and_value_slots(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  double seen = 0, x = 2.5, out = 0, offset = 100;
  int64_t k = 4;
  arrjit_binding bindings[] = {{"log", note, &seen, NULL}, {"pick", pick, &offset, NULL}};
  assert_int_equal(aj_run_bind(&f.run, 2, bindings, NULL), ARRJIT_OK);
  int64_t calls = atomic_load(&f.alloc.calls);
  assert_true(call_log(&f, 7.5));
  assert_true(seen == 7.5);
  arrjit_view args[] = {view_of(ARRJIT_F64, &x), view_of(ARRJIT_I64, &k)}, result = view_of(ARRJIT_F64, &out);
  assert_true(aj_run_callback(&f.run, PICK, args, &result, NULL));
  assert_true(out == 110);
  assert_int_equal(atomic_load(&f.alloc.calls), calls); /* the good path allocates nothing */
  end(&f);
}

static void test_unbound_slots(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  double x = 1;
  arrjit_view arg = view_of(ARRJIT_F64, &x);
  assert_int_equal(aj_run_bind(&f.run, 0, NULL, NULL), ARRJIT_OK);
  assert_true(aj_run_callback(&f.run, MAYBE, &arg, NULL, NULL));
  assert_null(f.run.exn);
  assert_false(call_log(&f, 1));
  arrjit_result *result = take_result(&f);
  assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_UNBOUND);
  assert_string_equal(arrjit_result_message(result), "callback slot \"log\" is not bound");
  arrjit_result_destroy(result);
  end(&f);
}

static arrjit_status fill_mask(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                               size_t result_count, const arrjit_view *results) {
  (void)call, (void)arg_count, (void)args, (void)result_count;
  memcpy(results[0].data, user, results[0].bytes);
  return ARRJIT_OK;
}

static void test_bool_results_are_checked(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  double numbers[3] = {1, 2, 3};
  const int64_t three = 3;
  uint8_t written[3] = {1, 0, 1}, out[3];
  bind(&f, "mask", fill_mask, written);
  arrjit_view arg = {ARRJIT_F64, 1, &three, numbers, sizeof numbers},
              result = {ARRJIT_BOOL, 1, &three, out, sizeof out};
  assert_true(aj_run_callback(&f.run, MASK, &arg, &result, NULL));
  written[2] = 7;
  assert_false(aj_run_callback(&f.run, MASK, &arg, &result, NULL));
  arrjit_result *failure = take_result(&f);
  assert_int_equal(arrjit_result_kind(failure), ARRJIT_KIND_CALLBACK_CONTRACT);
  assert_string_equal(arrjit_result_message(failure), "callback \"mask\" wrote 7 into bool result 0: expected 0 or 1");
  arrjit_result_destroy(failure);
  end(&f);
}

/* ---- direct C functions ---- */

static double log_of_direct;
static void direct_log(double x) { log_of_direct = x; }
static double direct_pick(double x, int64_t k) { return x * (double)k; }

static void test_direct_functions(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  arrjit_binding bindings[] = {{"log", NULL, NULL, (void (*)(void))direct_log},
                               {"pick", NULL, NULL, (void (*)(void))direct_pick}};
  assert_int_equal(aj_run_bind(&f.run, 2, bindings, NULL), ARRJIT_OK);
  assert_true(call_log(&f, 4.5));
  assert_true(log_of_direct == 4.5);
  char unaligned[1 + sizeof(double)];
  double x = 1.5, out = 0;
  int64_t k = -3;
  memcpy(unaligned + 1, &x, sizeof x);
  arrjit_view args[] = {view_of(ARRJIT_F64, unaligned + 1), view_of(ARRJIT_I64, &k)},
              result = view_of(ARRJIT_F64, &out);
  int64_t calls = atomic_load(&f.alloc.calls);
  assert_true(aj_run_callback(&f.run, PICK, args, &result, NULL));
  assert_true(out == -4.5);
  assert_int_equal(atomic_load(&f.alloc.calls), calls);
  end(&f);
}

static bool flip_bool(bool x) { return !x; }
static int8_t next_i8(int8_t x) { return (int8_t)(x + 1); }
static int16_t next_i16(int16_t x) { return (int16_t)(x + 1); }
static int32_t next_i32(int32_t x) { return x + 1; }
static int64_t next_i64(int64_t x) { return x + 1; }
static uint8_t next_u8(uint8_t x) { return (uint8_t)(x + 1); }
static uint16_t next_u16(uint16_t x) { return (uint16_t)(x + 1); }
static uint32_t next_u32(uint32_t x) { return x + 1; }
static uint64_t next_u64(uint64_t x) { return x + 1; }
static float next_f32(float x) { return x + 1; }
static double next_f64(double x) { return x + 1; }

static void test_direct_functions_of_every_dtype(void **state) {
  (void)state;
  static const struct {
    arrjit_dtype dtype;
    void (*fn)(void);
    int64_t in, out;
  } rows[] = {
      {ARRJIT_BOOL, (void (*)(void))flip_bool, 1, 0},
      {ARRJIT_BOOL, (void (*)(void))flip_bool, 0, 1},
      {ARRJIT_I8, (void (*)(void))next_i8, -5, -4},
      {ARRJIT_I16, (void (*)(void))next_i16, -300, -299},
      {ARRJIT_I32, (void (*)(void))next_i32, -70000, -69999},
      {ARRJIT_I64, (void (*)(void))next_i64, INT64_MIN, INT64_MIN + 1},
      {ARRJIT_U8, (void (*)(void))next_u8, 254, 255},
      {ARRJIT_U16, (void (*)(void))next_u16, 65534, 65535},
      {ARRJIT_U32, (void (*)(void))next_u32, 4294967294, 4294967295},
      {ARRJIT_U64, (void (*)(void))next_u64, -2, -1},
  };
  fixture f;
  begin(&f);
  const size_t count = sizeof rows / sizeof *rows;
  char name[32];
  for (size_t i = 0; i < count; i++) {
    const aj_type *type = aj_module_type(f.module, rows[i].dtype, 0, NULL);
    snprintf(name, sizeof name, "row%zu", i);
    add_slot(&f, name, false, 1, &type, 1, &type);
    arrjit_binding binding = {name, NULL, NULL, rows[i].fn};
    aj_run_unbind(&f.run);
    assert_int_equal(aj_run_bind(&f.run, 1, &binding, NULL), ARRJIT_OK);
    int64_t in = rows[i].in, out = 0, guard = 0x5a5a5a5a5a5a5a5a;
    memcpy(&out, &guard, sizeof out);
    size_t bytes = aj_dtypes[rows[i].dtype].bytes;
    arrjit_view arg = view_of(rows[i].dtype, &in), result = view_of(rows[i].dtype, &out);
    assert_true(aj_run_callback(&f.run, (uint32_t)(MAYBE + 1 + i), &arg, &result, NULL));
    assert_memory_equal(&out, &rows[i].out, bytes);
    assert_memory_equal((char *)&out + bytes, (char *)&guard + bytes, sizeof out - bytes);
  }
  const aj_type *f32 = aj_module_type(f.module, ARRJIT_F32, 0, NULL),
                *f64 = aj_module_type(f.module, ARRJIT_F64, 0, NULL);
  add_slot(&f, "f32", false, 1, &f32, 1, &f32);
  add_slot(&f, "f64", false, 1, &f64, 1, &f64);
  arrjit_binding floats[] = {{"f32", NULL, NULL, (void (*)(void))next_f32},
                             {"f64", NULL, NULL, (void (*)(void))next_f64}};
  aj_run_unbind(&f.run);
  assert_int_equal(aj_run_bind(&f.run, 2, floats, NULL), ARRJIT_OK);
  float narrow = 0.5f, narrow_out = 0;
  double wide = 0.25, wide_out = 0;
  arrjit_view arg = view_of(ARRJIT_F32, &narrow), result = view_of(ARRJIT_F32, &narrow_out);
  assert_true(aj_run_callback(&f.run, (uint32_t)(MAYBE + 1 + count), &arg, &result, NULL));
  assert_true(narrow_out == 1.5f);
  arg = view_of(ARRJIT_F64, &wide);
  result = view_of(ARRJIT_F64, &wide_out);
  assert_true(aj_run_callback(&f.run, (uint32_t)(MAYBE + 2 + count), &arg, &result, NULL));
  assert_true(wide_out == 1.25);
  end(&f);
}

/* ---- binding ---- */

static void test_bad_bindings_are_refused(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  void (*fn)(void) = (void (*)(void))direct_log;
  const aj_type *f16 = aj_module_type(f.module, ARRJIT_F16, 0, NULL),
                *bf16 = aj_module_type(f.module, ARRJIT_BF16, 0, NULL),
                *f64 = aj_module_type(f.module, ARRJIT_F64, 0, NULL);
  add_slot(&f, "half", false, 1, &f16, 1, &f64);
  add_slot(&f, "brain", false, 1, &f64, 1, &bf16);
  const struct {
    size_t count;
    arrjit_binding bindings[2];
    const char *message;
  } rows[] = {
      {1, {{NULL, note, NULL, NULL}}, "binding 0: slot is NULL"},
      {1, {{"nope", note, NULL, NULL}}, "binding 0: the function has no slot \"nope\""},
      {1, {{"log", NULL, NULL, NULL}}, "binding 0: slot \"log\" needs either callback or direct"},
      {1, {{"log", note, NULL, fn}}, "binding 0: slot \"log\" needs either callback or direct"},
      {2, {{"log", NULL, NULL, fn}, {"log", note, NULL, NULL}}, "binding 1: slot \"log\" is bound twice"},
      {1,
       {{"mask", NULL, NULL, fn}},
       "binding 0: slot \"mask\" cannot be bound directly: not all of its types are scalars"},
      {1,
       {{"half", NULL, NULL, fn}},
       "binding 0: slot \"half\" cannot be bound directly: C has no type for f16; convert to f32"},
      {1,
       {{"brain", NULL, NULL, fn}},
       "binding 0: slot \"brain\" cannot be bound directly: C has no type for bf16; convert to f32"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    arrjit_error error;
    assert_int_equal(aj_run_bind(&f.run, rows[i].count, rows[i].bindings, &error), ARRJIT_MISUSE);
    assert_string_equal(error.message, rows[i].message);
  }
  end(&f);
}

static void test_binding_without_memory(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  arrjit_binding bindings[] = {{"log", NULL, NULL, (void (*)(void))direct_log},
                               {"pick", NULL, NULL, (void (*)(void))direct_pick}};
  int64_t live = atomic_load(&f.alloc.live_bytes), n = 1;
  for (;; n++) {
    tk_alloc_arm(&f.alloc, n);
    arrjit_status status = aj_run_bind(&f.run, 2, bindings, NULL);
    if (status == ARRJIT_OK) break;
    assert_int_equal(status, ARRJIT_MEMORY);
    aj_run_unbind(&f.run);
    assert_int_equal(atomic_load(&f.alloc.live_bytes), live);
  }
  assert_int_equal(n, 4);
  int64_t allocations = atomic_load(&f.core->mem.allocations);
  assert_int_equal(aj_run_bind(&f.run, 2, bindings, NULL), ARRJIT_OK);
  assert_int_equal(atomic_load(&f.core->mem.allocations), allocations); /* the slots of a run are used again */
  end(&f);
}

/* ---- floating-point state ---- */

typedef struct seen {
  uint64_t control;
  int set;
} seen;

static uint64_t control(void) { return aj_fpenv_read() & AJ_FP_CONTROL; }

static arrjit_status read_control(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                                  size_t result_count, const arrjit_view *results) {
  (void)call, (void)arg_count, (void)args, (void)result_count, (void)results;
  seen *s = user;
  s->control = control();
  if (s->set) fesetround(s->set);
  return ARRJIT_OK;
}

static void test_callbacks_see_the_hosts_floating_point_state(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  seen s = {0, 0};
  bind(&f, "log", read_control, &s);
  fesetround(FE_TOWARDZERO);
  uint64_t toward_zero = control();
  fesetround(FE_UPWARD);
  uint64_t upward = control();
  f.run.fpenv = aj_fpenv_enter();
  assert_true(control() == AJ_FP_DEFAULT);
  assert_true(call_log(&f, 1));
  assert_true(s.control == upward);
  assert_true(control() == AJ_FP_DEFAULT);
  s.set = FE_TOWARDZERO; /* what the host changes in a callback stays its own */
  assert_true(call_log(&f, 1));
  assert_true(control() == AJ_FP_DEFAULT);
  s.set = 0;
  assert_true(call_log(&f, 1));
  assert_true(s.control == toward_zero);
  aj_fpenv_leave(f.run.fpenv);
  assert_true(control() == toward_zero);
  fesetround(FE_TONEAREST);
  end(&f);
}

static void test_floating_point_flags_survive(void **state) {
  (void)state;
  feclearexcept(FE_ALL_EXCEPT);
  fesetround(FE_DOWNWARD);
  uint64_t downward = control();
  aj_fpenv env = aj_fpenv_enter();
  assert_true(env.changed);
  volatile double zero = 0, inf = 1 / zero;
  assert_true(isinf(inf));
  aj_fpenv_leave(env);
  assert_true(control() == downward);
  assert_true(fetestexcept(FE_DIVBYZERO));
  fesetround(FE_TONEAREST);
  feclearexcept(FE_ALL_EXCEPT);
  assert_false(aj_fpenv_enter().changed);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_io_and_value_slots),
    cmocka_unit_test(test_unbound_slots),
    cmocka_unit_test(test_bool_results_are_checked),
    cmocka_unit_test(test_direct_functions),
    cmocka_unit_test(test_direct_functions_of_every_dtype),
    cmocka_unit_test(test_bad_bindings_are_refused),
    cmocka_unit_test(test_binding_without_memory),
    cmocka_unit_test(test_callbacks_see_the_hosts_floating_point_state),
    cmocka_unit_test(test_floating_point_flags_survive),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
