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
void (*pad_ends_64)(void *, const void *, i8, i8, i8, i8, i8);
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
  i8 *sets1 = a1;
#pragma omp simd
  for (i4 l = 0; l < 32; ++l) {
    sets1[l] = (i8)((i8)0);
  }
  for (i8 outer = 0; outer < n_outer; outer += 1) {
    if (rest) {
      if (outer_stride[0] || !outer) pad_ends_64(e0, p0 + full * 8, outer_stride[0], outer, 1, rest, 8);
    }
    {
      char *w0 = p0;
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)e0 - full * 8;
        }
        if (((walked1 + i) & 31) == 0) {
          for (; i + 32 <= (end < full ? end : full); i += 32) {
            char *q0 = w0 + i * 8;
            __builtin_prefetch(q0 + 0 + ahead);
            __builtin_prefetch(q0 + 64 + ahead);
            __builtin_prefetch(q0 + 128 + ahead);
            __builtin_prefetch(q0 + 192 + ahead);
            i8 *c1 = sets1;
#pragma omp simd
            for (i4 l = 0; l < 32; ++l) {
              const i8 v0 = ((const i8 *)q0)[l];
              c1[l] = c1[l] + (v0);
            }
          }
        }
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          __builtin_prefetch(q0 + 0 + ahead);
          i8 *c1 = sets1 + ((walked1 + i) & 31);
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const i8 v0 = ((const i8 *)q0)[l];
            c1[l] = c1[l] + ((i + l < n_inner ? v0 : ((i8)0)));
          }
        }
      }
      walked1 += whole;
      if (walked1 == total1) {
        const i8 so_far = ((const i8 *)p1)[0];
        const i8 rows_folded = fold_add_i8_8(a1, used1);
        ((i8 *)p1)[0] = so_far + (rows_folded);
        if (!(outer == n_outer - 1)) {
#pragma omp simd
          for (i4 l = 0; l < 32; ++l) {
            sets1[l] = (i8)((i8)0);
          }
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
  i1 *sets1 = a1;
#pragma omp simd
  for (i4 l = 0; l < 256; ++l) {
    sets1[l] = (i1)((i1)-128);
  }
  for (i8 outer = 0; outer < n_outer; outer += 1) {
    if (rest) {
      if (outer_stride[0] || !outer) pad_ends_8(e0, p0 + full * 1, outer_stride[0], outer, 1, rest, 64);
    }
    {
      char *w0 = p0;
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)e0 - full * 1;
        }
        if (((walked1 + i) & 255) == 0) {
          for (; i + 256 <= (end < full ? end : full); i += 256) {
            char *q0 = w0 + i * 1;
            __builtin_prefetch(q0 + 0 + ahead);
            __builtin_prefetch(q0 + 64 + ahead);
            __builtin_prefetch(q0 + 128 + ahead);
            __builtin_prefetch(q0 + 192 + ahead);
            i1 *c1 = sets1;
#pragma omp simd
            for (i4 l = 0; l < 256; ++l) {
              const i1 v0 = ((const i1 *)q0)[l];
              c1[l] = (v0) > c1[l] ? (v0) : c1[l];
            }
          }
        }
        for (; i < end; i += 64) {
          char *q0 = w0 + i * 1;
          __builtin_prefetch(q0 + 0 + ahead);
          i1 *c1 = sets1 + ((walked1 + i) & 255);
#pragma omp simd
          for (i1 l = 0; l < 64; ++l) {
            const i1 v0 = ((const i1 *)q0)[l];
            c1[l] = (v0) > c1[l] ? (v0) : c1[l];
          }
        }
      }
      walked1 += whole;
      if (walked1 == total1) {
        const i1 so_far = ((const i1 *)p1)[0];
        const i1 rows_folded = fold_maximum_i1_64(a1, used1);
        ((i1 *)p1)[0] = (rows_folded) > so_far ? (rows_folded) : so_far;
        if (!(outer == n_outer - 1)) {
#pragma omp simd
          for (i4 l = 0; l < 256; ++l) {
            sets1[l] = (i1)((i1)-128);
          }
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
  ALIGNED i8 a4[256];
  const i8 used4 = 32;
  ALIGNED i8 row4[8];
  ALIGNED i8 a1[32];
  const i8 total1 = whole * (outer_stride[1] ? 1 : n_outer);
  i8 walked1 = 0;
  const i8 used1 = 32;
  i8 *sets1 = a1;
#pragma omp simd
  for (i4 l = 0; l < 32; ++l) {
    sets1[l] = (i8)((i8)0);
  }
  for (i8 outer = 0; outer < n_outer; outer += tile) {
    const i8 rows = n_outer - outer < tile ? n_outer - outer : tile;
    if (rest) {
      if (outer_stride[0] || !outer) pad_ends_64(e0, p0 + full * 8, outer_stride[0], outer, rows, rest, padded);
    }
    for (i8 r = 0; r < rows; ++r) {
      char *w0 = p0 + r * outer_stride[0];
      i8 *sets4 = a4 + r * 32;
#pragma omp simd
      for (i4 l = 0; l < 32; ++l) {
        sets4[l] = (i8)((i8)9223372036854775807LL);
      }
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)(e0 + r * padded) - full * 8;
        }
        if (end > (i | 65535)) end = (i | 65535) + 1;
        if ((i & 31) == 0) {
          for (; i + 32 <= (end < full ? end : full); i += 32) {
            char *q0 = w0 + i * 8;
            i8 *c4 = sets4;
#pragma omp simd
            for (i4 l = 0; l < 32; ++l) {
              const f8 v0 = ((const f8 *)q0)[l];
              const i8 v2 = to_int64_f8(v0);
              c4[l] = (v2) < c4[l] ? (v2) : c4[l];
            }
          }
        }
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          i8 *c4 = sets4 + (i & 31);
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v0 = ((const f8 *)q0)[l];
            const i8 v2 = to_int64_f8(v0);
            c4[l] = (v2) < c4[l] ? (v2) : c4[l];
          }
        }
        if (!(i & 65535) && i < n_inner && loop_stops()) return 4;
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
      for (i8 i = 0; i < n_inner;) {
        i8 end = full;
        if (i == full) {
          end = n_inner;
          w0 = (char *)(e0 + r * padded) - full * 8;
        }
        if (end > (i | 65535)) end = (i | 65535) + 1;
        if (((walked1 + i) & 31) == 0) {
          for (; i + 32 <= (end < full ? end : full); i += 32) {
            char *q0 = w0 + i * 8;
            i8 *c1 = sets1;
#pragma omp simd
            for (i4 l = 0; l < 32; ++l) {
              const f8 v0 = ((const f8 *)q0)[l];
              const i8 v2 = to_int64_f8(v0);
              const i8 v4 = v2 - v3;
              c1[l] = c1[l] + (v4);
            }
          }
        }
        for (; i < end; i += 8) {
          char *q0 = w0 + i * 8;
          __builtin_prefetch(n0 + i * 8);
          i8 *c1 = sets1 + ((walked1 + i) & 31);
#pragma omp simd
          for (i8 l = 0; l < 8; ++l) {
            const f8 v0 = ((const f8 *)q0)[l];
            const i8 v2 = to_int64_f8(v0);
            const i8 v4 = v2 - v3;
            c1[l] = c1[l] + ((i + l < n_inner ? v4 : ((i8)0)));
          }
        }
        if (!(i & 65535) && i < n_inner && loop_stops()) return 4;
      }
      walked1 += whole;
      if (walked1 == total1) {
        const i8 so_far = ((const i8 *)(p1 + r * outer_stride[1]))[0];
        const i8 rows_folded = fold_add_i8_8(a1, used1);
        ((i8 *)(p1 + r * outer_stride[1]))[0] = so_far + (rows_folded);
        if (!(outer + r == n_outer - 1)) {
#pragma omp simd
          for (i4 l = 0; l < 32; ++l) {
            sets1[l] = (i8)((i8)0);
          }
          walked1 = 0;
        }
      }
    }
    p0 += rows * outer_stride[0];
    p1 += rows * outer_stride[1];
  }
  return status;
}
