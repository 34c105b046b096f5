"""Linkers: they turn a graph into a program of native kernels and other instructions.

May import ``scan`` and what lies below, and ``cache``; never ``rewrite`` or ``gradient``. Start
reading at :mod:`frazil.link.linkers.native`.
"""

from frazil.graph.namespace import publish as _publish
from frazil.link.fusion.registry import Fusion as Fusion
from frazil.link.fusion.registry import register_fusion as register_fusion
from frazil.link.lowering.native_form import native_form as native_form
from frazil.link.toolchain.count import compiled_kernels as compiled_kernels

_publish(globals())
