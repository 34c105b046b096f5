"""Kernels as Numba callbacks."""

from frazil.link.numba.compiler import NumbaCompiler as NumbaCompiler
