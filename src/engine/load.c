/* Opening the native module. It stays open to the end of the process: LLVM does not survive being unloaded, and opening
 * it again would cost its 50 ms again. */
#include "engine/load.h"

#include <dlfcn.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *aj_load_version(void) {
  return TEXT(ARRJIT_VERSION_MAJOR) "." TEXT(ARRJIT_VERSION_MINOR) "." TEXT(ARRJIT_VERSION_PATCH);
}

static _Atomic bool process_disabled;

void aj_load_disable(void) { atomic_store(&process_disabled, true); }

const char *aj_load_obstacle(void) {
#ifdef AJ_NATIVE_OFF
  return "the library was built without native code";
#else
  return atomic_load(&process_disabled) ? "native code was turned off by a fatal error of LLVM" : NULL;
#endif
}

static arrjit_status check_api(const aj_native_api *api, const char *where, arrjit_error *error) {
  if (!api) return aj_error_set(error, ARRJIT_UNAVAILABLE, "%s refuses this library", where);
  if (api->abi != AJ_NATIVE_ABI || api->struct_bytes != sizeof *api || strcmp(api->version, aj_load_version()) != 0)
    return aj_error_set(error, ARRJIT_UNAVAILABLE, "%s is of version %s, the library of %s", where, api->version,
                        aj_load_version());
  return ARRJIT_OK;
}

#if defined(AJ_NATIVE_OFF)

arrjit_status aj_load_native(const char *path, const aj_native_host *host, const aj_native_api **out,
                             arrjit_error *error) {
  (void)path, (void)host, (void)out, (void)check_api;
  return aj_error_set(error, ARRJIT_UNAVAILABLE, "%s", aj_load_obstacle());
}

#elif defined(AJ_NATIVE_STATIC)

const aj_native_api *arrjit_native_entry(const aj_native_host *host);

arrjit_status aj_load_native(const char *path, const aj_native_host *host, const aj_native_api **out,
                             arrjit_error *error) {
  (void)path;
  if (aj_load_obstacle()) return aj_error_set(error, ARRJIT_UNAVAILABLE, "%s", aj_load_obstacle());
  const aj_native_api *api = arrjit_native_entry(host);
  arrjit_status status = check_api(api, "the native code", error);
  if (status == ARRJIT_OK) *out = api;
  return status;
}

#else

#ifndef AJ_LIBDIR
#define AJ_LIBDIR "/usr/local/lib"
#endif

/* Process-wide, under one lock: the module, once it is open. */
static struct {
  pthread_mutex_t lock;
  const aj_native_api *api;
} process_shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum { PATH_BYTES = 4096 };

/* Opens one file; NULL: it is not there or is none of ours, then `why` has the reason. */
static arrjit_status open_file(const char *file, const aj_native_host *host, const aj_native_api **out,
                               arrjit_error *why) {
  void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *text = dlerror();
    return aj_error_set(why, ARRJIT_UNAVAILABLE, "%s", text ? text : file);
  }
  union {
    void *symbol;
    aj_native_entry_fn *entry;
  } found = {.symbol = dlsym(handle, AJ_NATIVE_SYMBOL)};
  arrjit_status status = ARRJIT_UNAVAILABLE;
  if (!found.symbol) {
    (void)aj_error_set(why, status, "%s has no " AJ_NATIVE_SYMBOL, file);
  } else {
    const aj_native_api *api = found.entry(host);
    status = check_api(api, file, why);
    if (status == ARRJIT_OK) *out = api;
  }
  if (status != ARRJIT_OK) (void)dlclose(handle);
  return status;
}

/* The i-th place to look when the host named none; false: no more. */
static bool find_place(int i, char *out, size_t size) {
  static const char *const beside[] = {"arrjit/libarrjit_native.so", "libarrjit_native.so"};
  if (i >= 3) return false;
  if (i == 2) {
    aj_bounded_printf(out, size, "%s", AJ_LIBDIR "/arrjit/libarrjit_native.so");
    return true;
  }
  Dl_info info;
  union {
    arrjit_status (*function)(const char *, const aj_native_host *, const aj_native_api **, arrjit_error *);
    void *p;
  } self = {.function = aj_load_native};
  const char *slash = dladdr(self.p, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
  int length = slash ? (int)(slash - info.dli_fname) : 1;
  aj_bounded_printf(out, size, "%.*s/%s", length, slash ? info.dli_fname : ".", beside[i]);
  return true;
}

static arrjit_status open_any(const char *path, const aj_native_host *host, const aj_native_api **out,
                              arrjit_error *error) {
  if (path) return open_file(path, host, out, error);
  char file[PATH_BYTES];
  arrjit_status status = ARRJIT_UNAVAILABLE;
  for (int i = 0; status != ARRJIT_OK && find_place(i, file, sizeof file); i++)
    status = open_file(file, host, out, error);
  return status;
}

arrjit_status aj_load_native(const char *path, const aj_native_host *host, const aj_native_api **out,
                             arrjit_error *error) {
  if (aj_load_obstacle()) return aj_error_set(error, ARRJIT_UNAVAILABLE, "%s", aj_load_obstacle());
  (void)pthread_mutex_lock(&process_shared.lock);
  arrjit_status status = process_shared.api ? ARRJIT_OK : open_any(path, host, &process_shared.api, error);
  if (status == ARRJIT_OK) *out = process_shared.api;
  (void)pthread_mutex_unlock(&process_shared.lock);
  return status;
}

#endif
