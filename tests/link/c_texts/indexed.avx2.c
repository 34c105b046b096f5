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
          ALIGNED f8 s4[8];
          exp_8_f8(s4, s3);
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const i8 v0 = ((const i8 *)q0)[l];
            s0[l] = v0;
            const f8 v4 = s4[l];
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
