/* Products of a small matrix, row by row in memory, and a vector. */

/* `to = matrix @ x`: rows in fours, whose number is a multiple of that. */
static inline void rows_by(int rows, int columns, int stride, in_t matrix, in_t x, out_t to) {
  for (int i = 0; i < rows; i += 4) {
    const double *row = matrix + i * stride;
    double a = 0, b = 0, c = 0, d = 0;
    for (int j = 0; j < columns; j++) {
      a += row[j] * x[j];
      b += row[stride + j] * x[j];
      c += row[2 * stride + j] * x[j];
      d += row[3 * stride + j] * x[j];
    }
    to[i] = a;
    to[i + 1] = b;
    to[i + 2] = c;
    to[i + 3] = d;
  }
}

/* `to = x @ matrix` for rows of `width` vectors, at most 13, whose sums stay in registers. */
static inline __attribute__((always_inline)) void columns_by(int rows, int width, int stride,
                                                             in_t x, in_t matrix, out_t to) {
  lanes sums[13];
  for (int v = 0; v < width; v++) sums[v] = (lanes){0};
  for (int i = 0; i < rows; i++)
    for (int v = 0; v < width; v++) sums[v] += x[i] * load(matrix + i * stride + v * LANES);
  for (int v = 0; v < width; v++) store(to + v * LANES, sums[v]);
}
