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
VECTOR f8 log(f8);
static const f8 reciprocals_f8[16] ALIGNED = {0x1.0000000000000p+0, 0x1.e000000000000p-1, 0x1.c000000000000p-1, 0x1.b000000000000p-1, 0x1.a000000000000p-1, 0x1.8000000000000p-1, 0x1.7000000000000p-1, 0x1.6000000000000p-1, 0x1.6000000000000p-1, 0x0.0p+0, 0x0.0p+0, 0x0.0p+0, 0x1.5000000000000p+0, 0x1.4000000000000p+0, 0x1.2000000000000p+0, 0x1.1000000000000p+0};
static const f8 logs_f8[16] ALIGNED = {0x0p+0, 0x1.08598b59e4000p-4, 0x1.1178e8227e000p-3, 0x1.5bf406b544000p-3, 0x1.a93ed3c8ae000p-3, 0x1.269621134e000p-2, 0x1.522ae0738a000p-2, 0x1.7fafa3bd81000p-2, 0x1.7fafa3bd81000p-2, 0x0p+0, 0x0p+0, 0x0p+0, -0x1.1675cababa000p-2, -0x1.c8ff7c79aa000p-3, -0x1.e27076e2b0000p-4, -0x1.f0a30c0118000p-5};
static const f8 log_rests_f8[16] ALIGNED = {0x0p+0, -0x1.7e5dd7009902cp-46, 0x1.1ef78ce2d07f2p-45, -0x1.27023eb68981cp-46, -0x1.8724350562169p-45, -0x1.1b61f10522625p-44, 0x1.ebe708164c759p-45, 0x1.46fb79bf6d4cbp-44, 0x1.46fb79bf6d4cbp-44, 0x0p+0, 0x0p+0, 0x0p+0, -0x1.8380e731f55c4p-44, 0x1.7794f689f8434p-45, 0x1.a342c2af0003cp-45, 0x1.d599e83368e91p-45};
#define ALL_FIXES_f8 (((i8x8){}) + 0x3530422)
INLINE f8x8 log_f8x8(f8x8 x) {
#if defined(__AVX512F__) && defined(__AVX512DQ__) && !defined(__clang__)
  const f8x8 u = x;
  const f8x8 m = __builtin_ia32_getmantpd512_mask(u, 11, u, -1, 4);
  const f8x8 k = __builtin_ia32_getexppd512_mask(m, m, -1, 4)
                - __builtin_ia32_getexppd512_mask(u, u, -1, 4);
  const f8x8 t = m + 0x1.8p+48;
  const f8x8 q = __builtin_shuffle(*(const f8x8 *)(reciprocals_f8 + 0), *(const f8x8 *)(reciprocals_f8 + 8), (i8x8)t);
  const f8x8 exact = FMA_f8(m, q, ALL_f8(-1)), r = exact;
  const f8x8 high = FMA_f8(k, ALL_f8(-0x1.62e42fefa3800p-1), __builtin_shuffle(*(const f8x8 *)(logs_f8 + 0), *(const f8x8 *)(logs_f8 + 8), (i8x8)t)), sum = high + r, s = r * r;
  const f8x8 low = FMA_f8(k, ALL_f8(-0x1.ef35793c76730p-45), __builtin_shuffle(*(const f8x8 *)(log_rests_f8 + 0), *(const f8x8 *)(log_rests_f8 + 8), (i8x8)t)) + (high - sum + r);
  const f8x8 s2 = s * s;
  const f8x8 a = FMA_f8(s, FMA_f8(r, ALL_f8(0x1.9999999a525aep-3), ALL_f8(-0x1.fffffffff597ep-3)), FMA_f8(r, ALL_f8(0x1.55555555554ecp-2), ALL_f8(-0x1.0000000000001p-1))), b = FMA_f8(s, FMA_f8(r, ALL_f8(0x1.c726a04e0f395p-4), ALL_f8(-0x1.fffe0eb360d04p-4)), FMA_f8(r, ALL_f8(0x1.249246081c3bdp-3), ALL_f8(-0x1.555555a50dce0p-3)));
  const f8x8 p = FMA_f8(s2, FMA_f8(s2, FMA_f8(r, ALL_f8(0x1.6f8fb3a02c297p-4), ALL_f8(-0x1.9c4369105b5a4p-4)), b), a);
  const f8x8 near = sum + FMA_f8(s, p, low);
  const f8x8 y = __builtin_ia32_fixupimmpd512_mask(near, u, (i8x8)ALL_FIXES_f8, 0, -1, 4);
  return y;
#else
  ALIGNED f8 of[8];
  *(f8x8 *)of = x;
  _Pragma("omp simd") for (i4 l = 0; l < 8; ++l) of[l] = log(of[l]);
  return *(f8x8 *)of;
#endif
}
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
  const f8x8 z5 = (f8)-__builtin_inf() - (f8x8){};
  ALIGNED f8 row5[8];
  ALIGNED f8 a2[128];
  const i8 total2 = whole * (outer_stride[2] ? 1 : n_outer);
  i8 walked2 = 0;
  const i8 used2 = total2 < 512 ? 32 : total2 < 8192 ? 64 : 128;
  const f8x8 z2 = (f8)(-0x0.0p+0) - (f8x8){};
  f8 *sets2 = a2;
  ((f8x8 *)sets2)[0] = ((f8x8 *)sets2)[1] = ((f8x8 *)sets2)[2] = ((f8x8 *)sets2)[3] = z2;
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
      fold_maximum_of_columns((f8x8 *)row5, (f8x8 *)of5, n_inner);
    } else {
      for (i8 r = 0; r < rows; ++r) {
        char *w0 = p0 + r * outer_stride[0];
        f8x8 m5_0 = z5;
        f8x8 m5_1 = z5;
        f8x8 m5_2 = z5;
        f8x8 m5_3 = z5;
        for (i8 i = 0; i < n_inner;) {
          i8 end = full;
          if (i == full) {
            end = n_inner;
            w0 = (char *)(e0 + r * padded) - full * 8;
          }
          if (end > (i | 65535)) end = (i | 65535) + 1;
          const f8x8 before5 = (padded > 8 ? m5_1 : m5_0);
          for (; i < end; i += 8) {
            char *q0 = w0 + i * 8;
            ALIGNED f8 c5[8];
            *(f8x8 *)c5 = m5_0;
#pragma omp simd
            for (i8 l = 0; l < 8; ++l) {
              const f8 v0 = ((const f8 *)q0)[l];
              c5[l] = ((v0) > c5[l]) | ((v0) != (v0)) ? (v0) : c5[l];
            }
            m5_0 = m5_1;
            m5_1 = m5_2;
            m5_2 = m5_3;
            m5_3 = *(f8x8 *)c5;
          }
          if (i > full) {
            const i8x8 live5 = *(const i8x8_at *)(first_i8x8 + whole - n_inner);
            m5_3 = (f8x8)(((i8x8)m5_3 & live5) | ((i8x8)before5 & ~live5));
          }
          if (!(i & 65535) && i < n_inner && loop_stops()) return 4;
        }
        {
          f8x8 x;
          if (whole & 8) {
            x = m5_3;
            m5_3 = m5_2;
            m5_2 = m5_1;
            m5_1 = m5_0;
            m5_0 = x;
          }
          if (whole & 16) {
            x = m5_0;
            m5_0 = m5_2;
            m5_2 = x;
            x = m5_1;
            m5_1 = m5_3;
            m5_3 = x;
          }
          ALIGNED f8 f0[8];
          *(f8x8 *)f0 = m5_0;
          ALIGNED f8 f1[8];
          *(f8x8 *)f1 = m5_1;
          ALIGNED f8 f2[8];
          *(f8x8 *)f2 = m5_2;
          ALIGNED f8 f3[8];
          *(f8x8 *)f3 = m5_3;
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
      f8x8 m2_0 = ((f8x8 *)sets2)[0];
      f8x8 m2_1 = ((f8x8 *)sets2)[1];
      f8x8 m2_2 = ((f8x8 *)sets2)[2];
      f8x8 m2_3 = ((f8x8 *)sets2)[3];
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)(e0 + r * padded) - full * 8;
        }
        if (end > i + 512 - ((walked2 + i) & 511)) end = i + 512 - ((walked2 + i) & 511);
        if (end > (i | 65535)) end = (i | 65535) + 1;
        const f8x8 before2 = (padded > 8 ? m2_1 : m2_0);
        HOLD_EXP_f8x8;
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
          const f8x8 s7 = exp_f8x8(*(const f8x8 *)s6);
          ALIGNED f8 c2[8];
          *(f8x8 *)c2 = m2_0;
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v7 = s7[l];
            c2[l] = c2[l] + (v7);
          }
          m2_0 = m2_1;
          m2_1 = m2_2;
          m2_2 = m2_3;
          m2_3 = *(f8x8 *)c2;
        }
        if (i > full) {
          const i8x8 live2 = *(const i8x8_at *)(first_i8x8 + whole - n_inner);
          m2_3 = (f8x8)(((i8x8)m2_3 & live2) | ((i8x8)before2 & ~live2));
        }
        if (!(i & 65535) && i < n_inner && loop_stops()) return 4;
        if (((walked2 + i) & 511) == 0) {
          ALIGNED f8 d2[32];
          ((f8x8 *)d2)[0] = m2_0;
          ((f8x8 *)d2)[1] = m2_1;
          ((f8x8 *)d2)[2] = m2_2;
          ((f8x8 *)d2)[3] = m2_3;
          __asm__ volatile("" : : "r"(d2) : "memory");
          if (((walked2 + i) & 511) == 0) {
            ((f8x8 *)sets2)[0] = ((f8x8 *)d2)[0];
            ((f8x8 *)sets2)[1] = ((f8x8 *)d2)[1];
            ((f8x8 *)sets2)[2] = ((f8x8 *)d2)[2];
            ((f8x8 *)sets2)[3] = ((f8x8 *)d2)[3];
            carry_f8(a2, (walked2 + i) / 512, 32);
            ((f8x8 *)d2)[0] = ((f8x8 *)d2)[1] = ((f8x8 *)d2)[2] = ((f8x8 *)d2)[3] = z2;
          }
          m2_0 = ((f8x8 *)d2)[0];
          m2_1 = ((f8x8 *)d2)[1];
          m2_2 = ((f8x8 *)d2)[2];
          m2_3 = ((f8x8 *)d2)[3];
        }
      }
      ((f8x8 *)sets2)[0] = m2_0;
      ((f8x8 *)sets2)[1] = m2_1;
      ((f8x8 *)sets2)[2] = m2_2;
      ((f8x8 *)sets2)[3] = m2_3;
      walked2 += whole;
      if (walked2 == total2) {
        const f8 so_far = ((const f8 *)(p2 + r * outer_stride[2]))[0];
        const f8 rows_folded = used2 == 32 ? fold_few_add_f8_8(a2) : fold_all_add_f8(a2, used2, walked2, 8);
        ((f8 *)(p2 + r * outer_stride[2]))[0] = so_far + (rows_folded);
        if (!(outer + r == n_outer - 1)) {
          ((f8x8 *)sets2)[0] = ((f8x8 *)sets2)[1] = ((f8x8 *)sets2)[2] = ((f8x8 *)sets2)[3] = z2;
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
          ALIGNED f8 s5[8];
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v1 = ((const f8 *)q1)[l];
            const b1 v4 = __builtin_fabs(v1) < __builtin_inf();
            const f8 v5 = v4 ? v1 : 0x0.0p+0;
            s5[l] = v5;
          }
          const f8x8 s3 = log_f8x8(*(const f8x8_at *)q0);
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v3 = s3[l];
            const f8 v5 = s5[l];
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
