/* The compact trace of an exn: the innermost 128 entries, then a ring of the 16 newest, which at the end are the
 * outermost. Growth to the ring comes in one step, so that no allocation can fail once the ring turns. */
#include <stdio.h>
#include <string.h>

#include "rt/exn.h"

enum { FIRST_CAPACITY = 16, LAST_INNER_CAPACITY = 64, FULL = AJ_TRACE_INNER + AJ_TRACE_OUTER };

/* 16, 64, then all. */
static bool grow(aj_exn *exn) {
  aj_trace *trace = &exn->trace;
  uint32_t capacity = trace->capacity == 0                    ? FIRST_CAPACITY
                      : trace->capacity < LAST_INNER_CAPACITY ? LAST_INNER_CAPACITY
                                                              : FULL;
  size_t size = sizeof *trace->sites;
  AJ_ASSERT(trace->count == trace->capacity && capacity <= FULL);
  aj_site *sites = aj_mem_resize(&exn->core->mem, trace->sites, trace->capacity * size, capacity * size);
  if (!sites) return false;
  trace->sites = sites;
  trace->capacity = capacity;
  return true;
}

void aj_trace_add(aj_exn *exn, aj_site site) {
  aj_trace *trace = &exn->trace;
  if (exn == exn->core->no_memory) return; /* shared by all runs of the core */
  uint64_t before = trace->total++;
  if (trace->count == FULL) {
    trace->sites[AJ_TRACE_INNER + (before - AJ_TRACE_INNER) % AJ_TRACE_OUTER] = site;
    return;
  }
  /* An entry that found no memory leaves a gap; what comes after it is only counted too, to keep the order true. */
  if (trace->count != before || (trace->count == trace->capacity && !grow(exn))) return;
  trace->sites[trace->count++] = site;
}

void aj_trace_append(aj_exn *exn, uint32_t count, const aj_site *sites) {
  aj_trace *trace = &exn->trace;
  if (trace->count == trace->total && count <= trace->capacity - trace->count && exn != exn->core->no_memory) {
    memcpy(trace->sites + trace->count, sites, count * sizeof *sites);
    trace->count += count;
    trace->total += count;
    return;
  }
  for (uint32_t i = 0; i < count; i++) aj_trace_add(exn, sites[i]);
}

aj_site aj_trace_get(const aj_trace *trace, uint32_t i) {
  AJ_ASSERT(i < trace->count);
  if (i < AJ_TRACE_INNER || trace->count < FULL) return trace->sites[i];
  uint64_t oldest = trace->total - AJ_TRACE_OUTER - AJ_TRACE_INNER;
  return trace->sites[AJ_TRACE_INNER + (oldest + i - AJ_TRACE_INNER) % AJ_TRACE_OUTER];
}

const char *aj_arm_text(char out[AJ_ARM_TEXT_BYTES], aj_site site) {
  switch ((aj_arm)site.arm) {
  case AJ_ARM_NONE: return "";
  case AJ_ARM_THEN: return "then";
  case AJ_ARM_ELSE: return "else";
  case AJ_ARM_COND: return "cond";
  case AJ_ARM_BODY: return "body";
  case AJ_ARM_FINALLY: return "finally";
  case AJ_ARM_LANE: return "lane";
  case AJ_ARM_CASE: (void)snprintf(out, AJ_ARM_TEXT_BYTES, "case %u", (unsigned)site.arm_index); return out;
  case AJ_ARM_HANDLER: (void)snprintf(out, AJ_ARM_TEXT_BYTES, "handler %u", (unsigned)site.arm_index); return out;
  }
  return "";
}
