/* Bools and short integers beside floats. */
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
VECTOR f8 sin(f8);
VECTOR f8 cos(f8);
typedef u1 u1x8 __attribute__((vector_size(8), may_alias));
typedef u1x8 u1x8_at __attribute__((aligned(1)));
void (*pad_ends_64)(void *, const void *, i8, i8, i8, i8, i8);
void (*pad_ends_8)(void *, const void *, i8, i8, i8, i8, i8);
typedef i1 i1x8 __attribute__((vector_size(8), may_alias));
typedef i1x8 i1x8_at __attribute__((aligned(1)));
typedef i8 i8x8 __attribute__((vector_size(64), may_alias));
typedef i8x8 i8x8_at __attribute__((aligned(8)));
INLINE i8x8 widen_i1x8(const void *at) {
  return __builtin_convertvector(*(const i1x8_at *)at, i8x8);
}
typedef u8 u8_at __attribute__((aligned(1), may_alias));
INLINE i8x8 widen_u1x8(const void *at) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  const i8x8 all = (i8)*(const u8_at *)at - (i8x8){};
  return (all >> (i8x8){0, 8, 16, 24, 32, 40, 48, 56}) & 255;
#else
  return __builtin_convertvector(*(const u1x8_at *)at, i8x8);
#endif
}
INLINE b1 one_is_true(const u8 *sets, i4 words) {
  u8 others = 0;
  for (i4 k = 0; k < words; ++k) {
    others |= sets[k] ^ 0x0ULL;
  }
  return others != 0;
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
  const i8 ahead = n_outer * n_inner >= 16384 ? 4096 : 0;
  const i8 full = n_inner & -8;
  const i8 rest = n_inner - full;
  const i8 whole = (n_inner + 7) & -8;
  ALIGNED u8 e0[8];
  ALIGNED u1 e1[8];
  ALIGNED u1 e2[8];
  ALIGNED u8 e3[8];
  ALIGNED u8 e4[8];
  ALIGNED u1 e5[8];
  ALIGNED u1 a6[32];
  const i8 total6 = whole * (outer_stride[6] ? 1 : n_outer);
  i8 walked6 = 0;
  const i8 used6 = 32;
  const u1x8 z6 = (u1)0 - (u1x8){};
  u1 *sets6 = a6;
  ((u1x8 *)sets6)[0] = ((u1x8 *)sets6)[1] = ((u1x8 *)sets6)[2] = ((u1x8 *)sets6)[3] = z6;
  for (i8 outer = 0; outer < n_outer; outer += 1) {
    if (rest) {
      if (outer_stride[0] || !outer) pad_ends_64(e0, p0 + full * 8, outer_stride[0], outer, 1, rest, 8);
      if (outer_stride[1] || !outer) pad_ends_8(e1, p1 + full * 1, outer_stride[1], outer, 1, rest, 8);
      if (outer_stride[2] || !outer) pad_ends_8(e2, p2 + full * 1, outer_stride[2], outer, 1, rest, 8);
      if (outer_stride[3] || !outer) pad_ends_64(e3, p3 + full * 8, outer_stride[3], outer, 1, rest, 8);
    }
    {
      char *w0 = p0;
      char *w1 = p1;
      char *w2 = p2;
      char *w3 = p3;
      char *w4 = p4;
      char *w5 = p5;
      u1x8 m6_0 = ((u1x8 *)sets6)[0];
      u1x8 m6_1 = ((u1x8 *)sets6)[1];
      u1x8 m6_2 = ((u1x8 *)sets6)[2];
      u1x8 m6_3 = ((u1x8 *)sets6)[3];
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)e0 - full * 8;
          w1 = (char *)e1 - full * 1;
          w2 = (char *)e2 - full * 1;
          w3 = (char *)e3 - full * 8;
          w4 = (char *)e4 - full * 8;
          w5 = (char *)e5 - full * 1;
        }
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          char *q1 = w1 + i * 1;
          char *q2 = w2 + i * 1;
          char *q3 = w3 + i * 8;
          char *q4 = w4 + i * 8;
          char *q5 = w5 + i * 1;
          ALIGNED u1 c6[8];
          *(u1x8 *)c6 = m6_0;
          const i8x8 wide1 = widen_i1x8(q1);
          const i8x8 wide2 = widen_u1x8(q2);
          ALIGNED i8 of6[8];
          ALIGNED i8 oq5[8];
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v0 = ((const f8 *)q0)[l];
            const i8 v1 = wide1[l];
            const b1 v2 = (wide2[l] != 0);
            const f8 v3 = ((const f8 *)q3)[l];
            const f8 v4 = sin(v0);
            const f8 v5 = cos(v0);
            const f8 v6 = v4 * v5;
            const f8 v7 = (f8)(i4)v1;
            const f8 v8 = v2 ? v6 : v7;
            const b1 v9 = v3 < v8;
            const b1 v10 = v0 < v8;
            of6[l] = v10;
            ((f8 *)q4)[l] = v8;
            oq5[l] = v9;
          }
          ALIGNED u1 nof6[8];
          *(u1x8 *)nof6 = __builtin_convertvector(*(const i8x8 *)of6, u1x8);
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            c6[l] = c6[l] | ((nof6[l] != 0));
          }
          *(u1x8_at *)q5 = __builtin_convertvector(*(const i8x8 *)oq5, u1x8);
          m6_0 = m6_1;
          m6_1 = m6_2;
          m6_2 = m6_3;
          m6_3 = *(u1x8 *)c6;
        }
      }
      ((u1x8 *)sets6)[0] = m6_0;
      ((u1x8 *)sets6)[1] = m6_1;
      ((u1x8 *)sets6)[2] = m6_2;
      ((u1x8 *)sets6)[3] = m6_3;
      walked6 += whole;
      if (walked6 == total6) {
        const b1 so_far = (((const u1 *)p6)[0] != 0);
        const b1 rows_folded = one_is_true((const u8 *)(a6), 4);
        ((u1 *)p6)[0] = so_far | (rows_folded);
        if (!(outer == n_outer - 1)) {
          ((u1x8 *)sets6)[0] = ((u1x8 *)sets6)[1] = ((u1x8 *)sets6)[2] = ((u1x8 *)sets6)[3] = z6;
          walked6 = 0;
        }
      }
    }
    if (rest) {
      copy_ends_64(p4 + full * 8, e4, outer_stride[4], 1, rest, 8);
      copy_ends_8(p5 + full * 1, e5, outer_stride[5], 1, rest, 8);
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
