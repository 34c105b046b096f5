/* Sums of all elements so far. */
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
i4 (*loop_stops)(void);
void (*copy_ends_64)(void *, const void *, i8, i8, i8, i8);
i4 kernel_0(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {
  i4 status = 0;
  if (n_outer <= 0 || n_inner < 0) return status;
  char *p0 = ptr[0];
  char *p1 = ptr[1];
  const i8 full = n_inner & -8;
  const i8 rest = n_inner - full;
  const i8 whole = (n_inner + 7) & -8;
  ALIGNED u8 e0[8];
  ALIGNED u8 e1[8];
  for (i8 outer = 0; outer < n_outer; outer += 1) {
    if (rest) {
      if (outer_stride[0] || !outer) pad_ends_64(e0, p0 + full * 8, outer_stride[0], outer, 1, rest, 8);
    }
    {
      char *w0 = p0;
      char *w1 = p1;
      f8 r2 = (-0x0.0p+0);
      for (i8 b = 0; b < n_inner;) {
        i8 i = b;
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)e0 - full * 8;
          w1 = (char *)e1 - full * 8;
        }
        if (end - i > 65536) end = i + 65536;
        b += end - i;
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          char *q1 = w1 + i * 8;
          ALIGNED f8 s2[8];
          for (i8 l = 0; l < 8; ++l) {
            const f8 v0 = ((const f8 *)q0)[l];
            r2 = (i + l < n_inner ? r2 + (v0) : r2);
            const f8 v2 = r2;
            s2[l] = v2;
          }
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v2 = s2[l];
            const f8 v3 = v2 * literal_0_0;
            ((f8 *)q1)[l] = v3;
          }
        }
        if (b < n_inner && loop_stops()) return 4;
      }
    }
    if (rest) copy_ends_64(p1 + full * 8, e1, outer_stride[1], 1, rest, 8);
    p0 += outer_stride[0];
    p1 += outer_stride[1];
  }
  return status;
}
