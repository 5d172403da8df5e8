/* LLVM's fatal errors: its handler must not return, and the host must not be ended. A compile thread tells the engine
 * and parks for ever; where LLVM is entered to drop code, on any thread, it jumps back out. What LLVM held is leaked,
 * and nothing of this process enters LLVM again. */
#include "native/native.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <unistd.h>

typedef struct guard {
  const aj_native_host *host;
  jmp_buf back;
} guard;

static _Atomic bool process_happened;
static _Thread_local guard *thread_current;
static pthread_once_t process_install_once = PTHREAD_ONCE_INIT;

static void on_fatal(const char *reason) {
  atomic_store(&process_happened, true);
  guard *g = thread_current;
  if (g != NULL && g->host != NULL && g->host->fatal != NULL) {
    g->host->fatal(g->host->user, reason);
    for (;;) (void)pause();
  }
  if (g != NULL) longjmp(g->back, 1);
}

static void install(void) { LLVMInstallFatalErrorHandler(on_fatal); }

bool aj_fatal_happened(void) { return atomic_load(&process_happened); }

bool aj_fatal_guard(const aj_native_host *host, void (*body)(void *user), void *user) {
  pthread_once(&process_install_once, install);
  if (aj_fatal_happened()) return false;
  guard g = {.host = host};
  if (setjmp(g.back) != 0) {
    thread_current = NULL;
    return false;
  }
  thread_current = &g;
  body(user);
  thread_current = NULL;
  return true;
}
