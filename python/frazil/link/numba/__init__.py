"""Kernels by LLVM: their text, and the object files that Numba's LLVM makes of it.

May import ``link/lowering`` and what lies below. Start reading at
:mod:`frazil.link.numba.compiler`; :mod:`~frazil.link.numba.translation` writes the text of a
kernel.
"""

from frazil.link.numba import fusion as fusion  # registers what Numba fuses
from frazil.link.numba.compiler import NumbaCompiler as NumbaCompiler
