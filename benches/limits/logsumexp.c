#include "limit.h"

enum { ROWS = 10000, COLUMNS = 100 };

void work(const void *const *in, double *const *out) {
  in_t x = in[0];
  out_t gradient = out[1];
  double value = 0;
  for (long i = 0; i < ROWS; i++) {
    const double *row = x + i * COLUMNS;
    double *to = gradient + i * COLUMNS;
    double highest = row[0], total = 0;
    for (long j = 1; j < COLUMNS; j++) highest = row[j] > highest ? row[j] : highest;
    for (long j = 0; j < COLUMNS; j++) total += to[j] = exp(row[j] - highest);
    for (long j = 0; j < COLUMNS; j++) to[j] *= 1 / total;
    value += log(total) + highest;
  }
  *out[0] = value;
}
