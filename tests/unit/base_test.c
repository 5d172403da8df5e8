/* base: memory, arena, vec, map, text, numbers, errors, threads, events. */
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/event.h"
#include "base/map.h"
#include "base/number.h"
#include "base/vec.h"
#include "test_main.h"

typedef struct memory {
  tk_alloc alloc;
  arrjit_allocator host;
  aj_mem mem;
} memory;

static void memory_init(memory *m) {
  memset(m, 0, sizeof *m);
  m->host = tk_alloc_host(&m->alloc);
  aj_mem_init(&m->mem, &m->host);
}

static void memory_check(memory *m) {
  assert_int_equal(atomic_load(&m->alloc.live_bytes), 0);
  assert_int_equal(atomic_load(&m->alloc.mistakes), 0);
  assert_int_equal(atomic_load(&m->mem.live_bytes), 0);
}

/* ---- mem ---- */

static void test_mem_counts_and_zeroes(void **state) {
  (void)state;
  memory m;
  memory_init(&m);
  unsigned char *p = aj_mem_alloc(&m.mem, 100);
  for (int i = 0; i < 100; i++) assert_int_equal(p[i], 0);
  assert_int_equal(atomic_load(&m.mem.live_bytes), 100);
  p[7] = 9;
  p = aj_mem_resize(&m.mem, p, 100, 300);
  assert_int_equal(p[7], 9);
  assert_int_equal(atomic_load(&m.mem.live_bytes), 300);
  assert_int_equal(atomic_load(&m.mem.allocations), 2);
  tk_alloc_arm(&m.alloc, 1);
  assert_null(aj_mem_resize(&m.mem, p, 300, 600));
  assert_int_equal(p[7], 9);
  aj_mem_free(&m.mem, p, 300);
  aj_mem_free(&m.mem, NULL, 5);
  memory_check(&m);
}

/* Large blocks come back to who asks for just that size, within bounds; where the host has no more they go first. */
static void test_mem_keeps_large_blocks(void **state) {
  (void)state;
  enum { LARGE = AJ_SPARE_LEAST_BYTES, HUGE_BYTES = AJ_SPARE_MOST_BYTES / 2 };
  memory m;
  memory_init(&m);
  void *first = aj_mem_raw(&m.mem, LARGE);
  aj_mem_free(&m.mem, first, LARGE);
  assert_int_equal(atomic_load(&m.alloc.live_blocks), 0);
  aj_mem_keep_spares(&m.mem);
  first = aj_mem_raw(&m.mem, LARGE);
  aj_mem_free(&m.mem, first, LARGE);
  assert_int_equal(atomic_load(&m.alloc.live_blocks), 1);
  assert_int_equal(atomic_load(&m.mem.live_bytes), LARGE);
  void *other = aj_mem_raw(&m.mem, LARGE + 1);
  assert_ptr_not_equal(other, first);
  assert_ptr_equal(aj_mem_raw(&m.mem, LARGE), first);
  unsigned char *zeroed = (aj_mem_free(&m.mem, first, LARGE), aj_mem_alloc(&m.mem, LARGE));
  assert_ptr_equal(zeroed, first);
  for (size_t i = 0; i < LARGE; i++) assert_int_equal(zeroed[i], 0);
  aj_mem_free(&m.mem, zeroed, LARGE);
  aj_mem_free(&m.mem, other, LARGE + 1);
  /* many sizes, and more bytes than are kept */
  for (size_t i = 0; i < 3 * AJ_SPARE_BLOCKS; i++) {
    void *block = aj_mem_raw(&m.mem, LARGE + i);
    aj_mem_free(&m.mem, block, LARGE + i);
  }
  assert_in_range(atomic_load(&m.alloc.live_blocks), 1, AJ_SPARE_BLOCKS);
  void *huge[3];
  for (int i = 0; i < 3; i++) assert_non_null(huge[i] = aj_mem_raw(&m.mem, HUGE_BYTES));
  for (int i = 0; i < 3; i++) aj_mem_free(&m.mem, huge[i], HUGE_BYTES);
  assert_in_range(atomic_load(&m.alloc.live_bytes), HUGE_BYTES, AJ_SPARE_MOST_BYTES);
  tk_alloc_arm(&m.alloc, 1); /* the host has none: asked again after the kept ones went */
  other = aj_mem_raw(&m.mem, 100);
  assert_non_null(other);
  assert_int_equal(atomic_load(&m.alloc.live_blocks), 1);
  aj_mem_free(&m.mem, other, 100);
  aj_mem_free(&m.mem, aj_mem_raw(&m.mem, LARGE), LARGE);
  aj_mem_stop_spares(&m.mem);
  memory_check(&m);
}

