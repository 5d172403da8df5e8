/* Input arrays of random numbers in any layout a host may have. */
#ifndef TK_LAYOUT_H
#define TK_LAYOUT_H

#include "arrjit/arrjit.h"
#include "opcase.h"

typedef enum tk_layout {
  TK_DENSE,
  TK_STRIDED,    /* every second element */
  TK_REVERSED,   /* negative strides */
  TK_BROADCAST,  /* stride 0 along the first dim */
  TK_TRANSPOSED, /* dims in memory the other way round */
  TK_LAYOUTS
} tk_layout;

/* Fills `count` dense elements as the role wants; `tame`: small numbers other than 0, which no checked op refuses. */
void tk_fill(arrjit_dtype dtype, tk_role role, int64_t bound, bool tame, tk_random *pick, size_t count, void *out);
/* An array of the type in the layout, elements taken in order from `data`, which is dense. Dies without memory. */
arrjit_array *tk_layout_array(arrjit_context *context, const arrjit_type *type, tk_layout layout, const void *data);

#endif
