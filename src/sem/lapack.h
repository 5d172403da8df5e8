/* LAPACK as the system has it: routines on matrices in the order of Fortran, columns one after the other, with 32-bit
 * integers. It stops the process on arguments that it finds wrong, and some of its loops never end on NaN: callers see
 * to it that neither comes. */
#ifndef AJ_SEM_LAPACK_H
#define AJ_SEM_LAPACK_H

#include "sem/sem.h"

/* Libraries in the order in which they are tried. */
#define AJ_LAPACK_LIBRARIES(separator) "liblapack.so.3" separator "libopenblas.so.0" separator "liblapack.so"

/* The lengths of texts, each 1, come last, as Fortran wants them. */
typedef void aj_lapack_potrf(const char *part, const int *n, void *a, const int *lda, int *info, size_t);
typedef void aj_lapack_getrf(const int *m, const int *n, void *a, const int *lda, int *pivots, int *info);
typedef void aj_lapack_gelqf(const int *m, const int *n, void *a, const int *lda, void *tau, void *work,
                             const int *work_count, int *info);
typedef void aj_lapack_orglq(const int *m, const int *n, const int *k, void *a, const int *lda, const void *tau,
                             void *work, const int *work_count, int *info);
typedef void aj_lapack_syevd(const char *job, const char *part, const int *n, void *a, const int *lda, void *w,
                             void *work, const int *work_count, int *iwork, const int *iwork_count, int *info, size_t,
                             size_t);
typedef void aj_lapack_heevd(const char *job, const char *part, const int *n, void *a, const int *lda, void *w,
                             void *work, const int *work_count, void *rwork, const int *rwork_count, int *iwork,
                             const int *iwork_count, int *info, size_t, size_t);
typedef void aj_lapack_gesdd(const char *job, const int *m, const int *n, void *a, const int *lda, void *s, void *u,
                             const int *ldu, void *vt, const int *ldvt, void *work, const int *work_count, int *iwork,
                             int *info, size_t);
typedef void aj_lapack_cgesdd(const char *job, const int *m, const int *n, void *a, const int *lda, void *s, void *u,
                              const int *ldu, void *vt, const int *ldvt, void *work, const int *work_count, void *rwork,
                              int *iwork, int *info, size_t);

/* The routines of one dtype; orglq is unglq where it is complex. */
typedef struct aj_lapack {
  aj_lapack_potrf *potrf;
  aj_lapack_getrf *getrf;
  aj_lapack_gelqf *gelqf;
  aj_lapack_orglq *orglq;
  aj_lapack_syevd *syevd; /* NULL where it is complex, and so is gesdd */
  aj_lapack_gesdd *gesdd;
  aj_lapack_heevd *heevd; /* NULL where it is real, and so is cgesdd */
  aj_lapack_cgesdd *cgesdd;
} aj_lapack;

/* Those of f32, f64, c64 or c128. NULL: no library has all routines. The first call looks for one; any thread. */
const aj_lapack *aj_lapack_find(arrjit_dtype dtype);

#endif
