#include "limit.h"

enum { STEPS = 1000 };

void work(const void *const *in, double *const *out) {
  in_t returns = in[0], shocks = in[1];
  double size = *(const double *)in[2], decay = *(const double *)in[3];
  out_t by_shock = out[1];
  double levels[STEPS + 1], pull[STEPS], value = 0, adjoint = 0, by_size = 0, by_decay = 0;
  levels[0] = 0;
  for (int t = 0; t < STEPS; t++) levels[t + 1] = decay * levels[t] + size * shocks[t];
  for (int t = 0; t < STEPS; t++) {
    double square = returns[t] * returns[t] * exp(-levels[t + 1]);
    value -= (levels[t + 1] + square + shocks[t] * shocks[t]) / 2;
    pull[t] = (square - 1) / 2;
  }
  for (int t = STEPS - 1; t >= 0; t--) {
    adjoint = decay * adjoint + pull[t];
    by_shock[t] = adjoint * size - shocks[t];
    by_size += adjoint * shocks[t];
    by_decay += adjoint * levels[t];
  }
  *out[0] = value;
  *out[2] = by_size;
  *out[3] = by_decay;
}
