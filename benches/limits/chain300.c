#include "limit.h"

/* Each element is on its own: its derivative is known with it, and nothing is kept. */
enum { LENGTH = 1000, TIMES = 300 };

void work(const void *const *in, double *const *out) {
  out_t slope = out[1];
  _Alignas(64) double h[LENGTH];
  double value = 0, factor = 1;
  memcpy(h, in[0], sizeof h);
  for (int k = 0; k < LENGTH; k++) slope[k] = 1;
  for (int t = 0; t < TIMES; t++, factor *= 1.0001)
    for (int k = 0; k < LENGTH; k += LANES) {
      lanes angle = factor * load(h + k);
      store(slope + k, load(slope + k) * (1 + 0.01 * factor * cosines(angle)));
      store(h + k, load(h + k) + 0.01 * sines(angle));
    }
  for (int k = 0; k < LENGTH; k++) value += h[k];
  *out[0] = value;
}
