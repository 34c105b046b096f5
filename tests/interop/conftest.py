"""PyTensor and PyMC, imported once: what they deprecate themselves is not ours to mend."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pymc  # noqa: F401
    import pytensor

import frazil.interop.pytensor  # noqa: F401  (registers the mode)

# PyTensor's own modes run Python code here: its compilers take longer than all tests together.
pytensor.config.cxx = ""
