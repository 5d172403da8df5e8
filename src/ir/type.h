/* Element types and value types. Types are interned per module: immutable, compare with aj_type_equal. */
#ifndef AJ_IR_TYPE_H
#define AJ_IR_TYPE_H

#include "base/arena.h"
#include "base/check.h"
#include "base/number.h"

typedef enum aj_dtype_class {
  AJ_CLASS_NONE,
  AJ_CLASS_BOOL,
  AJ_CLASS_INT,
  AJ_CLASS_UINT,
  AJ_CLASS_FLOAT,
  AJ_CLASS_COMPLEX
} aj_dtype_class;

typedef struct aj_dtype_info {
  const char *name;
  aj_dtype_class cls;
  uint8_t bits;
  uint8_t bytes;
} aj_dtype_info;
#define AJ_DTYPE_COUNT (ARRJIT_C128 + 1)
enum { AJ_ELEMENT_BYTES = 16 };                       /* of the largest element */
extern const aj_dtype_info aj_dtypes[AJ_DTYPE_COUNT]; /* [0] is none */
/* f16 or bf16: elements of 16 bits that are computed with in f32. */
static inline bool aj_dtype_is_half(arrjit_dtype dtype) { return dtype == ARRJIT_F16 || dtype == ARRJIT_BF16; }

static inline bool aj_dtype_is_complex(arrjit_dtype dtype) { return aj_dtypes[dtype].cls == AJ_CLASS_COMPLEX; }
/* Of the real and the imaginary part of a complex dtype; other dtypes are their own. */
static inline arrjit_dtype aj_dtype_part(arrjit_dtype dtype) {
  return dtype == ARRJIT_C64 ? ARRJIT_F32 : dtype == ARRJIT_C128 ? ARRJIT_F64 : dtype;
}

/* ARRJIT_DTYPE_NONE when there is no such name. */
arrjit_dtype aj_dtype_find(const char *name, size_t length);

/* A float element as text that reads back to it (base/number.h); the length. */
size_t aj_dtype_number(char out[AJ_NUMBER_BYTES], arrjit_dtype dtype, const void *element);

/* A dim: an extent >= 0, or ~symbol (negative) for symbol number `symbol` of the module. */
static inline bool aj_dim_is_symbol(int64_t dim) { return dim < 0; }
static inline uint32_t aj_dim_symbol(int64_t dim) { return (uint32_t)~dim; }
static inline int64_t aj_symbol_dim(uint32_t symbol) { return ~(int64_t)symbol; }

typedef struct aj_type {
  arrjit_dtype dtype; /* ARRJIT_DTYPE_NONE for exn */
  int32_t rank;       /* 0 for exn */
  bool is_exn;
  int64_t dims[];
} aj_type;

static inline bool aj_type_equal(const aj_type *a, const aj_type *b) {
  if (a == b) return true;
  if (a->dtype != b->dtype || a->rank != b->rank || a->is_exn != b->is_exn) return false;
  for (int32_t i = 0; i < a->rank; i++)
    if (a->dims[i] != b->dims[i]) return false;
  return true;
}
static inline bool aj_type_is_scalar(const aj_type *t) { return !t->is_exn && t->rank == 0; }

#endif
