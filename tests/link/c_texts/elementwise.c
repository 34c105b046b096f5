/* One loop over vectors, without functions. */
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
#ifdef __ELF__
extern const f8 literal_0_0 __attribute__((visibility("hidden")));
__asm__(".pushsection .data\n.balign 64\n.globl literals\nliterals:\n"
"literal_0_0: .zero 8\n"
".popsection");
#else
u8 literals[1];
#define literal_0_0 (*(const f8 *)&literals[0])
#endif
void (*pad_ends_64)(void *, const void *, i8, i8, i8, i8, i8);
void (*copy_ends_64)(void *, const void *, i8, i8, i8, i8);
i4 kernel_0(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {
  i4 status = 0;
  if (n_outer <= 0 || n_inner <= 0) return status;
  char *p0 = ptr[0];
  char *p1 = ptr[1];
  char *p2 = ptr[2];
  char *p3 = ptr[3];
  const i8 full = n_inner & -8;
  const i8 rest = n_inner - full;
  const b1 is_short = (full == 0) & (rest != 0);
  const i8 last = is_short ? 0 : n_inner - 8;
  const i8 repeated = full - last;
  ALIGNED u8 e0[8];
  ALIGNED u8 e1[8];
  ALIGNED u8 e2[8];
  ALIGNED u8 e3[8];
  const b1 over = (p2 == p0) | (p2 == p1) | (p3 == p0) | (p3 == p1);
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
      char *w3 = p3;
      for (i8 b = 0; b < n_inner;) {
        i8 i = b < last ? b : last;
        i8 end = b < full ? full : i + 8;
        if (pads) {
          w0 = (char *)e0;
          w1 = (char *)e1;
        }
        if (copies && b == full) {
          w2 = (char *)e2 - last * 8;
          w3 = (char *)e3 - last * 8;
        }
        b += end - i;
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          char *q1 = w1 + i * 8;
          char *q2 = w2 + i * 8;
          char *q3 = w3 + i * 8;
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v0 = ((const f8 *)q0)[l];
            const f8 v1 = ((const f8 *)q1)[l];
            const f8 v3 = __builtin_sqrt(v0);
            const f8 v4 = v3 * literal_0_0;
            const f8 v5 = v4 + v1;
            const f8 v6 = (v0 > v1) | (v0 != v0) ? v0 : v1;
            ((f8 *)q2)[l] = v5;
            ((f8 *)q3)[l] = v6;
          }
        }
      }
    }
    if (copies) {
      copy_ends_64(p2 + full * 8, e2 + repeated, outer_stride[2], 1, rest, 8);
      copy_ends_64(p3 + full * 8, e3 + repeated, outer_stride[3], 1, rest, 8);
    }
    p0 += outer_stride[0];
    p1 += outer_stride[1];
    p2 += outer_stride[2];
    p3 += outer_stride[3];
  }
  return status;
}
