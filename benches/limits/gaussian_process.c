#include "limit.h"
#include "blas.h"

/* Half of each matrix, as it is symmetric: what LAPACK, which goes by columns, has above its
   diagonal. */
enum { POINTS = 200, WIDTH = 200 };

static _Alignas(64) double kernel[POINTS][WIDTH], inverse[POINTS][WIDTH], apart[POINTS][WIDTH];

void work(const void *const *in, double *const *out) {
  in_t points = in[0], observed = in[1];
  double log_scale = *(const double *)in[2], shrink = exp(-2 * *(const double *)in[3]);
  double noise = exp(2 * *(const double *)in[4]), places[3][POINTS], weights[POINTS] = {0};
  double value = -POINTS * log(6.283185307179586) / 2, by[3] = {0, 0, 0};
  count_t size = POINTS, stride = WIDTH, failed = 0;
  for (int i = 0; i < POINTS; i++)
    for (int k = 0; k < 3; k++) places[k][i] = points[3 * i + k];
  for (int i = 0; i < POINTS; i++) {
    for (int j = 0; j <= i; j++) {
      double x = places[0][i] - places[0][j], y = places[1][i] - places[1][j];
      double z = places[2][i] - places[2][j];
      apart[i][j] = (x * x + y * y + z * z) * shrink;
      inverse[i][j] = kernel[i][j] = exp(2 * log_scale - apart[i][j] / 2);
    }
    inverse[i][i] += noise;
  }
  dpotrf("U", &size, inverse[0], &stride, &failed);
  for (int i = 0; i < POINTS; i++) value -= log(inverse[i][i]);
  dpotri("U", &size, inverse[0], &stride, &failed);
  for (int i = 0; i < POINTS; i++) {
    double sum = 0;
    for (int j = 0; j < i; j++) {
      sum += inverse[i][j] * observed[j];
      weights[j] += inverse[i][j] * observed[i];
    }
    weights[i] = sum + inverse[i][i] * observed[i];
  }
  for (int i = 0; i < POINTS; i++) {
    double scales = 0, lengths = 0, own = weights[i] * weights[i] - inverse[i][i];
    for (int j = 0; j < i; j++) {
      double pull = (weights[i] * weights[j] - inverse[i][j]) * kernel[i][j];
      scales += pull;
      lengths += pull * apart[i][j];
    }
    value -= weights[i] * observed[i] / 2;
    by[0] += 2 * scales + own * kernel[i][i];
    by[1] += lengths;
    by[2] += own;
  }
  *out[0] = value;
  *out[1] = by[0];
  *out[2] = by[1];
  *out[3] = by[2] * noise;
}
