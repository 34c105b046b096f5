/* Elements that indices find, and elements that are put where they say. */
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
VECTOR f8 exp(f8);
VECTOR f8 sin(f8);
void (*pad_ends_64)(void *, const void *, i8, i8, i8, i8, i8);
void (*copy_ends_64)(void *, const void *, i8, i8, i8, i8);
i4 kernel_0(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {
  i4 status = 0;
  if (n_outer <= 0 || n_inner <= 0) return status;
  char *p0 = ptr[0];
  char *p1 = ptr[1];
  char *px0 = ptr[2];
  char *p2 = ptr[3];
  char *py0 = ptr[4];
  char *pg0 = ptr[5];
  char *ph0 = ptr[6];
  char *preport = ptr[7];
  const i8 full = n_inner & -8;
  const i8 rest = n_inner - full;
  const i8 whole = (n_inner + 7) & -8;
  ALIGNED u8 e0[8];
  ALIGNED u8 e1[8];
  ALIGNED u8 e2[8];
  for (i8 outer = 0; outer < n_outer; outer += 1) {
    if (rest) {
      if (outer_stride[0] || !outer) pad_ends_64(e0, p0 + full * 8, outer_stride[0], outer, 1, rest, 8);
      if (outer_stride[1] || !outer) pad_ends_64(e1, p1 + full * 8, outer_stride[1], outer, 1, rest, 8);
    }
    {
      char *w0 = p0;
      char *w1 = p1;
      char *w2 = p2;
      for (i8 b = 0; b < n_inner;) {
        i8 i = b;
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)e0 - full * 8;
          w1 = (char *)e1 - full * 8;
          w2 = (char *)e2 - full * 8;
        }
        b += end - i;
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          char *q1 = w1 + i * 8;
          char *q2 = w2 + i * 8;
          ALIGNED i8 s0[8];
          ALIGNED f8 s3[8];
          ALIGNED f8 s6[8];
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v1 = ((const f8 *)q1)[l];
            const f8 v6 = sin(v1);
            s6[l] = v6;
          }
          for (i8 l = 0; l < 8; ++l) {
            const i8 v0 = ((const i8 *)q0)[l];
            i8 n3_0 = v0;
            if ((u8)n3_0 >= (u8)((const i8 *)pg0)[1]) {
              if (n3_0 >= 0 || n3_0 < -((const i8 *)pg0)[1]) {
                ((i8 *)preport)[0] = 0;
                ((i8 *)preport)[1] = n3_0;
                return 2;
              }
              n3_0 += ((const i8 *)pg0)[1];
            }
            const f8 v3 = ((const f8 *)(px0 + n3_0 * ((const i8 *)pg0)[2]))[0];
            s3[l] = v3;
          }
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const i8 v0 = ((const i8 *)q0)[l];
            s0[l] = v0;
            const f8 v3 = s3[l];
            const f8 v4 = exp(v3);
            const f8 v5 = v4 + literal_0_0;
            ((f8 *)q2)[l] = v5;
          }
          for (i8 l = 0; l < (n_inner - i < 8 ? n_inner - i : 8); ++l) {
            const i8 v0 = s0[l];
            const f8 v6 = s6[l];
            i8 nh0_0 = v0;
            if ((u8)nh0_0 >= (u8)((const i8 *)ph0)[1]) {
              if (nh0_0 >= 0 || nh0_0 < -((const i8 *)ph0)[1]) {
                ((i8 *)preport)[0] = 1;
                ((i8 *)preport)[1] = nh0_0;
                return 2;
              }
              nh0_0 += ((const i8 *)ph0)[1];
            }
            char *y0 = py0 + nh0_0 * ((const i8 *)ph0)[2];
            ((f8 *)y0)[0] = ((const f8 *)y0)[0] + (v6);
          }
        }
      }
    }
    if (rest) copy_ends_64(p2 + full * 8, e2, outer_stride[3], 1, rest, 8);
    p0 += outer_stride[0];
    p1 += outer_stride[1];
    px0 += outer_stride[2];
    p2 += outer_stride[3];
    py0 += outer_stride[4];
  }
  return status;
}
static NOINLINE i4 kernel_1_of_whole_blocks(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {
  i4 status = 0;
  char *p0 = ptr[0];
  char *px0 = ptr[1];
  char *p1 = ptr[2];
  char *pg0 = ptr[3];
  char *preport = ptr[4];
  for (i8 outer = 0; outer < n_outer; ++outer) {
    const i8 v0 = ((const i8 *)p0)[0];
    char *wt1 = px0;
    {
      i8 n1_0 = v0;
      if ((u8)n1_0 >= (u8)((const i8 *)pg0)[1]) {
        if (n1_0 >= 0 || n1_0 < -((const i8 *)pg0)[1]) {
          ((i8 *)preport)[0] = 0;
          ((i8 *)preport)[1] = n1_0;
          return 2;
        }
        n1_0 += ((const i8 *)pg0)[1];
      }
      wt1 += n1_0 * ((const i8 *)pg0)[2];
    }
    const i8 ahead = outer + 8 < n_outer ? 8 : 0;
    if (n_inner > 8) {
      const u8 lt1_0 = (u8)((const i8 *)(p0 + ahead * outer_stride[0]))[0];
      const char *lt1 = (const char *)((u8)px0 + lt1_0 * (u8)((const i8 *)pg0)[2]);
      for (i8 i = 0; i < n_inner; i += 8) {
        __builtin_prefetch(lt1 + i * 8);
      }
    }
    for (i8 i = 0; i < n_inner; i += 8) {
      char *q1 = p1 + i * 8;
      char *qt1 = wt1 + i * 8;
#pragma omp simd
      for (i8 l = 0; l < 8; ++l) {
        const f8 v1 = ((const f8 *)qt1)[l];
        ((f8 *)q1)[l] = ((const f8 *)q1)[l] + (v1);
      }
    }
    p0 += outer_stride[0];
    px0 += outer_stride[1];
    p1 += outer_stride[2];
  }
  return status;
}
i4 kernel_1(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {
  i4 status = 0;
  if (n_outer <= 0 || n_inner <= 0) return status;
  char *p0 = ptr[0];
  char *px0 = ptr[1];
  char *p1 = ptr[2];
  char *pg0 = ptr[3];
  char *preport = ptr[4];
  if (n_inner % 8 == 0 && ((const i8 *)pg0)[0] == 8) return kernel_1_of_whole_blocks(ptr, n_outer, n_inner, outer_stride);
  const i8 ahead = n_outer * n_inner >= 16384 ? 4096 : 0;
  const i8 full = n_inner & -8;
  const i8 rest = n_inner - full;
  const i8 whole = (n_inner + 7) & -8;
  ALIGNED u8 e1[8];
  for (i8 outer = 0; outer < n_outer; outer += 1) {
    if (rest) {
      if (outer_stride[2] || !outer) pad_ends_64(e1, p1 + full * 8, outer_stride[2], outer, 1, rest, 8);
    }
    const i8 v0 = ((const i8 *)p0)[0];
    {
      char *w1 = p1;
      char *wt1 = px0;
      {
        i8 n1_0 = v0;
        if ((u8)n1_0 >= (u8)((const i8 *)pg0)[1]) {
          if (n1_0 >= 0 || n1_0 < -((const i8 *)pg0)[1]) {
            ((i8 *)preport)[0] = 0;
            ((i8 *)preport)[1] = n1_0;
            return 2;
          }
          n1_0 += ((const i8 *)pg0)[1];
        }
        wt1 += n1_0 * ((const i8 *)pg0)[2];
      }
      const b1 dt1 = ((const i8 *)pg0)[0] == 8;
      ALIGNED u8 et1[8];
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w1 = (char *)e1 - full * 8;
        }
        for (; i < end; i += 8) {
          char *q1 = w1 + i * 8;
          char *qt1 = wt1 + i * 8;
          if (i == full || !dt1) {
            qt1 = (char *)et1;
            for (i4 l = 0; l < 8; ++l) {
              et1[l] = ((u8 *)(wt1 + (i + l < n_inner ? i + l : n_inner - 1) * ((const i8 *)pg0)[0]))[0];
            }
          }
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v1 = ((const f8 *)qt1)[l];
            ((f8 *)q1)[l] = ((const f8 *)q1)[l] + (v1);
          }
        }
      }
    }
    if (rest) {
      if (outer_stride[2] || outer + 1 >= n_outer) copy_ends_64(p1 + full * 8, e1, outer_stride[2], 1, rest, 8);
    }
    p0 += outer_stride[0];
    px0 += outer_stride[1];
    p1 += outer_stride[2];
  }
  return status;
}
