#include "limit.h"

enum { WORDS = 5000, WIDTH = 32, TEXT = 20000, PARTS = WIDTH / LANES };

void work(const void *const *in, double *const *out) {
  const long *text = in[0];
  in_t table = in[1], weights = in[2];
  out_t by_table = out[1];
  lanes weight[PARTS], by_weights[PARTS] = {{0}}, value = {0};
  for (int v = 0; v < PARTS; v++) weight[v] = load(weights + v * LANES);
  memset(by_table, 0, WORDS * WIDTH * sizeof(double));
  for (long n = 0; n < TEXT; n++)
    for (int v = 0; v < PARTS; v++) {
      lanes meant = tanhs(load(table + text[n] * WIDTH + v * LANES));
      double *to = by_table + text[n] * WIDTH + v * LANES;
      by_weights[v] += meant;
      store(to, load(to) + (1 - meant * meant) * weight[v]);
    }
  for (int v = 0; v < PARTS; v++) {
    value += by_weights[v] * weight[v];
    store(out[2] + v * LANES, by_weights[v]);
  }
  *out[0] = sum_of(value);
}
