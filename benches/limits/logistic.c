#include "limit.h"
#include "matvec.h"

/* Eight rows are read for the logits and, while they are near, for the gradient. A row is six
   vectors and two more elements. */
enum { ROWS = 10000, COLUMNS = 50, PARTS = 7, REST = 3 };

static inline lanes part(const double *row, int v) {
  if (v < PARTS - 1) return load(row + v * LANES);
  return _mm512_maskz_loadu_pd(REST, row + v * LANES);
}

void work(const void *const *in, double *const *out) {
  in_t design = in[0], outcome = in[1], weights = in[2];
  double bias = *(const double *)in[3];
  lanes weight[PARTS], by[PARTS], value = {0}, residuals = {0}, none = {0};
  for (int v = 0; v < PARTS; v++) {
    weight[v] = part(weights, v);
    by[v] = -weight[v];
    value -= weight[v] * weight[v] / 2;
  }
  for (int start = 0; start < ROWS; start += LANES) {
    const double *rows = design + start * COLUMNS;
    lanes sums[LANES];
    for (int r = 0; r < LANES; r++) {
      sums[r] = none;
      for (int v = 0; v < PARTS; v++) sums[r] += part(rows + r * COLUMNS, v) * weight[v];
    }
    lanes logit = sums_of(sums) + bias, seen = load(outcome + start);
    lanes positive = larger(logit, none), small = exps(logit - 2 * positive);
    value += seen * logit - positive - log1ps(small);
    __mmask8 below = _mm512_cmp_pd_mask(logit, none, _CMP_LT_OQ);
    lanes residual = seen - _mm512_mask_mov_pd(none + 1, below, small) / (1 + small);
    residuals += residual;
    for (int r = 0; r < LANES; r++)
      for (int v = 0; v < PARTS; v++) by[v] += residual[r] * part(rows + r * COLUMNS, v);
  }
  *out[0] = sum_of(value);
  for (int v = 0; v < PARTS - 1; v++) store(out[1] + v * LANES, by[v]);
  _mm512_mask_storeu_pd(out[1] + (PARTS - 1) * LANES, REST, by[PARTS - 1]);
  *out[2] = sum_of(residuals);
}
