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
void (*pad_ends_64)(void *, const void *, i8, i8, i8, i8, i8);
i4 (*loop_stops)(void);
static const i8 first_i8x8[] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
void (*fold_rows_maximum_f8)(f8 *, f8 *, i8, i8, i8, i8);

static NOINLINE void fold_maximum_of_columns(f8x8 *to, const f8x8 *of, i8 count) {
  f8x8 x0 = of[0];
  f8x8 x1 = of[1];
  f8x8 x2 = of[2];
  f8x8 x3 = of[3];
  f8x8 x4 = of[4];
  f8x8 x5 = of[5];
  f8x8 x6 = of[6];
  f8x8 x7 = of[7];
  if (count > 8) { { const f8x8 a = x0, b = of[8]; x0 = (f8x8)(((i8x8)b & ((b > a) | (b != b))) | ((i8x8)a & ~((b > a) | (b != b)))); } { const f8x8 a = x1, b = of[9]; x1 = (f8x8)(((i8x8)b & ((b > a) | (b != b))) | ((i8x8)a & ~((b > a) | (b != b)))); } { const f8x8 a = x2, b = of[10]; x2 = (f8x8)(((i8x8)b & ((b > a) | (b != b))) | ((i8x8)a & ~((b > a) | (b != b)))); } { const f8x8 a = x3, b = of[11]; x3 = (f8x8)(((i8x8)b & ((b > a) | (b != b))) | ((i8x8)a & ~((b > a) | (b != b)))); } { const f8x8 a = x4, b = of[12]; x4 = (f8x8)(((i8x8)b & ((b > a) | (b != b))) | ((i8x8)a & ~((b > a) | (b != b)))); } { const f8x8 a = x5, b = of[13]; x5 = (f8x8)(((i8x8)b & ((b > a) | (b != b))) | ((i8x8)a & ~((b > a) | (b != b)))); } { const f8x8 a = x6, b = of[14]; x6 = (f8x8)(((i8x8)b & ((b > a) | (b != b))) | ((i8x8)a & ~((b > a) | (b != b)))); } { const f8x8 a = x7, b = of[15]; x7 = (f8x8)(((i8x8)b & ((b > a) | (b != b))) | ((i8x8)a & ~((b > a) | (b != b)))); } }
  { const f8x8 a = x0, b = x4; x0 = (f8x8)(((i8x8)b & ((b > a) | (b != b))) | ((i8x8)a & ~((b > a) | (b != b)))); }
  { const f8x8 a = x1, b = x5; x1 = (f8x8)(((i8x8)b & ((b > a) | (b != b))) | ((i8x8)a & ~((b > a) | (b != b)))); }
  { const f8x8 a = x2, b = x6; x2 = (f8x8)(((i8x8)b & ((b > a) | (b != b))) | ((i8x8)a & ~((b > a) | (b != b)))); }
  { const f8x8 a = x3, b = x7; x3 = (f8x8)(((i8x8)b & ((b > a) | (b != b))) | ((i8x8)a & ~((b > a) | (b != b)))); }
  { const f8x8 a = x0, b = x2; x0 = (f8x8)(((i8x8)b & ((b > a) | (b != b))) | ((i8x8)a & ~((b > a) | (b != b)))); }
  { const f8x8 a = x1, b = x3; x1 = (f8x8)(((i8x8)b & ((b > a) | (b != b))) | ((i8x8)a & ~((b > a) | (b != b)))); }
  { const f8x8 a = x0, b = x1; x0 = (f8x8)(((i8x8)b & ((b > a) | (b != b))) | ((i8x8)a & ~((b > a) | (b != b)))); }
  *to = x0;
}
#define FMA_f8(a, b, c) ((f8x8)__builtin_ia32_vfmaddpd512_mask(a, b, c, -1, 4))
#define ALL_f8(c) ((c) - (f8x8){})
static const f8 powers_f8[16] ALIGNED = {0x1p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0, 0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0, 0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0, 0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0};
static const f8 rests_f8[16] ALIGNED = {0x0p+0, 0x1.79aa65d837b6dp-54, -0x1.01b15eaa59348p-55, 0x1.68efde3a8a894p-54, 0x1.34d754db0abb6p-55, 0x1.59f48a72a4c6dp-55, 0x1.690cebb7aafb0p-56, 0x1.063e1e21c5409p-54, -0x1.3b3efbf5e2228p-54, -0x1.b32dcb94da51dp-56, 0x1.db72fc1f0eab4p-55, 0x1.1affc2b91ce27p-56, 0x1.c1a7792cb3387p-55, 0x1.36eae30af0cb3p-56, 0x1.4a385a63d07a7p-56, -0x1.ff7128fd391f0p-55};
#if defined(__AVX512F__) && defined(__AVX512DQ__) && !defined(__clang__)
#define HOLD_f8(name, value) f8x8 name = value; __asm__ volatile("" : "+v"(name))
#define HOLD_EXP_f8x8 HOLD_f8(exp_per_log2, ALL_f8(0x1.71547652b82fep+0)); HOLD_f8(exp_magic, ALL_f8(0x1.8p+48)); HOLD_f8(exp_log2_high, ALL_f8(-0x1.62e42fefa39efp-1)); HOLD_f8(exp_log2_low, ALL_f8(-(0x1.abc9e3b39803fp-56))); HOLD_f8(exp_most, ALL_f8((f8)0x1.6e56e728eaf6ap-6)); HOLD_f8(exp_p0, ALL_f8(0x1.0000000000005p-1)); HOLD_f8(exp_p1, ALL_f8(0x1.555555548f549p-3)); HOLD_f8(exp_p2, ALL_f8(0x1.555555545e71ep-5)); HOLD_f8(exp_p3, ALL_f8(0x1.11123ad56a26cp-7)); HOLD_f8(exp_p4, ALL_f8(0x1.6c185e1d484f3p-10)); HOLD_f8(exp_powers_0, *(const f8x8 *)(powers_f8 + 0)); HOLD_f8(exp_powers_1, *(const f8x8 *)(powers_f8 + 8)); HOLD_f8(exp_rests_0, *(const f8x8 *)(rests_f8 + 0)); HOLD_f8(exp_rests_1, *(const f8x8 *)(rests_f8 + 8));
#define exp_f8x8(x) held_exp_f8x8(x, exp_per_log2, exp_magic, exp_log2_high, exp_log2_low, exp_most, exp_p0, exp_p1, exp_p2, exp_p3, exp_p4, exp_powers_0, exp_powers_1, exp_rests_0, exp_rests_1)
INLINE f8x8 held_exp_f8x8(f8x8 x, f8x8 exp_per_log2, f8x8 exp_magic, f8x8 exp_log2_high, f8x8 exp_log2_low, f8x8 exp_most, f8x8 exp_p0, f8x8 exp_p1, f8x8 exp_p2, f8x8 exp_p3, f8x8 exp_p4, f8x8 exp_powers_0, f8x8 exp_powers_1, f8x8 exp_rests_0, f8x8 exp_rests_1) {
  const f8x8 t = FMA_f8(x, exp_per_log2, exp_magic), k = t - exp_magic;
  const f8x8 near = FMA_f8(k, exp_log2_high, x);
  const f8x8 wide = FMA_f8(k, exp_log2_low, near);
  const f8x8 r = __builtin_ia32_rangepd512_mask(wide, exp_most, 6, wide, -1, 4);
  const f8x8 s = r * r;
  const f8x8 power = __builtin_shuffle(exp_powers_0, exp_powers_1, (i8x8)t), rest = __builtin_shuffle(exp_rests_0, exp_rests_1, (i8x8)t);
  const f8x8 low = FMA_f8(r, exp_p1, exp_p0);
  const f8x8 high = FMA_f8(s, exp_p4, FMA_f8(r, exp_p3, exp_p2));
  const f8x8 q = FMA_f8(s, high, low);
  const f8x8 more = r + FMA_f8(s, q, rest);
  return __builtin_ia32_scalefpd512_mask(FMA_f8(power, more, power), k, k, -1, 4);
}
#else
#define HOLD_EXP_f8x8
INLINE f8x8 exp_f8x8(f8x8 x) {
  ALIGNED f8 of[8];
  *(f8x8 *)of = x;
  _Pragma("omp simd") for (i4 l = 0; l < 8; ++l) of[l] = exp(of[l]);
  return *(f8x8 *)of;
}
#endif
void (*carry_f8)(f8 *, i8, i8);
void (*fold_rows_add_f8)(f8 *, f8 *, i8, i8, i8, i8);

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
  ALIGNED f8 a4[64];
  const i8 used4 = 8;
  const f8x8 z4 = (f8)-__builtin_inf() - (f8x8){};
  ALIGNED f8 row4[8];
  ALIGNED f8 a7[128];
  const i8 used7 = whole < 512 ? 8 : whole < 8192 ? 64 : 128;
  const f8x8 z7 = (f8)(-0x0.0p+0) - (f8x8){};
  ALIGNED f8 row7[8];
  ALIGNED f8 k0[128];
  ALIGNED f8 kb5[128];
  ALIGNED f8 of4[128];
  for (i8 at = n_inner; at < 16; ++at) {
    ((f8x8 *)of4)[at] = -__builtin_inf() - (f8x8){};
  }
  ALIGNED f8 of7[128];
  for (i8 at = n_inner; at < 16; ++at) {
    ((f8x8 *)of7)[at] = (-0x0.0p+0) - (f8x8){};
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
        f8 *c4 = of4 + i * 8;
#pragma omp simd
        for (i8 l = 0; l < 8; ++l) {
          const f8 v0 = ((const f8 *)q0)[l];
          c4[l] = v0;
        }
      }
      fold_maximum_of_columns((f8x8 *)row4, (f8x8 *)of4, n_inner);
    } else {
      for (i8 r = 0; r < rows; ++r) {
        char *w0 = p0 + r * outer_stride[0];
        f8x8 m4_0 = z4;
        f8x8 m4_1 = z4;
        f8x8 m4_2 = z4;
        f8x8 m4_3 = z4;
        for (i8 i = 0; i < n_inner;) {
          i8 end = full;
          if (i == full) {
            end = n_inner;
            w0 = (char *)(e0 + r * padded) - full * 8;
          }
          if (end > (i | 65535)) end = (i | 65535) + 1;
          const f8x8 before4 = (padded > 8 ? m4_1 : m4_0);
          for (; i < end; i += 8) {
            char *q0 = w0 + i * 8;
            ALIGNED f8 c4[8];
            *(f8x8 *)c4 = m4_0;
#pragma omp simd
            for (i8 l = 0; l < 8; ++l) {
              const f8 v0 = ((const f8 *)q0)[l];
              c4[l] = ((v0) > c4[l]) | ((v0) != (v0)) ? (v0) : c4[l];
            }
            m4_0 = m4_1;
            m4_1 = m4_2;
            m4_2 = m4_3;
            m4_3 = *(f8x8 *)c4;
          }
          if (i > full) {
            const i8x8 live4 = *(const i8x8_at *)(first_i8x8 + whole - n_inner);
            m4_3 = (f8x8)(((i8x8)m4_3 & live4) | ((i8x8)before4 & ~live4));
          }
          if (!(i & 65535) && i < n_inner && loop_stops()) return 4;
        }
        {
          f8x8 x;
          if (whole & 8) {
            x = m4_3;
            m4_3 = m4_2;
            m4_2 = m4_1;
            m4_1 = m4_0;
            m4_0 = x;
          }
          if (whole & 16) {
            x = m4_0;
            m4_0 = m4_2;
            m4_2 = x;
            x = m4_1;
            m4_1 = m4_3;
            m4_3 = x;
          }
          ALIGNED f8 f0[8];
          *(f8x8 *)f0 = m4_0;
          ALIGNED f8 f1[8];
          *(f8x8 *)f1 = m4_1;
          ALIGNED f8 f2[8];
          *(f8x8 *)f2 = m4_2;
          ALIGNED f8 f3[8];
          *(f8x8 *)f3 = m4_3;
#pragma omp simd
          for (i4 l = 0; l < 8; ++l) {
            const f8 even = ((f2[l]) > f0[l]) | ((f2[l]) != (f2[l])) ? (f2[l]) : f0[l];
            const f8 odd = ((f3[l]) > f1[l]) | ((f3[l]) != (f3[l])) ? (f3[l]) : f1[l];
            (a4 + r * 8)[l] = ((odd) > even) | ((odd) != (odd)) ? (odd) : even;
          }
        }
      }
      fold_rows_maximum_f8(row4, a4, rows, used4, whole, 8);
    }
