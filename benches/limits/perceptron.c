#include "limit.h"

/* Rows in tiles, whose hidden layer and scores stay in the nearest cache; `AHEAD` rows at a time
   share what registers hold of a matrix. */
enum { ROWS = 256, WIDTH = 20, HIDDEN = 64, CLASSES = 10, ROOM = 16, TILE = 32, AHEAD = 2 };
enum { PARTS = HIDDEN / LANES, SCORES = ROOM / LANES };

void work(const void *const *in, double *const *out) {
  in_t inputs = in[0], first = in[2], shift = in[3], second = in[4], offset = in[5];
  const long *labels = in[1];
  out_t by_first = out[1], by_shift = out[2], by_second = out[3], by_offset = out[4];
  _Alignas(64) double out_of[HIDDEN][ROOM] = {{0}}, into[CLASSES][HIDDEN];
  _Alignas(64) double by_out[HIDDEN][ROOM] = {{0}}, offsets[ROOM] = {0};
  double value = 0;
  for (int h = 0; h < HIDDEN; h++)
    for (int c = 0; c < CLASSES; c++) into[c][h] = out_of[h][c] = second[h * CLASSES + c];
  memcpy(offsets, offset, CLASSES * sizeof(double));
  memset(by_first, 0, WIDTH * HIDDEN * sizeof(double));
  memset(by_shift, 0, HIDDEN * sizeof(double));
  memset(by_offset, 0, CLASSES * sizeof(double));
  for (int start = 0; start < ROWS; start += TILE) {
    _Alignas(64) double hidden[TILE][HIDDEN], scores[TILE][ROOM], pulls[TILE][HIDDEN];
    double across[CLASSES][TILE], high[TILE], total[TILE];
    in_t rows = inputs + start * WIDTH;
    for (int r = 0; r < TILE; r += AHEAD) {
      lanes sums[AHEAD][PARTS];
      for (int a = 0; a < AHEAD; a++)
        for (int v = 0; v < PARTS; v++) sums[a][v] = load(shift + v * LANES);
      for (int w = 0; w < WIDTH; w++)
        for (int v = 0; v < PARTS; v++) {
          lanes weight = load(first + w * HIDDEN + v * LANES);
          for (int a = 0; a < AHEAD; a++) sums[a][v] += rows[(r + a) * WIDTH + w] * weight;
        }
      for (int a = 0; a < AHEAD; a++)
        for (int v = 0; v < PARTS; v++)
          store(hidden[r + a] + v * LANES, larger(sums[a][v], (lanes){0}));
    }
    for (int r = 0; r < TILE; r += 4 * AHEAD) {
      lanes sums[4 * AHEAD][SCORES];
      for (int a = 0; a < 4 * AHEAD; a++)
        for (int v = 0; v < SCORES; v++) sums[a][v] = load(offsets + v * LANES);
      for (int h = 0; h < HIDDEN; h++)
        for (int v = 0; v < SCORES; v++)
          for (int a = 0; a < 4 * AHEAD; a++)
            sums[a][v] += hidden[r + a][h] * load(out_of[h] + v * LANES);
      for (int a = 0; a < 4 * AHEAD; a++)
        for (int v = 0; v < SCORES; v++) store(scores[r + a] + v * LANES, sums[a][v]);
    }
    for (int c = 0; c < CLASSES; c++)
      for (int r = 0; r < TILE; r++) across[c][r] = scores[r][c];
    for (int r = 0; r < TILE; r++) high[r] = across[0][r], total[r] = 0;
    for (int c = 1; c < CLASSES; c++)
      for (int r = 0; r < TILE; r++) high[r] = across[c][r] > high[r] ? across[c][r] : high[r];
    for (int c = 0; c < CLASSES; c++)
      for (int r = 0; r < TILE; r++) total[r] += across[c][r] = exp(across[c][r] - high[r]);
    for (int r = 0; r < TILE; r++) value += high[r] + log(total[r]);
    for (int r = 0; r < TILE; r++) {
      long label = labels[start + r];
      value -= scores[r][label];
      for (int c = 0; c < CLASSES; c++) scores[r][c] = across[c][r] / total[r];
      scores[r][label] -= 1;
      for (int c = 0; c < CLASSES; c++) by_offset[c] += scores[r][c];
    }
    for (int r = 0; r < TILE; r += AHEAD) {
      lanes sums[AHEAD][PARTS] = {{{0}}};
      for (int c = 0; c < CLASSES; c++)
        for (int v = 0; v < PARTS; v++) {
          lanes weight = load(into[c] + v * LANES);
          for (int a = 0; a < AHEAD; a++) sums[a][v] += scores[r + a][c] * weight;
        }
      for (int a = 0; a < AHEAD; a++)
        for (int v = 0; v < PARTS; v++) store(pulls[r + a] + v * LANES, sums[a][v]);
      for (int a = r; a < r + AHEAD; a++)
        for (int h = 0; h < HIDDEN; h++) pulls[a][h] = hidden[a][h] > 0 ? pulls[a][h] : 0;
    }
    for (int h = 0; h < HIDDEN; h += 4 * AHEAD) {
      lanes sums[4 * AHEAD][SCORES];
      for (int a = 0; a < 4 * AHEAD; a++)
        for (int v = 0; v < SCORES; v++) sums[a][v] = load(by_out[h + a] + v * LANES);
      for (int r = 0; r < TILE; r++)
        for (int v = 0; v < SCORES; v++)
          for (int a = 0; a < 4 * AHEAD; a++)
            sums[a][v] += hidden[r][h + a] * load(scores[r] + v * LANES);
      for (int a = 0; a < 4 * AHEAD; a++)
        for (int v = 0; v < SCORES; v++) store(by_out[h + a] + v * LANES, sums[a][v]);
    }
    for (int w = 0; w < WIDTH; w += AHEAD) {
      lanes sums[AHEAD][PARTS];
      for (int a = 0; a < AHEAD; a++)
        for (int v = 0; v < PARTS; v++) sums[a][v] = load(by_first + (w + a) * HIDDEN + v * LANES);
      for (int r = 0; r < TILE; r++)
        for (int v = 0; v < PARTS; v++) {
          lanes pull = load(pulls[r] + v * LANES);
          for (int a = 0; a < AHEAD; a++) sums[a][v] += rows[r * WIDTH + w + a] * pull;
        }
      for (int a = 0; a < AHEAD; a++)
        for (int v = 0; v < PARTS; v++) store(by_first + (w + a) * HIDDEN + v * LANES, sums[a][v]);
    }
    for (int r = 0; r < TILE; r++)
      for (int h = 0; h < HIDDEN; h++) by_shift[h] += pulls[r][h];
  }
  *out[0] = value;
  for (int h = 0; h < HIDDEN; h++)
    memcpy(by_second + h * CLASSES, by_out[h], CLASSES * sizeof(double));
}
