/* Blocks as long as those of the narrowest elements. */
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
INLINE i4 to_int32_f4(f4 x) {
  return (x > -2147483649.0) & (x < 0x1p31) ? (i4)x : (-0x7fffffff - 1);
}
void (*pad_ends_32)(void *, const void *, i8, i8, i8, i8, i8);
void (*pad_ends_8)(void *, const void *, i8, i8, i8, i8, i8);
void (*copy_ends_8)(void *, const void *, i8, i8, i8, i8);
i4 kernel_0(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {
  i4 status = 0;
  if (n_outer <= 0 || n_inner <= 0) return status;
  char *p0 = ptr[0];
  char *p1 = ptr[1];
  char *p2 = ptr[2];
  const i8 full = n_inner & -64;
  const i8 rest = n_inner - full;
  const b1 is_short = (full == 0) & (rest != 0);
  const i8 last = is_short ? 0 : n_inner - 64;
  const i8 repeated = full - last;
  ALIGNED u4 e0[64];
  ALIGNED u1 e1[64];
  ALIGNED u1 e2[64];
  const b1 over = (p2 == p0) | (p2 == p1);
  for (i8 outer = 0; outer < n_outer; outer += 1) {
    const b1 pads = is_short;
    const b1 copies = pads || (over && rest);
    if (pads) {
      if (outer_stride[0] || !outer) pad_ends_32(e0, p0 + full * 4, outer_stride[0], outer, 1, rest, 64);
      if (outer_stride[1] || !outer) pad_ends_8(e1, p1 + full * 1, outer_stride[1], outer, 1, rest, 64);
    }
    {
      char *w0 = p0;
      char *w1 = p1;
      char *w2 = p2;
      for (i8 b = 0; b < n_inner;) {
        i8 i = b < last ? b : last;
        i8 end = b < full ? full : i + 64;
        if (pads) {
          w0 = (char *)e0;
          w1 = (char *)e1;
        }
        if (copies && b == full) w2 = (char *)e2 - last * 1;
        b += end - i;
        for (; i < end; i += 64) {
          char *q0 = w0 + i * 4;
          char *q1 = w1 + i * 1;
          char *q2 = w2 + i * 1;
#pragma omp simd
          for (i1 l = 0; l < 64; ++l) {
            const f4 v0 = ((const f4 *)q0)[l];
            const i1 v1 = ((const i1 *)q1)[l];
            const i1 v2 = (i1)to_int32_f4(v0);
            const i1 v3 = v1 + v2;
            ((i1 *)q2)[l] = v3;
          }
        }
      }
    }
    if (copies) copy_ends_8(p2 + full * 1, e2 + repeated, outer_stride[2], 1, rest, 64);
    p0 += outer_stride[0];
    p1 += outer_stride[1];
    p2 += outer_stride[2];
  }
  return status;
}
