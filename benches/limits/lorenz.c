#include "limit.h"

/* Eight systems go all their steps, and back, before the next eight. */
enum { SYSTEMS = 1000, STEPS = 100 };
static const double H = 0.01;

typedef struct {
  lanes x, y, z;
} state_t;

typedef struct {
  double sigma, rho, beta;
} rates_t;

static inline state_t speed(state_t s, rates_t r) {
  return (state_t){r.sigma * (s.y - s.x), s.x * (r.rho - s.z) - s.y, s.x * s.y - r.beta * s.z};
}

static inline state_t moved(state_t s, double by, state_t slope) {
  return (state_t){s.x + by * slope.x, s.y + by * slope.y, s.z + by * slope.z};
}

/* The adjoint of the state that had a speed of this adjoint; `by` gains that of the rates. */
static inline state_t back(state_t s, rates_t r, state_t a, state_t *by) {
  by->x += a.x * (s.y - s.x);
  by->y += a.y * s.x;
  by->z -= a.z * s.z;
  return (state_t){(r.rho - s.z) * a.y + s.y * a.z - r.sigma * a.x,
                   r.sigma * a.x - a.y + s.x * a.z, -s.x * a.y - r.beta * a.z};
}

void work(const void *const *in, double *const *out) {
  in_t start = in[0];
  out_t by_start = out[1];
  rates_t r = {*(const double *)in[1], *(const double *)in[2], *(const double *)in[3]};
  state_t states[STEPS], by = {{0}, {0}, {0}}, none = by;
  lanes value = {0};
  for (int k = 0; k < SYSTEMS; k += LANES) {
    state_t s = {load(start + k), load(start + SYSTEMS + k), load(start + 2 * SYSTEMS + k)};
    for (int t = 0; t < STEPS; t++) {
      states[t] = s;
      state_t k1 = speed(s, r), k2 = speed(moved(s, H / 2, k1), r);
      state_t k3 = speed(moved(s, H / 2, k2), r), k4 = speed(moved(s, H, k3), r);
      s = moved(s, H / 6, moved(moved(k1, 1, k4), 2, moved(k2, 1, k3)));
    }
    value += s.x * s.x + s.y * s.y + s.z * s.z;
    state_t adjoint = moved(none, 2, s);
    for (int t = STEPS - 1; t >= 0; t--) {
      state_t s1 = states[t], s2 = moved(s1, H / 2, speed(s1, r));
      state_t s3 = moved(s1, H / 2, speed(s2, r)), s4 = moved(s1, H, speed(s3, r));
      state_t sixth = moved(none, H / 6, adjoint);
      state_t by4 = back(s4, r, sixth, &by);
      state_t by3 = back(s3, r, moved(moved(sixth, 1, sixth), H, by4), &by);
      state_t by2 = back(s2, r, moved(moved(sixth, 1, sixth), H / 2, by3), &by);
      state_t by1 = back(s1, r, moved(sixth, H / 2, by2), &by);
      adjoint = moved(moved(adjoint, 1, moved(by4, 1, by3)), 1, moved(by2, 1, by1));
    }
    store(by_start + k, adjoint.x);
    store(by_start + SYSTEMS + k, adjoint.y);
    store(by_start + 2 * SYSTEMS + k, adjoint.z);
  }
  *out[0] = sum_of(value);
  *out[2] = sum_of(by.x);
  *out[3] = sum_of(by.y);
  *out[4] = sum_of(by.z);
}