static void test_mem_refuses_sizes_that_overflow(void **state) {
  (void)state;
  memory m;
  memory_init(&m);
  assert_null(aj_mem_alloc(&m.mem, 0));
  assert_null(aj_mem_array(&m.mem, SIZE_MAX / 2, 3));
  assert_null(aj_mem_array(&m.mem, SIZE_MAX / 2, 2));
  assert_null(aj_mem_raw(&m.mem, SIZE_MAX));
  assert_int_equal(atomic_load(&m.alloc.calls), 0);
  size_t size = 7;
  int64_t wide = 7;
  assert_false(aj_size_mul(SIZE_MAX, 2, &size));
  assert_false(aj_size_add(SIZE_MAX, 1, &size));
  assert_false(aj_i64_mul(INT64_MIN, -1, &wide));
  assert_false(aj_i64_add(INT64_MAX, 1, &wide));
  assert_int_equal(size, 7);
  assert_int_equal(wide, 7);
  assert_true(aj_i64_mul(-3, 5, &wide) && wide == -15);
  memory_check(&m);
}

static void test_mem_default_allocator(void **state) {
  (void)state;
  aj_mem mem;
  aj_mem_init(&mem, NULL);
  char *p = aj_mem_alloc(&mem, 10);
  p = aj_mem_resize(&mem, p, 10, 100000);
  assert_non_null(p);
  assert_int_equal(p[9], 0);
  aj_mem_free(&mem, p, 100000);
  assert_int_equal(atomic_load(&mem.live_bytes), 0);
}

/* ---- arena ---- */

static void test_arena_gives_zeroed_aligned_objects(void **state) {
  (void)state;
  memory m;
  memory_init(&m);
  aj_arena arena;
  aj_arena_init(&arena, &m.mem);
  assert_non_null(aj_arena_alloc(&arena, 0));
  for (size_t round = 0; round < 2; round++) {
    for (size_t bytes = 1; bytes < 20000; bytes += 97) {
      unsigned char *p = aj_arena_alloc(&arena, bytes);
      assert_int_equal((uintptr_t)p % 16, 0);
      for (size_t i = 0; i < bytes; i++) assert_int_equal(p[i], 0);
      memset(p, 0xff, bytes);
    }
    assert_string_equal(aj_arena_text(&arena, "abcdef", 3), "abc");
    assert_memory_equal(aj_arena_copy(&arena, "abcdef", 6), "abcdef", 6);
    assert_false(arena.failed);
    aj_arena_reset(&arena);
  }
  int64_t kept = atomic_load(&m.mem.live_bytes);
  assert_true(kept > 0 && (size_t)kept == arena.total_bytes);
  aj_arena_free(&arena);
  memory_check(&m);
}

static void test_arena_remembers_failure(void **state) {
  (void)state;
  memory m;
  memory_init(&m);
  aj_arena arena;
  aj_arena_init(&arena, &m.mem);
  assert_null(aj_arena_array(&arena, SIZE_MAX, 2));
  assert_true(arena.failed);
  aj_arena_reset(&arena);
  assert_false(arena.failed);
  assert_null(aj_arena_alloc(&arena, SIZE_MAX));
  assert_null(aj_arena_text(&arena, "", SIZE_MAX));
  tk_alloc_arm(&m.alloc, 1);
  assert_null(aj_arena_alloc(&arena, 10));
  assert_true(arena.failed);
  tk_alloc_arm(&m.alloc, 2);
  assert_non_null(aj_arena_alloc(&arena, 10));
  assert_null(aj_arena_alloc(&arena, 1 << 20));
  assert_non_null(aj_arena_alloc(&arena, 10));
  aj_arena_free(&arena);
  memory_check(&m);
}

static void test_arena_uses_few_blocks(void **state) {
  (void)state;
  memory m;
  memory_init(&m);
  aj_arena arena;
  aj_arena_init(&arena, &m.mem);
  for (int i = 0; i < 400000; i++) assert_non_null(aj_arena_alloc(&arena, 100));
  assert_true(atomic_load(&m.mem.allocations) < 100);
  assert_true(arena.total_bytes < (size_t)400000 * 112 * 5 / 4);
  aj_arena_free(&arena);
  memory_check(&m);
}

/* ---- vec, map ---- */

