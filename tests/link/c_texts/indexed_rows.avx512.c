/* Rows that indices choose, taken and put. */
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
VECTOR f8 exp(f8);
typedef f8 f8x8 __attribute__((vector_size(64), may_alias));
typedef f8x8 f8x8_at __attribute__((aligned(8)));
i4 (*loop_stops)(void);
typedef i8 i8x8 __attribute__((vector_size(64), may_alias));
typedef i8x8 i8x8_at __attribute__((aligned(8)));
static const i8 first_i8x8[] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
void (*fold_rows_maximum_f8)(f8 *, f8 *, i8, i8, i8, i8);
#define FMA_f8(a, b, c) ((f8x8)__builtin_ia32_vfmaddpd512_mask(a, b, c, -1, 4))
#define ALL_f8(c) ((c) - (f8x8){})
static const f8 powers_f8[16] ALIGNED = {0x1p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0, 0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0, 0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0, 0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0};
static const f8 rests_f8[16] ALIGNED = {0x0p+0, 0x1.79aa65d837b6dp-54, -0x1.01b15eaa59348p-55, 0x1.68efde3a8a894p-54, 0x1.34d754db0abb6p-55, 0x1.59f48a72a4c6dp-55, 0x1.690cebb7aafb0p-56, 0x1.063e1e21c5409p-54, -0x1.3b3efbf5e2228p-54, -0x1.b32dcb94da51dp-56, 0x1.db72fc1f0eab4p-55, 0x1.1affc2b91ce27p-56, 0x1.c1a7792cb3387p-55, 0x1.36eae30af0cb3p-56, 0x1.4a385a63d07a7p-56, -0x1.ff7128fd391f0p-55};
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
void (*carry_f8)(f8 *, i8, i8);
void (*fold_rows_add_f8)(f8 *, f8 *, i8, i8, i8, i8);
void (*copy_ends_64)(void *, const void *, i8, i8, i8, i8);
i4 kernel_0(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {
  i4 status = 0;
  if (n_outer <= 0 || n_inner < 0) return status;
  char *p0 = ptr[0];
  char *p1 = ptr[1];
  char *p2 = ptr[2];
  char *px0 = ptr[3];
  char *p3 = ptr[4];
  char *py0 = ptr[5];
  char *pg0 = ptr[6];
  char *ph0 = ptr[7];
  char *preport = ptr[8];
  char *pb8 = ptr[9];
  const i8 ahead = n_outer * n_inner >= 16384 ? 4096 : 0;
  const i8 full = n_inner & -8;
  const i8 rest = n_inner - full;
  const i8 whole = (n_inner + 7) & -8;
  ALIGNED u8 e3[8];
  ALIGNED f8 a7[32];
  const i8 used7 = 8;
  const f8x8 z7 = (f8)-__builtin_inf() - (f8x8){};
  ALIGNED f8 row7[1];
  ALIGNED f8 a10[128];
  const i8 used10 = whole < 512 ? 8 : whole < 8192 ? 64 : 128;
  const f8x8 z10 = (f8)(-0x0.0p+0) - (f8x8){};
  ALIGNED f8 row10[1];
  for (i8 outer = 0; outer < n_outer; outer += 1) {
    const i8 v0 = ((const i8 *)p0)[0];
    const i8 v1 = ((const i8 *)p1)[0];
    const f8 v2 = ((const f8 *)p2)[0];
    {
      char *wt5 = px0;
      if (n_inner > 0) {
        i8 n5_0 = v0;
        if ((u8)n5_0 >= (u8)((const i8 *)pg0)[1]) {
          if (n5_0 >= 0 || n5_0 < -((const i8 *)pg0)[1]) {
            ((i8 *)preport)[0] = 0;
            ((i8 *)preport)[1] = n5_0;
            return 2;
          }
          n5_0 += ((const i8 *)pg0)[1];
        }
        wt5 += n5_0 * ((const i8 *)pg0)[2];
      }
      const b1 dt5 = ((const i8 *)pg0)[0] == 8;
      ALIGNED u8 et5[8];
      f8x8 m7_0 = z7;
      f8x8 m7_1 = z7;
      f8x8 m7_2 = z7;
      f8x8 m7_3 = z7;
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) end = n_inner;
        if (end > (i | 65535)) end = (i | 65535) + 1;
        const f8x8 before7 = m7_0;
        for (; i < end; i += 8) {
          char *qt5 = wt5 + i * 8;
          if (i == full || !dt5) {
            qt5 = (char *)et5;
            for (i4 l = 0; l < 8; ++l) {
              et5[l] = ((u8 *)(wt5 + (i + l < n_inner ? i + l : n_inner - 1) * ((const i8 *)pg0)[0]))[0];
            }
          }
          ALIGNED f8 c7[8];
          *(f8x8 *)c7 = m7_0;
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v5 = ((const f8 *)qt5)[l];
            c7[l] = ((v5) > c7[l]) | ((v5) != (v5)) ? (v5) : c7[l];
          }
          m7_0 = m7_1;
          m7_1 = m7_2;
          m7_2 = m7_3;
          m7_3 = *(f8x8 *)c7;
        }
        if (i > full) {
          const i8x8 live7 = *(const i8x8_at *)(first_i8x8 + whole - n_inner);
          m7_3 = (f8x8)(((i8x8)m7_3 & live7) | ((i8x8)before7 & ~live7));
        }
        if (!(i & 65535) && i < n_inner && loop_stops()) return 4;
      }
      {
        f8x8 x;
        if (whole & 8) {
          x = m7_3;
          m7_3 = m7_2;
          m7_2 = m7_1;
          m7_1 = m7_0;
          m7_0 = x;
        }
        if (whole & 16) {
          x = m7_0;
          m7_0 = m7_2;
          m7_2 = x;
          x = m7_1;
          m7_1 = m7_3;
          m7_3 = x;
        }
        ALIGNED f8 f0[8];
        *(f8x8 *)f0 = m7_0;
        ALIGNED f8 f1[8];
        *(f8x8 *)f1 = m7_1;
        ALIGNED f8 f2[8];
        *(f8x8 *)f2 = m7_2;
        ALIGNED f8 f3[8];
        *(f8x8 *)f3 = m7_3;
#pragma omp simd
        for (i4 l = 0; l < 8; ++l) {
          const f8 even = ((f2[l]) > f0[l]) | ((f2[l]) != (f2[l])) ? (f2[l]) : f0[l];
          const f8 odd = ((f3[l]) > f1[l]) | ((f3[l]) != (f3[l])) ? (f3[l]) : f1[l];
          (a7)[l] = ((odd) > even) | ((odd) != (odd)) ? (odd) : even;
        }
      }
    }
    fold_rows_maximum_f8(row7, a7, 1, used7, whole, 8);
    const f8 v6 = ((row7[0]) > -__builtin_inf()) | ((row7[0]) != (row7[0])) ? (row7[0]) : -__builtin_inf();
    {
      char *wb8 = pb8;
      char *wt5 = px0;
      if (n_inner > 0) {
        i8 n5_0 = v0;
        if ((u8)n5_0 >= (u8)((const i8 *)pg0)[1]) {
          if (n5_0 >= 0 || n5_0 < -((const i8 *)pg0)[1]) {
            ((i8 *)preport)[0] = 0;
            ((i8 *)preport)[1] = n5_0;
            return 2;
          }
          n5_0 += ((const i8 *)pg0)[1];
        }
        wt5 += n5_0 * ((const i8 *)pg0)[2];
      }
      const b1 dt5 = ((const i8 *)pg0)[0] == 8;
      ALIGNED u8 et5[8];
      f8x8 m10_0 = z10;
      f8x8 m10_1 = z10;
      f8x8 m10_2 = z10;
      f8x8 m10_3 = z10;
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) end = n_inner;
        if (end > i + 512 - (i & 511)) end = i + 512 - (i & 511);
        if (end > (i | 65535)) end = (i | 65535) + 1;
        const f8x8 before10 = m10_0;
        HOLD_EXP_f8x8;
        for (; i < end; i += 8) {
          char *qb8 = wb8 + i * 8;
          char *qt5 = wt5 + i * 8;
          if (i == full || !dt5) {
            qt5 = (char *)et5;
            for (i4 l = 0; l < 8; ++l) {
              et5[l] = ((u8 *)(wt5 + (i + l < n_inner ? i + l : n_inner - 1) * ((const i8 *)pg0)[0]))[0];
            }
          }
          ALIGNED f8 s7[8];
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v5 = ((const f8 *)qt5)[l];
            const f8 v7 = v5 - v6;
            s7[l] = v7;
          }
          const f8x8 s8 = exp_f8x8(*(const f8x8 *)s7);
          *(f8x8_at *)qb8 = s8;
          ALIGNED f8 c10[8];
          *(f8x8 *)c10 = m10_0;
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v8 = s8[l];
            c10[l] = c10[l] + (v8);
          }
          m10_0 = m10_1;
          m10_1 = m10_2;
          m10_2 = m10_3;
          m10_3 = *(f8x8 *)c10;
        }
        if (i > full) {
          const i8x8 live10 = *(const i8x8_at *)(first_i8x8 + whole - n_inner);
          m10_3 = (f8x8)(((i8x8)m10_3 & live10) | ((i8x8)before10 & ~live10));
        }
        if (!(i & 65535) && i < n_inner && loop_stops()) return 4;
        if ((i & 511) == 0) {
          ALIGNED f8 d10[32];
          ((f8x8 *)d10)[0] = m10_0;
          ((f8x8 *)d10)[1] = m10_1;
          ((f8x8 *)d10)[2] = m10_2;
          ((f8x8 *)d10)[3] = m10_3;
          __asm__ volatile("" : : "r"(d10) : "memory");
          if ((i & 511) == 0) {
            ((f8x8 *)a10)[0] = ((f8x8 *)d10)[0];
            ((f8x8 *)a10)[1] = ((f8x8 *)d10)[1];
            ((f8x8 *)a10)[2] = ((f8x8 *)d10)[2];
            ((f8x8 *)a10)[3] = ((f8x8 *)d10)[3];
            carry_f8(a10, i / 512, 32);
            ((f8x8 *)d10)[0] = ((f8x8 *)d10)[1] = ((f8x8 *)d10)[2] = ((f8x8 *)d10)[3] = z10;
          }
          m10_0 = ((f8x8 *)d10)[0];
          m10_1 = ((f8x8 *)d10)[1];
          m10_2 = ((f8x8 *)d10)[2];
          m10_3 = ((f8x8 *)d10)[3];
        }
      }
      if (used10 != 8) {
        ((f8x8 *)a10)[0] = m10_0;
        ((f8x8 *)a10)[1] = m10_1;
        ((f8x8 *)a10)[2] = m10_2;
        ((f8x8 *)a10)[3] = m10_3;
      } else {
        *(f8x8 *)(a10) = (m10_0 + m10_2) + (m10_1 + m10_3);
      }
    }
    fold_rows_add_f8(row10, a10, 1, used10, whole, 8);
    const f8 v9 = 0x0.0p+0 + (row10[0]);
    {
      char *w3 = p3;
      char *wb8 = pb8;
      char *wt11 = px0;
      if (n_inner > 0) {
        i8 n11_0 = v1;
        if ((u8)n11_0 >= (u8)((const i8 *)pg0)[1]) {
          if (n11_0 >= 0 || n11_0 < -((const i8 *)pg0)[1]) {
            ((i8 *)preport)[0] = 0;
            ((i8 *)preport)[1] = n11_0;
            return 2;
          }
          n11_0 += ((const i8 *)pg0)[1];
        }
        wt11 += n11_0 * ((const i8 *)pg0)[2];
      }
      const b1 dt11 = ((const i8 *)pg0)[0] == 8;
      ALIGNED u8 et11[8];
      char *wh0 = py0;
      if (n_inner > 0) {
        i8 nh0_0 = v0;
        if ((u8)nh0_0 >= (u8)((const i8 *)ph0)[1]) {
          if (nh0_0 >= 0 || nh0_0 < -((const i8 *)ph0)[1]) {
            ((i8 *)preport)[0] = 1;
            ((i8 *)preport)[1] = nh0_0;
            return 2;
          }
          nh0_0 += ((const i8 *)ph0)[1];
        }
        wh0 += nh0_0 * ((const i8 *)ph0)[2];
      }
      const b1 dh0 = ((const i8 *)ph0)[0] == 8;
      ALIGNED u8 eh0[8];
      for (i8 i = 0; i < n_inner;) {
        const i8 pause = n_inner - i > 65536 ? i + 65536 : n_inner;
        for (; i < pause; i += 8) {
          char *q3 = w3 + i * 8;
          char *qb8 = wb8 + i * 8;
          char *qt11 = wt11 + i * 8;
          char *qh0 = wh0 + i * 8;
          if (i == full) q3 = (char *)e3;
          if (i == full || !dt11) {
            qt11 = (char *)et11;
            for (i4 l = 0; l < 8; ++l) {
              et11[l] = ((u8 *)(wt11 + (i + l < n_inner ? i + l : n_inner - 1) * ((const i8 *)pg0)[0]))[0];
            }
          }
          if (i == full || !dh0) {
            qh0 = (char *)eh0;
            for (i4 l = 0; l < 8; ++l) {
              eh0[l] = ((u8 *)(wh0 + (i + l < n_inner ? i + l : n_inner - 1) * ((const i8 *)ph0)[0]))[0];
            }
          }
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v8 = ((const f8 *)qb8)[l];
            const f8 v10 = v8 / v9;
            const f8 v11 = ((const f8 *)qt11)[l];
            const f8 v12 = v11 * v2;
            ((f8 *)q3)[l] = v10;
            ((f8 *)qh0)[l] = ((const f8 *)qh0)[l] + (v12);
          }
          if (i == full || !dh0) {
            for (i4 l = 0; l < (n_inner - i < 8 ? n_inner - i : 8); ++l) {
              ((u8 *)(wh0 + (i + l) * ((const i8 *)ph0)[0]))[0] = eh0[l];
            }
          }
        }
        if (i < n_inner && loop_stops()) return 4;
      }
    }
    if (rest) copy_ends_64(p3 + full * 8, e3, outer_stride[4], 1, rest, 8);
    p0 += outer_stride[0];
    p1 += outer_stride[1];
    p2 += outer_stride[2];
    px0 += outer_stride[3];
    p3 += outer_stride[4];
    py0 += outer_stride[5];
  }
  return status;
}
