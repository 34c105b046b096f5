"""Kernels in C, made by the system's compiler."""

from frazil.link.c import fusion as fusion  # registers what C fuses
from frazil.link.c.compiler import CCompiler as CCompiler
