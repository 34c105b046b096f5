/* One sum a row, and one of all. */
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
void (*pad_ends_64)(void *, const void *, i8, i8, i8, i8, i8);
void (*fold_columns_add_f8)(f8 *, const f8 *, i8, i8);
void (*carry_f8)(f8 *, i8, i8);
f8 (*fold_all_add_f8)(f8 *, i8, i8, i8);
void (*pad_ends_32)(void *, const void *, i8, i8, i8, i8, i8);
void (*carry_f4)(f4 *, i8, i8);
f4 (*fold_all_add_f4)(f4 *, i8, i8, i8);
i4 kernel_0(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {
  i4 status = 0;
  if (n_outer <= 0 || n_inner <= 0) return status;
  char *p0 = ptr[0];
  char *p1 = ptr[1];
  const i8 ahead = n_outer * n_inner >= 16384 ? 4096 : 0;
  const b1 columns = (n_inner == 1) & (n_outer > 1) & (outer_stride[0] == 8) & (outer_stride[1] == 8);
  if (columns) {
    n_inner = n_outer;
    n_outer = 1;
  }
  const i8 full = n_inner & -8;
  const i8 rest = n_inner - full;
  const i8 whole = (n_inner + 7) & -8;
  ALIGNED u8 e0[8];
  ALIGNED f8 a1[128];
  const i8 total1 = whole * (outer_stride[1] ? 1 : n_outer);
  i8 walked1 = 0;
  const i8 used1 = total1 < 512 ? 32 : total1 < 8192 ? 64 : 128;
  f8 *sets1 = a1;
#pragma omp simd
  for (i4 l = 0; l < 32; ++l) {
    sets1[l] = (f8)(-0x0.0p+0);
  }
  for (i8 outer = 0; outer < n_outer; outer += 1) {
    if (rest) {
      if (outer_stride[0] || !outer) pad_ends_64(e0, p0 + full * 8, outer_stride[0], outer, 1, rest, 8);
    }
    {
      char *w0 = p0;
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)e0 - full * 8;
        }
        if (end > i + 512 - ((walked1 + i) & 511)) end = i + 512 - ((walked1 + i) & 511);
        if (columns && end > i + 8) end = i + 8;
        if (((walked1 + i) & 31) == 0) {
          for (; i + 32 <= (end < full ? end : full); i += 32) {
            char *q0 = w0 + i * 8;
            __builtin_prefetch(q0 + 0 + ahead);
            __builtin_prefetch(q0 + 64 + ahead);
            __builtin_prefetch(q0 + 128 + ahead);
            __builtin_prefetch(q0 + 192 + ahead);
            f8 *c1 = sets1;
#pragma omp simd
            for (i4 l = 0; l < 32; ++l) {
              const f8 v0 = ((const f8 *)q0)[l];
              const f8 v1 = v0 * v0;
              c1[l] = c1[l] + (v1);
            }
          }
        }
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          __builtin_prefetch(q0 + 0 + ahead);
          f8 *c1 = sets1 + ((walked1 + i) & 31);
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v0 = ((const f8 *)q0)[l];
            const f8 v1 = v0 * v0;
            c1[l] = c1[l] + ((i + l < n_inner ? v1 : (-0x0.0p+0)));
          }
        }
        if (columns) {
          f8 *d1 = sets1;
          fold_columns_add_f8((f8 *)p1 + (i - 8), d1, (i <= n_inner ? 8 : rest), 8);
#pragma omp simd
          for (i4 l = 0; l < 32; ++l) {
            sets1[l] = (f8)(-0x0.0p+0);
          }
        }
        if (((walked1 + i) & 511) == 0) {
          f8 *d1 = sets1;
          if (((walked1 + i) & 511) == 0) carry_f8(a1, (walked1 + i) / 512, 32);
        }
      }
      walked1 += whole;
      if (walked1 == total1) {
        const f8 so_far = ((const f8 *)p1)[0];
        const f8 rows_folded = fold_all_add_f8(a1, used1, 0, 8);
        ((f8 *)p1)[0] = so_far + (rows_folded);
        if (!(outer == n_outer - 1)) {
#pragma omp simd
          for (i4 l = 0; l < 32; ++l) {
            sets1[l] = (f8)(-0x0.0p+0);
          }
          walked1 = 0;
        }
      }
    }
    p0 += outer_stride[0];
    p1 += outer_stride[1];
  }
  return status;
}
i4 kernel_1(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {
  i4 status = 0;
  if (n_outer <= 0 || n_inner <= 0) return status;
  char *p0 = ptr[0];
  char *p1 = ptr[1];
  const i8 ahead = n_outer * n_inner >= 16384 ? 4096 : 0;
  const i8 full = n_inner & -16;
  const i8 rest = n_inner - full;
  const i8 whole = (n_inner + 15) & -16;
  ALIGNED u4 e0[16];
  ALIGNED f4 a1[256];
  const i8 total1 = whole * (outer_stride[1] ? 1 : n_outer);
  i8 walked1 = 0;
  const i8 used1 = total1 < 1024 ? 64 : total1 < 16384 ? 128 : 256;
  f4 *sets1 = a1;
#pragma omp simd
  for (i4 l = 0; l < 64; ++l) {
    sets1[l] = (f4)(-0x0.0p+0f);
  }
  for (i8 outer = 0; outer < n_outer; outer += 1) {
    if (rest) {
      if (outer_stride[0] || !outer) pad_ends_32(e0, p0 + full * 4, outer_stride[0], outer, 1, rest, 16);
    }
    {
      char *w0 = p0;
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)e0 - full * 4;
        }
        if (end > i + 1024 - ((walked1 + i) & 1023)) end = i + 1024 - ((walked1 + i) & 1023);
        if (((walked1 + i) & 63) == 0) {
          for (; i + 64 <= (end < full ? end : full); i += 64) {
            char *q0 = w0 + i * 4;
            __builtin_prefetch(q0 + 0 + ahead);
            __builtin_prefetch(q0 + 64 + ahead);
            __builtin_prefetch(q0 + 128 + ahead);
            __builtin_prefetch(q0 + 192 + ahead);
            f4 *c1 = sets1;
#pragma omp simd
            for (i4 l = 0; l < 64; ++l) {
              const f4 v0 = ((const f4 *)q0)[l];
              c1[l] = c1[l] + (v0);
            }
          }
        }
        for (; i < end; i += 16) {
          char *q0 = w0 + i * 4;
          __builtin_prefetch(q0 + 0 + ahead);
          f4 *c1 = sets1 + ((walked1 + i) & 63);
#pragma omp simd
          for (i4 l = 0; l < 16; ++l) {
            const f4 v0 = ((const f4 *)q0)[l];
            c1[l] = c1[l] + ((i + l < n_inner ? v0 : (-0x0.0p+0f)));
          }
        }
        if (((walked1 + i) & 1023) == 0) {
          f4 *d1 = sets1;
          if (((walked1 + i) & 1023) == 0) carry_f4(a1, (walked1 + i) / 1024, 64);
        }
      }
      walked1 += whole;
      if (walked1 == total1) {
        const f4 so_far = ((const f4 *)p1)[0];
        const f4 rows_folded = fold_all_add_f4(a1, used1, 0, 16);
        ((f4 *)p1)[0] = so_far + (rows_folded);
        if (!(outer == n_outer - 1)) {
#pragma omp simd
          for (i4 l = 0; l < 64; ++l) {
            sets1[l] = (f4)(-0x0.0p+0f);
          }
          walked1 = 0;
        }
      }
    }
    p0 += outer_stride[0];
    p1 += outer_stride[1];
  }
  return status;
}
