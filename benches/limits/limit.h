/* What the programs of limits have in common: `work` once, or so many times. */
#include <immintrin.h>
#include <math.h>
#include <string.h>

typedef const double *restrict in_t;
typedef double *restrict out_t;

/* A register of numbers, where the compiler makes no vectors by itself: eight of AVX-512, or four. */
#ifdef __AVX512F__
enum { LANES = 8 };
#define OF_LANES(name) _mm512_##name
#define OF_LIBRARY(name) __asm__("_ZGVeN8v_" #name)
#else
enum { LANES = 4 };
#define OF_LANES(name) _mm256_##name
#define OF_LIBRARY(name) __asm__("_ZGVdN4v_" #name)
#endif
typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef double packed __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

static inline lanes load(const double *from) { return *(const packed *)from; }
static inline void store(double *to, lanes x) { *(packed *)to = x; }

static inline double sum_of(lanes x) {
#ifdef __AVX512F__
  x += __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3);
  x += __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5);
#else
  x += __builtin_shufflevector(x, x, 2, 3, 0, 1);
#endif
  return x[0] + x[1];
}

static inline lanes larger(lanes a, lanes b) { return OF_LANES(max_pd)(a, b); }

/* The C library's functions of a register. */
lanes exps(lanes) OF_LIBRARY(exp);
lanes logs(lanes) OF_LIBRARY(log);
lanes log1ps(lanes) OF_LIBRARY(log1p);
lanes expm1s(lanes) OF_LIBRARY(expm1);
lanes sines(lanes) OF_LIBRARY(sin);
lanes cosines(lanes) OF_LIBRARY(cos);

/* In two thirds of the time of the C library's. */
static inline lanes tanhs(lanes x) {
  lanes grown = expm1s(2 * OF_LANES(min_pd)(x, OF_LANES(set1_pd)(20)));
  return grown / (grown + 2);
}

/* Not inlined, nor known to give the same each time: each turn does all of it. */
__attribute__((noipa)) void work(const void *const *in, double *const *out);

void run(const void *const *in, double *const *out, long turns) {
  for (long turn = 0; turn < turns; turn++) work(in, out);
}