static void test_vec_grows(void **state) {
  (void)state;
  memory m;
  memory_init(&m);
  AJ_VEC(int) v = {0};
  for (int i = 0; i < 1000; i++) assert_true(AJ_VEC_PUSH(&m.mem, &v, i));
  for (int i = 0; i < 1000; i++) assert_int_equal(v.data[i], i);
  assert_false(AJ_VEC_RESERVE(&m.mem, &v, SIZE_MAX - 10));
  assert_false(AJ_VEC_RESERVE(&m.mem, &v, SIZE_MAX / 4));
  tk_alloc_arm(&m.alloc, 1);
  size_t before = v.count;
  while (AJ_VEC_PUSH(&m.mem, &v, -1)) before++;
  assert_int_equal(v.count, before);
  assert_int_equal(v.data[999], 999);
  AJ_VEC_FREE(&m.mem, &v);
  assert_null(v.data);
  memory_check(&m);
}

static bool same_number(const void *user, uint32_t index, const void *key) {
  return ((const uint64_t *)user)[index] == *(const uint64_t *)key;
}

static void test_map_finds_what_was_put(void **state) {
  (void)state;
  memory m;
  memory_init(&m);
  enum { COUNT = 20000 };
  uint64_t *keys = malloc(COUNT * sizeof *keys);
  aj_map map;
  aj_map_init(&map, &m.mem);
  for (uint32_t i = 0; i < COUNT; i++) {
    keys[i] = (uint64_t)i * 64;
    assert_int_equal(aj_map_find(&map, aj_hash_u64(keys[i], 1), same_number, keys, &keys[i]), AJ_MAP_NONE);
    assert_true(aj_map_put(&map, aj_hash_u64(keys[i], 1), i));
  }
  for (uint32_t i = 0; i < COUNT; i++)
    assert_int_equal(aj_map_find(&map, aj_hash_u64(keys[i], 1), same_number, keys, &keys[i]), i);
  uint64_t other = 63;
  assert_int_equal(aj_map_find(&map, aj_hash_u64(other, 1), same_number, keys, &other), AJ_MAP_NONE);
  aj_map_clear(&map);
  assert_int_equal(aj_map_find(&map, aj_hash_u64(keys[3], 1), same_number, keys, &keys[3]), AJ_MAP_NONE);
  aj_map_free(&map);
  tk_alloc_arm(&m.alloc, 1);
  assert_false(aj_map_put(&map, 5, 0));
  assert_true(aj_map_put(&map, 5, 0));
  aj_map_free(&map);
  free(keys);
  memory_check(&m);
}

static void test_map_stands_equal_hashes(void **state) {
  (void)state;
  memory m;
  memory_init(&m);
  uint64_t keys[200];
  aj_map map;
  aj_map_init(&map, &m.mem);
  for (uint32_t i = 0; i < 200; i++) {
    keys[i] = i;
    assert_true(aj_map_put(&map, 42, i));
  }
  for (uint32_t i = 0; i < 200; i++) assert_int_equal(aj_map_find(&map, 42, same_number, keys, &keys[i]), i);
  aj_map_free(&map);
  memory_check(&m);
}

static void test_hash_sees_every_byte(void **state) {
  (void)state;
  char bytes[40] = {0};
  for (size_t length = 0; length < 40; length++) {
    uint64_t plain = aj_hash_bytes(bytes, length, 0);
    assert_int_not_equal(plain, aj_hash_bytes(bytes, length, 1));
    assert_int_not_equal(plain, aj_hash_bytes(bytes, length + 1, 0));
    for (size_t i = 0; i < length; i++) {
      bytes[i] = 1;
      assert_int_not_equal(plain, aj_hash_bytes(bytes, length, 0));
      bytes[i] = 0;
    }
  }
}

/* ---- text, numbers, errors ---- */

static void test_text_appends(void **state) {
  (void)state;
  memory m;
  memory_init(&m);
  aj_text text;
  aj_text_init(&text, &m.mem);
  char expected[3000] = "", piece[400];
  memset(piece, 'x', sizeof piece);
  piece[sizeof piece - 1] = 0;
  for (int i = 0; i < 5; i++) {
    aj_text_puts(&text, "a");
    aj_text_add(&text, "bcd", 2);
    aj_text_printf(&text, "%d %s|", i, piece);
    snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "abc%d %s|", i, piece);
  }
  assert_string_equal(text.data, expected);
  assert_int_equal(text.count, strlen(expected));
  size_t before = text.count;
  tk_alloc_arm(&m.alloc, 1);
  for (int i = 0; i < 30; i++) aj_text_printf(&text, "%s", piece);
  assert_true(text.failed);
  assert_true(text.count >= before && text.data[text.count] == 0);
  before = text.count;
  aj_text_puts(&text, "later");
  assert_int_equal(text.count, before);
  aj_text_free(&text);
  memory_check(&m);
}

