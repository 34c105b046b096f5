/* What the programs of limits have in common: `work` once, or so many times. */
#include <math.h>
#include <string.h>

typedef const double *restrict in_t;
typedef double *restrict out_t;

/* Not inlined, nor known to give the same each time: each turn does all of it. */
__attribute__((noipa)) void work(const void *const *in, double *const *out);

void run(const void *const *in, double *const *out, long turns) {
  for (long turn = 0; turn < turns; turn++) work(in, out);
}
