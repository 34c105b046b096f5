#include "limit.h"
#include "blas.h"
#include "matvec.h"

enum { STEPS = 200, STATE = 100, WIDTH = 104 };

static _Alignas(64) double states[STEPS + 1][WIDTH], pulls[STEPS][WIDTH];
static _Alignas(64) double rows[STATE][WIDTH];

void work(const void *const *in, double *const *out) {
  in_t inputs = in[0], target = in[1], weights = in[2], bias = in[3];
  out_t by_bias = out[2];
  _Alignas(64) double sums[WIDTH] = {0}, adjoint[WIDTH] = {0};
  double value = 0;
  for (int i = 0; i < STATE; i++) memcpy(rows[i], weights + i * STATE, STATE * sizeof(double));
  for (int t = 0; t < STEPS; t++) {
    rows_by(STATE, STATE, STATE, weights, states[t], sums);
    for (int k = 0; k < STATE; k++) sums[k] += inputs[t * STATE + k] + bias[k];
    for (int k = 0; k < WIDTH; k += LANES) store(states[t + 1] + k, tanhs(load(sums + k)));
  }
  memset(by_bias, 0, STATE * sizeof(double));
  for (int t = STEPS - 1; t >= 0; t--) {
    for (int k = 0; k < STATE; k++) {
      double state = states[t + 1][k], error = state - target[t * STATE + k];
      value += error * error;
      pulls[t][k] = (2 * error + adjoint[k]) * (1 - state * state);
      by_bias[k] += pulls[t][k];
    }
    columns_by(STATE, WIDTH / LANES, WIDTH, pulls[t], rows[0], adjoint);
  }
  *out[0] = value;
  product(STATE, STEPS, STATE, 1, turned(pulls[0], WIDTH), plain(states[0], WIDTH), out[1], STATE);
}
