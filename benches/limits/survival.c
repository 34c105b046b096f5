#include "limit.h"
#include "matvec.h"

/* Tiles of people, which stay near; a row is one vector and two more elements. */
enum { COUNT = 4000, COLUMNS = 10, REST = 3, TILE = 80 };

void work(const void *const *in, double *const *out) {
  in_t data = in[0], times = in[1], seen = in[2], coefficients = in[3];
  double shape = *(const double *)in[4], power = exp(shape), value = 0, by_shape = 0;
  lanes first = load(coefficients), rest = _mm512_maskz_loadu_pd(REST, coefficients + LANES);
  lanes by_first[2] = {{0}}, by_rest[2] = {{0}};
  for (int start = 0; start < COUNT; start += TILE) {
    in_t rows = data + start * COLUMNS;
    _Alignas(64) double told[TILE], pull[TILE];
    for (int n = 0; n < TILE; n += LANES) {
      lanes sums[LANES];
      for (int r = 0; r < LANES; r++) {
        const double *row = rows + (n + r) * COLUMNS;
        sums[r] = load(row) * first + _mm512_maskz_loadu_pd(REST, row + LANES) * rest;
      }
      store(told + n, sums_of(sums));
    }
    for (int n = 0; n < TILE; n++) {
      double event = seen[start + n], scaled = log(times[start + n]) - told[n];
      double grown = exp(power * scaled);
      pull[n] = power * (grown - event);
      value += event * (shape + (power - 1) * scaled - told[n]) - grown;
      by_shape += event - pull[n] * scaled;
    }
    for (int n = 0; n < TILE; n += 2)
      for (int r = 0; r < 2; r++) {
        const double *row = rows + (n + r) * COLUMNS;
        by_first[r] += pull[n + r] * load(row);
        by_rest[r] += pull[n + r] * _mm512_maskz_loadu_pd(REST, row + LANES);
      }
  }
  *out[0] = value;
  store(out[1], by_first[0] + by_first[1]);
  _mm512_mask_storeu_pd(out[1] + LANES, REST, by_rest[0] + by_rest[1]);
  *out[2] = by_shape;
}
