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
typedef f8 f8x4 __attribute__((vector_size(32), may_alias));
typedef f8x4 f8x4_at __attribute__((aligned(8)));
i4 (*loop_stops)(void);
typedef i8 i8x4 __attribute__((vector_size(32), may_alias));
typedef i8x4 i8x4_at __attribute__((aligned(8)));
static const i8 first_i8x4_of_8[] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
void (*fold_rows_maximum_f8)(f8 *, f8 *, i8, i8, i8, i8);
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
  const f8x4 z7 = (f8)-__builtin_inf() - (f8x4){};
  ALIGNED f8 row7[1];
  ALIGNED f8 a10[128];
  const i8 used10 = whole < 512 ? 8 : whole < 8192 ? 64 : 128;
  const f8x4 z10 = (f8)(-0x0.0p+0) - (f8x4){};
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
      f8x4 m7_0_0 = z7;
      f8x4 m7_0_1 = z7;
      f8x4 m7_1_0 = z7;
      f8x4 m7_1_1 = z7;
      f8x4 m7_2_0 = z7;
      f8x4 m7_2_1 = z7;
      f8x4 m7_3_0 = z7;
      f8x4 m7_3_1 = z7;
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) end = n_inner;
        if (end > (i | 65535)) end = (i | 65535) + 1;
        const f8x4 before7_0 = m7_0_0;
        const f8x4 before7_1 = m7_0_1;
        for (; i < end; i += 8) {
          char *qt5 = wt5 + i * 8;
          if (i == full || !dt5) {
            qt5 = (char *)et5;
            for (i4 l = 0; l < 8; ++l) {
              et5[l] = ((u8 *)(wt5 + (i + l < n_inner ? i + l : n_inner - 1) * ((const i8 *)pg0)[0]))[0];
            }
          }
          ALIGNED f8 c7[8];
          ((f8x4 *)c7)[0] = m7_0_0;
          ((f8x4 *)c7)[1] = m7_0_1;
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v5 = ((const f8 *)qt5)[l];
            c7[l] = ((v5) > c7[l]) | ((v5) != (v5)) ? (v5) : c7[l];
          }
          m7_0_0 = m7_1_0;
          m7_0_1 = m7_1_1;
          m7_1_0 = m7_2_0;
          m7_1_1 = m7_2_1;
          m7_2_0 = m7_3_0;
          m7_2_1 = m7_3_1;
          m7_3_0 = ((f8x4 *)c7)[0];
          m7_3_1 = ((f8x4 *)c7)[1];
        }
        if (i > full) {
          const i8x4 live7_0 = *(const i8x4_at *)(first_i8x4_of_8 + whole - n_inner);
          const i8x4 live7_1 = *(const i8x4_at *)(first_i8x4_of_8 + whole - n_inner + 4);
          m7_3_0 = (f8x4)(((i8x4)m7_3_0 & live7_0) | ((i8x4)before7_0 & ~live7_0));
          m7_3_1 = (f8x4)(((i8x4)m7_3_1 & live7_1) | ((i8x4)before7_1 & ~live7_1));
        }
        if (!(i & 65535) && i < n_inner && loop_stops()) return 4;
      }
      {
        f8x4 x;
        if (whole & 8) {
          x = m7_3_0;
          m7_3_0 = m7_2_0;
          m7_2_0 = m7_1_0;
          m7_1_0 = m7_0_0;
          m7_0_0 = x;
          x = m7_3_1;
          m7_3_1 = m7_2_1;
          m7_2_1 = m7_1_1;
          m7_1_1 = m7_0_1;
          m7_0_1 = x;
        }
        if (whole & 16) {
          x = m7_0_0;
          m7_0_0 = m7_2_0;
          m7_2_0 = x;
          x = m7_1_0;
          m7_1_0 = m7_3_0;
          m7_3_0 = x;
          x = m7_0_1;
          m7_0_1 = m7_2_1;
          m7_2_1 = x;
          x = m7_1_1;
          m7_1_1 = m7_3_1;
          m7_3_1 = x;
        }
        ALIGNED f8 f0[8];
        ((f8x4 *)f0)[0] = m7_0_0;
        ((f8x4 *)f0)[1] = m7_0_1;
        ALIGNED f8 f1[8];
        ((f8x4 *)f1)[0] = m7_1_0;
        ((f8x4 *)f1)[1] = m7_1_1;
        ALIGNED f8 f2[8];
        ((f8x4 *)f2)[0] = m7_2_0;
        ((f8x4 *)f2)[1] = m7_2_1;
        ALIGNED f8 f3[8];
        ((f8x4 *)f3)[0] = m7_3_0;
        ((f8x4 *)f3)[1] = m7_3_1;
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
      f8x4 m10_0_0 = z10;
      f8x4 m10_0_1 = z10;
      f8x4 m10_1_0 = z10;
      f8x4 m10_1_1 = z10;
      f8x4 m10_2_0 = z10;
      f8x4 m10_2_1 = z10;
      f8x4 m10_3_0 = z10;
      f8x4 m10_3_1 = z10;
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) end = n_inner;
        if (end > i + 512 - (i & 511)) end = i + 512 - (i & 511);
        if (end > (i | 65535)) end = (i | 65535) + 1;
        const f8x4 before10_0 = m10_0_0;
        const f8x4 before10_1 = m10_0_1;
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
          ALIGNED f8 s8[8];
          exp_8_f8(s8, s7);
          __builtin_memcpy(qb8, s8, sizeof s8);
          ALIGNED f8 c10[8];
          ((f8x4 *)c10)[0] = m10_0_0;
          ((f8x4 *)c10)[1] = m10_0_1;
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v8 = s8[l];
            c10[l] = c10[l] + (v8);
          }
          m10_0_0 = m10_1_0;
          m10_0_1 = m10_1_1;
          m10_1_0 = m10_2_0;
          m10_1_1 = m10_2_1;
          m10_2_0 = m10_3_0;
          m10_2_1 = m10_3_1;
          m10_3_0 = ((f8x4 *)c10)[0];
          m10_3_1 = ((f8x4 *)c10)[1];
        }
        if (i > full) {
          const i8x4 live10_0 = *(const i8x4_at *)(first_i8x4_of_8 + whole - n_inner);
          const i8x4 live10_1 = *(const i8x4_at *)(first_i8x4_of_8 + whole - n_inner + 4);
          m10_3_0 = (f8x4)(((i8x4)m10_3_0 & live10_0) | ((i8x4)before10_0 & ~live10_0));
          m10_3_1 = (f8x4)(((i8x4)m10_3_1 & live10_1) | ((i8x4)before10_1 & ~live10_1));
        }
        if (!(i & 65535) && i < n_inner && loop_stops()) return 4;
        if ((i & 511) == 0) {
          ALIGNED f8 d10[32];
          ((f8x4 *)d10)[0] = m10_0_0;
          ((f8x4 *)d10)[1] = m10_0_1;
          ((f8x4 *)d10)[2] = m10_1_0;
          ((f8x4 *)d10)[3] = m10_1_1;
          ((f8x4 *)d10)[4] = m10_2_0;
          ((f8x4 *)d10)[5] = m10_2_1;
          ((f8x4 *)d10)[6] = m10_3_0;
          ((f8x4 *)d10)[7] = m10_3_1;
          __asm__ volatile("" : : "r"(d10) : "memory");
          if ((i & 511) == 0) {
            ((f8x4 *)a10)[0] = ((f8x4 *)d10)[0];
            ((f8x4 *)a10)[1] = ((f8x4 *)d10)[1];
            ((f8x4 *)a10)[2] = ((f8x4 *)d10)[2];
            ((f8x4 *)a10)[3] = ((f8x4 *)d10)[3];
            ((f8x4 *)a10)[4] = ((f8x4 *)d10)[4];
            ((f8x4 *)a10)[5] = ((f8x4 *)d10)[5];
            ((f8x4 *)a10)[6] = ((f8x4 *)d10)[6];
            ((f8x4 *)a10)[7] = ((f8x4 *)d10)[7];
            carry_f8(a10, i / 512, 32);
            ((f8x4 *)d10)[0] = ((f8x4 *)d10)[1] = ((f8x4 *)d10)[2] = ((f8x4 *)d10)[3] = ((f8x4 *)d10)[4] = ((f8x4 *)d10)[5] = ((f8x4 *)d10)[6] = ((f8x4 *)d10)[7] = z10;
          }
          m10_0_0 = ((f8x4 *)d10)[0];
          m10_0_1 = ((f8x4 *)d10)[1];
          m10_1_0 = ((f8x4 *)d10)[2];
          m10_1_1 = ((f8x4 *)d10)[3];
          m10_2_0 = ((f8x4 *)d10)[4];
          m10_2_1 = ((f8x4 *)d10)[5];
          m10_3_0 = ((f8x4 *)d10)[6];
          m10_3_1 = ((f8x4 *)d10)[7];
        }
      }
      if (used10 != 8) {
        ((f8x4 *)a10)[0] = m10_0_0;
        ((f8x4 *)a10)[1] = m10_0_1;
        ((f8x4 *)a10)[2] = m10_1_0;
        ((f8x4 *)a10)[3] = m10_1_1;
        ((f8x4 *)a10)[4] = m10_2_0;
        ((f8x4 *)a10)[5] = m10_2_1;
        ((f8x4 *)a10)[6] = m10_3_0;
        ((f8x4 *)a10)[7] = m10_3_1;
      } else {
        ((f8x4 *)(a10))[0] = (m10_0_0 + m10_2_0) + (m10_1_0 + m10_3_0);
        ((f8x4 *)(a10))[1] = (m10_0_1 + m10_2_1) + (m10_1_1 + m10_3_1);
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
