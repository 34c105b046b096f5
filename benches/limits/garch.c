#include "limit.h"

enum { STEPS = 1000 };

void work(const void *const *in, double *const *out) {
  in_t returns = in[0];
  double omega = *(const double *)in[1], alpha = *(const double *)in[2];
  double beta = *(const double *)in[3];
  double variance[STEPS], adjoint = 0, value = 0, by[3] = {0, 0, 0};
  variance[0] = 1;
  for (int t = 1; t < STEPS; t++)
    variance[t] = omega + alpha * returns[t - 1] * returns[t - 1] + beta * variance[t - 1];
  double pull[STEPS];
  for (int t = 1; t < STEPS; t++) {
    double square = returns[t] * returns[t], inverse = 1 / variance[t];
    value -= (log(6.283185307179586 * variance[t]) + square * inverse) / 2;
    pull[t] = (square * inverse - 1) * inverse / 2;
  }
  for (int t = STEPS - 1; t > 0; t--) {
    adjoint = beta * adjoint + pull[t];
    by[0] += adjoint;
    by[1] += adjoint * returns[t - 1] * returns[t - 1];
    by[2] += adjoint * variance[t - 1];
  }
  *out[0] = value;
  for (int k = 0; k < 3; k++) *out[k + 1] = by[k];
}
