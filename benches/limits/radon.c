#include "limit.h"

/* Houses that follow each other add to sums of different `WAYS`: none waits for the last one. */
enum { HOUSES = 919, COUNTIES = 85, WAYS = 4 };

static inline double number(const void *at) { return *(const double *)at; }

void work(const void *const *in, double *const *out) {
  const long *county = in[0];
  in_t floor = in[1], radon = in[2], raw_a = in[8], raw_b = in[9];
  double mean_a = number(in[3]), log_spread_a = number(in[4]), mean_b = number(in[5]);
  double log_spread_b = number(in[6]), log_noise = number(in[7]);
  double spread_a = exp(log_spread_a), spread_b = exp(log_spread_b), calm = exp(-log_noise);
  double a[COUNTIES], b[COUNTIES], residual[HOUSES], sums_a[WAYS][COUNTIES] = {{0}};
  double sums_b[WAYS][COUNTIES] = {{0}}, squares = 0, prior = 0, by[4] = {0, 0, 0, 0};
  for (int k = 0; k < COUNTIES; k++) {
    a[k] = mean_a + spread_a * raw_a[k];
    b[k] = mean_b + spread_b * raw_b[k];
    prior += raw_a[k] * raw_a[k] + raw_b[k] * raw_b[k];
  }
  for (int n = 0; n < HOUSES; n++) {
    residual[n] = (radon[n] - a[county[n]] - b[county[n]] * floor[n]) * calm;
    squares += residual[n] * residual[n];
  }
  for (int n = 0; n < HOUSES; n++) {
    sums_a[n % WAYS][county[n]] += residual[n];
    sums_b[n % WAYS][county[n]] += residual[n] * floor[n];
  }
  for (int k = 0; k < COUNTIES; k++) {
    double pull_a = (sums_a[0][k] + sums_a[1][k] + sums_a[2][k] + sums_a[3][k]) * calm;
    double pull_b = (sums_b[0][k] + sums_b[1][k] + sums_b[2][k] + sums_b[3][k]) * calm;
    by[0] += pull_a;
    by[1] += pull_a * raw_a[k];
    by[2] += pull_b;
    by[3] += pull_b * raw_b[k];
    out[6][k] = pull_a * spread_a - raw_a[k];
    out[7][k] = pull_b * spread_b - raw_b[k];
  }
  prior += mean_a * mean_a + log_spread_a * log_spread_a + mean_b * mean_b;
  prior += log_spread_b * log_spread_b + log_noise * log_noise;
  *out[0] = -squares / 2 - HOUSES * log_noise - prior / 2;
  *out[1] = by[0] - mean_a;
  *out[2] = by[1] * spread_a - log_spread_a;
  *out[3] = by[2] - mean_b;
  *out[4] = by[3] * spread_b - log_spread_b;
  *out[5] = squares - HOUSES - log_noise;
}
