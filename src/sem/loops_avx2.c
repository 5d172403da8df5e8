/* The same loops compiled with -mavx2 -mfma (CMakeLists.txt), run only where the CPU has both: wider vectors, one
 * instruction for fma and roundings, the same bits. */
#include "sem/loops.h"

#ifdef AJ_HAVE_LOOPS_AVX2
#define AJ_LOOPS_TABLE aj_loops_avx2
#include "sem/loops.inc"
#endif
