/* The likelihood of a hidden Markov model; a row of its `STATES` has `WIDTH`, whole vectors. */
#include "limit.h"

enum { STEPS = 400, SYMBOLS = 12 };

/* How likely it is, where one is after each step, that one has come from each; and their sums. */
static _Alignas(64) double came[STEPS][STATES][WIDTH], total[STEPS][WIDTH];

static double normalise(in_t row, out_t to, int count) {
  double highest = row[0], total = 0;
  for (int k = 1; k < count; k++) highest = row[k] > highest ? row[k] : highest;
  for (int k = 0; k < count; k++) total += exp(row[k] - highest);
  total = log(total) + highest;
  for (int k = 0; k < count; k++) to[k] = row[k] - total;
  return total;
}

/* The gradient by the rows that were normalised. */
static void back(in_t normal, in_t adjoint, out_t by, int count) {
  double sum = 0;
  for (int k = 0; k < count; k++) sum += adjoint[k];
  for (int k = 0; k < count; k++) by[k] = adjoint[k] - exp(normal[k]) * sum;
}

void work(const void *const *in, double *const *out) {
  const long *observed = in[0];
  in_t transitions = in[1], emissions = in[2];
  _Alignas(64) double moves[STATES][WIDTH], by_moves[STATES][WIDTH] = {{0}};
  _Alignas(64) double told[STATES][SYMBOLS], told_of[SYMBOLS][WIDTH] = {{0}};
  _Alignas(64) double by_told[SYMBOLS][WIDTH] = {{0}}, forward[WIDTH] = {0}, adjoint[WIDTH] = {0};
  _Alignas(64) double next[WIDTH], high[WIDTH];
  for (int i = 0; i < STATES; i++) {
    for (int j = STATES; j < WIDTH; j++) moves[i][j] = 0;
    normalise(transitions + i * STATES, moves[i], STATES);
    normalise(emissions + i * SYMBOLS, told[i], SYMBOLS);
    for (int o = 0; o < SYMBOLS; o++) told_of[o][i] = told[i][o];
  }
  for (int t = 0; t < STEPS; t++) {
    for (int j = 0; j < WIDTH; j++) high[j] = forward[0] + moves[0][j];
    for (int i = 1; i < STATES; i++)
      for (int j = 0; j < WIDTH; j += LANES)
        store(high + j, larger(load(high + j), forward[i] + load(moves[i] + j)));
    memset(total[t], 0, sizeof total[t]);
    for (int i = 0; i < STATES; i++)
      for (int j = 0; j < WIDTH; j += LANES) {
        lanes share = exps(forward[i] + load(moves[i] + j) - load(high + j));
        store(came[t][i] + j, share);
        store(total[t] + j, load(total[t] + j) + share);
      }
    for (int j = 0; j < WIDTH; j += LANES) {
      lanes level = load(high + j) + logs(load(total[t] + j));
      store(forward + j, level + load(told_of[observed[t]] + j));
    }
  }
  *out[0] = normalise(forward, adjoint, STATES);
  for (int j = 0; j < STATES; j++) adjoint[j] = exp(adjoint[j]);
  for (int t = STEPS - 1; t >= 0; t--) {
    for (int j = 0; j < WIDTH; j++) by_told[observed[t]][j] += adjoint[j];
    for (int j = 0; j < WIDTH; j++) adjoint[j] /= total[t][j];
    for (int i = 0; i < STATES; i++) {
      lanes sum = {0};
      for (int j = 0; j < WIDTH; j += LANES) {
        lanes share = load(came[t][i] + j) * load(adjoint + j);
        store(by_moves[i] + j, load(by_moves[i] + j) + share);
        sum += share;
      }
      next[i] = sum_of(sum);
    }
    memcpy(adjoint, next, STATES * sizeof(double));
  }
  for (int i = 0; i < STATES; i++) {
    double by_row[SYMBOLS];
    for (int o = 0; o < SYMBOLS; o++) by_row[o] = by_told[o][i];
    back(moves[i], by_moves[i], out[1] + i * STATES, STATES);
    back(told[i], by_row, out[2] + i * SYMBOLS, SYMBOLS);
  }
}
