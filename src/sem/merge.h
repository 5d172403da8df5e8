/* The one sort of sem, stable, from the bottom up: runs of AJ_SORT_RUN elements by insertion, then merged in pairs, the
 * left one first among equals. A row is sorted in two buffers that take turns. Which elements are compared, and in
 * which order, is part of what the host sees: a comparator that contradicts itself gives the same everywhere. */
#ifndef AJ_SEM_MERGE_H
#define AJ_SEM_MERGE_H

#include "sem/view.h"

enum { AJ_SORT_RUN = 16 };

/* A row being sorted. */
typedef struct aj_sort_row {
  int64_t count;
  char *buffers[2]; /* elements of the sort's type; the row comes in and out in the first */
  aj_poller *poller;
  int64_t weight; /* of a comparison, as the poller counts */
  void *by;       /* what BEHIND may need */
} aj_sort_row;

/* bool sort_<name>(aj_sort_row *row), for elements E; BEHIND(row, x, y): whether y has to go before x, which stands
 * before it. False: stopped. */
#define AJ_DEFINE_SORT(name, E, BEHIND)                                                                                \
  static void insert_##name(const aj_sort_row *row, E *x, int64_t count) {                                             \
    (void)row;                                                                                                         \
    for (int64_t i = 1; i < count; i++) {                                                                              \
      const E e = x[i];                                                                                                \
      int64_t k = i;                                                                                                   \
      for (; k > 0 && BEHIND(row, x[k - 1], e); k--) x[k] = x[k - 1];                                                  \
      x[k] = e;                                                                                                        \
    }                                                                                                                  \
  }                                                                                                                    \
  static bool merge_##name(const aj_sort_row *row, E *to, const E *x, int64_t middle, int64_t end) {                   \
    const int64_t piece = 1 + (AJ_POLL_WORK - 1) / row->weight;                                                        \
    int64_t i = 0, j = middle;                                                                                         \
    for (int64_t k = 0, stop; k < end; k = stop) {                                                                     \
      stop = end - k < piece ? end : k + piece;                                                                        \
      for (int64_t at = k; at < stop; at++) {                                                                          \
        bool right = i == middle || (j < end && BEHIND(row, x[i], x[j]));                                              \
        to[at] = right ? x[j++] : x[i++];                                                                              \
      }                                                                                                                \
      if (aj_poller_stops(row->poller, (stop - k) * row->weight)) return false;                                        \
    }                                                                                                                  \
    return true;                                                                                                       \
  }                                                                                                                    \
  static bool sort_##name(aj_sort_row *row) {                                                                          \
    E *x = (E *)(void *)row->buffers[0], *to = (E *)(void *)row->buffers[1];                                           \
    const int64_t n = row->count, few = AJ_SORT_RUN;                                                                   \
    for (int64_t i = 0; i < n; i += few) {                                                                             \
      insert_##name(row, x + i, n - i < few ? n - i : few);                                                            \
      if (aj_poller_stops(row->poller, few * row->weight)) return false;                                               \
    }                                                                                                                  \
    for (int64_t run = few; run<n; run = run> n / 2 ? n : 2 * run) {                                                   \
      for (int64_t i = 0; i < n;) {                                                                                    \
        int64_t middle = n - i < run ? n - i : run, end = n - i - middle < run ? n - i : middle + run;                 \
        if (!merge_##name(row, to + i, x + i, middle, end)) return false;                                              \
        i += end;                                                                                                      \
      }                                                                                                                \
      E *swap = x;                                                                                                     \
      x = to, to = swap;                                                                                               \
    }                                                                                                                  \
    row->buffers[0] = (char *)x, row->buffers[1] = (char *)to;                                                         \
    return true;                                                                                                       \
  }

#endif
