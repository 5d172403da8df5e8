/* Events: what the engine did, queued as data, delivered to the host's sink with no lock held. */
#ifndef AJ_BASE_EVENT_H
#define AJ_BASE_EVENT_H

#include "base/thread.h"

typedef struct aj_events {
  aj_mem *mem;
  aj_mutex lock;
  arrjit_event *ring; /* made on first need; bounded: the oldest is dropped and counted when full */
  size_t capacity, head, count;
  uint64_t dropped;
  arrjit_event_sink *sink; /* may be NULL: events wait for arrjit_context_next_event */
  void *sink_user;
} aj_events;

bool aj_events_init(aj_events *events, aj_mem *mem, size_t capacity);
void aj_events_free(aj_events *events);
void aj_events_set_sink(aj_events *events, arrjit_event_sink *sink, void *user);
/* Keeps the newest events that fit. False: no memory, nothing changed. */
bool aj_events_set_capacity(aj_events *events, size_t capacity);
/* Copies; with a sink set, calls it (outside the lock) in place of queueing. */
void aj_events_post(aj_events *events, const arrjit_event *event);
bool aj_events_next(aj_events *events, arrjit_event *out);

#endif