static void test_bounded_print_cuts_between_characters(void **state) {
  (void)state;
  char out[10];
  aj_bounded_printf(out, sizeof out, "%s", "123456789");
  assert_string_equal(out, "123456789");
  aj_bounded_printf(out, sizeof out, "%s", "1234567890");
  assert_string_equal(out, "123456...");
  aj_bounded_printf(out, sizeof out, "%s", "12345\xc3\xa4zzzz");
  assert_string_equal(out, "12345...");
  aj_bounded_printf(out, 3, "%s", "12345");
  assert_string_equal(out, "12");
  aj_bounded_printf(out, 1, "%s", "12345");
  assert_string_equal(out, "");
}

/* A long name between the words of a message, twice over: every word, and head and tail of the name. */
static void test_bounded_print_shortens_names(void **state) {
  (void)state;
  char name[2001], out[100], again[100], *at;
  memset(name, 'm', sizeof name);
  memcpy(name, "head", 4), memcpy(name + 1996, "tail", 5);
  aj_bounded_printf(out, sizeof out, "slot \"%s\" %d%%: %c%zu %lld%02x it is bound %s", name, -7, 'x', sizeof(char),
                    -1099511627776LL, 10u, "twice");
  assert_int_equal(strncmp(out, "slot \"headm", 11), 0);
  at = strstr(out, "tail\" -7%: x1 -10995116277760a it is bound twice");
  assert_non_null(at);
  assert_non_null(strstr(out, "mmm...mmm"));
  aj_bounded_printf(again, sizeof again, "line 3: %s", out); /* what is put around it has room */
  assert_string_equal(again + 8, out);
  aj_bounded_printf(out, sizeof out, "%s is %.*s, expected %.4s", name, 1500, name, name);
  assert_non_null(strstr(out, "tail is head"));
  assert_non_null(strstr(out, ", expected head"));
  for (int i = 0; i < 1000; i++) memcpy(name + 2 * i, "\xc3\xa4", 2);
  for (size_t size = 40; size <= sizeof out; size++) {
    aj_bounded_printf(out, size, "%s: no", name);
    assert_non_null(strstr(out, "\xc3\xa4...\xc3\xa4"));
    assert_non_null(strstr(out, "\xc3\xa4: no"));
  }
  /* words alone are cut at their end */
  aj_bounded_printf(out, 20, "no name makes this short %d", 1);
  assert_string_equal(out, "no name makes th...");
}

static void check_f64(double value, const char *expected) {
  char out[AJ_NUMBER_BYTES];
  size_t length = aj_number_f64(out, value);
  assert_string_equal(out, expected);
  assert_int_equal(length, strlen(expected));
}

static void test_numbers_as_text(void **state) {
  (void)state;
  check_f64(0.0, "0");
  check_f64(-0.0, "-0");
  check_f64(1.0, "1");
  check_f64(-3.5, "-3.5");
  check_f64(0.1, "0.1");
  check_f64(1.0 / 3.0, "0.3333333333333333");
  check_f64(0.0001, "0.0001");
  check_f64(0.00001, "1e-05");
  check_f64(123456.0, "123456");
  check_f64(1e16, "10000000000000000");
  check_f64(1e17, "1e+17");
  check_f64(1.5e300, "1.5e+300");
  check_f64(5e-324, "5e-324");
  check_f64(2.2250738585072014e-308, "2.2250738585072014e-308");
  check_f64(1.7976931348623157e308, "1.7976931348623157e+308");
  check_f64(9007199254740993.0, "9007199254740992");
  check_f64((double)INFINITY, "inf");
  check_f64(-(double)INFINITY, "-inf");
  check_f64((double)NAN, "nan");
  check_f64(-(double)NAN, "nan");
  char out[AJ_NUMBER_BYTES];
  aj_number_f32(out, 0.1f);
  assert_string_equal(out, "0.1");
  aj_number_f32(out, 16777216.0f);
  assert_string_equal(out, "16777216");
  aj_number_f32(out, 1e-45f);
  assert_string_equal(out, "1e-45");
  aj_number_f32(out, 3.4028235e38f);
  assert_string_equal(out, "3.4028235e+38");
}

