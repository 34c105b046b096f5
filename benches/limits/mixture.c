#include "limit.h"

enum { COUNT = 5000, PARTS = 10, BLOCK = 200 };

void work(const void *const *in, double *const *out) {
  in_t seen = in[0], means = in[1], logs = in[2], scores = in[3];
  out_t by_means = out[1], by_logs = out[2], by_scores = out[3];
  double shares[PARTS], inverse[PARTS], level[PARTS], value = 0, highest = scores[0], total = 0;
  for (int k = 1; k < PARTS; k++) highest = scores[k] > highest ? scores[k] : highest;
  for (int k = 0; k < PARTS; k++) total += shares[k] = exp(scores[k] - highest);
  for (int k = 0; k < PARTS; k++) {
    level[k] = scores[k] - highest - log(total) - logs[k];
    inverse[k] = exp(-logs[k]);
    by_means[k] = by_logs[k] = 0;
    by_scores[k] = -COUNT * shares[k] / total;
  }
  for (int start = 0; start < COUNT; start += BLOCK) {
    double likely[PARTS][BLOCK], high[BLOCK], sum[BLOCK];
    in_t x = seen + start;
    for (int n = 0; n < BLOCK; n++) high[n] = -INFINITY;
    for (int k = 0; k < PARTS; k++)
      for (int n = 0; n < BLOCK; n++) {
        double apart = (x[n] - means[k]) * inverse[k];
        likely[k][n] = level[k] - 0.5 * apart * apart;
        high[n] = likely[k][n] > high[n] ? likely[k][n] : high[n];
      }
    memset(sum, 0, sizeof sum);
    for (int k = 0; k < PARTS; k++)
      for (int n = 0; n < BLOCK; n++) sum[n] += likely[k][n] = exp(likely[k][n] - high[n]);
    for (int n = 0; n < BLOCK; n++) {
      value += high[n] + log(sum[n]);
      sum[n] = 1 / sum[n];
    }
    for (int k = 0; k < PARTS; k++) {
      double shares_of = 0, pulls = 0, squares = 0;
      for (int n = 0; n < BLOCK; n++) {
        double share = likely[k][n] * sum[n], apart = (x[n] - means[k]) * inverse[k];
        shares_of += share;
        pulls += share * apart;
        squares += share * apart * apart;
      }
      by_scores[k] += shares_of;
      by_means[k] += pulls * inverse[k];
      by_logs[k] += squares - shares_of;
    }
  }
  *out[0] = value;
}
