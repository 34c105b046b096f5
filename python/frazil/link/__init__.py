"""From graphs to programs: fusion, sizes, and the kernel compilers."""

from frazil.link.compilations import compiled_kernels as compiled_kernels
from frazil.link.fusible import Fusion as Fusion
from frazil.link.fusible import register_fusion as register_fusion