static uint64_t next_random(uint64_t *seed) { return *seed = aj_hash_u64(*seed, 77); }

static void test_numbers_are_the_shortest_that_read_back(void **state) {
  (void)state;
  uint64_t seed = 1;
  for (int i = 0; i < 20000; i++) {
    uint64_t bits = next_random(&seed);
    double value, back;
    memcpy(&value, &bits, sizeof value);
    if (i % 4 == 0) value = (double)(int64_t)(bits % 100000) / 1000;
    if (i % 4 == 1) bits &= ~(UINT64_MAX >> 12), memcpy(&value, &bits, sizeof value); /* powers of two */
    if (!(value - value == 0)) continue;
    char out[AJ_NUMBER_BYTES], reference[64] = "";
    aj_number_f64(out, value);
    back = strtod(out, NULL);
    assert_memory_equal(&back, &value, sizeof value);
    int digits = 1;
    for (; digits <= 17; digits++) {
      snprintf(reference, sizeof reference, "%.*e", digits - 1, value);
      if (strtod(reference, NULL) == value) break;
    }
    int got = 0;
    const char *e = strchr(out, 'e');
    for (const char *at = out; *at && at != e; at++) got += *at >= '0' && *at <= '9' && (got || *at != '0');
    if (!e)
      for (const char *at = out + strlen(out) - 1; !strchr(out, '.') && at > out && *at == '0'; at--) got--;
    assert_true(got <= digits || value == 0);
    float narrow = (float)value;
    if (!(narrow - narrow == 0)) continue;
    aj_number_f32(out, narrow);
    assert_true(strtof(out, NULL) == narrow);
  }
}

static void test_numbers_ignore_locale_and_rounding(void **state) {
  (void)state;
  const char *names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
  for (size_t i = 0; i < sizeof names / sizeof *names && !setlocale(LC_NUMERIC, names[i]); i++) {}
  fesetround(FE_UPWARD);
  check_f64(0.1, "0.1");
  check_f64(2.5, "2.5");
  check_f64(1e23, "1e+23");
  fesetround(FE_TONEAREST);
  setlocale(LC_NUMERIC, "C");
}

static void test_error_record(void **state) {
  (void)state;
  arrjit_error error;
  memset(&error, 0x7f, sizeof error);
  assert_int_equal(aj_error_set(&error, ARRJIT_TYPE, "rank %d", 3), ARRJIT_TYPE);
  assert_string_equal(error.message, "rank 3");
  assert_string_equal(error.file, "");
  assert_string_equal(error.op, "");
  assert_int_equal(error.line, 0);
  assert_int_equal(aj_error_set(NULL, ARRJIT_BUSY, "x"), ARRJIT_BUSY);
  assert_int_equal(aj_error_memory(&error, "a thing"), ARRJIT_MEMORY);
  assert_string_equal(error.message, "no memory for a thing");
  assert_int_equal(aj_error_clear(&error), ARRJIT_OK);
  assert_string_equal(error.message, "");
  char big[2000];
  memset(big, 'y', sizeof big);
  big[sizeof big - 1] = 0;
  aj_error_set(&error, ARRJIT_TYPE, "%s", big);
  assert_in_range(strlen(error.message), 300, sizeof error.message - 1);
  assert_string_equal(aj_status_text(ARRJIT_OK), "ok");
  assert_string_equal(aj_status_text((arrjit_status)1000), "?");
  assert_string_equal(aj_status_text((arrjit_status)-1), "?");
}

/* ---- threads, events ---- */

static void test_condition_times_out(void **state) {
  (void)state;
  aj_mutex mutex;
  aj_cond cond;
  assert_true(aj_mutex_init(&mutex));
  assert_true(aj_cond_init(&cond));
  aj_mutex_lock(&mutex);
  int64_t start = aj_clock_ns(), deadline = start + 5000000;
  while (aj_cond_wait_until(&cond, &mutex, deadline)) {}
  assert_true(aj_clock_ns() >= deadline);
  assert_false(aj_cond_wait_until(&cond, &mutex, -1));
  aj_mutex_unlock(&mutex);
  aj_cond_destroy(&cond);
  aj_mutex_destroy(&mutex);
}

static __attribute__((noinline)) size_t stack_left_below(size_t bytes_used) {
  volatile char big[100000];
  for (size_t i = 0; i < sizeof big; i++) big[i] = (char)bytes_used;
  return aj_stack_left() + (size_t)(big[7] - (char)bytes_used);
}

