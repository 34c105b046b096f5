/* Division that takes no zero, and powers that may fail. */
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
INLINE i8 floordiv_i8(i8 a, i8 b) {
  if (b == 0) return 0;
  if (b == -1) return -a;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
INLINE i8 floormod_i8(i8 a, i8 b) {
  if (b == 0 || b == -1) return 0;
  const i8 rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
INLINE i8 ipow_i8(i8 base, i8 exponent, i4 *status) {
  i8 power = 1;
  if (exponent < 0) { *status = 1; return 0; }
  for (; exponent; exponent >>= 1, base *= base)
    if (exponent & 1) power *= base;
  return power;
}
void (*pad_ends_64)(void *, const void *, i8, i8, i8, i8, i8);
void (*copy_ends_64)(void *, const void *, i8, i8, i8, i8);
i4 kernel_0(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {
  i4 status = 0;
  if (n_outer <= 0 || n_inner <= 0) return status;
  char *p0 = ptr[0];
  char *p1 = ptr[1];
  char *p2 = ptr[2];
  char *p3 = ptr[3];
  char *p4 = ptr[4];
  const i8 full = n_inner & -8;
  const i8 rest = n_inner - full;
  const i8 whole = (n_inner + 7) & -8;
  ALIGNED u8 e0[8];
  ALIGNED u8 e1[8];
  ALIGNED u8 e2[8];
  ALIGNED u8 e3[8];
  ALIGNED u8 e4[8];
  for (i8 outer = 0; outer < n_outer; outer += 1) {
    if (rest) {
      if (outer_stride[0] || !outer) pad_ends_64(e0, p0 + full * 8, outer_stride[0], outer, 1, rest, 8);
      if (outer_stride[1] || !outer) pad_ends_64(e1, p1 + full * 8, outer_stride[1], outer, 1, rest, 8);
    }
    {
      char *w0 = p0;
      char *w1 = p1;
      char *w2 = p2;
      char *w3 = p3;
      char *w4 = p4;
      for (i8 b = 0; b < n_inner;) {
        i8 i = b;
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)e0 - full * 8;
          w1 = (char *)e1 - full * 8;
          w2 = (char *)e2 - full * 8;
          w3 = (char *)e3 - full * 8;
          w4 = (char *)e4 - full * 8;
        }
        b += end - i;
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          char *q1 = w1 + i * 8;
          char *q2 = w2 + i * 8;
          char *q3 = w3 + i * 8;
          char *q4 = w4 + i * 8;
          for (i8 l = 0; l < 8; ++l) {
            const i8 v0 = ((const i8 *)q0)[l];
            const i8 v1 = ((const i8 *)q1)[l];
            const i8 v2 = floordiv_i8(v0, v1);
            const i8 v3 = floormod_i8(v0, v1);
            const i8 v4 = ipow_i8(v0, v1, &status);
            ((i8 *)q2)[l] = v2;
            ((i8 *)q3)[l] = v3;
            ((i8 *)q4)[l] = v4;
          }
        }
      }
    }
    if (rest) {
      copy_ends_64(p2 + full * 8, e2, outer_stride[2], 1, rest, 8);
      copy_ends_64(p3 + full * 8, e3, outer_stride[3], 1, rest, 8);
      copy_ends_64(p4 + full * 8, e4, outer_stride[4], 1, rest, 8);
    }
    p0 += outer_stride[0];
    p1 += outer_stride[1];
    p2 += outer_stride[2];
    p3 += outer_stride[3];
    p4 += outer_stride[4];
  }
  return status;
}
