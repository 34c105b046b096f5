/* A value of each row goes into another pass over it. */
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
f8 (*fold_all_add_f8)(f8 *, i8, i8, i8);
VECTOR f8 log(f8);
void (*copy_ends_64)(void *, const void *, i8, i8, i8, i8);
i4 kernel_0(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {
  i4 status = 0;
  if (n_outer <= 0 || n_inner < 0) return status;
  char *p0 = ptr[0];
  char *p1 = ptr[1];
  char *p2 = ptr[2];
  const i8 full = n_inner > 8 && n_inner < 16 ? 0 : n_inner & -8;
  const i8 rest = n_inner - full;
  const i8 whole = (n_inner + 7) & -8;
  const i8 padded = whole - full;
  const i8 tile = n_inner <= 504 ? 8 : 1;
  ALIGNED f8 t3[8];
  ALIGNED f8 t5[8];
  ALIGNED u8 e0[128];
  ALIGNED f8 a5[256];
  const i8 used5 = 32;
  ALIGNED f8 row5[8];
  ALIGNED f8 a2[128];
  const i8 total2 = whole * (outer_stride[2] ? 1 : n_outer);
  i8 walked2 = 0;
  const i8 used2 = total2 < 512 ? 32 : total2 < 8192 ? 64 : 128;
  f8 *sets2 = a2;
#pragma omp simd
  for (i4 l = 0; l < 32; ++l) {
    sets2[l] = (f8)(-0x0.0p+0);
  }
  for (i8 outer = 0; outer < n_outer; outer += tile) {
    const i8 rows = n_outer - outer < tile ? n_outer - outer : tile;
    if (rest) {
      if (outer_stride[0] || !outer) pad_ends_64(e0, p0 + full * 8, outer_stride[0], outer, rows, rest, padded);
    }
    for (i8 r = 0; r < rows; ++r) {
      char *w0 = p0 + r * outer_stride[0];
      f8 *sets5 = a5 + r * 32;
#pragma omp simd
      for (i4 l = 0; l < 32; ++l) {
        sets5[l] = (f8)-__builtin_inf();
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
            f8 *c5 = sets5;
#pragma omp simd
            for (i4 l = 0; l < 32; ++l) {
              const f8 v0 = ((const f8 *)q0)[l];
              c5[l] = ((v0) > c5[l]) | ((v0) != (v0)) ? (v0) : c5[l];
            }
          }
        }
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          f8 *c5 = sets5 + (i & 31);
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v0 = ((const f8 *)q0)[l];
            c5[l] = i + l < n_inner ? (((v0) > c5[l]) | ((v0) != (v0)) ? (v0) : c5[l]) : c5[l];
          }
        }
        if (!(i & 65535) && i < n_inner && loop_stops()) return 4;
      }
    }
    fold_rows_maximum_f8(row5, a5, rows, used5, 0, 8);
#pragma omp simd
    for (i4 r = 0; r < 8; ++r) {
      const f8 v3 = ((row5[r]) > -__builtin_inf()) | ((row5[r]) != (row5[r])) ? (row5[r]) : -__builtin_inf();
      const b1 v4 = __builtin_fabs(v3) < __builtin_inf();
      const f8 v5 = v4 ? v3 : 0x0.0p+0;
      t3[r] = v3;
      t5[r] = v5;
    }
    for (i8 r = 0; r < rows; ++r) {
      const f8 v5 = t5[r];
      char *w0 = p0 + r * outer_stride[0];
      char *n0 = p0 + (rows + r) * outer_stride[0];
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)(e0 + r * padded) - full * 8;
        }
        if (end > i + 512 - ((walked2 + i) & 511)) end = i + 512 - ((walked2 + i) & 511);
        if (end > (i | 65535)) end = (i | 65535) + 1;
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          __builtin_prefetch(n0 + i * 8);
          f8 *c2 = sets2 + ((walked2 + i) & 31);
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v0 = ((const f8 *)q0)[l];
            const f8 v6 = v0 - v5;
            const f8 v7 = exp(v6);
            c2[l] = c2[l] + ((i + l < n_inner ? v7 : (-0x0.0p+0)));
          }
        }
        if (!(i & 65535) && i < n_inner && loop_stops()) return 4;
        if (((walked2 + i) & 511) == 0) {
          f8 *d2 = sets2;
          if (((walked2 + i) & 511) == 0) carry_f8(a2, (walked2 + i) / 512, 32);
        }
      }
      walked2 += whole;
      if (walked2 == total2) {
        const f8 so_far = ((const f8 *)(p2 + r * outer_stride[2]))[0];
        const f8 rows_folded = fold_all_add_f8(a2, used2, 0, 8);
        ((f8 *)(p2 + r * outer_stride[2]))[0] = so_far + (rows_folded);
        if (!(outer + r == n_outer - 1)) {
#pragma omp simd
          for (i4 l = 0; l < 32; ++l) {
            sets2[l] = (f8)(-0x0.0p+0);
          }
          walked2 = 0;
        }
      }
    }
    for (i8 r = 0; r < rows; ++r) {
      const f8 v3 = t3[r];
      ((f8 *)(p1 + r * outer_stride[1]))[0] = v3;
    }
    p0 += rows * outer_stride[0];
    p1 += rows * outer_stride[1];
    p2 += rows * outer_stride[2];
  }
  return status;
}
i4 kernel_1(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {
  i4 status = 0;
  if (n_outer <= 0 || n_inner <= 0) return status;
  char *p0 = ptr[0];
  char *p1 = ptr[1];
  char *p2 = ptr[2];
  const i8 full = n_inner & -8;
  const i8 rest = n_inner - full;
  const b1 is_short = (full == 0) & (rest != 0);
  const i8 last = is_short ? 0 : n_inner - 8;
  const i8 repeated = full - last;
  ALIGNED u8 e0[8];
  ALIGNED u8 e1[8];
  ALIGNED u8 e2[8];
  const b1 over = (p2 == p0) | (p2 == p1);
  for (i8 outer = 0; outer < n_outer; outer += 1) {
    const b1 pads = is_short;
    const b1 copies = pads || (over && rest);
    if (pads) {
      if (outer_stride[0] || !outer) pad_ends_64(e0, p0 + full * 8, outer_stride[0], outer, 1, rest, 8);
      if (outer_stride[1] || !outer) pad_ends_64(e1, p1 + full * 8, outer_stride[1], outer, 1, rest, 8);
    }
    {
      char *w0 = p0;
      char *w1 = p1;
      char *w2 = p2;
      for (i8 b = 0; b < n_inner;) {
        i8 i = b < last ? b : last;
        i8 end = b < full ? full : i + 8;
        if (pads) {
          w0 = (char *)e0;
          w1 = (char *)e1;
        }
        if (copies && b == full) w2 = (char *)e2 - last * 8;
        b += end - i;
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          char *q1 = w1 + i * 8;
          char *q2 = w2 + i * 8;
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v0 = ((const f8 *)q0)[l];
            const f8 v1 = ((const f8 *)q1)[l];
            const f8 v3 = log(v0);
            const b1 v4 = __builtin_fabs(v1) < __builtin_inf();
            const f8 v5 = v4 ? v1 : 0x0.0p+0;
            const f8 v6 = v3 + v5;
            ((f8 *)q2)[l] = v6;
          }
        }
      }
    }
    if (copies) copy_ends_64(p2 + full * 8, e2 + repeated, outer_stride[2], 1, rest, 8);
    p0 += outer_stride[0];
    p1 += outer_stride[1];
    p2 += outer_stride[2];
  }
  return status;
}
