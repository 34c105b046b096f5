#include "limit.h"

/* The filter with its derivatives by both variances beside it; a row of a matrix is a register. */
enum { STEPS = 500, STATE = 4 };

typedef double quad __attribute__((vector_size(32)));

typedef struct {
  quad mean, covariance[STATE];
} filter_t;

static inline double sum_of_quad(quad x) { return (x[0] + x[2]) + (x[1] + x[3]); }

static inline quad by_columns(quad x, const quad *columns) {
  return (x[0] * columns[0] + x[1] * columns[1]) + (x[2] * columns[2] + x[3] * columns[3]);
}

/* The transition of the mean and the covariance, which is linear in both. */
static inline filter_t moved(filter_t f, const double (*transition)[STATE], const quad *columns) {
  filter_t to = {.mean = by_columns(f.mean, columns)};
  for (int i = 0; i < STATE; i++) {
    const double *row = transition[i];
    quad half = (row[0] * f.covariance[0] + row[1] * f.covariance[1]) +
                (row[2] * f.covariance[2] + row[3] * f.covariance[3]);
    to.covariance[i] = by_columns(half, columns);
  }
  return to;
}

void work(const void *const *in, double *const *out) {
  in_t y = in[0];
  const double (*transition)[STATE] = in[1];
  const double *seen_by = in[2], noise = *(const double *)in[3], spread = *(const double *)in[4];
  quad columns[STATE], design = {seen_by[0], seen_by[1], seen_by[2], seen_by[3]};
  filter_t own = {.mean = {0}}, slopes[2] = {{.mean = {0}}, {.mean = {0}}};
  double variances[STEPS], value = 0, by[2] = {0, 0};
  for (int i = 0; i < STATE; i++) {
    own.covariance[i][i] = 1;
    for (int j = 0; j < STATE; j++) columns[j][i] = transition[i][j];
  }
  for (int t = 0; t < STEPS; t++) {
    own = moved(own, transition, columns);
    for (int i = 0; i < STATE; i++) own.covariance[i][i] += spread;
    quad seen = by_columns(design, own.covariance);
    double variance = sum_of_quad(design * seen) + noise, inverse = 1 / variance;
    double residual = y[t] - sum_of_quad(design * own.mean), scaled = residual * inverse;
    quad gain = seen * inverse;
    variances[t] = variance;
    value += residual * scaled;
    for (int k = 0; k < 2; k++) {
      filter_t d = moved(slopes[k], transition, columns);
      for (int i = 0; i < STATE; i++) d.covariance[i][i] += k;
      quad d_seen = by_columns(design, d.covariance);
      double d_variance = sum_of_quad(design * d_seen) + (1 - k);
      double d_residual = -sum_of_quad(design * d.mean);
      quad d_gain = (d_seen - gain * d_variance) * inverse;
      by[k] += d_variance * (inverse - scaled * scaled) + 2 * scaled * d_residual;
      slopes[k].mean = d.mean + d_gain * residual + gain * d_residual;
      for (int i = 0; i < STATE; i++)
        slopes[k].covariance[i] = d.covariance[i] - d_seen[i] * gain - seen[i] * d_gain;
    }
    own.mean += gain * residual;
    for (int i = 0; i < STATE; i++) own.covariance[i] -= seen[i] * gain;
  }
  for (int t = 0; t < STEPS; t++) value += log(6.283185307179586 * variances[t]);
  *out[0] = -0.5 * value;
  *out[1] = -0.5 * by[0];
  *out[2] = -0.5 * by[1];
}
