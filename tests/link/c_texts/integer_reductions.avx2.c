/* Reductions whose functions the kernel brings along. */
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
typedef i8 i8x4 __attribute__((vector_size(32), may_alias));
typedef i8x4 i8x4_at __attribute__((aligned(8)));
void (*pad_ends_64)(void *, const void *, i8, i8, i8, i8, i8);
static const i8 first_i8x4_of_8[] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
static NOINLINE i8 fold_add_i8_8(i8 *a, i8 count) {
  if (count == 4 * 8) {
#pragma omp simd
    for (i4 l = 0; l < 8; ++l) {
      const i8 even = a[l] + (a[l + 16]);
      const i8 odd = a[l + 8] + (a[l + 24]);
      a[l] = even + (odd);
    }
  } else {
    for (i8 half = count / 2; half >= 8; half /= 2) {
      for (i8 set = 0; set < half; set += 8) {
#pragma omp simd
        for (i4 l = 0; l < 8; ++l) {
          a[set + l] = a[set + l] + (a[set + l + half]);
        }
      }
    }
  }
  const i8 r4_0 = a[0] + (a[4]);
  const i8 r4_1 = a[1] + (a[5]);
  const i8 r4_2 = a[2] + (a[6]);
  const i8 r4_3 = a[3] + (a[7]);
  const i8 r2_0 = r4_0 + (r4_2);
  const i8 r2_1 = r4_1 + (r4_3);
  const i8 r1_0 = r2_0 + (r2_1);
  return r1_0;
}
typedef i1 i1x32 __attribute__((vector_size(32), may_alias));
typedef i1x32 i1x32_at __attribute__((aligned(1)));
void (*pad_ends_8)(void *, const void *, i8, i8, i8, i8, i8);
static NOINLINE i1 fold_maximum_i1_64(i1 *a, i8 count) {
  if (count == 4 * 64) {
#pragma omp simd
    for (i4 l = 0; l < 64; ++l) {
      const i1 even = (a[l + 128]) > a[l] ? (a[l + 128]) : a[l];
      const i1 odd = (a[l + 192]) > a[l + 64] ? (a[l + 192]) : a[l + 64];
      a[l] = (odd) > even ? (odd) : even;
    }
  } else {
    for (i8 half = count / 2; half >= 64; half /= 2) {
      for (i8 set = 0; set < half; set += 64) {
#pragma omp simd
        for (i4 l = 0; l < 64; ++l) {
          a[set + l] = (a[set + l + half]) > a[set + l] ? (a[set + l + half]) : a[set + l];
        }
      }
    }
  }
#pragma omp simd
  for (i4 l = 0; l < 32; ++l) {
    a[l] = (a[l + 32]) > a[l] ? (a[l + 32]) : a[l];
  }
#pragma omp simd
  for (i4 l = 0; l < 16; ++l) {
    a[l] = (a[l + 16]) > a[l] ? (a[l + 16]) : a[l];
  }
#pragma omp simd
  for (i4 l = 0; l < 8; ++l) {
    a[l] = (a[l + 8]) > a[l] ? (a[l + 8]) : a[l];
  }
#pragma omp simd
  for (i4 l = 0; l < 4; ++l) {
    a[l] = (a[l + 4]) > a[l] ? (a[l + 4]) : a[l];
  }
#pragma omp simd
  for (i4 l = 0; l < 2; ++l) {
    a[l] = (a[l + 2]) > a[l] ? (a[l + 2]) : a[l];
  }
#pragma omp simd
  for (i4 l = 0; l < 2; ++l) {
    a[l] = (a[l + 1]) > a[l] ? (a[l + 1]) : a[l];
  }
  return a[0];
}
INLINE i8 to_int64_f8(f8 x) {
  return (x >= -0x1p63f) & (x < 0x1p63f) ? (i8)x : (-0x7fffffffffffffffLL - 1);
}
i4 (*loop_stops)(void);
static NOINLINE i8 fold_minimum_i8_8(i8 *a, i8 count) {
  if (count == 4 * 8) {
#pragma omp simd
    for (i4 l = 0; l < 8; ++l) {
      const i8 even = (a[l + 16]) < a[l] ? (a[l + 16]) : a[l];
      const i8 odd = (a[l + 24]) < a[l + 8] ? (a[l + 24]) : a[l + 8];
      a[l] = (odd) < even ? (odd) : even;
    }
  } else {
    for (i8 half = count / 2; half >= 8; half /= 2) {
      for (i8 set = 0; set < half; set += 8) {
#pragma omp simd
        for (i4 l = 0; l < 8; ++l) {
          a[set + l] = (a[set + l + half]) < a[set + l] ? (a[set + l + half]) : a[set + l];
        }
      }
    }
  }
#pragma omp simd
  for (i4 l = 0; l < 4; ++l) {
    a[l] = (a[l + 4]) < a[l] ? (a[l + 4]) : a[l];
  }
#pragma omp simd
  for (i4 l = 0; l < 2; ++l) {
    a[l] = (a[l + 2]) < a[l] ? (a[l + 2]) : a[l];
  }
#pragma omp simd
  for (i4 l = 0; l < 2; ++l) {
    a[l] = (a[l + 1]) < a[l] ? (a[l + 1]) : a[l];
  }
  return a[0];
}
i4 kernel_0(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {
  i4 status = 0;
  if (n_outer <= 0 || n_inner <= 0) return status;
  char *p0 = ptr[0];
  char *p1 = ptr[1];
  const i8 ahead = n_outer * n_inner >= 16384 ? 4096 : 0;
  const i8 full = n_inner & -8;
  const i8 rest = n_inner - full;
  const i8 whole = (n_inner + 7) & -8;
  ALIGNED u8 e0[8];
  ALIGNED i8 a1[32];
  const i8 total1 = whole * (outer_stride[1] ? 1 : n_outer);
  i8 walked1 = 0;
  const i8 used1 = 32;
  const i8x4 z1 = (i8)((i8)0) - (i8x4){};
  i8 *sets1 = a1;
  ((i8x4 *)sets1)[0] = ((i8x4 *)sets1)[1] = ((i8x4 *)sets1)[2] = ((i8x4 *)sets1)[3] = ((i8x4 *)sets1)[4] = ((i8x4 *)sets1)[5] = ((i8x4 *)sets1)[6] = ((i8x4 *)sets1)[7] = z1;
  for (i8 outer = 0; outer < n_outer; outer += 1) {
    if (rest) {
      if (outer_stride[0] || !outer) pad_ends_64(e0, p0 + full * 8, outer_stride[0], outer, 1, rest, 8);
    }
    {
      char *w0 = p0;
      i8x4 m1_0_0 = ((i8x4 *)sets1)[0];
      i8x4 m1_0_1 = ((i8x4 *)sets1)[1];
      i8x4 m1_1_0 = ((i8x4 *)sets1)[2];
      i8x4 m1_1_1 = ((i8x4 *)sets1)[3];
      i8x4 m1_2_0 = ((i8x4 *)sets1)[4];
      i8x4 m1_2_1 = ((i8x4 *)sets1)[5];
      i8x4 m1_3_0 = ((i8x4 *)sets1)[6];
      i8x4 m1_3_1 = ((i8x4 *)sets1)[7];
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)e0 - full * 8;
        }
        const i8x4 before1_0 = m1_0_0;
        const i8x4 before1_1 = m1_0_1;
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          __builtin_prefetch(q0 + 0 + ahead);
          ALIGNED i8 c1[8];
          ((i8x4 *)c1)[0] = m1_0_0;
          ((i8x4 *)c1)[1] = m1_0_1;
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const i8 v0 = ((const i8 *)q0)[l];
            c1[l] = c1[l] + (v0);
          }
          m1_0_0 = m1_1_0;
          m1_0_1 = m1_1_1;
          m1_1_0 = m1_2_0;
          m1_1_1 = m1_2_1;
          m1_2_0 = m1_3_0;
          m1_2_1 = m1_3_1;
          m1_3_0 = ((i8x4 *)c1)[0];
          m1_3_1 = ((i8x4 *)c1)[1];
        }
        if (i > full) {
          const i8x4 live1_0 = *(const i8x4_at *)(first_i8x4_of_8 + whole - n_inner);
          const i8x4 live1_1 = *(const i8x4_at *)(first_i8x4_of_8 + whole - n_inner + 4);
          m1_3_0 = (i8x4)(((i8x4)m1_3_0 & live1_0) | ((i8x4)before1_0 & ~live1_0));
          m1_3_1 = (i8x4)(((i8x4)m1_3_1 & live1_1) | ((i8x4)before1_1 & ~live1_1));
        }
      }
      ((i8x4 *)sets1)[0] = m1_0_0;
      ((i8x4 *)sets1)[1] = m1_0_1;
      ((i8x4 *)sets1)[2] = m1_1_0;
      ((i8x4 *)sets1)[3] = m1_1_1;
      ((i8x4 *)sets1)[4] = m1_2_0;
      ((i8x4 *)sets1)[5] = m1_2_1;
      ((i8x4 *)sets1)[6] = m1_3_0;
      ((i8x4 *)sets1)[7] = m1_3_1;
      walked1 += whole;
      if (walked1 == total1) {
        const i8 so_far = ((const i8 *)p1)[0];
        const i8 rows_folded = fold_add_i8_8(a1, used1);
        ((i8 *)p1)[0] = so_far + (rows_folded);
        if (!(outer == n_outer - 1)) {
          ((i8x4 *)sets1)[0] = ((i8x4 *)sets1)[1] = ((i8x4 *)sets1)[2] = ((i8x4 *)sets1)[3] = ((i8x4 *)sets1)[4] = ((i8x4 *)sets1)[5] = ((i8x4 *)sets1)[6] = ((i8x4 *)sets1)[7] = z1;
          walked1 = 0;
        }
      }
    }
    p0 += outer_stride[0];
    p1 += outer_stride[1];
  }
  return status;
}
i4 kernel_1(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {
  i4 status = 0;
  if (n_outer <= 0 || n_inner <= 0) return status;
  char *p0 = ptr[0];
  char *p1 = ptr[1];
  const i8 ahead = n_outer * n_inner >= 16384 ? 4096 : 0;
  const i8 full = n_inner & -64;
  const i8 rest = n_inner - full;
  const i8 whole = (n_inner + 63) & -64;
  ALIGNED u1 e0[64];
  ALIGNED i1 a1[256];
  const i8 total1 = whole * (outer_stride[1] ? 1 : n_outer);
  i8 walked1 = 0;
  const i8 used1 = 256;
  const i1x32 z1 = (i1)((i1)-128) - (i1x32){};
  i1 *sets1 = a1;
  ((i1x32 *)sets1)[0] = ((i1x32 *)sets1)[1] = ((i1x32 *)sets1)[2] = ((i1x32 *)sets1)[3] = ((i1x32 *)sets1)[4] = ((i1x32 *)sets1)[5] = ((i1x32 *)sets1)[6] = ((i1x32 *)sets1)[7] = z1;
  for (i8 outer = 0; outer < n_outer; outer += 1) {
    if (rest) {
      if (outer_stride[0] || !outer) pad_ends_8(e0, p0 + full * 1, outer_stride[0], outer, 1, rest, 64);
    }
    {
      char *w0 = p0;
      i1x32 m1_0_0 = ((i1x32 *)sets1)[0];
      i1x32 m1_0_1 = ((i1x32 *)sets1)[1];
      i1x32 m1_1_0 = ((i1x32 *)sets1)[2];
      i1x32 m1_1_1 = ((i1x32 *)sets1)[3];
      i1x32 m1_2_0 = ((i1x32 *)sets1)[4];
      i1x32 m1_2_1 = ((i1x32 *)sets1)[5];
      i1x32 m1_3_0 = ((i1x32 *)sets1)[6];
      i1x32 m1_3_1 = ((i1x32 *)sets1)[7];
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)e0 - full * 1;
        }
        for (; i < end; i += 64) {
          char *q0 = w0 + i * 1;
          __builtin_prefetch(q0 + 0 + ahead);
          ALIGNED i1 c1[64];
          ((i1x32 *)c1)[0] = m1_0_0;
          ((i1x32 *)c1)[1] = m1_0_1;
#pragma omp simd
          for (i1 l = 0; l < 64; ++l) {
            const i1 v0 = ((const i1 *)q0)[l];
            c1[l] = (v0) > c1[l] ? (v0) : c1[l];
          }
          m1_0_0 = m1_1_0;
          m1_0_1 = m1_1_1;
          m1_1_0 = m1_2_0;
          m1_1_1 = m1_2_1;
          m1_2_0 = m1_3_0;
          m1_2_1 = m1_3_1;
          m1_3_0 = ((i1x32 *)c1)[0];
          m1_3_1 = ((i1x32 *)c1)[1];
        }
      }
      ((i1x32 *)sets1)[0] = m1_0_0;
      ((i1x32 *)sets1)[1] = m1_0_1;
      ((i1x32 *)sets1)[2] = m1_1_0;
      ((i1x32 *)sets1)[3] = m1_1_1;
      ((i1x32 *)sets1)[4] = m1_2_0;
      ((i1x32 *)sets1)[5] = m1_2_1;
      ((i1x32 *)sets1)[6] = m1_3_0;
      ((i1x32 *)sets1)[7] = m1_3_1;
      walked1 += whole;
      if (walked1 == total1) {
        const i1 so_far = ((const i1 *)p1)[0];
        const i1 rows_folded = fold_maximum_i1_64(a1, used1);
        ((i1 *)p1)[0] = (rows_folded) > so_far ? (rows_folded) : so_far;
        if (!(outer == n_outer - 1)) {
          ((i1x32 *)sets1)[0] = ((i1x32 *)sets1)[1] = ((i1x32 *)sets1)[2] = ((i1x32 *)sets1)[3] = ((i1x32 *)sets1)[4] = ((i1x32 *)sets1)[5] = ((i1x32 *)sets1)[6] = ((i1x32 *)sets1)[7] = z1;
          walked1 = 0;
        }
      }
    }
    p0 += outer_stride[0];
    p1 += outer_stride[1];
  }
  return status;
}
i4 kernel_2(char *const *ptr, i8 n_outer, i8 n_inner, const i8 *outer_stride) {
  i4 status = 0;
  if (n_outer <= 0 || n_inner < 0) return status;
  char *p0 = ptr[0];
  char *p1 = ptr[1];
  const i8 full = n_inner > 8 && n_inner < 16 ? 0 : n_inner & -8;
  const i8 rest = n_inner - full;
  const i8 whole = (n_inner + 7) & -8;
  const i8 padded = whole - full;
  const i8 tile = n_inner <= 504 ? 8 : 1;
  ALIGNED i8 t3[8];
  ALIGNED u8 e0[128];
  ALIGNED i8 a4[64];
  const i8 used4 = 8;
  const i8x4 z4 = (i8)((i8)9223372036854775807LL) - (i8x4){};
  ALIGNED i8 row4[8];
  ALIGNED i8 a1[32];
  const i8 total1 = whole * (outer_stride[1] ? 1 : n_outer);
  i8 walked1 = 0;
  const i8 used1 = 32;
  const i8x4 z1 = (i8)((i8)0) - (i8x4){};
  i8 *sets1 = a1;
  ((i8x4 *)sets1)[0] = ((i8x4 *)sets1)[1] = ((i8x4 *)sets1)[2] = ((i8x4 *)sets1)[3] = ((i8x4 *)sets1)[4] = ((i8x4 *)sets1)[5] = ((i8x4 *)sets1)[6] = ((i8x4 *)sets1)[7] = z1;
  for (i8 outer = 0; outer < n_outer; outer += tile) {
    const i8 rows = n_outer - outer < tile ? n_outer - outer : tile;
    if (rest) {
      if (outer_stride[0] || !outer) pad_ends_64(e0, p0 + full * 8, outer_stride[0], outer, rows, rest, padded);
    }
    for (i8 r = 0; r < rows; ++r) {
      char *w0 = p0 + r * outer_stride[0];
      i8x4 m4_0_0 = z4;
      i8x4 m4_0_1 = z4;
      i8x4 m4_1_0 = z4;
      i8x4 m4_1_1 = z4;
      i8x4 m4_2_0 = z4;
      i8x4 m4_2_1 = z4;
      i8x4 m4_3_0 = z4;
      i8x4 m4_3_1 = z4;
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)(e0 + r * padded) - full * 8;
        }
        if (end > (i | 65535)) end = (i | 65535) + 1;
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          ALIGNED i8 c4[8];
          ((i8x4 *)c4)[0] = m4_0_0;
          ((i8x4 *)c4)[1] = m4_0_1;
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v0 = ((const f8 *)q0)[l];
            const i8 v2 = to_int64_f8(v0);
            c4[l] = (v2) < c4[l] ? (v2) : c4[l];
          }
          m4_0_0 = m4_1_0;
          m4_0_1 = m4_1_1;
          m4_1_0 = m4_2_0;
          m4_1_1 = m4_2_1;
          m4_2_0 = m4_3_0;
          m4_2_1 = m4_3_1;
          m4_3_0 = ((i8x4 *)c4)[0];
          m4_3_1 = ((i8x4 *)c4)[1];
        }
        if (!(i & 65535) && i < n_inner && loop_stops()) return 4;
      }
      {
        ALIGNED i8 f0[8];
        ((i8x4 *)f0)[0] = m4_0_0;
        ((i8x4 *)f0)[1] = m4_0_1;
        ALIGNED i8 f1[8];
        ((i8x4 *)f1)[0] = m4_1_0;
        ((i8x4 *)f1)[1] = m4_1_1;
        ALIGNED i8 f2[8];
        ((i8x4 *)f2)[0] = m4_2_0;
        ((i8x4 *)f2)[1] = m4_2_1;
        ALIGNED i8 f3[8];
        ((i8x4 *)f3)[0] = m4_3_0;
        ((i8x4 *)f3)[1] = m4_3_1;
#pragma omp simd
        for (i4 l = 0; l < 8; ++l) {
          const i8 even = (f2[l]) < f0[l] ? (f2[l]) : f0[l];
          const i8 odd = (f3[l]) < f1[l] ? (f3[l]) : f1[l];
          (a4 + r * 8)[l] = (odd) < even ? (odd) : even;
        }
      }
    }
    for (i8 row = 0; row < rows; ++row) {
      row4[row] = fold_minimum_i8_8(a4 + row * used4, used4);
    }
