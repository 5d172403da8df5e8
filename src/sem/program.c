/* Running a block program. */
#include "sem/program.h"

#include <string.h>

enum { ALIGNMENT = 64 }; /* registers start on a cache line, whatever scratch is aligned to */

static size_t scratch_bytes(const aj_program *program, uint32_t lanes) {
  return program->place_count * sizeof(char *) + program->register_bytes * lanes + ALIGNMENT;
}

size_t aj_program_scratch_bytes(const aj_program *program) { return scratch_bytes(program, AJ_PROGRAM_LANES); }

void aj_program_destroy(aj_program *program) {
  if (program == NULL) return;
  aj_arena_free(&program->arena);
  aj_mem_free(program->mem, program, sizeof *program);
}

/* Places inside: constants where they are, registers in scratch behind the table of places. */
static char **lay_out(const aj_program *program, uint32_t lanes, void *scratch) {
  char **places = scratch;
  uintptr_t behind = (uintptr_t)(places + program->place_count);
  char *registers = (char *)(places + program->place_count) + (-behind & (ALIGNMENT - 1));
  for (uint32_t i = program->outside_count; i < program->place_count; i++) {
    uint32_t k = i - program->outside_count;
    places[i] = program->constants[k] ? program->constants[k] : registers + program->offsets[k] * lanes;
  }
  return places;
}

/* Places outside, from lane `start` on. Loops take params as const again. */
static void set_outside(const aj_program *program, char **places, size_t start, const void *const *params,
                        void *const *results, const int64_t *const *indices) {
  union {
    const void *from;
    char *to;
  } at;
  for (uint32_t i = 0; i < program->outside_count; i++) {
    uint32_t k = i - program->param_count;
    if (i < program->param_count)
      at.from = params[i];
    else if (k < program->result_count)
      at.from = results[k];
    else if (indices != NULL)
      at.from = indices[k - program->result_count];
    else
      at.from = NULL;
    places[i] = at.to == NULL ? NULL : at.to + start * program->outside_bytes[i];
  }
}

static bool are_all_true(const void *lanes, size_t n) { return memchr(lanes, 0, n) == NULL; }

/* Steps [0, *limit) over n lanes. A step that fails becomes the new *limit: what comes after it does not matter any
 * more. Returns n or the failing lane. */
static size_t run_steps(const aj_program *program, char *const *places, size_t n, uint32_t *limit) {
  for (uint32_t i = 0; i < *limit; i++) {
    const aj_program_step *step = &program->steps[i];
    const void *in[3] = {places[step->in[0]], places[step->in[1]], places[step->in[2]]};
    if (AJ_UNLIKELY(step->loop == NULL)) {
      if (are_all_true(in[0], n)) i += step->skip;
      continue;
    }
    size_t done = step->loop(n, places[step->out], in);
    if (AJ_LIKELY(done == n)) continue;
    *limit = i;
    return done;
  }
  return n;
}

size_t aj_program_run(const aj_program *program, size_t n, const void *const *params, void *const *results,
                      void *scratch, const int64_t *const *indices, uint32_t *out_node) {
  char **places = lay_out(program, n <= AJ_PROGRAM_FEW ? AJ_PROGRAM_FEW : AJ_PROGRAM_LANES, scratch);
  size_t failed = n;
  uint32_t limit = program->step_count;
  /* After a failure the lanes that follow still run the steps before it: the failure is the least by (step, lane). */
  for (size_t start = 0; start < n && (failed == n || limit > program->first_raise); start += AJ_PROGRAM_LANES) {
    size_t lanes = n - start < AJ_PROGRAM_LANES ? n - start : AJ_PROGRAM_LANES;
    set_outside(program, places, start, params, results, indices);
    size_t done = run_steps(program, places, lanes, &limit);
    if (done < lanes) failed = start + done;
  }
  if (failed < n && out_node != NULL) *out_node = program->steps[limit].node;
  return failed;
}

bool aj_program_may_share(const aj_program *program, uint32_t param, uint32_t result) {
  return program->outside_bytes[param] == program->outside_bytes[program->param_count + result] &&
         program->param_ends[param] <= program->result_starts[result];
}

/* ---- bound programs: steps with their pointers, for one lane many times over ---- */

size_t aj_program_bound_bytes(const aj_program *program) {
  return (program->step_count + 1) * sizeof(aj_bound_step) + scratch_bytes(program, AJ_PROGRAM_FEW);
}

const aj_bound_step *aj_program_bind(const aj_program *program, const void *const *params, void *const *results,
                                     void *scratch) {
  AJ_ASSERT(program->first_raise == program->step_count);
  aj_bound_step *bound = scratch;
  char **places = lay_out(program, AJ_PROGRAM_FEW, bound + program->step_count + 1);
  set_outside(program, places, 0, params, results, NULL);
  for (uint32_t i = 0; i < program->step_count; i++) {
    const aj_program_step *step = &program->steps[i];
    bound[i] = (aj_bound_step){.loop = step->loop,
                               .out = places[step->out],
                               .in = {places[step->in[0]], places[step->in[1]], places[step->in[2]]},
                               .next = &bound[i + 1 + (step->loop == NULL ? step->skip : 0)]};
  }
  bound[program->step_count] = (aj_bound_step){.next = NULL};
  return bound;
}
