/* Hosts that are allowed no executable memory: a closure is refused, everything else goes on. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

/* x + y */
static arrjit_function *make_formula(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), y = PARAM(g, "y", F64);
  RETURN(g, arrjit_add(g, x, y));
  return tk_finish(f, g);
}

/* From now on the system refuses this process such memory. */
static bool forbid_executable_memory(void) {
  enum { PROT_ARG = 2, NR = offsetof(struct seccomp_data, nr) };
  enum { PROT = offsetof(struct seccomp_data, args) + PROT_ARG * sizeof(uint64_t) }; /* the low half, little endian */
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NR),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, PROT),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {.len = TK_COUNT(code), .filter = code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

enum { CHILD_GOOD, CHILD_CANNOT, CHILD_STATUS, CHILD_MESSAGE, CHILD_RUN, CHILD_LEAK };

/* A function that cannot be a closure here runs as before, and nothing is left behind. */
static int try_without_executable_memory(void) {
  static tk_alloc alloc;
  arrjit_allocator host = tk_alloc_host(&alloc);
  tk_fixture f = {.context = tk_context(&host)};
  arrjit_function *function = make_formula(&f);
  arrjit_closure *closure = NULL;
  arrjit_error error;
  if (!forbid_executable_memory()) return CHILD_CANNOT;
  int64_t before = 0;
  for (int i = 0; i < 3; i++) {
    if (arrjit_closure_create(function, NULL, &closure, &error) != ARRJIT_UNAVAILABLE || closure) return CHILD_STATUS;
    if (strcmp(error.message, "libffi cannot make functions here: no executable memory") != 0) return CHILD_MESSAGE;
    if (i && atomic_load(&alloc.live_bytes) != before) return CHILD_LEAK;
    before = atomic_load(&alloc.live_bytes);
  }
  arrjit_array *inputs[] = {SCALAR(&f, F64, 4), SCALAR(&f, F64, 3)};
  const arrjit_run_options options = {.struct_bytes = sizeof options, .mode = ARRJIT_MODE_INTERP};
  arrjit_result *result = NULL;
  if (arrjit_run(function, &options, 2, inputs, &result, NULL) != ARRJIT_OK || !arrjit_result_ok(result) ||
      *(double *)arrjit_array_data(arrjit_result_output(result, 0)) != 7)
    return CHILD_RUN;
  arrjit_result_destroy(result);
  for (int i = 0; i < 2; i++) arrjit_array_release(inputs[i]);
  arrjit_function_release(function);
  if (arrjit_context_destroy(f.context) != ARRJIT_OK) return CHILD_LEAK;
  return atomic_load(&alloc.live_bytes) || atomic_load(&alloc.mistakes) ? CHILD_LEAK : CHILD_GOOD;
}

static void test_without_executable_memory(void **state) {
  (void)state;
  int status = 0;
  pid_t child = fork(); /* what is forbidden stays so, and libffi keeps what it once got */
  assert_true(child >= 0);
  if (child == 0) _exit(try_without_executable_memory());
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  if (WEXITSTATUS(status) == CHILD_CANNOT) skip();
  assert_int_equal(WEXITSTATUS(status), CHILD_GOOD);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_without_executable_memory),
};

TEST_MAIN(tests, NULL, NULL)