#pragma omp simd
    for (i4 r = 0; r < 8; ++r) {
      const i8 v3 = (row4[r]) < ((i8)9223372036854775807LL) ? (row4[r]) : ((i8)9223372036854775807LL);
      t3[r] = v3;
    }
    for (i8 r = 0; r < rows; ++r) {
      const i8 v3 = t3[r];
      char *w0 = p0 + r * outer_stride[0];
      char *n0 = p0 + (rows + r) * outer_stride[0];
      i8x4 m1_0_0 = ((i8x4 *)sets1)[0];
      i8x4 m1_0_1 = ((i8x4 *)sets1)[1];
      i8x4 m1_1_0 = ((i8x4 *)sets1)[2];
      i8x4 m1_1_1 = ((i8x4 *)sets1)[3];
      i8x4 m1_2_0 = ((i8x4 *)sets1)[4];
      i8x4 m1_2_1 = ((i8x4 *)sets1)[5];
      i8x4 m1_3_0 = ((i8x4 *)sets1)[6];
      i8x4 m1_3_1 = ((i8x4 *)sets1)[7];
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)(e0 + r * padded) - full * 8;
        }
        if (end > (i | 65535)) end = (i | 65535) + 1;
        const i8x4 before1_0 = (padded > 8 ? m1_1_0 : m1_0_0);
        const i8x4 before1_1 = (padded > 8 ? m1_1_1 : m1_0_1);
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          __builtin_prefetch(n0 + i * 8);
          ALIGNED i8 c1[8];
          ((i8x4 *)c1)[0] = m1_0_0;
          ((i8x4 *)c1)[1] = m1_0_1;
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v0 = ((const f8 *)q0)[l];
            const i8 v2 = to_int64_f8(v0);
            const i8 v4 = v2 - v3;
            c1[l] = c1[l] + (v4);
          }
          m1_0_0 = m1_1_0;
          m1_0_1 = m1_1_1;
          m1_1_0 = m1_2_0;
          m1_1_1 = m1_2_1;
          m1_2_0 = m1_3_0;
          m1_2_1 = m1_3_1;
          m1_3_0 = ((i8x4 *)c1)[0];
          m1_3_1 = ((i8x4 *)c1)[1];
        }
        if (i > full) {
          const i8x4 live1_0 = *(const i8x4_at *)(first_i8x4_of_8 + whole - n_inner);
          const i8x4 live1_1 = *(const i8x4_at *)(first_i8x4_of_8 + whole - n_inner + 4);
          m1_3_0 = (i8x4)(((i8x4)m1_3_0 & live1_0) | ((i8x4)before1_0 & ~live1_0));
          m1_3_1 = (i8x4)(((i8x4)m1_3_1 & live1_1) | ((i8x4)before1_1 & ~live1_1));
        }
        if (!(i & 65535) && i < n_inner && loop_stops()) return 4;
      }
      ((i8x4 *)sets1)[0] = m1_0_0;
      ((i8x4 *)sets1)[1] = m1_0_1;
      ((i8x4 *)sets1)[2] = m1_1_0;
      ((i8x4 *)sets1)[3] = m1_1_1;
      ((i8x4 *)sets1)[4] = m1_2_0;
      ((i8x4 *)sets1)[5] = m1_2_1;
      ((i8x4 *)sets1)[6] = m1_3_0;
      ((i8x4 *)sets1)[7] = m1_3_1;
      walked1 += whole;
      if (walked1 == total1) {
        const i8 so_far = ((const i8 *)(p1 + r * outer_stride[1]))[0];
        const i8 rows_folded = fold_add_i8_8(a1, used1);
        ((i8 *)(p1 + r * outer_stride[1]))[0] = so_far + (rows_folded);
        if (!(outer + r == n_outer - 1)) {
          ((i8x4 *)sets1)[0] = ((i8x4 *)sets1)[1] = ((i8x4 *)sets1)[2] = ((i8x4 *)sets1)[3] = ((i8x4 *)sets1)[4] = ((i8x4 *)sets1)[5] = ((i8x4 *)sets1)[6] = ((i8x4 *)sets1)[7] = z1;
          walked1 = 0;
        }
      }
    }
    p0 += rows * outer_stride[0];
    p1 += rows * outer_stride[1];
  }
  return status;
}
