/* Interleaved timing. Every sample is long enough for the clock (calibrated), the two sides take turns, medians are
 * told. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 25, MOST_ROUNDS = 64 };

bench_options bench_opts;
arrjit_context *bench_context;

double bench_now_ns(void) { return (double)arrjit_clock_ns(); }

void bench_must(arrjit_status status, const arrjit_error *error) {
  if (status == ARRJIT_OK) return;
  fprintf(stderr, "%s: %s\n", arrjit_status_text(status), error ? error->message : "");
  exit(1);
}

void bench_check(bool same, const char *name) {
  if (same) return;
  fprintf(stderr, "%s: the results differ\n", name);
  exit(1);
}

bool bench_wanted(const char *name) { return !bench_opts.filter || strstr(name, bench_opts.filter); }

static int order_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double bench_median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, order_doubles);
  return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static double time_calls(bench_fn *fn, void *state, int64_t calls) {
  double start = bench_now_ns();
  for (int64_t i = 0; i < calls; i++) fn(state);
  return (bench_now_ns() - start) / (double)calls;
}

/* Calls that take about 2 ms together (smoke: one call). */
static int64_t calibrate(bench_fn *fn, void *state) {
  if (bench_opts.smoke) return 1;
  fn(state);
  double once = time_calls(fn, state, 1);
  for (int64_t calls = 1;; calls *= 4) {
    once = time_calls(fn, state, calls);
    if (once * (double)calls > 5e5 || calls > 100000000) break;
  }
  int64_t calls = (int64_t)(2e6 / once);
  return calls < 1 ? 1 : calls;
}

static void report_row(const bench_pair *p, double ours, double theirs, double low, double high) {
  double ratio = theirs > 0 ? theirs / ours : 0;
  printf("%-14s n=%-9lld %-4s %-6s %12.3f ns/%-9s", p->name, (long long)p->n, p->dtype, p->mode, ours, p->unit);
  if (theirs > 0) printf("  %-12s %12.3f ns  ratio %.2f [%.2f-%.2f]", p->peer, theirs, ratio, low, high);
  printf("\n");
  fflush(stdout);
  if (!bench_opts.json) return;
  FILE *file = fopen(bench_opts.json, "a");
  if (!file) return;
  fprintf(
      file,
      "{\"case\":\"%s\",\"n\":%lld,\"dtype\":\"%s\",\"threads\":%d,\"mode\":\"%s\",\"unit\":\"%s\",\"ours_ns\":%.4f,"
      "\"peer\":\"%s\",\"peer_ns\":%.4f,\"ratio\":%.4f}\n",
      p->name, (long long)p->n, p->dtype, bench_opts.threads, p->mode, p->unit, ours, theirs > 0 ? p->peer : "none",
      theirs, ratio);
  fclose(file);
}

void bench_report(const bench_pair *pair, double ours_ns, double peer_ns) {
  report_row(pair, ours_ns, peer_ns, peer_ns > 0 ? peer_ns / ours_ns : 0, peer_ns > 0 ? peer_ns / ours_ns : 0);
}

void bench_compare(const bench_pair *p) {
  double ours[MOST_ROUNDS], theirs[MOST_ROUNDS], ratios[MOST_ROUNDS];
  int rounds = bench_opts.smoke ? 1 : ROUNDS;
  int64_t our_calls = calibrate(p->ours, p->ours_state);
  int64_t their_calls = p->theirs ? calibrate(p->theirs, p->their_state) : 0;
  for (int i = 0; i < rounds; i++) {
    ours[i] = time_calls(p->ours, p->ours_state, our_calls) / p->units;
    theirs[i] = p->theirs ? time_calls(p->theirs, p->their_state, their_calls) / p->units : 0;
    ratios[i] = theirs[i] / ours[i];
  }
  qsort(ratios, (size_t)rounds, sizeof *ratios, order_doubles);
  report_row(p, bench_median(ours, rounds), bench_median(theirs, rounds), ratios[rounds / 10],
             ratios[rounds - 1 - rounds / 10]);
}
