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
INLINE f8 tanh_f8(f8 x) {
  const f8 size = -2 * __builtin_fabs(x), y = -50.0 > size ? -50.0 : size;
  const f8 t = __builtin_fma(y, 1.4426950408889634, 6755399441056767.0), k = t - 6755399441056767.0;
  const f8 r = __builtin_fma(k, -2.3190468138462996e-17, __builtin_fma(k, -0.6931471805599453, y)), s = r * r;
  const f8 q = __builtin_fma(s, __builtin_fma(s, __builtin_fma(s, __builtin_fma(s, __builtin_fma(s, 2.0914696114722447e-09, __builtin_fma(r, 2.510522981321569e-08, 2.755727362113095e-07)), __builtin_fma(r, 2.7557255369427714e-06, 2.4801587325565073e-05)), __builtin_fma(r, 0.00019841269874844894, 0.0013888888888883744)), __builtin_fma(r, 0.008333333333326129, 0.04166666666666667)), __builtin_fma(r, 0.1666666666666667, 0.5));
  const f8 more = __builtin_fma(s, q, r);
  u8 exponent;
  f8 w;
  __builtin_memcpy(&exponent, &t, sizeof t);
  exponent <<= 52;
  __builtin_memcpy(&w, &exponent, sizeof w);
  return __builtin_copysign(__builtin_fma(w, more, w - 1) / __builtin_fma(w, more, w + 1), x);
}
VECTOR f8 exp(f8);
extern f8 lgamma_r(f8, i4 *);
INLINE f8 gammaln_f8(f8 x) {
  i4 sign;
  return x == -__builtin_inf() ? x : (f8)lgamma_r((f8)x, &sign);
}
void (*pad_ends_64)(void *, const void *, i8, i8, i8, i8, i8);
typedef f8 f8x4 __attribute__((vector_size(32), may_alias));
typedef f8x4 f8x4_at __attribute__((aligned(8)));
typedef i8 i8x4 __attribute__((vector_size(32), may_alias));
typedef i8x4 i8x4_at __attribute__((aligned(8)));
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
void (*gammaln_many_f8)(f8 *, const f8 *, i8);
#define gammaln_8_f8(to, of) gammaln_many_f8(to, of, 8)
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
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          char *q1 = w1 + i * 8;
          char *q2 = w2 + i * 8;
          ALIGNED i8 s3[8];
          ALIGNED f8 s6[8];
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v0 = ((const f8 *)q0)[l];
            const f8 v1 = ((const f8 *)q1)[l];
            const b1 v3 = 0x0.0p+0 < v0;
            s3[l] = v3;
            const f8 v4 = log1p(v0);
            const f8 v5 = tanh_f8(v1);
            const f8 v6 = v4 + v5;
            s6[l] = v6;
          }
          ALIGNED f8 s7[8];
          exp_8_f8(s7, (const f8 *)q0);
          ALIGNED f8 s8[8];
          gammaln_8_f8(s8, s7);
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const b1 v3 = (s3[l] != 0);
            const f8 v6 = s6[l];
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
