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
          ALIGNED f8 s7[8];
          ALIGNED f8 s8[8];
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
            const f8 v7 = exp(v0);
            s7[l] = v7;
          }
          for (i8 l = 0; l < 8; ++l) {
            const f8 v7 = s7[l];
            const f8 v8 = gammaln_f8(v7);
            s8[l] = v8;
          }
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
