#include "limit.h"

enum { ROWS = 10000, COLUMNS = 100 };

void work(const void *const *in, double *const *out) {
  in_t x = in[0], scale = in[1], shift = in[2], weights = in[3];
  out_t by_x = out[1], by_scale = out[2], by_shift = out[3];
  double value = 0;
  memset(by_scale, 0, COLUMNS * sizeof(double));
  memset(by_shift, 0, COLUMNS * sizeof(double));
  for (long i = 0; i < ROWS; i++) {
    const double *row = x + i * COLUMNS, *w = weights + i * COLUMNS;
    double mean = 0, variance = 0, pulls = 0, meet = 0, shifted = 0;
    for (long j = 0; j < COLUMNS; j++) mean += row[j];
    mean /= COLUMNS;
    for (long j = 0; j < COLUMNS; j++) {
      double centred = row[j] - mean, pull = w[j] * scale[j];
      variance += centred * centred;
      pulls += pull;
      meet += pull * centred;
      shifted += w[j] * shift[j];
    }
    double inverse = 1 / sqrt(variance / COLUMNS + 1e-5);
    value += meet * inverse + shifted;
    double level = pulls / COLUMNS, slope = meet * inverse * inverse / COLUMNS;
    for (long j = 0; j < COLUMNS; j++) {
      double centred = row[j] - mean;
      by_x[i * COLUMNS + j] = (w[j] * scale[j] - level - centred * slope) * inverse;
      by_scale[j] += w[j] * centred * inverse;
      by_shift[j] += w[j];
    }
  }
  *out[0] = value;
}