static void *measure_stack(void *arg) {
  size_t *left = arg;
  sigset_t blocked;
  left[0] = aj_stack_left();
  left[1] = stack_left_below(1);
  pthread_sigmask(SIG_BLOCK, NULL, &blocked);
  return sigismember(&blocked, SIGUSR1) ? arg : NULL;
}

static void test_thread_has_its_stack(void **state) {
  (void)state;
  assert_true(aj_stack_left() > 100000);
  size_t left[2][2] = {{0}};
  for (int i = 0; i < 2; i++) {
    aj_thread thread;
    assert_true(aj_thread_start(&thread, i ? 512 << 10 : 4 << 20, measure_stack, left[i]));
    aj_thread_join(&thread);
    assert_in_range(left[i][0] - left[i][1], 100000, 110000);
  }
  assert_in_range(left[0][0] - left[1][0], 3 << 20, 4 << 20);
  assert_true(aj_thread_cpu_ns() > 0);
}

static void post(aj_events *events, uint32_t id) {
  arrjit_event event = {.function_id = id};
  aj_events_post(events, &event);
}

static void count_event(void *user, const arrjit_event *event) { *(uint32_t *)user += event->function_id; }

static void test_events_queue_drops_the_oldest(void **state) {
  (void)state;
  memory m;
  memory_init(&m);
  aj_events events;
  arrjit_event event;
  assert_true(aj_events_init(&events, &m.mem, 4));
  assert_false(aj_events_next(&events, &event));
  for (uint32_t i = 1; i <= 6; i++) post(&events, i);
  assert_int_equal(events.dropped, 2);
  assert_true(aj_events_next(&events, &event));
  assert_int_equal(event.function_id, 3);
  assert_true(aj_events_set_capacity(&events, 2));
  assert_int_equal(events.dropped, 3);
  post(&events, 7);
  assert_true(aj_events_next(&events, &event));
  assert_int_equal(event.function_id, 6);
  assert_true(aj_events_set_capacity(&events, 8));
  for (uint32_t i = 8; i <= 14; i++) post(&events, i);
  for (uint32_t i = 7; i <= 14; i++) {
    assert_true(aj_events_next(&events, &event));
    assert_int_equal(event.function_id, i);
  }
  uint32_t sum = 0;
  aj_events_set_sink(&events, count_event, &sum);
  post(&events, 5);
  assert_int_equal(sum, 5);
  assert_false(aj_events_next(&events, &event));
  tk_alloc_arm(&m.alloc, 1);
  assert_false(aj_events_set_capacity(&events, 16));
  aj_events_free(&events);
  memory_check(&m);
}

static void test_events_without_memory_are_counted(void **state) {
  (void)state;
  memory m;
  memory_init(&m);
  aj_events events;
  arrjit_event event;
  assert_true(aj_events_init(&events, &m.mem, 4));
  tk_alloc_arm(&m.alloc, 1);
  post(&events, 1);
  assert_int_equal(events.dropped, 1);
  post(&events, 2);
  assert_true(aj_events_next(&events, &event));
  assert_int_equal(event.function_id, 2);
  aj_events_free(&events);
  memory_check(&m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_mem_counts_and_zeroes),
    cmocka_unit_test(test_mem_keeps_large_blocks),
    cmocka_unit_test(test_mem_refuses_sizes_that_overflow),
    cmocka_unit_test(test_mem_default_allocator),
    cmocka_unit_test(test_arena_gives_zeroed_aligned_objects),
    cmocka_unit_test(test_arena_remembers_failure),
    cmocka_unit_test(test_arena_uses_few_blocks),
    cmocka_unit_test(test_vec_grows),
    cmocka_unit_test(test_map_finds_what_was_put),
    cmocka_unit_test(test_map_stands_equal_hashes),
    cmocka_unit_test(test_hash_sees_every_byte),
    cmocka_unit_test(test_text_appends),
    cmocka_unit_test(test_bounded_print_cuts_between_characters),
    cmocka_unit_test(test_bounded_print_shortens_names),
    cmocka_unit_test(test_numbers_as_text),
    cmocka_unit_test(test_numbers_are_the_shortest_that_read_back),
    cmocka_unit_test(test_numbers_ignore_locale_and_rounding),
    cmocka_unit_test(test_error_record),
    cmocka_unit_test(test_condition_times_out),
    cmocka_unit_test(test_thread_has_its_stack),
    cmocka_unit_test(test_events_queue_drops_the_oldest),
    cmocka_unit_test(test_events_without_memory_are_counted),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
