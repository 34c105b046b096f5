#include "limit.h"

/* A row of five series is one vector, whose last three elements are zeros. */
enum { STEPS = 300, SERIES = 5 };

static inline lanes row(const double *from) { return _mm512_maskz_loadu_pd(31, from); }

/* `sum + x @ rows`, in two chains. */
static inline lanes add_product(lanes sum, const double *x, const lanes *rows) {
  lanes other = x[2] * rows[2] + x[3] * rows[3];
  return (sum + x[0] * rows[0] + x[1] * rows[1]) + (other + x[4] * rows[4]);
}

void work(const void *const *in, double *const *out) {
  in_t target = in[0];
  const double *const *weights = (const double *const *)in + 1;
  _Alignas(64) double path[STEPS + 2][LANES] = {{1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}};
  _Alignas(64) double adjoints[STEPS + 2][LANES];
  lanes rows[2][SERIES], columns[2][SERIES] = {{{0}}}, by[2][SERIES] = {{{0}}};
  lanes level = row(in[3]), by_level = {0}, value = {0}, none = {0};
  for (int w = 0; w < 2; w++)
    for (int i = 0; i < SERIES; i++) {
      rows[w][i] = row(weights[w] + i * SERIES);
      for (int j = 0; j < SERIES; j++) columns[w][j][i] = weights[w][i * SERIES + j];
    }
  for (int t = 2; t < STEPS + 2; t++) {
    lanes from_before = add_product(level, path[t - 2], columns[1]);
    store(path[t], add_product(from_before, path[t - 1], columns[0]));
  }
  store(adjoints[STEPS], none);
  store(adjoints[STEPS + 1], none);
  for (int t = STEPS - 1; t >= 0; t--) {
    lanes error = load(path[t + 2]) - row(target + t * SERIES);
    lanes from_after = add_product(2 * error, adjoints[t + 2], rows[1]);
    lanes adjoint = add_product(from_after, adjoints[t + 1], rows[0]);
    store(adjoints[t], adjoint);
    value += error * error;
    by_level += adjoint;
    for (int i = 0; i < SERIES; i++) {
      by[0][i] += adjoints[t][i] * load(path[t + 1]);
      by[1][i] += adjoints[t][i] * load(path[t]);
    }
  }
  *out[0] = sum_of(value);
  for (int w = 0; w < 2; w++)
    for (int i = 0; i < SERIES; i++)
      _mm512_mask_storeu_pd(out[w + 1] + i * SERIES, 31, by[w][i]);
  _mm512_mask_storeu_pd(out[3], 31, by_level);
}
