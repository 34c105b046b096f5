#include "limit.h"

/* A rod has a cell before its first and behind its last one that no heat flows to. */
enum { STEPS = 500, CELLS = 200, FIRST = 8, ROOM = 216 };

static _Alignas(64) double rods[STEPS + 1][ROOM];

/* What a step makes of a rod; `conducts[k]` is between the cells k - 1 and k. The way back is the
   same, as what one cell gives the other gets. */
static inline void step(in_t rod, in_t conducts, out_t next) {
  for (int k = FIRST; k < FIRST + CELLS; k++) {
    double gained = conducts[k + 1] * (rod[k + 1] - rod[k]);
    next[k] = rod[k] + gained + conducts[k] * (rod[k - 1] - rod[k]);
  }
}

void work(const void *const *in, double *const *out) {
  _Alignas(64) double conducts[ROOM] = {0}, by_conducts[ROOM] = {0}, adjoints[2][ROOM] = {0};
  double value = 0;
  memcpy(rods[0] + FIRST, in[0], CELLS * sizeof(double));
  memcpy(conducts + FIRST + 1, in[1], (CELLS - 1) * sizeof(double));
  for (int t = 0; t < STEPS; t++) step(rods[t], conducts, rods[t + 1]);
  for (int k = FIRST; k < FIRST + CELLS; k++) {
    value += rods[STEPS][k] * rods[STEPS][k];
    adjoints[STEPS % 2][k] = 2 * rods[STEPS][k];
  }
  for (int t = STEPS - 1; t >= 0; t--) {
    in_t rod = rods[t], adjoint = adjoints[(t + 1) % 2];
    for (int k = FIRST + 1; k < FIRST + CELLS; k++)
      by_conducts[k] += (adjoint[k - 1] - adjoint[k]) * (rod[k] - rod[k - 1]);
    step(adjoint, conducts, adjoints[t % 2]);
  }
  *out[0] = value;
  memcpy(out[1], adjoints[0] + FIRST, CELLS * sizeof(double));
  memcpy(out[2], by_conducts + FIRST + 1, (CELLS - 1) * sizeof(double));
}
