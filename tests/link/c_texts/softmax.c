/* Three passes over a tile of rows. */
typedef _Bool b1;
typedef signed char i1; typedef short i2; typedef int i4; typedef long long i8;
typedef unsigned char u1; typedef unsigned short u2; typedef unsigned int u4;
typedef unsigned long long u8;
typedef float f4; typedef double f8;
typedef unsigned short half;
#define INLINE static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))
#define ALIGNED __attribute__((aligned(64)))
#if defined(__GNUC__) && !defined(__clang__)
#define VECTOR __attribute__((simd("notinbranch"), const))
#else
#define VECTOR __attribute__((const))
#endif
VECTOR f8 exp(f8);
void (*pad_ends_64)(void *, const void *, i8, i8, i8, i8, i8);
i4 (*loop_stops)(void);
void (*fold_rows_maximum_f8)(f8 *, f8 *, i8, i8, i8, i8);
void (*carry_f8)(f8 *, i8, i8);
void (*fold_rows_add_f8)(f8 *, f8 *, i8, i8, i8, i8);
void (*copy_ends_64)(void *, const void *, i8, i8, i8, i8);
i4 kernel_0(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {
  i4 status = 0;
  if (n_outer <= 0 || n_inner < 0) return status;
  char *p0 = ptr[0];
  char *p1 = ptr[1];
  char *pb5 = ptr[2];
  const i8 full = n_inner > 8 && n_inner < 16 ? 0 : n_inner & -8;
  const i8 rest = n_inner - full;
  const i8 whole = (n_inner + 7) & -8;
  const i8 padded = whole - full;
  const i8 tile = n_inner <= 504 && outer_stride[2] ? 8 : 1;
  ALIGNED f8 t3[8];
  ALIGNED f8 t6[8];
  ALIGNED u8 e0[128];
  ALIGNED u8 e1[128];
  ALIGNED f8 a4[256];
  const i8 used4 = 32;
  ALIGNED f8 row4[8];
  ALIGNED f8 a7[256];
  const i8 used7 = whole < 512 ? 32 : whole < 8192 ? 64 : 128;
  ALIGNED f8 row7[8];
  for (i8 outer = 0; outer < n_outer; outer += tile) {
    const i8 rows = n_outer - outer < tile ? n_outer - outer : tile;
    if (rest) {
      if (outer_stride[0] || !outer) pad_ends_64(e0, p0 + full * 8, outer_stride[0], outer, rows, rest, padded);
    }
    for (i8 r = 0; r < rows; ++r) {
      char *w0 = p0 + r * outer_stride[0];
      f8 *sets4 = a4 + r * 32;
#pragma omp simd
      for (i4 l = 0; l < 32; ++l) {
        sets4[l] = (f8)-__builtin_inf();
      }
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)(e0 + r * padded) - full * 8;
        }
        if (end > (i | 65535)) end = (i | 65535) + 1;
        if ((i & 31) == 0) {
          for (; i + 32 <= (end < full ? end : full); i += 32) {
            char *q0 = w0 + i * 8;
            f8 *c4 = sets4;
#pragma omp simd
            for (i4 l = 0; l < 32; ++l) {
              const f8 v0 = ((const f8 *)q0)[l];
              c4[l] = ((v0) > c4[l]) | ((v0) != (v0)) ? (v0) : c4[l];
            }
          }
        }
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          f8 *c4 = sets4 + (i & 31);
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v0 = ((const f8 *)q0)[l];
            c4[l] = i + l < n_inner ? (((v0) > c4[l]) | ((v0) != (v0)) ? (v0) : c4[l]) : c4[l];
          }
        }
        if (!(i & 65535) && i < n_inner && loop_stops()) return 4;
      }
    }
    fold_rows_maximum_f8(row4, a4, rows, used4, 0, 8);
#pragma omp simd
    for (i4 r = 0; r < 8; ++r) {
      const f8 v3 = ((row4[r]) > -__builtin_inf()) | ((row4[r]) != (row4[r])) ? (row4[r]) : -__builtin_inf();
      t3[r] = v3;
    }
    for (i8 r = 0; r < rows; ++r) {
      const f8 v3 = t3[r];
      char *w0 = p0 + r * outer_stride[0];
      char *wb5 = pb5 + r * outer_stride[2];
      char *n0 = p0 + (rows + r) * outer_stride[0];
      char *n1 = p1 + (rows + r) * outer_stride[1];
      f8 *sets7 = a7 + r * 32;
#pragma omp simd
      for (i4 l = 0; l < 32; ++l) {
        sets7[l] = (f8)(-0x0.0p+0);
      }
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)(e0 + r * padded) - full * 8;
        }
        if (end > i + 512 - (i & 511)) end = i + 512 - (i & 511);
        if (end > (i | 65535)) end = (i | 65535) + 1;
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          char *qb5 = wb5 + i * 8;
          __builtin_prefetch(n0 + i * 8);
          __builtin_prefetch(n1 + i * 8);
          f8 *c7 = sets7 + (i & 31);
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v0 = ((const f8 *)q0)[l];
            const f8 v4 = v0 - v3;
            const f8 v5 = exp(v4);
            ((f8 *)qb5)[l] = v5;
            c7[l] = c7[l] + ((i + l < n_inner ? v5 : (-0x0.0p+0)));
          }
        }
        if (!(i & 65535) && i < n_inner && loop_stops()) return 4;
        if ((i & 511) == 0) {
          f8 *d7 = sets7;
          if ((i & 511) == 0) carry_f8(a7, i / 512, 32);
        }
      }
    }
    fold_rows_add_f8(row7, a7, rows, used7, 0, 8);
#pragma omp simd
    for (i4 r = 0; r < 8; ++r) {
      const f8 v6 = 0x0.0p+0 + (row7[r]);
      t6[r] = v6;
    }
    for (i8 r = 0; r < rows; ++r) {
      const f8 v6 = t6[r];
      char *w1 = p1 + r * outer_stride[1];
      char *wb5 = pb5 + r * outer_stride[2];
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w1 = (char *)(e1 + r * padded) - full * 8;
        }
        if (end > (i | 65535)) end = (i | 65535) + 1;
        for (; i < end; i += 8) {
          char *q1 = w1 + i * 8;
          char *qb5 = wb5 + i * 8;
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v5 = ((const f8 *)qb5)[l];
            const f8 v7 = v5 / v6;
            ((f8 *)q1)[l] = v7;
          }
        }
        if (!(i & 65535) && i < n_inner && loop_stops()) return 4;
      }
    }
    if (rest) copy_ends_64(p1 + full * 8, e1, outer_stride[1], rows, rest, padded);
    p0 += rows * outer_stride[0];
    p1 += rows * outer_stride[1];
  }
  return status;
}
