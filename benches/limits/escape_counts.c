#include "limit.h"

/* Some vectors of points at a time, whose steps do not wait for each other's. */
enum { POINTS = 160 * 160, STEPS = 200, SIDE = 4 };

void work(const void *const *in, double *const *out) {
  in_t x = in[0], y = in[1];
  long *counts = (long *)out[0];
  for (int start = 0; start < POINTS; start += SIDE * LANES) {
    lanes u[SIDE] = {{0}}, v[SIDE] = {{0}}, four = _mm512_set1_pd(4);
    __m512i count[SIDE] = {{0}}, one = _mm512_set1_epi64(1);
    __mmask8 inside[SIDE] = {255, 255, 255, 255};
    for (int t = 0; t < STEPS; t++) {
      for (int k = 0; k < SIDE; k++) {
        lanes a = load(x + start + k * LANES), b = load(y + start + k * LANES);
        lanes next = u[k] * u[k] - v[k] * v[k] + a;
        v[k] = 2 * u[k] * v[k] + b;
        u[k] = next;
        count[k] = _mm512_mask_add_epi64(count[k], inside[k], count[k], one);
        lanes square = u[k] * u[k] + v[k] * v[k];
        inside[k] = _mm512_mask_cmp_pd_mask(inside[k], square, four, _CMP_LE_OQ);
      }
      if (!(inside[0] | inside[1] | inside[2] | inside[3])) break;
    }
    for (int k = 0; k < SIDE; k++) _mm512_storeu_si512(counts + start + k * LANES, count[k]);
  }
}
