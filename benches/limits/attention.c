#include "limit.h"
#include "blas.h"

/* The projections of all positions are beside each other, as are those of the adjoints. */
enum { POSITIONS = 128, FEATURES = 32, ALL = 3 * FEATURES };

static _Alignas(64) double projections[POSITIONS][ALL], adjoints[POSITIONS][ALL];
static _Alignas(64) double shares[POSITIONS][POSITIONS], by_shares[POSITIONS][POSITIONS];
static _Alignas(64) double read[POSITIONS][FEATURES], by_read[POSITIONS][FEATURES];

void work(const void *const *in, double *const *out) {
  in_t x = in[0];
  double *query = projections[0], *key = query + FEATURES, *content = key + FEATURES;
  double *by_query = adjoints[0], *by_key = by_query + FEATURES, *by_content = by_key + FEATURES;
  double factor = 1 / sqrt(FEATURES);
  for (int k = 0; k < 3; k++)
    product(POSITIONS, FEATURES, FEATURES, 1, plain(x, FEATURES), plain(in[k + 1], FEATURES),
            query + k * FEATURES, ALL);
  product(POSITIONS, FEATURES, POSITIONS, factor, plain(query, ALL), turned(key, ALL), shares[0],
          POSITIONS);
  for (int i = 0; i < POSITIONS; i++) {
    double highest = shares[i][0], total = 0;
    for (int j = 1; j < POSITIONS; j++) highest = shares[i][j] > highest ? shares[i][j] : highest;
    for (int j = 0; j < POSITIONS; j++) total += shares[i][j] = exp(shares[i][j] - highest);
    for (int j = 0; j < POSITIONS; j++) shares[i][j] *= 1 / total;
  }
  product(POSITIONS, POSITIONS, FEATURES, 1, plain(shares[0], POSITIONS), plain(content, ALL),
          read[0], FEATURES);
  double means[POSITIONS];
  lanes sum = {0};
  for (int i = 0; i < POSITIONS; i++) {
    lanes mean = {0};
    for (int k = 0; k < FEATURES; k += LANES) {
      lanes given = load(read[i] + k), told = tanhs(given), by = 1 - told * told;
      sum += told;
      mean += by * given;
      store(by_read[i] + k, by);
    }
    means[i] = sum_of(mean);
  }
  product(POSITIONS, FEATURES, POSITIONS, 1, plain(by_read[0], FEATURES), turned(content, ALL),
          by_shares[0], POSITIONS);
  product(POSITIONS, POSITIONS, FEATURES, 1, turned(shares[0], POSITIONS),
          plain(by_read[0], FEATURES), by_content, ALL);
  for (int i = 0; i < POSITIONS; i++)
    for (int j = 0; j < POSITIONS; j++)
      by_shares[i][j] = shares[i][j] * (by_shares[i][j] - means[i]);
  product(POSITIONS, POSITIONS, FEATURES, factor, plain(by_shares[0], POSITIONS), plain(key, ALL),
          by_query, ALL);
  product(POSITIONS, POSITIONS, FEATURES, factor, turned(by_shares[0], POSITIONS),
          plain(query, ALL), by_key, ALL);
  for (int k = 0; k < 3; k++)
    product(FEATURES, POSITIONS, FEATURES, 1, turned(x, FEATURES),
            plain(by_query + k * FEATURES, ALL), out[k + 1], FEATURES);
  *out[0] = sum_of(sum);
}
