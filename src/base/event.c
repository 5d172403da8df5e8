/* The queue of events. The ring is made when the first event has to wait: most contexts never need it. */
#include "base/event.h"

#include "base/check.h"

bool aj_events_init(aj_events *events, aj_mem *mem, size_t capacity) {
  *events = (aj_events){.mem = mem, .capacity = capacity};
  return aj_mutex_init(&events->lock);
}

static void free_ring(aj_events *events) {
  aj_mem_free(events->mem, events->ring, events->capacity * sizeof *events->ring);
  events->ring = NULL;
}

void aj_events_free(aj_events *events) {
  free_ring(events);
  aj_mutex_destroy(&events->lock);
}

void aj_events_set_sink(aj_events *events, arrjit_event_sink *sink, void *user) {
  aj_mutex_lock(&events->lock);
  events->sink = sink;
  events->sink_user = user;
  aj_mutex_unlock(&events->lock);
}

/* The newest that fit move to a new ring, in order; what does not fit counts as dropped. */
bool aj_events_set_capacity(aj_events *events, size_t capacity) {
  arrjit_event *ring = NULL;
  aj_mutex_lock(&events->lock);
  bool ok = !events->ring || (ring = aj_mem_array(events->mem, capacity, sizeof *ring)) != NULL;
  if (ok && ring) {
    for (; events->count > capacity; events->count--, events->dropped++)
      events->head = (events->head + 1) % events->capacity;
    for (size_t i = 0; i < events->count; i++) ring[i] = events->ring[(events->head + i) % events->capacity];
    free_ring(events);
    events->ring = ring;
    events->head = 0;
  }
  if (ok) events->capacity = capacity;
  aj_mutex_unlock(&events->lock);
  return ok;
}

/* With the lock held. An event that finds no memory is counted, not told of: there is nobody to tell. */
static void enqueue(aj_events *events, const arrjit_event *event) {
  if (!events->ring) events->ring = aj_mem_array(events->mem, events->capacity, sizeof *events->ring);
  if (!events->ring) {
    events->dropped++;
    return;
  }
  AJ_ASSERT(events->head < events->capacity && events->count <= events->capacity);
  events->ring[(events->head + events->count) % events->capacity] = *event;
  if (events->count < events->capacity) {
    events->count++;
  } else {
    events->head = (events->head + 1) % events->capacity;
    events->dropped++;
  }
}

/* The sink is read under the lock and called outside: it may post events itself, or set another sink. */
void aj_events_post(aj_events *events, const arrjit_event *event) {
  aj_mutex_lock(&events->lock);
  arrjit_event_sink *sink = events->sink;
  void *user = events->sink_user;
  if (!sink) enqueue(events, event);
  aj_mutex_unlock(&events->lock);
  if (sink) sink(user, event);
}

bool aj_events_next(aj_events *events, arrjit_event *out) {
  aj_mutex_lock(&events->lock);
  bool any = events->count > 0;
  if (any) {
    *out = events->ring[events->head];
    events->head = (events->head + 1) % events->capacity;
    events->count--;
  }
  aj_mutex_unlock(&events->lock);
  return any;
}
