#include "limit.h"

enum { PEOPLE = 2000, FILMS = 800, FACTORS = 8, COUNT = 50000 };

static double penalty(in_t table, out_t by_table, long count) {
  double squares = 0;
  for (long k = 0; k < count; k++) {
    squares += table[k] * table[k];
    by_table[k] = 0.2 * table[k];
  }
  return 0.1 * squares;
}

void work(const void *const *in, double *const *out) {
  const long *person = in[0], *film = in[1];
  in_t rating = in[2], people = in[3], films = in[4];
  out_t by_people = out[1], by_films = out[2];
  double value = penalty(people, by_people, PEOPLE * FACTORS);
  value += penalty(films, by_films, FILMS * FACTORS);
  for (long n = 0; n < COUNT; n++) {
    const double *p = people + FACTORS * person[n], *f = films + FACTORS * film[n];
    double *by_p = by_people + FACTORS * person[n], *by_f = by_films + FACTORS * film[n];
    lanes told = {0};
    for (int v = 0; v < FACTORS; v += LANES) told += load(p + v) * load(f + v);
    double error = rating[n] - sum_of(told);
    value += error * error;
    for (int v = 0; v < FACTORS; v += LANES) {
      store(by_p + v, load(by_p + v) - 2 * error * load(f + v));
      store(by_f + v, load(by_f + v) - 2 * error * load(p + v));
    }
  }
  *out[0] = value;
}
