#include "limit.h"
#include "blas.h"
#include "matvec.h"

/* What the inputs add to the gates is known before the first step, and what the steps add to the
   gradients is summed after the last one, both by products of matrices. */
enum { STEPS = 100, INPUT = 16, STATE = 32, BOTH = INPUT + STATE, GATES = 2 * STATE };
enum { ALL = GATES + STATE };

static _Alignas(64) double given[STEPS][ALL], pulls[STEPS][ALL];
static _Alignas(64) double kept[STEPS][STATE], reset[STEPS][STATE], fresh[STEPS][STATE];
static _Alignas(64) double both[STEPS + 1][BOTH], seen[STEPS][BOTH];
static _Alignas(64) double gates_by_state[STATE][GATES], fresh_by_state[STATE][STATE];
static _Alignas(64) double state_by_gates[GATES][STATE], state_by_fresh[STATE][STATE];

static void forwards(in_t inputs) {
  for (int t = 0; t < STEPS; t++) {
    _Alignas(64) double sums[GATES], fresh_sums[STATE];
    double *state = both[t] + INPUT;
    columns_by(STATE, GATES / LANES, GATES, state, gates_by_state[0], sums);
    for (int k = 0; k < GATES; k++) sums[k] = 1 / (1 + exp(-sums[k] - given[t][k]));
    memcpy(kept[t], sums, sizeof kept[t]);
    memcpy(reset[t], sums + STATE, sizeof reset[t]);
    memcpy(seen[t], inputs + t * INPUT, INPUT * sizeof(double));
    memcpy(both[t], inputs + t * INPUT, INPUT * sizeof(double));
    for (int k = 0; k < STATE; k++) seen[t][INPUT + k] = reset[t][k] * state[k];
    columns_by(STATE, STATE / LANES, STATE, seen[t] + INPUT, fresh_by_state[0], fresh_sums);
    for (int k = 0; k < STATE; k += LANES)
      store(fresh[t] + k, tanhs(load(fresh_sums + k) + load(given[t] + GATES + k)));
    for (int k = 0; k < STATE; k++)
      both[t + 1][INPUT + k] = fresh[t][k] + kept[t][k] * (state[k] - fresh[t][k]);
  }
}

static double backwards(in_t target) {
  _Alignas(64) double adjoint[STATE] = {0}, by_seen[STATE], by_gates[STATE];
  double value = 0;
  for (int t = STEPS - 1; t >= 0; t--) {
    const double *state = both[t] + INPUT, *next = both[t + 1] + INPUT;
    for (int k = 0; k < STATE; k++) {
      double error = next[k] - target[t * STATE + k];
      value += error * error;
      adjoint[k] += 2 * error;
      pulls[t][k] = adjoint[k] * (state[k] - fresh[t][k]) * kept[t][k] * (1 - kept[t][k]);
      pulls[t][GATES + k] = adjoint[k] * (1 - kept[t][k]) * (1 - fresh[t][k] * fresh[t][k]);
    }
    columns_by(STATE, STATE / LANES, STATE, pulls[t] + GATES, state_by_fresh[0], by_seen);
    for (int k = 0; k < STATE; k++)
      pulls[t][STATE + k] = by_seen[k] * state[k] * reset[t][k] * (1 - reset[t][k]);
    columns_by(GATES, STATE / LANES, STATE, pulls[t], state_by_gates[0], by_gates);
    for (int k = 0; k < STATE; k++)
      adjoint[k] = adjoint[k] * kept[t][k] + by_seen[k] * reset[t][k] + by_gates[k];
  }
  return value;
}

void work(const void *const *in, double *const *out) {
  in_t inputs = in[0], target = in[1];
  const double *const *weights = (const double *const *)in + 2;
  for (int g = 0; g < 3; g++) {
    product(STEPS, INPUT, STATE, 1, plain(inputs, INPUT), turned(weights[g], BOTH),
            given[0] + g * STATE, ALL);
    for (int i = 0; i < STATE; i++)
      for (int j = 0; j < STATE; j++) {
        double weight = weights[g][i * BOTH + INPUT + j];
        if (g < 2) {
          gates_by_state[j][g * STATE + i] = weight;
          state_by_gates[g * STATE + i][j] = weight;
        } else {
          fresh_by_state[j][i] = weight;
          state_by_fresh[i][j] = weight;
        }
      }
  }
  memset(both[0], 0, sizeof both[0]);
  forwards(inputs);
  *out[0] = backwards(target);
  for (int g = 0; g < 3; g++)
    product(STATE, STEPS, BOTH, 1, turned(pulls[0] + g * STATE, ALL),
            plain(g < 2 ? both[0] : seen[0], BOTH), out[g + 1], BOTH);
}
