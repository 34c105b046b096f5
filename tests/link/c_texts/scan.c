/* A few numbers, from step to step. */
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
VECTOR f8 tanh(f8);
i4 kernel_0(char *const *ptr, i8 steps, i8 one, const i8 *stride) {
  i4 status = 0;
  char *p0 = ptr[0];
  char *p1 = ptr[1];
  char *p2 = ptr[2];
  char *p3 = ptr[3];
  const f8 v1 = ((const f8 *)p1)[0];
  f8 v3 = v1;
  i8 step = 0;
  for (; step < steps; ++step) {
    const f8 v0 = ((const f8 *)p0)[0];
    const f8 v4 = tanh(v3);
    const f8 v5 = v4 * literal_0_0;
    const f8 v6 = v5 + v0;
    ((f8 *)p3)[0] = v6;
    const f8 n0 = v6;
    v3 = n0;
    p0 += stride[0];
    p3 += stride[3];
  }
  ((f8 *)p2)[0] = v3;
  return status;
}
