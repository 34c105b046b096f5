"""A hidden Markov model of 50 states."""

from workloads.hidden_markov import of_states

arguments, numpy, frazil, pytensor, jax = of_states(50)
