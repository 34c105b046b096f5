"""The work that the peers are compared on: one module each.

A workload module has

- ``arguments()``: the NumPy arrays that a compiled function is called with;
- ``numpy(*arguments)``: the work written by hand in NumPy, which is also the reference result;
- ``frazil()`` and ``pytensor()``: ``(inputs, outputs)``, the same work as an expression;
- ``jax()``: the same work as a function to be jitted;
- ``limit()``, where there is such a thing: a function that does only what no compiler can avoid,
  as moving each array through memory once, or the calls of BLAS and LAPACK alone.

The others return the outputs in the same order.
"""

from workloads import (
    ar2,
    attention,
    autoregression,
    chain300,
    eight_schools,
    elemwise,
    embedding,
    epidemic,
    escape_counts,
    garch,
    gated_network,
    gaussian_process,
    heat,
    hmm8,
    hmm50,
    kalman,
    kalman_batch,
    layer_norm,
    leapfrog,
    logistic,
    logsumexp,
    lorenz,
    mixture,
    pairwise,
    perceptron,
    predator_prey,
    radon,
    random_walk,
    ratings,
    recurrent,
    softmax_xent,
    sums,
    survival,
)

WORKLOADS = {
    "elemwise": elemwise,
    "sums": sums,
    "logistic": logistic,
    "eight_schools": eight_schools,
    "chain300": chain300,
    "softmax_xent": softmax_xent,
    "logsumexp": logsumexp,
    "layer_norm": layer_norm,
    "gaussian_process": gaussian_process,
    "radon": radon,
    "garch": garch,
    "kalman": kalman,
    "ar2": ar2,
    "random_walk": random_walk,
    "predator_prey": predator_prey,
    "recurrent": recurrent,
    "escape_counts": escape_counts,
    "hmm8": hmm8,
    "hmm50": hmm50,
    "epidemic": epidemic,
    "embedding": embedding,
    "pairwise": pairwise,
    "lorenz": lorenz,
    "gated_network": gated_network,
    "autoregression": autoregression,
    "kalman_batch": kalman_batch,
    "perceptron": perceptron,
    "attention": attention,
    "mixture": mixture,
    "heat": heat,
    "leapfrog": leapfrog,
    "ratings": ratings,
    "survival": survival,
}
