"""The work that the peers are compared on: one module each.

A workload module has

- ``arguments()``: the NumPy arrays that a compiled function is called with;
- ``numpy(*arguments)``: the work written by hand in NumPy, which is also the reference result;
- ``frazil()`` and ``pytensor()``: ``(inputs, outputs)``, the same work as an expression;
- ``jax()``: the same work as a function to be jitted.

Each returns the outputs in the same order.
"""

from workloads import chain300, eight_schools, elemwise, gaussian_process, logistic

WORKLOADS = {
    "elemwise": elemwise,
    "logistic": logistic,
    "eight_schools": eight_schools,
    "chain300": chain300,
    "gaussian_process": gaussian_process,
}
