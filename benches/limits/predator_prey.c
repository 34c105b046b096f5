#include "limit.h"

enum { STEPS = 1000 };
static const double H = 0.01;

typedef struct {
  double prey, predators;
} state_t;

typedef struct {
  double a, b, c, d;
} rates_t;

static inline state_t speed(state_t s, rates_t r) {
  double meet = s.prey * s.predators;
  return (state_t){r.a * s.prey - r.b * meet, r.c * meet - r.d * s.predators};
}

static inline state_t moved(state_t s, double by, state_t slope) {
  return (state_t){s.prey + by * slope.prey, s.predators + by * slope.predators};
}

/* The adjoint of the state that had a speed of this adjoint; `by` gains that of the rates. */
static inline state_t back(state_t s, rates_t r, state_t adjoint, rates_t *by) {
  double meet = s.prey * s.predators, pull = r.c * adjoint.predators - r.b * adjoint.prey;
  by->a += adjoint.prey * s.prey;
  by->b -= adjoint.prey * meet;
  by->c += adjoint.predators * meet;
  by->d -= adjoint.predators * s.predators;
  return (state_t){r.a * adjoint.prey + pull * s.predators,
                   pull * s.prey - r.d * adjoint.predators};
}

void work(const void *const *in, double *const *out) {
  in_t target = in[0];
  rates_t rates = {*(const double *)in[1], *(const double *)in[2], *(const double *)in[3],
                   *(const double *)in[4]};
  rates_t by = {0, 0, 0, 0};
  state_t states[STEPS + 1] = {{1, 1}}, adjoint = {0, 0};
  double value = 0;
  for (int t = 0; t < STEPS; t++) {
    state_t s = states[t], k1 = speed(s, rates), k2 = speed(moved(s, H / 2, k1), rates);
    state_t k3 = speed(moved(s, H / 2, k2), rates), k4 = speed(moved(s, H, k3), rates);
    state_t outer = moved(k1, 1, k4), inner = moved(k2, 1, k3);
    states[t + 1] = moved(s, H / 6, moved(outer, 2, inner));
  }
  for (int t = STEPS - 1; t >= 0; t--) {
    double apart[2] = {states[t + 1].prey - target[2 * t],
                       states[t + 1].predators - target[2 * t + 1]};
    value += apart[0] * apart[0] + apart[1] * apart[1];
    adjoint = moved(adjoint, 2, (state_t){apart[0], apart[1]});
    state_t s = states[t], k1 = speed(s, rates), s2 = moved(s, H / 2, k1);
    state_t k2 = speed(s2, rates), s3 = moved(s, H / 2, k2);
    state_t s4 = moved(s, H, speed(s3, rates)), none = {0, 0};
    state_t by4 = back(s4, rates, moved(none, H / 6, adjoint), &by);
    state_t by3 = back(s3, rates, moved(moved(none, H / 3, adjoint), H, by4), &by);
    state_t by2 = back(s2, rates, moved(moved(none, H / 3, adjoint), H / 2, by3), &by);
    state_t by1 = back(s, rates, moved(moved(none, H / 6, adjoint), H / 2, by2), &by);
    adjoint = moved(moved(adjoint, 1, moved(by4, 1, by3)), 1, moved(by2, 1, by1));
  }
  *out[0] = value;
  *out[1] = by.a;
  *out[2] = by.b;
  *out[3] = by.c;
  *out[4] = by.d;
}
