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
typedef f8 f8x4 __attribute__((vector_size(32), may_alias));
typedef f8x4 f8x4_at __attribute__((aligned(8)));
typedef i8 i8x4 __attribute__((vector_size(32), may_alias));
typedef i8x4 i8x4_at __attribute__((aligned(8)));

#if defined(__clang__)
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (i8x4){__VA_ARGS__})
#endif
static NOINLINE void transpose(char *to, i8 to_next, i8 to_block, const char *of, i8 of_next, i8 of_block, i8 count) {
  for (i8 at = 0; at < count; at += 8, to += to_block, of += of_block) {
    for (i8 part = 0; part < 4; ++part) {
    const char *from = of + (part / 2) * 4 * of_next + (part % 2) * 32;
    char *into = to + (part % 2) * 4 * to_next + (part / 2) * 32;
    i8x4 x0 = *(const i8x4_at *)(from + 0 * of_next);
    i8x4 x1 = *(const i8x4_at *)(from + 1 * of_next);
    i8x4 x2 = *(const i8x4_at *)(from + 2 * of_next);
    i8x4 x3 = *(const i8x4_at *)(from + 3 * of_next);
    {
      const i8x4 y0 = SHUFFLE(x0, x1, 0, 4, 2, 6);
      const i8x4 y1 = SHUFFLE(x0, x1, 1, 5, 3, 7);
      const i8x4 y2 = SHUFFLE(x2, x3, 0, 4, 2, 6);
      const i8x4 y3 = SHUFFLE(x2, x3, 1, 5, 3, 7);
      x0 = y0; x1 = y1; x2 = y2; x3 = y3;
    }
    {
      const i8x4 y0 = SHUFFLE(x0, x2, 0, 1, 4, 5);
      const i8x4 y1 = SHUFFLE(x1, x3, 0, 1, 4, 5);
      const i8x4 y2 = SHUFFLE(x0, x2, 2, 3, 6, 7);
      const i8x4 y3 = SHUFFLE(x1, x3, 2, 3, 6, 7);
      x0 = y0; x1 = y1; x2 = y2; x3 = y3;
    }
    *(i8x4_at *)(into + 0 * to_next) = x0;
    *(i8x4_at *)(into + 1 * to_next) = x1;
    *(i8x4_at *)(into + 2 * to_next) = x2;
    *(i8x4_at *)(into + 3 * to_next) = x3;
    }
  }
}
typedef f8 f8x8 __attribute__((vector_size(64), may_alias));
typedef f8x8 f8x8_at __attribute__((aligned(8)));
void (*pad_ends_64)(void *, const void *, i8, i8, i8, i8, i8);
i4 (*loop_stops)(void);
static const i8 first_i8x4_of_8[] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
void (*fold_rows_maximum_f8)(f8 *, f8 *, i8, i8, i8, i8);

