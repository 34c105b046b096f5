"""Kernels as Numba callbacks."""

from frazil.link.numba import fusion as fusion  # registers what Numba fuses
from frazil.link.numba.compiler import NumbaCompiler as NumbaCompiler
