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
typedef f8 f8x8 __attribute__((vector_size(64), may_alias));
typedef f8x8 f8x8_at __attribute__((aligned(8)));
typedef i8 i8x8 __attribute__((vector_size(64), may_alias));
typedef i8x8 i8x8_at __attribute__((aligned(8)));

#if defined(__clang__)
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (i8x8){__VA_ARGS__})
#endif
static NOINLINE void transpose(char *to, i8 to_next, i8 to_block, const char *of, i8 of_next, i8 of_block, i8 count) {
  for (i8 at = 0; at < count; at += 8, to += to_block, of += of_block) {
    i8x8 x0 = *(const i8x8_at *)(of + 0 * of_next);
    i8x8 x1 = *(const i8x8_at *)(of + 1 * of_next);
    i8x8 x2 = *(const i8x8_at *)(of + 2 * of_next);
    i8x8 x3 = *(const i8x8_at *)(of + 3 * of_next);
    i8x8 x4 = *(const i8x8_at *)(of + 4 * of_next);
    i8x8 x5 = *(const i8x8_at *)(of + 5 * of_next);
    i8x8 x6 = *(const i8x8_at *)(of + 6 * of_next);
    i8x8 x7 = *(const i8x8_at *)(of + 7 * of_next);
    {
      const i8x8 y0 = SHUFFLE(x0, x1, 0, 8, 2, 10, 4, 12, 6, 14);
      const i8x8 y1 = SHUFFLE(x0, x1, 1, 9, 3, 11, 5, 13, 7, 15);
      const i8x8 y2 = SHUFFLE(x2, x3, 0, 8, 2, 10, 4, 12, 6, 14);
      const i8x8 y3 = SHUFFLE(x2, x3, 1, 9, 3, 11, 5, 13, 7, 15);
      const i8x8 y4 = SHUFFLE(x4, x5, 0, 8, 2, 10, 4, 12, 6, 14);
      const i8x8 y5 = SHUFFLE(x4, x5, 1, 9, 3, 11, 5, 13, 7, 15);
      const i8x8 y6 = SHUFFLE(x6, x7, 0, 8, 2, 10, 4, 12, 6, 14);
      const i8x8 y7 = SHUFFLE(x6, x7, 1, 9, 3, 11, 5, 13, 7, 15);
      x0 = y0; x1 = y1; x2 = y2; x3 = y3; x4 = y4; x5 = y5; x6 = y6; x7 = y7;
    }
    {
      const i8x8 y0 = SHUFFLE(x0, x2, 0, 1, 8, 9, 4, 5, 12, 13);
      const i8x8 y1 = SHUFFLE(x1, x3, 0, 1, 8, 9, 4, 5, 12, 13);
      const i8x8 y2 = SHUFFLE(x0, x2, 2, 3, 10, 11, 6, 7, 14, 15);
      const i8x8 y3 = SHUFFLE(x1, x3, 2, 3, 10, 11, 6, 7, 14, 15);
      const i8x8 y4 = SHUFFLE(x4, x6, 0, 1, 8, 9, 4, 5, 12, 13);
      const i8x8 y5 = SHUFFLE(x5, x7, 0, 1, 8, 9, 4, 5, 12, 13);
      const i8x8 y6 = SHUFFLE(x4, x6, 2, 3, 10, 11, 6, 7, 14, 15);
      const i8x8 y7 = SHUFFLE(x5, x7, 2, 3, 10, 11, 6, 7, 14, 15);
      x0 = y0; x1 = y1; x2 = y2; x3 = y3; x4 = y4; x5 = y5; x6 = y6; x7 = y7;
    }
    {
      const i8x8 y0 = SHUFFLE(x0, x4, 0, 1, 2, 3, 8, 9, 10, 11);
      const i8x8 y1 = SHUFFLE(x1, x5, 0, 1, 2, 3, 8, 9, 10, 11);
      const i8x8 y2 = SHUFFLE(x2, x6, 0, 1, 2, 3, 8, 9, 10, 11);
      const i8x8 y3 = SHUFFLE(x3, x7, 0, 1, 2, 3, 8, 9, 10, 11);
      const i8x8 y4 = SHUFFLE(x0, x4, 4, 5, 6, 7, 12, 13, 14, 15);
      const i8x8 y5 = SHUFFLE(x1, x5, 4, 5, 6, 7, 12, 13, 14, 15);
      const i8x8 y6 = SHUFFLE(x2, x6, 4, 5, 6, 7, 12, 13, 14, 15);
      const i8x8 y7 = SHUFFLE(x3, x7, 4, 5, 6, 7, 12, 13, 14, 15);
      x0 = y0; x1 = y1; x2 = y2; x3 = y3; x4 = y4; x5 = y5; x6 = y6; x7 = y7;
    }
    *(i8x8_at *)(to + 0 * to_next) = x0;
    *(i8x8_at *)(to + 1 * to_next) = x1;
    *(i8x8_at *)(to + 2 * to_next) = x2;
    *(i8x8_at *)(to + 3 * to_next) = x3;
    *(i8x8_at *)(to + 4 * to_next) = x4;
    *(i8x8_at *)(to + 5 * to_next) = x5;
    *(i8x8_at *)(to + 6 * to_next) = x6;
    *(i8x8_at *)(to + 7 * to_next) = x7;
  }
}