static NOINLINE void fold_maximum_of_columns(f8x4 *to, const f8x4 *of, i8 count) {
  for (i8 part = 0; part < 2; ++part, ++to, ++of) {
  f8x4 x0 = of[0];
  f8x4 x1 = of[2];
  f8x4 x2 = of[4];
  f8x4 x3 = of[6];
  f8x4 x4 = of[8];
  f8x4 x5 = of[10];
  f8x4 x6 = of[12];
  f8x4 x7 = of[14];
  if (count > 8) { { const f8x4 a = x0, b = of[16]; x0 = (f8x4)(((i8x4)b & ((b > a) | (b != b))) | ((i8x4)a & ~((b > a) | (b != b)))); } { const f8x4 a = x1, b = of[18]; x1 = (f8x4)(((i8x4)b & ((b > a) | (b != b))) | ((i8x4)a & ~((b > a) | (b != b)))); } { const f8x4 a = x2, b = of[20]; x2 = (f8x4)(((i8x4)b & ((b > a) | (b != b))) | ((i8x4)a & ~((b > a) | (b != b)))); } { const f8x4 a = x3, b = of[22]; x3 = (f8x4)(((i8x4)b & ((b > a) | (b != b))) | ((i8x4)a & ~((b > a) | (b != b)))); } { const f8x4 a = x4, b = of[24]; x4 = (f8x4)(((i8x4)b & ((b > a) | (b != b))) | ((i8x4)a & ~((b > a) | (b != b)))); } { const f8x4 a = x5, b = of[26]; x5 = (f8x4)(((i8x4)b & ((b > a) | (b != b))) | ((i8x4)a & ~((b > a) | (b != b)))); } { const f8x4 a = x6, b = of[28]; x6 = (f8x4)(((i8x4)b & ((b > a) | (b != b))) | ((i8x4)a & ~((b > a) | (b != b)))); } { const f8x4 a = x7, b = of[30]; x7 = (f8x4)(((i8x4)b & ((b > a) | (b != b))) | ((i8x4)a & ~((b > a) | (b != b)))); } }
  { const f8x4 a = x0, b = x4; x0 = (f8x4)(((i8x4)b & ((b > a) | (b != b))) | ((i8x4)a & ~((b > a) | (b != b)))); }
  { const f8x4 a = x1, b = x5; x1 = (f8x4)(((i8x4)b & ((b > a) | (b != b))) | ((i8x4)a & ~((b > a) | (b != b)))); }
  { const f8x4 a = x2, b = x6; x2 = (f8x4)(((i8x4)b & ((b > a) | (b != b))) | ((i8x4)a & ~((b > a) | (b != b)))); }
  { const f8x4 a = x3, b = x7; x3 = (f8x4)(((i8x4)b & ((b > a) | (b != b))) | ((i8x4)a & ~((b > a) | (b != b)))); }
  { const f8x4 a = x0, b = x2; x0 = (f8x4)(((i8x4)b & ((b > a) | (b != b))) | ((i8x4)a & ~((b > a) | (b != b)))); }
  { const f8x4 a = x1, b = x3; x1 = (f8x4)(((i8x4)b & ((b > a) | (b != b))) | ((i8x4)a & ~((b > a) | (b != b)))); }
  { const f8x4 a = x0, b = x1; x0 = (f8x4)(((i8x4)b & ((b > a) | (b != b))) | ((i8x4)a & ~((b > a) | (b != b)))); }
  *to = x0;
  }
}
#define FMA_f8x4(a, b, c) __builtin_ia32_vfmaddpd256(a, b, c)
#define ALL_f8x4(c) ((c) - (f8x4){})
#define SIZE_f8x4(x) ((f8x4)((i8x4)(x) & 0x7fffffffffffffff))
#define WITH_SIGN_f8x4(x, y) ((f8x4)(((i8x4)(x) & 0x7fffffffffffffff) | ((i8x4)(y) & ~0x7fffffffffffffff)))
typedef f8 f8x2 __attribute__((vector_size(16), may_alias));
typedef f8x2 f8x2_at __attribute__((aligned(8)));
static const f8 exp_pairs[32] ALIGNED = {0x1.0000000000000p+0, 0x0.0p+0, 0x1.fb5586cf9890fp-1, 0x1.79aa65d837b6dp-54, 0x1.f72b83c7d517bp-1, -0x1.01b15eaa59348p-55, 0x1.f387a6e756238p-1, 0x1.68efde3a8a894p-54, 0x1.f06fe0a31b715p-1, 0x1.34d754db0abb6p-55, 0x1.edea64c123422p-1, 0x1.59f48a72a4c6dp-55, 0x1.ebfdad5362a27p-1, 0x1.690cebb7aafb0p-56, 0x1.eab07dd485429p-1, 0x1.063e1e21c5409p-54, 0x1.ea09e667f3bcdp-1, -0x1.3b3efbf5e2228p-54, 0x1.ea11473eb0187p-1, -0x1.b32dcb94da51dp-56, 0x1.eace5422aa0dbp-1, 0x1.db72fc1f0eab4p-55, 0x1.ec49182a3f090p-1, 0x1.1affc2b91ce27p-56, 0x1.ee89f995ad3adp-1, 0x1.c1a7792cb3387p-55, 0x1.f199bdd85529cp-1, 0x1.36eae30af0cb3p-56, 0x1.f5818dcfba487p-1, 0x1.4a385a63d07a7p-56, 0x1.fa4afa2a490dap-1, -0x1.ff7128fd391f0p-55};
#define EXP_PAIR(at) (*(const f8x2 *)(exp_pairs + 2 * (at)))
#define JOIN_PAIRS(a, b) __builtin_ia32_vinsertf128_pd256(__builtin_ia32_pd256_pd(a), b, 1)
INLINE void exp_entries_f8x4(f8x4 t, f8x4 *power, f8x4 *rest) {
  const i8x4 at = (i8x4)t & 15;
  const f8x4 even = JOIN_PAIRS(EXP_PAIR(at[0]), EXP_PAIR(at[2]));
  const f8x4 odd = JOIN_PAIRS(EXP_PAIR(at[1]), EXP_PAIR(at[3]));
  *power = __builtin_shuffle(even, odd, (i8x4){0, 4, 2, 6});
  *rest = __builtin_shuffle(even, odd, (i8x4){1, 5, 3, 7});
}
INLINE f8x4 exp_f8x4(f8x4 x) {
  const f8x4 t = FMA_f8x4(x, ALL_f8x4(0x1.71547652b82fep+0), ALL_f8x4(0x1.8p+48)), k = t - 0x1.8p+48;
  const f8x4 near = FMA_f8x4(k, ALL_f8x4(-0x1.62e42fefa39efp-1), x);
  const f8x4 r = FMA_f8x4(k, ALL_f8x4(-(0x1.abc9e3b39803fp-56)), near), s = r * r;
  f8x4 low, rest;
  exp_entries_f8x4(t, &low, &rest);
  const f8x4 power = (f8x4)((i8x4)low + ((i8x4)t << 48));
  const f8x4 more = r + FMA_f8x4(s, FMA_f8x4(s, FMA_f8x4(s, ALL_f8x4(0x1.6c185e1d484f3p-10), FMA_f8x4(r, ALL_f8x4(0x1.11123ad56a26cp-7), ALL_f8x4(0x1.555555545e71ep-5))), FMA_f8x4(r, ALL_f8x4(0x1.555555548f549p-3), ALL_f8x4(0x1.0000000000005p-1))), rest);
  return FMA_f8x4(power, more, power);
}
void (*exp_many_f8)(f8 *, const f8 *, i8);
INLINE void exp_8_f8(f8 *to, const f8 *of) {
  const f8x4 x0 = *(const f8x4_at *)(of + 0), x4 = *(const f8x4_at *)(of + 4);
  f8x4 y0, y4;
  if (__builtin_expect(__builtin_ia32_movmskpd256((f8x4)((SIZE_f8x4(x0) <= 708.0) & (SIZE_f8x4(x4) <= 708.0))) != 15, 0)) {
    ALIGNED f8 made[8];
    exp_many_f8(made, of, 8);
    y0 = *(const f8x4 *)(made + 0);
    y4 = *(const f8x4 *)(made + 4);
  } else {
    y0 = exp_f8x4(x0);
    y4 = exp_f8x4(x4);
  }
  *(f8x4 *)(to + 0) = y0;
  *(f8x4 *)(to + 4) = y4;
}
void (*carry_f8)(f8 *, i8, i8);
f8 (*fold_all_add_f8)(f8 *, i8, i8, i8);
INLINE f8 fold_few_add_f8_8(const f8 *of) {
  ALIGNED f8 a[8];
  ((f8x4 *)a)[0] = (((f8x4 *)of)[0] + ((f8x4 *)of)[4]) + (((f8x4 *)of)[2] + ((f8x4 *)of)[6]);
  ((f8x4 *)a)[1] = (((f8x4 *)of)[1] + ((f8x4 *)of)[5]) + (((f8x4 *)of)[3] + ((f8x4 *)of)[7]);
  const f8 r4_0 = a[0] + (a[4]);
  const f8 r4_1 = a[1] + (a[5]);
  const f8 r4_2 = a[2] + (a[6]);
  const f8 r4_3 = a[3] + (a[7]);
  const f8 r2_0 = r4_0 + (r4_2);
  const f8 r2_1 = r4_1 + (r4_3);
  const f8 r1_0 = r2_0 + (r2_1);
  return r1_0;
}
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
  ALIGNED f8 a5[64];
  const i8 used5 = 8;
  const f8x4 z5 = (f8)-__builtin_inf() - (f8x4){};
  ALIGNED f8 row5[8];
  ALIGNED f8 a2[128];
  const i8 total2 = whole * (outer_stride[2] ? 1 : n_outer);
  i8 walked2 = 0;
  const i8 used2 = total2 < 512 ? 32 : total2 < 8192 ? 64 : 128;
  const f8x4 z2 = (f8)(-0x0.0p+0) - (f8x4){};
  f8 *sets2 = a2;
  ((f8x4 *)sets2)[0] = ((f8x4 *)sets2)[1] = ((f8x4 *)sets2)[2] = ((f8x4 *)sets2)[3] = ((f8x4 *)sets2)[4] = ((f8x4 *)sets2)[5] = ((f8x4 *)sets2)[6] = ((f8x4 *)sets2)[7] = z2;
  ALIGNED f8 k0[128];
  ALIGNED f8 of5[128];
  for (i8 at = n_inner; at < 16; ++at) {
    ((f8x8 *)of5)[at] = -__builtin_inf() - (f8x8){};
  }
  for (i8 outer = 0; outer < n_outer; outer += tile) {
    const i8 rows = n_outer - outer < tile ? n_outer - outer : tile;
    if (rest) {
      if (outer_stride[0] || !outer) pad_ends_64(e0, p0 + full * 8, outer_stride[0], outer, rows, rest, padded);
    }
    const b1 beside = rows == 8 && n_inner > 0 && n_inner <= 16;
    if (beside && (outer_stride[0] || !outer)) transpose((char *)k0, 64, 512, rest ? (const char *)e0 : p0, rest ? padded * 8 : outer_stride[0], 64, n_inner);
    if (beside) {
      for (i8 i = 0; i < n_inner; ++i) {
        char *q0 = (char *)k0 + i * 64;
        f8 *c5 = of5 + i * 8;
#pragma omp simd
        for (i8 l = 0; l < 8; ++l) {
          const f8 v0 = ((const f8 *)q0)[l];
          c5[l] = v0;
        }
      }
      fold_maximum_of_columns((f8x4 *)row5, (f8x4 *)of5, n_inner);
    } else {
      for (i8 r = 0; r < rows; ++r) {
        char *w0 = p0 + r * outer_stride[0];
        f8x4 m5_0_0 = z5;
        f8x4 m5_0_1 = z5;
        f8x4 m5_1_0 = z5;
        f8x4 m5_1_1 = z5;
        f8x4 m5_2_0 = z5;
        f8x4 m5_2_1 = z5;
        f8x4 m5_3_0 = z5;
        f8x4 m5_3_1 = z5;
        for (i8 i = 0; i < n_inner;) {
          i8 end = full;
          if (i == full) {
            end = n_inner;
            w0 = (char *)(e0 + r * padded) - full * 8;
          }
          if (end > (i | 65535)) end = (i | 65535) + 1;
          const f8x4 before5_0 = (padded > 8 ? m5_1_0 : m5_0_0);
          const f8x4 before5_1 = (padded > 8 ? m5_1_1 : m5_0_1);
          for (; i < end; i += 8) {
            char *q0 = w0 + i * 8;
            ALIGNED f8 c5[8];
            ((f8x4 *)c5)[0] = m5_0_0;
            ((f8x4 *)c5)[1] = m5_0_1;
#pragma omp simd
            for (i8 l = 0; l < 8; ++l) {
              const f8 v0 = ((const f8 *)q0)[l];
              c5[l] = ((v0) > c5[l]) | ((v0) != (v0)) ? (v0) : c5[l];
            }
            m5_0_0 = m5_1_0;
            m5_0_1 = m5_1_1;
            m5_1_0 = m5_2_0;
            m5_1_1 = m5_2_1;
            m5_2_0 = m5_3_0;
            m5_2_1 = m5_3_1;
            m5_3_0 = ((f8x4 *)c5)[0];
            m5_3_1 = ((f8x4 *)c5)[1];
          }
          if (i > full) {
            const i8x4 live5_0 = *(const i8x4_at *)(first_i8x4_of_8 + whole - n_inner);
            const i8x4 live5_1 = *(const i8x4_at *)(first_i8x4_of_8 + whole - n_inner + 4);
            m5_3_0 = (f8x4)(((i8x4)m5_3_0 & live5_0) | ((i8x4)before5_0 & ~live5_0));
            m5_3_1 = (f8x4)(((i8x4)m5_3_1 & live5_1) | ((i8x4)before5_1 & ~live5_1));
          }
          if (!(i & 65535) && i < n_inner && loop_stops()) return 4;
        }
        {
          f8x4 x;
          if (whole & 8) {
            x = m5_3_0;
            m5_3_0 = m5_2_0;
            m5_2_0 = m5_1_0;
            m5_1_0 = m5_0_0;
            m5_0_0 = x;
            x = m5_3_1;
            m5_3_1 = m5_2_1;
            m5_2_1 = m5_1_1;
            m5_1_1 = m5_0_1;
            m5_0_1 = x;
          }
          if (whole & 16) {
            x = m5_0_0;
            m5_0_0 = m5_2_0;
            m5_2_0 = x;
            x = m5_1_0;
            m5_1_0 = m5_3_0;
            m5_3_0 = x;
            x = m5_0_1;
            m5_0_1 = m5_2_1;
            m5_2_1 = x;
            x = m5_1_1;
            m5_1_1 = m5_3_1;
            m5_3_1 = x;
          }
          ALIGNED f8 f0[8];
          ((f8x4 *)f0)[0] = m5_0_0;
          ((f8x4 *)f0)[1] = m5_0_1;
          ALIGNED f8 f1[8];
          ((f8x4 *)f1)[0] = m5_1_0;
          ((f8x4 *)f1)[1] = m5_1_1;
          ALIGNED f8 f2[8];
          ((f8x4 *)f2)[0] = m5_2_0;
          ((f8x4 *)f2)[1] = m5_2_1;
          ALIGNED f8 f3[8];
          ((f8x4 *)f3)[0] = m5_3_0;
          ((f8x4 *)f3)[1] = m5_3_1;
#pragma omp simd
          for (i4 l = 0; l < 8; ++l) {
            const f8 even = ((f2[l]) > f0[l]) | ((f2[l]) != (f2[l])) ? (f2[l]) : f0[l];
            const f8 odd = ((f3[l]) > f1[l]) | ((f3[l]) != (f3[l])) ? (f3[l]) : f1[l];
            (a5 + r * 8)[l] = ((odd) > even) | ((odd) != (odd)) ? (odd) : even;
          }
        }
      }
      fold_rows_maximum_f8(row5, a5, rows, used5, whole, 8);
    }
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
      f8x4 m2_0_0 = ((f8x4 *)sets2)[0];
      f8x4 m2_0_1 = ((f8x4 *)sets2)[1];
      f8x4 m2_1_0 = ((f8x4 *)sets2)[2];
      f8x4 m2_1_1 = ((f8x4 *)sets2)[3];
      f8x4 m2_2_0 = ((f8x4 *)sets2)[4];
      f8x4 m2_2_1 = ((f8x4 *)sets2)[5];
      f8x4 m2_3_0 = ((f8x4 *)sets2)[6];
      f8x4 m2_3_1 = ((f8x4 *)sets2)[7];
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)(e0 + r * padded) - full * 8;
        }
        if (end > i + 512 - ((walked2 + i) & 511)) end = i + 512 - ((walked2 + i) & 511);
        if (end > (i | 65535)) end = (i | 65535) + 1;
        const f8x4 before2_0 = (padded > 8 ? m2_1_0 : m2_0_0);
        const f8x4 before2_1 = (padded > 8 ? m2_1_1 : m2_0_1);
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          __builtin_prefetch(n0 + i * 8);
          ALIGNED f8 s6[8];
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v0 = ((const f8 *)q0)[l];
            const f8 v6 = v0 - v5;
            s6[l] = v6;
          }
          ALIGNED f8 s7[8];
          exp_8_f8(s7, s6);
          ALIGNED f8 c2[8];
          ((f8x4 *)c2)[0] = m2_0_0;
          ((f8x4 *)c2)[1] = m2_0_1;
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v7 = s7[l];
            c2[l] = c2[l] + (v7);
          }
          m2_0_0 = m2_1_0;
          m2_0_1 = m2_1_1;
          m2_1_0 = m2_2_0;
          m2_1_1 = m2_2_1;
          m2_2_0 = m2_3_0;
          m2_2_1 = m2_3_1;
          m2_3_0 = ((f8x4 *)c2)[0];
          m2_3_1 = ((f8x4 *)c2)[1];
        }
        if (i > full) {
          const i8x4 live2_0 = *(const i8x4_at *)(first_i8x4_of_8 + whole - n_inner);
          const i8x4 live2_1 = *(const i8x4_at *)(first_i8x4_of_8 + whole - n_inner + 4);
          m2_3_0 = (f8x4)(((i8x4)m2_3_0 & live2_0) | ((i8x4)before2_0 & ~live2_0));
          m2_3_1 = (f8x4)(((i8x4)m2_3_1 & live2_1) | ((i8x4)before2_1 & ~live2_1));
        }
        if (!(i & 65535) && i < n_inner && loop_stops()) return 4;
        if (((walked2 + i) & 511) == 0) {
          ALIGNED f8 d2[32];
          ((f8x4 *)d2)[0] = m2_0_0;
          ((f8x4 *)d2)[1] = m2_0_1;
          ((f8x4 *)d2)[2] = m2_1_0;
          ((f8x4 *)d2)[3] = m2_1_1;
          ((f8x4 *)d2)[4] = m2_2_0;
          ((f8x4 *)d2)[5] = m2_2_1;
          ((f8x4 *)d2)[6] = m2_3_0;
          ((f8x4 *)d2)[7] = m2_3_1;
          __asm__ volatile("" : : "r"(d2) : "memory");
          if (((walked2 + i) & 511) == 0) {
            ((f8x4 *)sets2)[0] = ((f8x4 *)d2)[0];
            ((f8x4 *)sets2)[1] = ((f8x4 *)d2)[1];
            ((f8x4 *)sets2)[2] = ((f8x4 *)d2)[2];
            ((f8x4 *)sets2)[3] = ((f8x4 *)d2)[3];
            ((f8x4 *)sets2)[4] = ((f8x4 *)d2)[4];
            ((f8x4 *)sets2)[5] = ((f8x4 *)d2)[5];
            ((f8x4 *)sets2)[6] = ((f8x4 *)d2)[6];
            ((f8x4 *)sets2)[7] = ((f8x4 *)d2)[7];
            carry_f8(a2, (walked2 + i) / 512, 32);
            ((f8x4 *)d2)[0] = ((f8x4 *)d2)[1] = ((f8x4 *)d2)[2] = ((f8x4 *)d2)[3] = ((f8x4 *)d2)[4] = ((f8x4 *)d2)[5] = ((f8x4 *)d2)[6] = ((f8x4 *)d2)[7] = z2;
          }
          m2_0_0 = ((f8x4 *)d2)[0];
          m2_0_1 = ((f8x4 *)d2)[1];
          m2_1_0 = ((f8x4 *)d2)[2];
          m2_1_1 = ((f8x4 *)d2)[3];
          m2_2_0 = ((f8x4 *)d2)[4];
          m2_2_1 = ((f8x4 *)d2)[5];
          m2_3_0 = ((f8x4 *)d2)[6];
          m2_3_1 = ((f8x4 *)d2)[7];
        }
      }
      ((f8x4 *)sets2)[0] = m2_0_0;
      ((f8x4 *)sets2)[1] = m2_0_1;
      ((f8x4 *)sets2)[2] = m2_1_0;
      ((f8x4 *)sets2)[3] = m2_1_1;
      ((f8x4 *)sets2)[4] = m2_2_0;
      ((f8x4 *)sets2)[5] = m2_2_1;
      ((f8x4 *)sets2)[6] = m2_3_0;
      ((f8x4 *)sets2)[7] = m2_3_1;
      walked2 += whole;
      if (walked2 == total2) {
        const f8 so_far = ((const f8 *)(p2 + r * outer_stride[2]))[0];
        const f8 rows_folded = used2 == 32 ? fold_few_add_f8_8(a2) : fold_all_add_f8(a2, used2, walked2, 8);
        ((f8 *)(p2 + r * outer_stride[2]))[0] = so_far + (rows_folded);
        if (!(outer + r == n_outer - 1)) {
          ((f8x4 *)sets2)[0] = ((f8x4 *)sets2)[1] = ((f8x4 *)sets2)[2] = ((f8x4 *)sets2)[3] = ((f8x4 *)sets2)[4] = ((f8x4 *)sets2)[5] = ((f8x4 *)sets2)[6] = ((f8x4 *)sets2)[7] = z2;
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
