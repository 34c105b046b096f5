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
f8x8 (*sin_block_f8)(f8x8);
INLINE b1 all_below(i8x8 at, i8 length) {
#if defined(__AVX512F__) && defined(__AVX512DQ__) && !defined(__clang__)
  return !__builtin_ia32_ucmpq512_mask(at, length - (i8x8){}, 5, -1);
#else
  b1 all = 1;
  for (i4 l = 0; l < 8; ++l) all &= (u8)at[l] < (u8)length;
  return all;
#endif
}
INLINE f8x8 gather_f8(const char *from, i8x8 at, i8 stride) {
#if defined(__AVX512F__) && defined(__AVX512DQ__) && !defined(__clang__)
  return (f8x8)__builtin_ia32_gatherdiv8df((f8x8){}, from, at * stride, -1, 1);
#else
  f8x8 of;
  for (i4 l = 0; l < 8; ++l) of[l] = *(const f8 *)(from + at[l] * stride);
  return of;
#endif
}
INLINE b1 has_runs(i8x8 at) {
#if defined(__AVX512F__) && defined(__AVX512DQ__) && !defined(__clang__)
  const i8x8 before = __builtin_shuffle(at, (i8x8){0, 0, 1, 2, 3, 4, 5, 6});
  return __builtin_popcount(__builtin_ia32_cmpq512_mask(at, before, 0, -1)) > 4;
#else
  return 0;
#endif
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
        HOLD_EXP_f8x8;
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          char *q1 = w1 + i * 8;
          char *q2 = w2 + i * 8;
          ALIGNED i8 s0[8];
          ALIGNED f8 s3[8];
          const f8x8 s6 = sin_block_f8(*(const f8x8_at *)q1);
          if (__builtin_expect(all_below(*(const i8x8_at *)q0, ((const i8 *)pg0)[1]), 1)) {
            *(f8x8 *)s3 = gather_f8(px0, *(const i8x8_at *)q0, ((const i8 *)pg0)[2]);
          } else {
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
          }
          const f8x8 s4 = exp_f8x8(*(const f8x8 *)s3);
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const i8 v0 = ((const i8 *)q0)[l];
            s0[l] = v0;
            const f8 v4 = s4[l];
            const f8 v5 = v4 + literal_0_0;
            ((f8 *)q2)[l] = v5;
          }
          if (has_runs(*(const i8x8 *)s0)) {
            i8 last0 = 0;
            char *y0 = 0;
            f8 sum0;
            for (i8 l = 0; l < (n_inner - i < 8 ? n_inner - i : 8); ++l) {
              const i8 v0 = s0[l];
              const f8 v6 = s6[l];
              if (!y0 || v0 != last0) {
                i8 nh0_0 = v0;
                if ((u8)nh0_0 >= (u8)((const i8 *)ph0)[1]) {
                  if (nh0_0 >= 0 || nh0_0 < -((const i8 *)ph0)[1]) {
                    ((i8 *)preport)[0] = 1;
                    ((i8 *)preport)[1] = nh0_0;
                    return 2;
                  }
                  nh0_0 += ((const i8 *)ph0)[1];
                }
                last0 = v0;
                y0 = py0 + nh0_0 * ((const i8 *)ph0)[2];
                sum0 = ((const f8 *)y0)[0];
              }
              sum0 = sum0 + (v6);
              ((f8 *)y0)[0] = sum0;
            }
          } else {
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
