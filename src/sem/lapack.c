/* Loading LAPACK, once a process and for good: what a library like it starts (threads, caches) does not survive being
 * unloaded. */
#include "sem/lapack.h"

#include <dlfcn.h>
#include <string.h>

#include "base/thread.h"

enum { F32, F64, C64, C128, DTYPES };

/* Written by the first call alone. */
static pthread_once_t process_lapack_once = PTHREAD_ONCE_INIT;
static aj_lapack process_lapack[DTYPES];
static bool process_lapack_loaded;

static bool find(void *library, const char *name, void *out_function) {
  void *symbol = dlsym(library, name);
  memcpy(out_function, &symbol, sizeof symbol); /* of any type */
  return symbol != NULL;
}

#define FIND(dtype, routine, name) find(library, name "_", &table[dtype].routine)
#define FIND_ALL(dtype, prefix, orthogonal)                                                                            \
  FIND(dtype, potrf, prefix "potrf") && FIND(dtype, getrf, prefix "getrf") && FIND(dtype, gelqf, prefix "gelqf") &&    \
      FIND(dtype, orglq, prefix orthogonal)

static bool read_table(void *library, aj_lapack *table) {
  return FIND_ALL(F32, "s", "orglq") && FIND_ALL(F64, "d", "orglq") && FIND_ALL(C64, "c", "unglq") &&
         FIND_ALL(C128, "z", "unglq") && FIND(F32, syevd, "ssyevd") && FIND(F64, syevd, "dsyevd") &&
         FIND(C64, heevd, "cheevd") && FIND(C128, heevd, "zheevd") && FIND(F32, gesdd, "sgesdd") &&
         FIND(F64, gesdd, "dgesdd") && FIND(C64, cgesdd, "cgesdd") && FIND(C128, cgesdd, "zgesdd");
}

static void load(void) {
#define COMMA ,
  static const char *const libraries[] = {AJ_LAPACK_LIBRARIES(COMMA)};
  for (size_t i = 0; i < AJ_COUNT(libraries) && !process_lapack_loaded; i++) {
    void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) continue;
    process_lapack_loaded = read_table(library, process_lapack);
    if (!process_lapack_loaded) (void)dlclose(library);
  }
}

const aj_lapack *aj_lapack_find(arrjit_dtype dtype) {
  (void)pthread_once(&process_lapack_once, load);
  int at = dtype == ARRJIT_F32 ? F32 : dtype == ARRJIT_F64 ? F64 : dtype == ARRJIT_C64 ? C64 : C128;
  AJ_ASSERT(at != C128 || dtype == ARRJIT_C128);
  return process_lapack_loaded ? &process_lapack[at] : NULL;
}
