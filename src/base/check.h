/* Invariants inside the library: AJ_ASSERT stops a build with ARRJIT_CHECKS, costs nothing in others. */
#ifndef AJ_BASE_CHECK_H
#define AJ_BASE_CHECK_H

#ifdef AJ_CHECKS
#include <assert.h>
#undef NDEBUG
#define AJ_ASSERT(condition) assert(condition)
#else
#define AJ_ASSERT(condition) ((void)0)
#endif

#if defined(__GNUC__)
#define AJ_LIKELY(x) __builtin_expect(!!(x), 1)
#define AJ_UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#define AJ_LIKELY(x) (x)
#define AJ_UNLIKELY(x) (x)
#endif

#define AJ_COUNT(array) (sizeof(array) / sizeof *(array))

#endif
