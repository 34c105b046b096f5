#include "limit.h"

enum { STEPS = 1000 };

void work(const void *const *in, double *const *out) {
  in_t noise = in[0], target = in[1];
  double mean = *(const double *)in[2], first = *(const double *)in[3];
  double second = *(const double *)in[4];
  double y[STEPS + 2], value = 0, by[3] = {0, 0, 0}, next = 0, after = 0;
  y[0] = y[1] = 0;
  for (int t = 0; t < STEPS; t++) y[t + 2] = mean + first * y[t + 1] + second * y[t] + noise[t];
  for (int t = STEPS - 1; t >= 0; t--) {
    double error = y[t + 2] - target[t];
    double adjoint = 2 * error + first * next + second * after;
    value += error * error;
    by[0] += adjoint;
    by[1] += adjoint * y[t + 1];
    by[2] += adjoint * y[t];
    after = next;
    next = adjoint;
  }
  *out[0] = value;
  for (int k = 0; k < 3; k++) *out[k + 1] = by[k];
}
