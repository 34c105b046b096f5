"""From graphs to programs: fusion, sizes, and the kernel compilers."""
