#include "limit.h"

void work(const void *const *in, double *const *out) {
  in_t effect = in[0], error = in[1], theta = in[4];
  double mu = *(const double *)in[2], log_tau = *(const double *)in[3];
  double tau = exp(log_tau), sum = 0, pulls = 0, meet = 0, ratio = tau / 5 * (tau / 5);
  for (int k = 0; k < 8; k++) {
    double residual = (effect[k] - (mu + tau * theta[k])) / error[k], pull = residual / error[k];
    sum += (theta[k] * theta[k] + residual * residual) / 2 + log(error[k]);
    pulls += pull;
    meet += pull * theta[k];
    out[3][k] = pull * tau - theta[k];
  }
  *out[0] = -(mu / 5) * (mu / 5) / 2 - log1p(ratio) + log_tau - sum;
  *out[1] = pulls - mu / 25;
  *out[2] = meet * tau - 2 * ratio / (1 + ratio) + 1;
}
