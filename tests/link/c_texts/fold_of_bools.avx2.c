/* A fold that one element may decide. */
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
typedef u1 u1x32 __attribute__((vector_size(32), may_alias));
typedef u1x32 u1x32_at __attribute__((aligned(1)));
void (*pad_ends_64)(void *, const void *, i8, i8, i8, i8, i8);
INLINE b1 one_is_true(const u8 *sets, i4 words) {
  u8 others = 0;
  for (i4 k = 0; k < words; ++k) {
    others |= sets[k] ^ 0x0ULL;
  }
  return others != 0;
}
i4 kernel_0(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {
  i4 status = 0;
  if (n_outer <= 0 || n_inner <= 0) return status;
  char *p0 = ptr[0];
  char *p1 = ptr[1];
  char *p2 = ptr[2];
  const i8 ahead = n_outer * n_inner >= 16384 ? 4096 : 0;
  const i8 full = n_inner & -64;
  const i8 rest = n_inner - full;
  const i8 whole = (n_inner + 63) & -64;
  ALIGNED u8 e0[64];
  ALIGNED u8 e1[64];
  ALIGNED u1 a2[256];
  const i8 total2 = whole * (outer_stride[2] ? 1 : n_outer);
  i8 walked2 = 0;
  const i8 used2 = 256;
  const u1x32 z2 = (u1)0 - (u1x32){};
  u1 *sets2 = a2;
  ((u1x32 *)sets2)[0] = ((u1x32 *)sets2)[1] = ((u1x32 *)sets2)[2] = ((u1x32 *)sets2)[3] = ((u1x32 *)sets2)[4] = ((u1x32 *)sets2)[5] = ((u1x32 *)sets2)[6] = ((u1x32 *)sets2)[7] = z2;
  for (i8 outer = 0; outer < n_outer; outer += 1) {
    if (rest) {
      if (outer_stride[0] || !outer) pad_ends_64(e0, p0 + full * 8, outer_stride[0], outer, 1, rest, 64);
      if (outer_stride[1] || !outer) pad_ends_64(e1, p1 + full * 8, outer_stride[1], outer, 1, rest, 64);
    }
    {
      char *w0 = p0;
      char *w1 = p1;
      u1x32 m2_0_0 = ((u1x32 *)sets2)[0];
      u1x32 m2_0_1 = ((u1x32 *)sets2)[1];
      u1x32 m2_1_0 = ((u1x32 *)sets2)[2];
      u1x32 m2_1_1 = ((u1x32 *)sets2)[3];
      u1x32 m2_2_0 = ((u1x32 *)sets2)[4];
      u1x32 m2_2_1 = ((u1x32 *)sets2)[5];
      u1x32 m2_3_0 = ((u1x32 *)sets2)[6];
      u1x32 m2_3_1 = ((u1x32 *)sets2)[7];
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)e0 - full * 8;
          w1 = (char *)e1 - full * 8;
        }
        if (end > i + 8192) end = i + 8192;
        for (; i < end; i += 64) {
          char *q0 = w0 + i * 8;
          char *q1 = w1 + i * 8;
          ALIGNED u1 c2[64];
          ((u1x32 *)c2)[0] = m2_0_0;
          ((u1x32 *)c2)[1] = m2_0_1;
#pragma omp simd
          for (i1 l = 0; l < 64; ++l) {
            const f8 v0 = ((const f8 *)q0)[l];
            const f8 v1 = ((const f8 *)q1)[l];
            const b1 v2 = v0 < v1;
            c2[l] = c2[l] | (v2);
          }
          m2_0_0 = m2_1_0;
          m2_0_1 = m2_1_1;
          m2_1_0 = m2_2_0;
          m2_1_1 = m2_2_1;
          m2_2_0 = m2_3_0;
          m2_2_1 = m2_3_1;
          m2_3_0 = ((u1x32 *)c2)[0];
          m2_3_1 = ((u1x32 *)c2)[1];
        }
        if (i < n_inner) {
          ALIGNED u1 d2[256];
          ((u1x32 *)d2)[0] = m2_0_0;
          ((u1x32 *)d2)[1] = m2_0_1;
          ((u1x32 *)d2)[2] = m2_1_0;
          ((u1x32 *)d2)[3] = m2_1_1;
          ((u1x32 *)d2)[4] = m2_2_0;
          ((u1x32 *)d2)[5] = m2_2_1;
          ((u1x32 *)d2)[6] = m2_3_0;
          ((u1x32 *)d2)[7] = m2_3_1;
          __asm__ volatile("" : : "r"(d2) : "memory");
          if (one_is_true((const u8 *)(d2), 32)) i = n_inner;
        }
      }
      ((u1x32 *)sets2)[0] = m2_0_0;
      ((u1x32 *)sets2)[1] = m2_0_1;
      ((u1x32 *)sets2)[2] = m2_1_0;
      ((u1x32 *)sets2)[3] = m2_1_1;
      ((u1x32 *)sets2)[4] = m2_2_0;
      ((u1x32 *)sets2)[5] = m2_2_1;
      ((u1x32 *)sets2)[6] = m2_3_0;
      ((u1x32 *)sets2)[7] = m2_3_1;
      walked2 += whole;
      if (walked2 == total2) {
        const b1 so_far = (((const u1 *)p2)[0] != 0);
        const b1 rows_folded = one_is_true((const u8 *)(a2), 32);
        ((u1 *)p2)[0] = so_far | (rows_folded);
        if (!(outer == n_outer - 1)) {
          ((u1x32 *)sets2)[0] = ((u1x32 *)sets2)[1] = ((u1x32 *)sets2)[2] = ((u1x32 *)sets2)[3] = ((u1x32 *)sets2)[4] = ((u1x32 *)sets2)[5] = ((u1x32 *)sets2)[6] = ((u1x32 *)sets2)[7] = z2;
          walked2 = 0;
        }
      }
    }
    p0 += outer_stride[0];
    p1 += outer_stride[1];
    p2 += outer_stride[2];
  }
  return status;
}
