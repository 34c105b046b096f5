#include "limit.h"
#include "blas.h"
#include "matvec.h"

enum { STEPS = 400, PLACES = 40, WIDTH = PLACES / LANES };

static _Alignas(64) double susceptible[STEPS + 1][PLACES], infected[STEPS + 1][PLACES];
static _Alignas(64) double met[STEPS][PLACES], pulls[STEPS][PLACES];

void work(const void *const *in, double *const *out) {
  in_t seen = in[0], contacts = in[3];
  double infection = *(const double *)in[1] * 0.1, recovery = *(const double *)in[2] * 0.1;
  double value = 0, by_infection = 0, by_recovery = 0;
  _Alignas(64) double rows[PLACES][PLACES], columns[PLACES][PLACES];
  _Alignas(64) double by_susceptible[PLACES] = {0}, by_infected[PLACES] = {0}, back[PLACES] = {0};
  memcpy(rows, contacts, sizeof rows);
  for (int i = 0; i < PLACES; i++) {
    susceptible[0][i] = 0.99;
    infected[0][i] = 0.01;
    for (int j = 0; j < PLACES; j++) columns[j][i] = rows[i][j];
  }
  for (int t = 0; t < STEPS; t++) {
    columns_by(PLACES, WIDTH, PLACES, infected[t], columns[0], met[t]);
    for (int k = 0; k < PLACES; k++) {
      double caught = infection * susceptible[t][k] * met[t][k];
      susceptible[t + 1][k] = susceptible[t][k] - caught;
      infected[t + 1][k] = infected[t][k] + caught - recovery * infected[t][k];
    }
  }
  for (int t = STEPS - 1; t >= 0; t--) {
    for (int k = 0; k < PLACES; k++) {
      double error = infected[t + 1][k] - seen[t * PLACES + k];
      double adjoint = by_infected[k] + back[k] + 2 * error;
      double by_caught = adjoint - by_susceptible[k];
      value += error * error;
      by_infection += by_caught * susceptible[t][k] * met[t][k];
      by_recovery -= adjoint * infected[t][k];
      by_susceptible[k] += by_caught * infection * met[t][k];
      pulls[t][k] = by_caught * infection * susceptible[t][k];
      by_infected[k] = adjoint - recovery * adjoint;
    }
    columns_by(PLACES, WIDTH, PLACES, pulls[t], rows[0], back);
  }
  *out[0] = value;
  *out[1] = by_infection * 0.1;
  *out[2] = by_recovery * 0.1;
  product(PLACES, STEPS, PLACES, 1, turned(pulls[0], PLACES), plain(infected[0], PLACES), out[3],
          PLACES);
}
