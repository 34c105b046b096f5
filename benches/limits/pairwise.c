#include "limit.h"

enum { POINTS = 800 };

void work(const void *const *in, double *const *out) {
  in_t points = in[0];
  double scale = *(const double *)in[1], value = 0, by_scale = 0;
  double factor = -0.5 / (scale * scale);
  double x[POINTS], y[POINTS], z[POINTS];
  out_t by = out[1];
  for (int j = 0; j < POINTS; j++) {
    x[j] = points[3 * j];
    y[j] = points[3 * j + 1];
    z[j] = points[3 * j + 2];
  }
  for (int i = 0; i < POINTS; i++) {
    double to_x = 0, to_y = 0, to_z = 0;
    for (int j = 0; j < POINTS; j++) {
      double dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
      double square = dx * dx + dy * dy + dz * dz, near = exp(factor * square);
      value += near;
      by_scale += near * square;
      to_x += near * dx;
      to_y += near * dy;
      to_z += near * dz;
    }
    by[3 * i] = 4 * factor * to_x;
    by[3 * i + 1] = 4 * factor * to_y;
    by[3 * i + 2] = 4 * factor * to_z;
  }
  *out[0] = value;
  *out[2] = by_scale / (scale * scale * scale);
}
