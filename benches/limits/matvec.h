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

/* `to = x @ matrix` for rows of `width` vectors, of which 13 at a time have their sums in registers. */
static inline __attribute__((always_inline)) void columns_by(int rows, int width, int stride,
                                                             in_t x, in_t matrix, out_t to) {
  for (int first = 0; first < width; first += 13) {
    int count = width - first < 13 ? width - first : 13;
    lanes sums[13];
    for (int v = 0; v < count; v++) sums[v] = (lanes){0};
    for (int i = 0; i < rows; i++)
      for (int v = 0; v < count; v++)
        sums[v] += x[i] * load(matrix + i * stride + (first + v) * LANES);
    for (int v = 0; v < count; v++) store(to + (first + v) * LANES, sums[v]);
  }
}

#ifdef __AVX512F__
/* The sums of eight vectors, each. */
static inline lanes sums_of(const lanes *x) {
  lanes two[4], four[2];
  for (int k = 0; k < 4; k++)
    two[k] = __builtin_shufflevector(x[2 * k], x[2 * k + 1], 0, 8, 2, 10, 4, 12, 6, 14) +
             __builtin_shufflevector(x[2 * k], x[2 * k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  for (int k = 0; k < 2; k++)
    four[k] = __builtin_shufflevector(two[2 * k], two[2 * k + 1], 0, 1, 8, 9, 4, 5, 12, 13) +
              __builtin_shufflevector(two[2 * k], two[2 * k + 1], 2, 3, 10, 11, 6, 7, 14, 15);
  return __builtin_shufflevector(four[0], four[1], 0, 1, 2, 3, 8, 9, 10, 11) +
         __builtin_shufflevector(four[0], four[1], 4, 5, 6, 7, 12, 13, 14, 15);
}
#endif