#pragma omp simd
    for (i4 r = 0; r < 8; ++r) {
      const f8 v3 = ((row4[r]) > -__builtin_inf()) | ((row4[r]) != (row4[r])) ? (row4[r]) : -__builtin_inf();
      t3[r] = v3;
    }
    if (beside) {
      HOLD_EXP_f8x8;
      for (i8 i = 0; i < n_inner; ++i) {
        char *q0 = (char *)k0 + i * 64;
        char *qb5 = (char *)kb5 + i * 64;
        ALIGNED f8 s4[8];
#pragma omp simd
        for (i8 l = 0; l < 8; ++l) {
          const f8 v3 = t3[l];
          const f8 v0 = ((const f8 *)q0)[l];
          const f8 v4 = v0 - v3;
          s4[l] = v4;
        }
        const f8x8 s5 = exp_f8x8(*(const f8x8 *)s4);
        *(f8x8_at *)qb5 = s5;
        f8 *c7 = of7 + i * 8;
#pragma omp simd
        for (i8 l = 0; l < 8; ++l) {
          const f8 v3 = t3[l];
          const f8 v5 = s5[l];
          c7[l] = v5;
        }
      }
      fold_add_of_columns((f8x8 *)row7, (f8x8 *)of7, n_inner);
    } else {
      for (i8 r = 0; r < rows; ++r) {
        const f8 v3 = t3[r];
        char *w0 = p0 + r * outer_stride[0];
        char *wb5 = pb5 + r * outer_stride[2];
        char *n0 = p0 + (rows + r) * outer_stride[0];
        char *n1 = p1 + (rows + r) * outer_stride[1];
        f8x8 m7_0 = z7;
        f8x8 m7_1 = z7;
        f8x8 m7_2 = z7;
        f8x8 m7_3 = z7;
        for (i8 i = 0; i < n_inner;) {
          i8 end = full;
          if (i == full) {
            end = n_inner;
            w0 = (char *)(e0 + r * padded) - full * 8;
          }
          if (end > i + 512 - (i & 511)) end = i + 512 - (i & 511);
          if (end > (i | 65535)) end = (i | 65535) + 1;
          const f8x8 before7 = (padded > 8 ? m7_1 : m7_0);
          HOLD_EXP_f8x8;
          for (; i < end; i += 8) {
            char *q0 = w0 + i * 8;
            char *qb5 = wb5 + i * 8;
            __builtin_prefetch(n0 + i * 8);
            __builtin_prefetch(n1 + i * 8);
            ALIGNED f8 s4[8];
#pragma omp simd
            for (i8 l = 0; l < 8; ++l) {
              const f8 v0 = ((const f8 *)q0)[l];
              const f8 v4 = v0 - v3;
              s4[l] = v4;
            }
            const f8x8 s5 = exp_f8x8(*(const f8x8 *)s4);
            *(f8x8_at *)qb5 = s5;
            ALIGNED f8 c7[8];
            *(f8x8 *)c7 = m7_0;
#pragma omp simd
            for (i8 l = 0; l < 8; ++l) {
              const f8 v5 = s5[l];
              c7[l] = c7[l] + (v5);
            }
            m7_0 = m7_1;
            m7_1 = m7_2;
            m7_2 = m7_3;
            m7_3 = *(f8x8 *)c7;
          }
          if (i > full) {
            const i8x8 live7 = *(const i8x8_at *)(first_i8x8 + whole - n_inner);
            m7_3 = (f8x8)(((i8x8)m7_3 & live7) | ((i8x8)before7 & ~live7));
          }
          if (!(i & 65535) && i < n_inner && loop_stops()) return 4;
          if ((i & 511) == 0) {
            ALIGNED f8 d7[32];
            ((f8x8 *)d7)[0] = m7_0;
            ((f8x8 *)d7)[1] = m7_1;
            ((f8x8 *)d7)[2] = m7_2;
            ((f8x8 *)d7)[3] = m7_3;
            __asm__ volatile("" : : "r"(d7) : "memory");
            if ((i & 511) == 0) {
              ((f8x8 *)a7)[0] = ((f8x8 *)d7)[0];
              ((f8x8 *)a7)[1] = ((f8x8 *)d7)[1];
              ((f8x8 *)a7)[2] = ((f8x8 *)d7)[2];
              ((f8x8 *)a7)[3] = ((f8x8 *)d7)[3];
              carry_f8(a7, i / 512, 32);
              ((f8x8 *)d7)[0] = ((f8x8 *)d7)[1] = ((f8x8 *)d7)[2] = ((f8x8 *)d7)[3] = z7;
            }
            m7_0 = ((f8x8 *)d7)[0];
            m7_1 = ((f8x8 *)d7)[1];
            m7_2 = ((f8x8 *)d7)[2];
            m7_3 = ((f8x8 *)d7)[3];
          }
        }
        if (used7 != 8) {
          ((f8x8 *)a7)[0] = m7_0;
          ((f8x8 *)a7)[1] = m7_1;
          ((f8x8 *)a7)[2] = m7_2;
          ((f8x8 *)a7)[3] = m7_3;
        } else {
          *(f8x8 *)(a7 + r * 8) = (m7_0 + m7_2) + (m7_1 + m7_3);
        }
      }
      fold_rows_add_f8(row7, a7, rows, used7, whole, 8);
    }
#pragma omp simd
    for (i4 r = 0; r < 8; ++r) {
      const f8 v6 = 0x0.0p+0 + (row7[r]);
      t6[r] = v6;
    }
    if (beside) {
      for (i8 at = n_inner; at < whole; ++at) {
        ((i8x8 *)kb5)[at] = ((i8x8 *)kb5)[n_inner - 1];
      }
      transpose(pb5, outer_stride[2], 64, (const char *)kb5, 64, 512, n_inner);
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
