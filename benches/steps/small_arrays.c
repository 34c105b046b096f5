/* A step over arrays of one to eight numbers, by hand: all of them stay in registers. */
#include "../limits/limit.h"

enum { STEPS = 100000 };

#ifdef FUNCTIONS
#define BEND(x) tanhs(x)
#define GROW(x) exps(x)
#define WAVE(x) sines(x)
#else
#define BEND(x) ((x) * 0.5)
#define GROW(x) ((x) + 1.5)
#define WAVE(x) ((x) * 0.25)
#endif

static inline double largest(lanes x) {
  x = larger(x, __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3));
  x = larger(x, __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5));
  return x[0] > x[1] ? x[0] : x[1];
}

/* `matrix @ x`, by the columns of the matrix. */
static inline lanes product(const lanes *columns, lanes x) {
  lanes even = columns[0] * x[0], odd = columns[1] * x[1];
  for (int k = 2; k < LANES; k += 2) {
    even += columns[k] * x[k];
    odd += columns[k + 1] * x[k + 1];
  }
  return even + odd;
}

static inline void turn(in_t matrix, lanes *columns) {
  for (int k = 0; k < LANES; k++)
    for (int i = 0; i < LANES; i++) columns[k][i] = matrix[i * LANES + k];
}

/* A factor for each step, the state, three matrices, positions; the state after all steps. */
void work(const void *const *in, double *const *out) {
  in_t factors = in[0];
  lanes a[LANES], b[LANES], c[LANES], x = load(in[1]);
  turn(in[2], a);
  turn(in[3], b);
  turn(in[4], c);
  __m512i chosen = _mm512_loadu_si512(in[5]);
  for (long t = 0; t < STEPS; t++) {
    lanes y = BEND(product(a, x));
    lanes z = __builtin_shufflevector(y, x, 4, 5, 6, 7, 8, 9, 10, 11);
    lanes w = (lanes)_mm512_permutexvar_pd(chosen, (__m512d)z) * factors[t];
    lanes s = GROW(w - largest(w));
    lanes p = s / sum_of(s);
    lanes v = product(b, p);
    lanes joined = {sum_of(v * p)};
    lanes r = __builtin_shufflevector(v, joined, 1, 2, 3, 4, 5, 6, 7, 8);
    lanes q = WAVE(product(c, r));
    x = q - sum_of(q) / LANES + 0.5 * y;
  }
  store(out[0], x);
}
