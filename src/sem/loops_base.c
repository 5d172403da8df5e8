/* The loops for any CPU of the platform: scalar.def, convert.inc and folds.inc compiled with the library's own flags.
 */
#define AJ_LOOPS_TABLE aj_loops_base
#include "sem/loops.inc"