static NOINLINE void fold_add_of_columns(f8x8 *to, const f8x8 *of, i8 count) {
  f8x8 x0 = of[0];
  f8x8 x1 = of[1];
  f8x8 x2 = of[2];
  f8x8 x3 = of[3];
  f8x8 x4 = of[4];
  f8x8 x5 = of[5];
  f8x8 x6 = of[6];
  f8x8 x7 = of[7];
  if (count > 8) { { const f8x8 a = x0, b = of[8]; x0 = a + b; } { const f8x8 a = x1, b = of[9]; x1 = a + b; } { const f8x8 a = x2, b = of[10]; x2 = a + b; } { const f8x8 a = x3, b = of[11]; x3 = a + b; } { const f8x8 a = x4, b = of[12]; x4 = a + b; } { const f8x8 a = x5, b = of[13]; x5 = a + b; } { const f8x8 a = x6, b = of[14]; x6 = a + b; } { const f8x8 a = x7, b = of[15]; x7 = a + b; } }
  { const f8x8 a = x0, b = x4; x0 = a + b; }
  { const f8x8 a = x1, b = x5; x1 = a + b; }
  { const f8x8 a = x2, b = x6; x2 = a + b; }
  { const f8x8 a = x3, b = x7; x3 = a + b; }
  { const f8x8 a = x0, b = x2; x0 = a + b; }
  { const f8x8 a = x1, b = x3; x1 = a + b; }
  { const f8x8 a = x0, b = x1; x0 = a + b; }
  *to = x0;
}
void (*pad_ends_64)(void *, const void *, i8, i8, i8, i8, i8);
static const i8 first_i8x8[] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
void (*fold_columns_add_f8)(f8 *, const f8 *, i8, i8);
void (*carry_f8)(f8 *, i8, i8);
f8 (*fold_all_add_f8)(f8 *, i8, i8, i8);
INLINE f8 fold_few_add_f8_8(const f8 *of) {
  ALIGNED f8 a[8];
  *(f8x8 *)a = (((f8x8 *)of)[0] + ((f8x8 *)of)[2]) + (((f8x8 *)of)[1] + ((f8x8 *)of)[3]);
  const f8 r4_0 = a[0] + (a[4]);
  const f8 r4_1 = a[1] + (a[5]);
  const f8 r4_2 = a[2] + (a[6]);
  const f8 r4_3 = a[3] + (a[7]);
  const f8 r2_0 = r4_0 + (r4_2);
  const f8 r2_1 = r4_1 + (r4_3);
  const f8 r1_0 = r2_0 + (r2_1);
  return r1_0;
}
typedef f4 f4x16 __attribute__((vector_size(64), may_alias));
typedef f4x16 f4x16_at __attribute__((aligned(4)));
void (*pad_ends_32)(void *, const void *, i8, i8, i8, i8, i8);
typedef i4 i4x16 __attribute__((vector_size(64), may_alias));
typedef i4x16 i4x16_at __attribute__((aligned(4)));
static const i4 first_i4x16[] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
void (*carry_f4)(f4 *, i8, i8);
f4 (*fold_all_add_f4)(f4 *, i8, i8, i8);
INLINE f4 fold_few_add_f4_16(const f4 *of) {
  ALIGNED f4 a[16];
  *(f4x16 *)a = (((f4x16 *)of)[0] + ((f4x16 *)of)[2]) + (((f4x16 *)of)[1] + ((f4x16 *)of)[3]);
#pragma omp simd
  for (i4 l = 0; l < 8; ++l) {
    a[l] = a[l] + (a[l + 8]);
  }
  const f4 r4_0 = a[0] + (a[4]);
  const f4 r4_1 = a[1] + (a[5]);
  const f4 r4_2 = a[2] + (a[6]);
  const f4 r4_3 = a[3] + (a[7]);
  const f4 r2_0 = r4_0 + (r4_2);
  const f4 r2_1 = r4_1 + (r4_3);
  const f4 r1_0 = r2_0 + (r2_1);
  return r1_0;
}
static NOINLINE i8 kernel_0_of_short_rows(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {
  char *p0 = ptr[0];
  char *p1 = ptr[1];
  ALIGNED f8 of1[128];
  for (i8 at = n_inner; at < 16; ++at) {
    ((f8x8 *)of1)[at] = (-0x0.0p+0) - (f8x8){};
  }
  ALIGNED f8 row1[8];
  ALIGNED f8 k0[128];
  if (!outer_stride[0]) {
    for (i8 i = 0; i < n_inner; ++i) {
      for (i4 l = 0; l < 8; ++l) {
        k0[i * 8 + l] = ((const f8 *)p0)[i];
      }
    }
  }
  const i8 rows = 8;
  const i8 behind = (((n_inner + 7) & -8) - 1) / n_inner;
  i8 outer = 0;
  for (; outer + 8 + behind <= n_outer; outer += 8) {
    if (outer_stride[0]) transpose((char *)k0, 64, 512, p0, outer_stride[0], 64, n_inner);
    for (i8 i = 0; i < n_inner; ++i) {
      char *q0 = (char *)k0 + i * 64;
      f8 *c1 = of1 + i * 8;
#pragma omp simd
      for (i8 l = 0; l < 8; ++l) {
        const f8 v0 = ((const f8 *)q0)[l];
        const f8 v1 = v0 * v0;
        c1[l] = v1;
      }
    }
    fold_add_of_columns((f8x8 *)row1, (f8x8 *)of1, n_inner);
    for (i8 r = 0; r < rows; ++r) {
      ((f8 *)(p1 + r * outer_stride[1]))[0] = ((const f8 *)(p1 + r * outer_stride[1]))[0] + (row1[r]);
    }
    p0 += rows * outer_stride[0];
    p1 += rows * outer_stride[1];
  }
  return outer;
}
i4 kernel_0(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {
  i4 status = 0;
  if (n_outer <= 0 || n_inner <= 0) return status;
  char *p0 = ptr[0];
  char *p1 = ptr[1];
  if (n_outer >= 8 && n_inner > 1 && n_inner <= 16 && outer_stride[1] && (!outer_stride[0] || outer_stride[0] >= n_inner * 8)) {
    const i8 done = kernel_0_of_short_rows(ptr, n_outer, n_inner, outer_stride);
    p0 += done * outer_stride[0];
    p1 += done * outer_stride[1];
    n_outer -= done;
  }
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
  const f8x8 z1 = (f8)(-0x0.0p+0) - (f8x8){};
  f8 *sets1 = a1;
  ((f8x8 *)sets1)[0] = ((f8x8 *)sets1)[1] = ((f8x8 *)sets1)[2] = ((f8x8 *)sets1)[3] = z1;
  for (i8 outer = 0; outer < n_outer; outer += 1) {
    if (rest) {
      if (outer_stride[0] || !outer) pad_ends_64(e0, p0 + full * 8, outer_stride[0], outer, 1, rest, 8);
    }
    {
      char *w0 = p0;
      f8x8 m1_0 = ((f8x8 *)sets1)[0];
      f8x8 m1_1 = ((f8x8 *)sets1)[1];
      f8x8 m1_2 = ((f8x8 *)sets1)[2];
      f8x8 m1_3 = ((f8x8 *)sets1)[3];
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)e0 - full * 8;
        }
        if (end > i + 512 - ((walked1 + i) & 511)) end = i + 512 - ((walked1 + i) & 511);
        if (columns && end > i + 8) end = i + 8;
        const f8x8 before1 = m1_0;
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          __builtin_prefetch(q0 + 0 + ahead);
          ALIGNED f8 c1[8];
          *(f8x8 *)c1 = m1_0;
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v0 = ((const f8 *)q0)[l];
            const f8 v1 = v0 * v0;
            c1[l] = c1[l] + (v1);
          }
          m1_0 = m1_1;
          m1_1 = m1_2;
          m1_2 = m1_3;
          m1_3 = *(f8x8 *)c1;
        }
        if (i > full) {
          const i8x8 live1 = *(const i8x8_at *)(first_i8x8 + whole - n_inner);
          m1_3 = (f8x8)(((i8x8)m1_3 & live1) | ((i8x8)before1 & ~live1));
        }
        if (columns) {
          ALIGNED f8 d1[32];
          ((f8x8 *)d1)[0] = m1_0;
          ((f8x8 *)d1)[1] = m1_1;
          ((f8x8 *)d1)[2] = m1_2;
          ((f8x8 *)d1)[3] = m1_3;
          __asm__ volatile("" : : "r"(d1) : "memory");
          fold_columns_add_f8((f8 *)p1 + (i - 8), d1, (i <= n_inner ? 8 : rest), 8);
          m1_0 = m1_1 = m1_2 = m1_3 = z1;
        }
        if (((walked1 + i) & 511) == 0) {
          ALIGNED f8 d1[32];
          ((f8x8 *)d1)[0] = m1_0;
          ((f8x8 *)d1)[1] = m1_1;
          ((f8x8 *)d1)[2] = m1_2;
          ((f8x8 *)d1)[3] = m1_3;
          __asm__ volatile("" : : "r"(d1) : "memory");
          if (((walked1 + i) & 511) == 0) {
            ((f8x8 *)sets1)[0] = ((f8x8 *)d1)[0];
            ((f8x8 *)sets1)[1] = ((f8x8 *)d1)[1];
            ((f8x8 *)sets1)[2] = ((f8x8 *)d1)[2];
            ((f8x8 *)sets1)[3] = ((f8x8 *)d1)[3];
            carry_f8(a1, (walked1 + i) / 512, 32);
            ((f8x8 *)d1)[0] = ((f8x8 *)d1)[1] = ((f8x8 *)d1)[2] = ((f8x8 *)d1)[3] = z1;
          }
          m1_0 = ((f8x8 *)d1)[0];
          m1_1 = ((f8x8 *)d1)[1];
          m1_2 = ((f8x8 *)d1)[2];
          m1_3 = ((f8x8 *)d1)[3];
        }
      }
      ((f8x8 *)sets1)[0] = m1_0;
      ((f8x8 *)sets1)[1] = m1_1;
      ((f8x8 *)sets1)[2] = m1_2;
      ((f8x8 *)sets1)[3] = m1_3;
      walked1 += whole;
      if (walked1 == total1) {
        const f8 so_far = ((const f8 *)p1)[0];
        const f8 rows_folded = used1 == 32 ? fold_few_add_f8_8(a1) : fold_all_add_f8(a1, used1, walked1, 8);
        ((f8 *)p1)[0] = so_far + (rows_folded);
        if (!(outer == n_outer - 1)) {
          ((f8x8 *)sets1)[0] = ((f8x8 *)sets1)[1] = ((f8x8 *)sets1)[2] = ((f8x8 *)sets1)[3] = z1;
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
  const f4x16 z1 = (f4)(-0x0.0p+0f) - (f4x16){};
  f4 *sets1 = a1;
  ((f4x16 *)sets1)[0] = ((f4x16 *)sets1)[1] = ((f4x16 *)sets1)[2] = ((f4x16 *)sets1)[3] = z1;
  for (i8 outer = 0; outer < n_outer; outer += 1) {
    if (rest) {
      if (outer_stride[0] || !outer) pad_ends_32(e0, p0 + full * 4, outer_stride[0], outer, 1, rest, 16);
    }
    {
      char *w0 = p0;
      f4x16 m1_0 = ((f4x16 *)sets1)[0];
      f4x16 m1_1 = ((f4x16 *)sets1)[1];
      f4x16 m1_2 = ((f4x16 *)sets1)[2];
      f4x16 m1_3 = ((f4x16 *)sets1)[3];
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)e0 - full * 4;
        }
        if (end > i + 1024 - ((walked1 + i) & 1023)) end = i + 1024 - ((walked1 + i) & 1023);
        const f4x16 before1 = m1_0;
        for (; i < end; i += 16) {
          char *q0 = w0 + i * 4;
          __builtin_prefetch(q0 + 0 + ahead);
          ALIGNED f4 c1[16];
          *(f4x16 *)c1 = m1_0;
#pragma omp simd
          for (i4 l = 0; l < 16; ++l) {
            const f4 v0 = ((const f4 *)q0)[l];
            c1[l] = c1[l] + (v0);
          }
          m1_0 = m1_1;
          m1_1 = m1_2;
          m1_2 = m1_3;
          m1_3 = *(f4x16 *)c1;
        }
        if (i > full) {
          const i4x16 live1 = *(const i4x16_at *)(first_i4x16 + whole - n_inner);
          m1_3 = (f4x16)(((i4x16)m1_3 & live1) | ((i4x16)before1 & ~live1));
        }
        if (((walked1 + i) & 1023) == 0) {
          ALIGNED f4 d1[64];
          ((f4x16 *)d1)[0] = m1_0;
          ((f4x16 *)d1)[1] = m1_1;
          ((f4x16 *)d1)[2] = m1_2;
          ((f4x16 *)d1)[3] = m1_3;
          __asm__ volatile("" : : "r"(d1) : "memory");
          if (((walked1 + i) & 1023) == 0) {
            ((f4x16 *)sets1)[0] = ((f4x16 *)d1)[0];
            ((f4x16 *)sets1)[1] = ((f4x16 *)d1)[1];
            ((f4x16 *)sets1)[2] = ((f4x16 *)d1)[2];
            ((f4x16 *)sets1)[3] = ((f4x16 *)d1)[3];
            carry_f4(a1, (walked1 + i) / 1024, 64);
            ((f4x16 *)d1)[0] = ((f4x16 *)d1)[1] = ((f4x16 *)d1)[2] = ((f4x16 *)d1)[3] = z1;
          }
          m1_0 = ((f4x16 *)d1)[0];
          m1_1 = ((f4x16 *)d1)[1];
          m1_2 = ((f4x16 *)d1)[2];
          m1_3 = ((f4x16 *)d1)[3];
        }
      }
      ((f4x16 *)sets1)[0] = m1_0;
      ((f4x16 *)sets1)[1] = m1_1;
      ((f4x16 *)sets1)[2] = m1_2;
      ((f4x16 *)sets1)[3] = m1_3;
      walked1 += whole;
      if (walked1 == total1) {
        const f4 so_far = ((const f4 *)p1)[0];
        const f4 rows_folded = used1 == 64 ? fold_few_add_f4_16(a1) : fold_all_add_f4(a1, used1, walked1, 16);
        ((f4 *)p1)[0] = so_far + (rows_folded);
        if (!(outer == n_outer - 1)) {
          ((f4x16 *)sets1)[0] = ((f4x16 *)sets1)[1] = ((f4x16 *)sets1)[2] = ((f4x16 *)sets1)[3] = z1;
          walked1 = 0;
        }
      }
    }
    p0 += outer_stride[0];
    p1 += outer_stride[1];
  }
  return status;
}
