#include "limit.h"
#include "matvec.h"

/* The force at the end of a step is that at the start of the next one: one product a step. */
enum { STEPS = 60, SIZE = 100, WIDTH = 104 };
static const double INTERVAL = 0.05;

void work(const void *const *in, double *const *out) {
  in_t precision = in[2];
  _Alignas(64) static double rows[SIZE][WIDTH];
  _Alignas(64) double place[WIDTH] = {0}, momentum[WIDTH] = {0}, force[WIDTH] = {0};
  double value = 0;
  for (int i = 0; i < SIZE; i++) memcpy(rows[i], precision + i * SIZE, SIZE * sizeof(double));
  memcpy(place, in[0], SIZE * sizeof(double));
  memcpy(momentum, in[1], SIZE * sizeof(double));
  rows_by(SIZE, SIZE, SIZE, precision, place, force);
  for (int t = 0; t < STEPS; t++) {
    for (int k = 0; k < WIDTH; k++) {
      momentum[k] -= INTERVAL * (t ? 1 : 0.5) * force[k];
      place[k] += INTERVAL * momentum[k];
    }
    rows_by(SIZE, SIZE, SIZE, precision, place, force);
  }
  /* `pull` is the adjoint of a force, `by` those of place and momentum after it. */
  _Alignas(64) double by_place[WIDTH], by_momentum[WIDTH], pull[WIDTH], back[WIDTH];
  for (int k = 0; k < WIDTH; k++) {
    momentum[k] -= INTERVAL / 2 * force[k];
    value += 0.5 * (place[k] * force[k] + momentum[k] * momentum[k]);
    by_place[k] = 0.5 * force[k];
    by_momentum[k] = momentum[k];
    pull[k] = 0.5 * place[k] - INTERVAL / 2 * momentum[k];
  }
  for (int t = STEPS - 1; t >= 0; t--) {
    columns_by(SIZE, WIDTH / LANES, WIDTH, pull, rows[0], back);
    for (int k = 0; k < WIDTH; k++) {
      by_place[k] += back[k];
      by_momentum[k] += INTERVAL * by_place[k];
      pull[k] = -INTERVAL * (t ? 1 : 0.5) * by_momentum[k];
    }
  }
  columns_by(SIZE, WIDTH / LANES, WIDTH, pull, rows[0], back);
  for (int k = 0; k < WIDTH; k++) by_place[k] += back[k];
  *out[0] = value;
  memcpy(out[1], by_place, SIZE * sizeof(double));
  memcpy(out[2], by_momentum, SIZE * sizeof(double));
}
