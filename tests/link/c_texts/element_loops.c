/* A loop for each element: of as many steps, of its own number of them, until it has ended. */
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
extern const f8 literal_0_1 __attribute__((visibility("hidden")));
__asm__(".pushsection .data\n.balign 64\n.globl literals\nliterals:\n"
"literal_0_0: .zero 8\n"
"literal_0_1: .zero 8\n"
".popsection");
#else
u8 literals[2];
#define literal_0_0 (*(const f8 *)&literals[0])
#define literal_0_1 (*(const f8 *)&literals[1])
#endif
void (*pad_ends_64)(void *, const void *, i8, i8, i8, i8, i8);
i4 (*loop_stops)(void);
static void loop_0_0_8_same_0(i8 n, const f8 *restrict x0, const f8 *restrict x1, f8 *restrict r0, i4 *failed) {
  i4 status = 0;
  ALIGNED f8 s0[8];
  const i8 most = n;
#pragma omp simd
  for (i4 l = 0; l < 8; ++l) {
    s0[l] = x0[l];
    const f8 v1 = x1[l];
  }
  for (i8 step = 0; step < most;) {
    const i8 pause = most - step > 4096 ? step + 4096 : most;
    for (; step < pause; ++step) {
#pragma omp simd
      for (i4 l = 0; l < 8; ++l) {
        const f8 v0 = s0[l];
        const f8 v1 = x1[l];
        const f8 v3 = v0 * v1;
        const f8 v4 = v3 + literal_0_0;
        const f8 n0 = v4;
        s0[l] = n0;
      }
    }
    if (step < most && loop_stops()) {
      status = 4;
      break;
    }
  }
  if (status) *failed = status;
#pragma omp simd
  for (i4 l = 0; l < 8; ++l) {
    r0[l] = s0[l];
  }
}
static void loop_0_0_8_each_0(const i8 *restrict n, const f8 *restrict x0, const f8 *restrict x1, f8 *restrict r0, i4 *failed) {
  i4 status = 0;
  ALIGNED f8 s0[8];
  ALIGNED i8 live[8];
  i8 most = 0;
#pragma omp simd reduction(max:most)
  for (i4 l = 0; l < 8; ++l) {
    s0[l] = x0[l];
    const f8 v1 = x1[l];
    live[l] = n[l] > 0;
    most = n[l] > most ? n[l] : most;
  }
  i8 any = 0;
  for (i8 step = 0; step < most;) {
    const i8 pause = most - step > 4096 ? step + 4096 : most;
    for (; step < pause; ++step) {
      any = 0;
#pragma omp simd reduction(|:any)
      for (i4 l = 0; l < 8; ++l) {
        const f8 v0 = s0[l];
        const f8 v1 = x1[l];
        const f8 v3 = v0 * v1;
        const f8 v4 = v3 + literal_0_0;
        const f8 n0 = v4;
        const i8 goes = live[l];
        s0[l] = goes ? n0 : v0;
        const i8 more = step + 1 < n[l] ? 1 : 0;
        const i8 stay = goes & more;
        live[l] = stay;
        any |= stay;
      }
      if (!any) break;
    }
    if (!any) break;
    if (step < most && loop_stops()) {
      status = 4;
      break;
    }
  }
  if (status) *failed = status;
#pragma omp simd
  for (i4 l = 0; l < 8; ++l) {
    r0[l] = s0[l];
  }
}
VECTOR f8 sin(f8);
static void loop_0_1_8_same_0(i8 n, const f8 *restrict x0, const f8 *restrict x1, f8 *restrict r0, i4 *failed) {
  i4 status = 0;
  ALIGNED f8 s0[8];
  ALIGNED i8 ended[8];
  ALIGNED i8 live[8];
  const i8 most = n;
#pragma omp simd
  for (i4 l = 0; l < 8; ++l) {
    s0[l] = x0[l];
    const f8 v1 = x1[l];
    ended[l] = 0;
    live[l] = n > 0;
  }
  i8 any = 0;
  for (i8 step = 0; step < most;) {
    const i8 pause = most - step > 4096 ? step + 4096 : most;
    for (; step < pause; ++step) {
      any = 0;
#pragma omp simd reduction(|:any)
      for (i4 l = 0; l < 8; ++l) {
        const f8 v0 = s0[l];
        const f8 v1 = x1[l];
        u1 ends;
        const f8 v3 = sin(v0);
        const f8 v4 = v3 * v1;
        const f8 v5 = __builtin_fabs(v0);
        const b1 v6 = v5 < literal_0_1;
        const f8 n0 = v4;
        ends = v6;
        const i8 goes = live[l];
        s0[l] = goes ? n0 : v0;
        const i8 stops = ends ? 1 : 0;
        ended[l] |= goes & stops;
        const i8 stay = goes & (stops ^ 1);
        live[l] = stay;
        any |= stay;
      }
      if (!any) break;
    }
    if (!any) break;
    if (step < most && loop_stops()) {
      status = 4;
      break;
    }
  }
  if (status) *failed = status;
#pragma omp simd
  for (i4 l = 0; l < 8; ++l) {
    r0[l] = s0[l];
  }
}
static void loop_0_1_8_each_1(const i8 *restrict n, const f8 *restrict x0, const f8 *restrict x1, b1 *restrict r1, i4 *failed) {
  i4 status = 0;
  ALIGNED f8 s0[8];
  ALIGNED i8 ended[8];
  ALIGNED i8 live[8];
  i8 most = 0;
#pragma omp simd reduction(max:most)
  for (i4 l = 0; l < 8; ++l) {
    s0[l] = x0[l];
    const f8 v1 = x1[l];
    ended[l] = 0;
    live[l] = n[l] > 0;
    most = n[l] > most ? n[l] : most;
  }
  i8 any = 0;
  for (i8 step = 0; step < most;) {
    const i8 pause = most - step > 4096 ? step + 4096 : most;
    for (; step < pause; ++step) {
      any = 0;
#pragma omp simd reduction(|:any)
      for (i4 l = 0; l < 8; ++l) {
        const f8 v0 = s0[l];
        const f8 v1 = x1[l];
        u1 ends;
        const f8 v3 = sin(v0);
        const f8 v4 = v3 * v1;
        const f8 v5 = __builtin_fabs(v0);
        const b1 v6 = v5 < literal_0_1;
        const f8 n0 = v4;
        ends = v6;
        const i8 goes = live[l];
        s0[l] = n0;
        const i8 stops = ends ? 1 : 0;
        ended[l] |= goes & stops;
        const i8 more = step + 1 < n[l] ? 1 : 0;
        const i8 stay = goes & (stops ^ 1) & more;
        live[l] = stay;
        any |= stay;
      }
      if (!any) break;
    }
    if (!any) break;
    if (step < most && loop_stops()) {
      status = 4;
      break;
    }
  }
  if (status) *failed = status;
#pragma omp simd
  for (i4 l = 0; l < 8; ++l) {
    r1[l] = ended[l] != 0;
  }
}
void (*copy_ends_64)(void *, const void *, i8, i8, i8, i8);
void (*copy_ends_8)(void *, const void *, i8, i8, i8, i8);
i4 kernel_0(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {
  i4 status = 0;
  if (n_outer <= 0 || n_inner <= 0) return status;
  char *p0 = ptr[0];
  char *p1 = ptr[1];
  char *p2 = ptr[2];
  char *p3 = ptr[3];
  char *p4 = ptr[4];
  char *p5 = ptr[5];
  char *p6 = ptr[6];
  const i8 full = n_inner & -8;
  const i8 rest = n_inner - full;
  const i8 whole = (n_inner + 7) & -8;
  ALIGNED u8 e0[8];
  ALIGNED u8 e1[8];
  ALIGNED u8 e2[8];
  ALIGNED u8 e3[8];
  ALIGNED u8 e4[8];
  ALIGNED u8 e5[8];
  ALIGNED u1 e6[8];
  for (i8 outer = 0; outer < n_outer; outer += 1) {
    if (rest) {
      if (outer_stride[0] || !outer) pad_ends_64(e0, p0 + full * 8, outer_stride[0], outer, 1, rest, 8);
      if (outer_stride[1] || !outer) pad_ends_64(e1, p1 + full * 8, outer_stride[1], outer, 1, rest, 8);
      if (outer_stride[2] || !outer) pad_ends_64(e2, p2 + full * 8, outer_stride[2], outer, 1, rest, 8);
    }
    {
      char *w0 = p0;
      char *w1 = p1;
      char *w2 = p2;
      char *w3 = p3;
      char *w4 = p4;
      char *w5 = p5;
      char *w6 = p6;
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
          w5 = (char *)e5 - full * 8;
          w6 = (char *)e6 - full * 1;
        }
        b += end - i;
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          char *q1 = w1 + i * 8;
          char *q2 = w2 + i * 8;
          char *q3 = w3 + i * 8;
          char *q4 = w4 + i * 8;
          char *q5 = w5 + i * 8;
          char *q6 = w6 + i * 1;
          ALIGNED f8 s6[8];
          ALIGNED f8 s7[8];
          ALIGNED f8 s8[8];
          ALIGNED b1 s9[8];
          {
            ALIGNED f8 x6_1[8];
            ALIGNED f8 x6_2[8];
#pragma omp simd
            for (i4 l = 0; l < 8; ++l) {
              x6_1[l] = ((const f8 *)q0)[l];
              x6_2[l] = ((const f8 *)q1)[l];
            }
            loop_0_0_8_same_0(((i8)9), x6_1, x6_2, s6, &status);
          }
          {
            ALIGNED i8 x7_0[8];
            ALIGNED f8 x7_1[8];
            ALIGNED f8 x7_2[8];
#pragma omp simd
            for (i4 l = 0; l < 8; ++l) {
              x7_0[l] = ((const i8 *)q2)[l];
              x7_1[l] = ((const f8 *)q0)[l];
              x7_2[l] = ((const f8 *)q1)[l];
            }
            loop_0_0_8_each_0(x7_0, x7_1, x7_2, s7, &status);
          }
          {
            ALIGNED f8 x8_1[8];
            ALIGNED f8 x8_2[8];
#pragma omp simd
            for (i4 l = 0; l < 8; ++l) {
              x8_1[l] = ((const f8 *)q0)[l];
              x8_2[l] = ((const f8 *)q1)[l];
            }
            loop_0_1_8_same_0(((i8)50), x8_1, x8_2, s8, &status);
          }
          {
            ALIGNED i8 x9_0[8];
            ALIGNED f8 x9_1[8];
            ALIGNED f8 x9_2[8];
#pragma omp simd
            for (i4 l = 0; l < 8; ++l) {
              x9_0[l] = ((const i8 *)q2)[l];
              x9_1[l] = ((const f8 *)q0)[l];
              x9_2[l] = 0x1.p-1;
            }
            loop_0_1_8_each_1(x9_0, x9_1, x9_2, s9, &status);
          }
          for (i8 l = 0; l < 8; ++l) {
            const f8 v0 = ((const f8 *)q0)[l];
            const f8 v1 = ((const f8 *)q1)[l];
            const i8 v2 = ((const i8 *)q2)[l];
            const f8 v6 = s6[l];
            const f8 v7 = s7[l];
            const f8 v8 = s8[l];
            const b1 v9 = s9[l];
            ((f8 *)q3)[l] = v6;
            ((f8 *)q4)[l] = v7;
            ((f8 *)q5)[l] = v8;
            ((u1 *)q6)[l] = v9;
          }
        }
      }
    }
    if (rest) {
      copy_ends_64(p3 + full * 8, e3, outer_stride[3], 1, rest, 8);
      copy_ends_64(p4 + full * 8, e4, outer_stride[4], 1, rest, 8);
      copy_ends_64(p5 + full * 8, e5, outer_stride[5], 1, rest, 8);
      copy_ends_8(p6 + full * 1, e6, outer_stride[6], 1, rest, 8);
    }
    p0 += outer_stride[0];
    p1 += outer_stride[1];
    p2 += outer_stride[2];
    p3 += outer_stride[3];
    p4 += outer_stride[4];
    p5 += outer_stride[5];
    p6 += outer_stride[6];
  }
  return status;
}
