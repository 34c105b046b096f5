"""Kernels by the code generator within the extension: no compiler, and a millisecond a kernel.

May import ``link/lowering`` and what lies below. Start reading at
:mod:`frazil.link.cranelift.compiler`; :mod:`~frazil.link.cranelift.description` writes the text of
a kernel that ``rust/codegen`` reads.
"""

from frazil.link.cranelift import fusion as fusion  # registers what the code generator fuses
from frazil.link.cranelift.compiler import CraneliftCompiler as CraneliftCompiler
from frazil.link.cranelift.compiler import MadeKernel as MadeKernel
