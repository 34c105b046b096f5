/* BLAS and LAPACK that frazil calls, too; `bind` is told once where they are. */
#include <stdint.h>

typedef int64_t count_t;

static void (*dgemm)(const char *, const char *, const count_t *, const count_t *, const count_t *,
                     const double *, const double *, const count_t *, const double *,
                     const count_t *, const double *, double *, const count_t *);
static void (*dpotrf)(const char *, const count_t *, double *, const count_t *, count_t *);
static void (*dpotri)(const char *, const count_t *, double *, const count_t *, count_t *);

void bind(void *const *routines) {
  dgemm = routines[0];
  dpotrf = routines[1];
  dpotri = routines[2];
}

/* A matrix in memory row by row, or the transposed one (`'T'`); `stride` is from row to row. */
typedef struct {
  char turned;
  const double *at;
  count_t stride;
} matrix_t;

/* `to[rows, columns] = factor * a @ b`, over `inner`. */
static inline void product(count_t rows, count_t inner, count_t columns, double factor, matrix_t a,
                           matrix_t b, double *to, count_t stride) {
  double none = 0;
  dgemm(&b.turned, &a.turned, &columns, &rows, &inner, &factor, b.at, &b.stride, a.at, &a.stride,
        &none, to, &stride);
}

static inline matrix_t plain(const double *at, count_t stride) {
  return (matrix_t){'N', at, stride};
}

static inline matrix_t turned(const double *at, count_t stride) {
  return (matrix_t){'T', at, stride};
}
