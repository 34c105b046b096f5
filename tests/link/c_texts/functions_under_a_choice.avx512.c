/* Functions on vectors, of whole blocks and of single elements take turns. */
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
VECTOR f8 log1p(f8);
VECTOR f8 tanh(f8);
VECTOR f8 exp(f8);
extern f8 lgamma_r(f8, i4 *);
INLINE f8 gammaln_f8(f8 x) {
  i4 sign;
  return x == -__builtin_inf() ? x : (f8)lgamma_r((f8)x, &sign);
}
void (*pad_ends_64)(void *, const void *, i8, i8, i8, i8, i8);
typedef f8 f8x8 __attribute__((vector_size(64), may_alias));
typedef f8x8 f8x8_at __attribute__((aligned(8)));
#define FMA_f8(a, b, c) ((f8x8)__builtin_ia32_vfmaddpd512_mask(a, b, c, -1, 4))
#define ALL_f8(c) ((c) - (f8x8){})
static const f8 powers_f8[16] ALIGNED = {0x1p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0, 0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0, 0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0, 0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0};
static const f8 rests_f8[16] ALIGNED = {0x0p+0, 0x1.79aa65d837b6dp-54, -0x1.01b15eaa59348p-55, 0x1.68efde3a8a894p-54, 0x1.34d754db0abb6p-55, 0x1.59f48a72a4c6dp-55, 0x1.690cebb7aafb0p-56, 0x1.063e1e21c5409p-54, -0x1.3b3efbf5e2228p-54, -0x1.b32dcb94da51dp-56, 0x1.db72fc1f0eab4p-55, 0x1.1affc2b91ce27p-56, 0x1.c1a7792cb3387p-55, 0x1.36eae30af0cb3p-56, 0x1.4a385a63d07a7p-56, -0x1.ff7128fd391f0p-55};
typedef i8 i8x8 __attribute__((vector_size(64), may_alias));
typedef i8x8 i8x8_at __attribute__((aligned(8)));
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
static const f8 reciprocals_f8[16] ALIGNED = {0x1.0000000000000p+0, 0x1.e000000000000p-1, 0x1.c000000000000p-1, 0x1.b000000000000p-1, 0x1.a000000000000p-1, 0x1.8000000000000p-1, 0x1.7000000000000p-1, 0x1.6000000000000p-1, 0x1.6000000000000p-1, 0x0.0p+0, 0x0.0p+0, 0x0.0p+0, 0x1.5000000000000p+0, 0x1.4000000000000p+0, 0x1.2000000000000p+0, 0x1.1000000000000p+0};
static const f8 logs_f8[16] ALIGNED = {0x0p+0, 0x1.08598b59e4000p-4, 0x1.1178e8227e000p-3, 0x1.5bf406b544000p-3, 0x1.a93ed3c8ae000p-3, 0x1.269621134e000p-2, 0x1.522ae0738a000p-2, 0x1.7fafa3bd81000p-2, 0x1.7fafa3bd81000p-2, 0x0p+0, 0x0p+0, 0x0p+0, -0x1.1675cababa000p-2, -0x1.c8ff7c79aa000p-3, -0x1.e27076e2b0000p-4, -0x1.f0a30c0118000p-5};
static const f8 log_rests_f8[16] ALIGNED = {0x0p+0, -0x1.7e5dd7009902cp-46, 0x1.1ef78ce2d07f2p-45, -0x1.27023eb68981cp-46, -0x1.8724350562169p-45, -0x1.1b61f10522625p-44, 0x1.ebe708164c759p-45, 0x1.46fb79bf6d4cbp-44, 0x1.46fb79bf6d4cbp-44, 0x0p+0, 0x0p+0, 0x0p+0, -0x1.8380e731f55c4p-44, 0x1.7794f689f8434p-45, 0x1.a342c2af0003cp-45, 0x1.d599e83368e91p-45};
#define ALL_FIXES_f8 (((i8x8){}) + 0x3530422)
INLINE f8x8 log1p_f8x8(f8x8 x) {
#if defined(__AVX512F__) && defined(__AVX512DQ__) && !defined(__clang__)
  const f8x8 u = x + 1, lost = x - (u - 1);
  const f8x8 m = __builtin_ia32_getmantpd512_mask(u, 11, u, -1, 4);
  const f8x8 k = __builtin_ia32_getexppd512_mask(m, m, -1, 4)
                - __builtin_ia32_getexppd512_mask(u, u, -1, 4);
  const f8x8 t = m + 0x1.8p+48;
  const f8x8 q = __builtin_shuffle(*(const f8x8 *)(reciprocals_f8 + 0), *(const f8x8 *)(reciprocals_f8 + 8), (i8x8)t);
  const f8x8 exact = FMA_f8(m, q, ALL_f8(-1)), r = FMA_f8(__builtin_ia32_scalefpd512_mask(lost, k, k, -1, 4), q, exact);
  const f8x8 high = FMA_f8(k, ALL_f8(-0x1.62e42fefa3800p-1), __builtin_shuffle(*(const f8x8 *)(logs_f8 + 0), *(const f8x8 *)(logs_f8 + 8), (i8x8)t)), sum = high + r, s = r * r;
  const f8x8 low = FMA_f8(k, ALL_f8(-0x1.ef35793c76730p-45), __builtin_shuffle(*(const f8x8 *)(log_rests_f8 + 0), *(const f8x8 *)(log_rests_f8 + 8), (i8x8)t));
  const f8x8 s2 = s * s;
  const f8x8 a = FMA_f8(s, FMA_f8(r, ALL_f8(0x1.9999999a525aep-3), ALL_f8(-0x1.fffffffff597ep-3)), FMA_f8(r, ALL_f8(0x1.55555555554ecp-2), ALL_f8(-0x1.0000000000001p-1))), b = FMA_f8(s, FMA_f8(r, ALL_f8(0x1.c726a04e0f395p-4), ALL_f8(-0x1.fffe0eb360d04p-4)), FMA_f8(r, ALL_f8(0x1.249246081c3bdp-3), ALL_f8(-0x1.555555a50dce0p-3)));
  const f8x8 p = FMA_f8(s2, FMA_f8(s2, FMA_f8(r, ALL_f8(0x1.6f8fb3a02c297p-4), ALL_f8(-0x1.9c4369105b5a4p-4)), b), a);
  const f8x8 near = sum + FMA_f8(s, p, low);
  const f8x8 y = __builtin_ia32_fixupimmpd512_mask(near, u, (i8x8)ALL_FIXES_f8, 0, -1, 4);
  return (f8x8)__builtin_ia32_pternlogq512_mask((i8x8)y, (i8x8)x, (i8x8)ALL_f8((f8)-0.0), 0xd8, -1);
#else
  ALIGNED f8 of[8];
  *(f8x8 *)of = x;
  _Pragma("omp simd") for (i4 l = 0; l < 8; ++l) of[l] = log1p(of[l]);
  return *(f8x8 *)of;
#endif
}
f8x8 (*tanh_block_f8)(f8x8);
f8x8 (*gammaln_block_f8)(f8x8);
void (*copy_ends_64)(void *, const void *, i8, i8, i8, i8);
i4 kernel_0(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {
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
        HOLD_EXP_f8x8;
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          char *q1 = w1 + i * 8;
          char *q2 = w2 + i * 8;
          ALIGNED i8 s3[8];
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v0 = ((const f8 *)q0)[l];
            const b1 v3 = 0x0.0p+0 < v0;
            s3[l] = v3;
          }
          const f8x8 s4 = log1p_f8x8(*(const f8x8_at *)q0);
          const f8x8 s5 = tanh_block_f8(*(const f8x8_at *)q1);
          const f8x8 s7 = exp_f8x8(*(const f8x8_at *)q0);
          const f8x8 s8 = gammaln_block_f8(s7);
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const b1 v3 = (s3[l] != 0);
            const f8 v4 = s4[l];
            const f8 v5 = s5[l];
            const f8 v6 = v4 + v5;
            const f8 v8 = s8[l];
            const f8 v9 = v3 ? v6 : v8;
            ((f8 *)q2)[l] = v9;
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
