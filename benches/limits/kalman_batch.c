#include "limit.h"

/* Eight filters go all their steps, with their derivatives by both variances beside them. */
enum { STEPS = 250, SERIES = 200 };

typedef struct {
  lanes level, variance, told;
} slope_t;

void work(const void *const *in, double *const *out) {
  in_t seen = in[0], noises = in[1], spreads = in[2];
  lanes value = {0};
  for (int k = 0; k < SERIES; k += LANES) {
    lanes totals[STEPS], noise = load(noises + k), spread = load(spreads + k), level = {0};
    lanes variance = 1 + level;
    slope_t slopes[2] = {{{0}, {0}, {0}}, {{0}, {0}, {0}}};
    for (int t = 0; t < STEPS; t++) {
      variance += spread;
      lanes total = variance + noise, inverse = 1 / total, gain = variance * inverse;
      lanes residual = load(seen + t * SERIES + k) - level, scaled = residual * inverse;
      lanes curve = inverse - scaled * scaled, rest = 1 - gain;
      totals[t] = total;
      value += residual * scaled;
      for (int by = 0; by < 2; by++) {
        slope_t *d = &slopes[by];
        lanes d_variance = d->variance + by, d_total = d_variance + (1 - by);
        lanes d_gain = (d_variance - gain * d_total) * inverse;
        d->told += d_total * curve - 2 * scaled * d->level;
        d->level = d->level * rest + d_gain * residual;
        d->variance = d_variance * rest - variance * d_gain;
      }
      level += gain * residual;
      variance *= rest;
    }
    for (int t = 0; t < STEPS; t++) value += logs(6.283185307179586 * totals[t]);
    store(out[1] + k, -0.5 * slopes[0].told);
    store(out[2] + k, -0.5 * slopes[1].told);
  }
  *out[0] = -0.5 * sum_of(value);
}
