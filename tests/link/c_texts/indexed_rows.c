/* Rows that indices choose, taken and put. */
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
  char *p2 = ptr[2];
  char *px0 = ptr[3];
  char *p3 = ptr[4];
  char *py0 = ptr[5];
  char *pg0 = ptr[6];
  char *ph0 = ptr[7];
  char *preport = ptr[8];
  char *pb8 = ptr[9];
  const i8 ahead = n_outer * n_inner >= 16384 ? 4096 : 0;
  const i8 full = n_inner & -8;
  const i8 rest = n_inner - full;
  const i8 whole = (n_inner + 7) & -8;
  ALIGNED u8 e3[8];
  ALIGNED f8 a7[32];
  const i8 used7 = 32;
  ALIGNED f8 row7[1];
  ALIGNED f8 a10[128];
  const i8 used10 = whole < 512 ? 32 : whole < 8192 ? 64 : 128;
  ALIGNED f8 row10[1];
  for (i8 outer = 0; outer < n_outer; outer += 1) {
    const i8 v0 = ((const i8 *)p0)[0];
    const i8 v1 = ((const i8 *)p1)[0];
    const f8 v2 = ((const f8 *)p2)[0];
    {
      char *wt5 = px0;
      if (n_inner > 0) {
        i8 n5_0 = v0;
        if ((u8)n5_0 >= (u8)((const i8 *)pg0)[1]) {
          if (n5_0 >= 0 || n5_0 < -((const i8 *)pg0)[1]) {
            ((i8 *)preport)[0] = 0;
            ((i8 *)preport)[1] = n5_0;
            return 2;
          }
          n5_0 += ((const i8 *)pg0)[1];
        }
        wt5 += n5_0 * ((const i8 *)pg0)[2];
      }
      const b1 dt5 = ((const i8 *)pg0)[0] == 8;
      ALIGNED u8 et5[8];
      f8 *sets7 = a7;
#pragma omp simd
      for (i4 l = 0; l < 32; ++l) {
        sets7[l] = (f8)-__builtin_inf();
      }
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) end = n_inner;
        if (end > (i | 65535)) end = (i | 65535) + 1;
        if ((i & 31) == 0 && dt5) {
          for (; i + 32 <= (end < full ? end : full); i += 32) {
            char *qt5 = wt5 + i * 8;
            f8 *c7 = sets7;
#pragma omp simd
            for (i4 l = 0; l < 32; ++l) {
              const f8 v5 = ((const f8 *)qt5)[l];
              c7[l] = ((v5) > c7[l]) | ((v5) != (v5)) ? (v5) : c7[l];
            }
          }
        }
        for (; i < end; i += 8) {
          char *qt5 = wt5 + i * 8;
          if (i == full || !dt5) {
            qt5 = (char *)et5;
            for (i4 l = 0; l < 8; ++l) {
              et5[l] = ((u8 *)(wt5 + (i + l < n_inner ? i + l : n_inner - 1) * ((const i8 *)pg0)[0]))[0];
            }
          }
          f8 *c7 = sets7 + (i & 31);
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v5 = ((const f8 *)qt5)[l];
            c7[l] = i + l < n_inner ? (((v5) > c7[l]) | ((v5) != (v5)) ? (v5) : c7[l]) : c7[l];
          }
        }
        if (!(i & 65535) && i < n_inner && loop_stops()) return 4;
      }
    }
    fold_rows_maximum_f8(row7, a7, 1, used7, 0, 8);
    const f8 v6 = ((row7[0]) > -__builtin_inf()) | ((row7[0]) != (row7[0])) ? (row7[0]) : -__builtin_inf();
    {
      char *wb8 = pb8;
      char *wt5 = px0;
      if (n_inner > 0) {
        i8 n5_0 = v0;
        if ((u8)n5_0 >= (u8)((const i8 *)pg0)[1]) {
          if (n5_0 >= 0 || n5_0 < -((const i8 *)pg0)[1]) {
            ((i8 *)preport)[0] = 0;
            ((i8 *)preport)[1] = n5_0;
            return 2;
          }
          n5_0 += ((const i8 *)pg0)[1];
        }
        wt5 += n5_0 * ((const i8 *)pg0)[2];
      }
      const b1 dt5 = ((const i8 *)pg0)[0] == 8;
      ALIGNED u8 et5[8];
      f8 *sets10 = a10;
#pragma omp simd
      for (i4 l = 0; l < 32; ++l) {
        sets10[l] = (f8)(-0x0.0p+0);
      }
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) end = n_inner;
        if (end > i + 512 - (i & 511)) end = i + 512 - (i & 511);
        if (end > (i | 65535)) end = (i | 65535) + 1;
        for (; i < end; i += 8) {
          char *qb8 = wb8 + i * 8;
          char *qt5 = wt5 + i * 8;
          if (i == full || !dt5) {
            qt5 = (char *)et5;
            for (i4 l = 0; l < 8; ++l) {
              et5[l] = ((u8 *)(wt5 + (i + l < n_inner ? i + l : n_inner - 1) * ((const i8 *)pg0)[0]))[0];
            }
          }
          f8 *c10 = sets10 + (i & 31);
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v5 = ((const f8 *)qt5)[l];
            const f8 v7 = v5 - v6;
            const f8 v8 = exp(v7);
            ((f8 *)qb8)[l] = v8;
            c10[l] = c10[l] + ((i + l < n_inner ? v8 : (-0x0.0p+0)));
          }
        }
        if (!(i & 65535) && i < n_inner && loop_stops()) return 4;
        if ((i & 511) == 0) {
          f8 *d10 = sets10;
          if ((i & 511) == 0) carry_f8(a10, i / 512, 32);
        }
      }
    }
    fold_rows_add_f8(row10, a10, 1, used10, 0, 8);
    const f8 v9 = 0x0.0p+0 + (row10[0]);
    {
      char *w3 = p3;
      char *wb8 = pb8;
      char *wt11 = px0;
      if (n_inner > 0) {
        i8 n11_0 = v1;
        if ((u8)n11_0 >= (u8)((const i8 *)pg0)[1]) {
          if (n11_0 >= 0 || n11_0 < -((const i8 *)pg0)[1]) {
            ((i8 *)preport)[0] = 0;
            ((i8 *)preport)[1] = n11_0;
            return 2;
          }
          n11_0 += ((const i8 *)pg0)[1];
        }
        wt11 += n11_0 * ((const i8 *)pg0)[2];
      }
      const b1 dt11 = ((const i8 *)pg0)[0] == 8;
      ALIGNED u8 et11[8];
      char *wh0 = py0;
      if (n_inner > 0) {
        i8 nh0_0 = v0;
        if ((u8)nh0_0 >= (u8)((const i8 *)ph0)[1]) {
          if (nh0_0 >= 0 || nh0_0 < -((const i8 *)ph0)[1]) {
            ((i8 *)preport)[0] = 1;
            ((i8 *)preport)[1] = nh0_0;
            return 2;
          }
          nh0_0 += ((const i8 *)ph0)[1];
        }
        wh0 += nh0_0 * ((const i8 *)ph0)[2];
      }
      const b1 dh0 = ((const i8 *)ph0)[0] == 8;
      ALIGNED u8 eh0[8];
      for (i8 i = 0; i < n_inner;) {
        const i8 pause = n_inner - i > 65536 ? i + 65536 : n_inner;
        for (; i < pause; i += 8) {
          char *q3 = w3 + i * 8;
          char *qb8 = wb8 + i * 8;
          char *qt11 = wt11 + i * 8;
          char *qh0 = wh0 + i * 8;
          if (i == full) q3 = (char *)e3;
          if (i == full || !dt11) {
            qt11 = (char *)et11;
            for (i4 l = 0; l < 8; ++l) {
              et11[l] = ((u8 *)(wt11 + (i + l < n_inner ? i + l : n_inner - 1) * ((const i8 *)pg0)[0]))[0];
            }
          }
          if (i == full || !dh0) {
            qh0 = (char *)eh0;
            for (i4 l = 0; l < 8; ++l) {
              eh0[l] = ((u8 *)(wh0 + (i + l < n_inner ? i + l : n_inner - 1) * ((const i8 *)ph0)[0]))[0];
            }
          }
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v8 = ((const f8 *)qb8)[l];
            const f8 v10 = v8 / v9;
            const f8 v11 = ((const f8 *)qt11)[l];
            const f8 v12 = v11 * v2;
            ((f8 *)q3)[l] = v10;
            ((f8 *)qh0)[l] = ((const f8 *)qh0)[l] + (v12);
          }
          if (i == full || !dh0) {
            for (i4 l = 0; l < (n_inner - i < 8 ? n_inner - i : 8); ++l) {
              ((u8 *)(wh0 + (i + l) * ((const i8 *)ph0)[0]))[0] = eh0[l];
            }
          }
        }
        if (i < n_inner && loop_stops()) return 4;
      }
    }
    if (rest) copy_ends_64(p3 + full * 8, e3, outer_stride[4], 1, rest, 8);
    p0 += outer_stride[0];
    p1 += outer_stride[1];
    p2 += outer_stride[2];
    px0 += outer_stride[3];
    p3 += outer_stride[4];
    py0 += outer_stride[5];
  }
  return status;
}
