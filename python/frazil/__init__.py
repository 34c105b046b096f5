"""frazil: a tensor-expression compiler whose graphs are immutable.

Write array code over :mod:`frazil.tensor`'s functions, differentiate it with :func:`grad`, compile
it with :func:`function`.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from frazil import birthplace as _birthplace  # noqa: F401  (tells our code from the user's)
from frazil import inplace as inplace
from frazil import operators as _operators  # noqa: F401  (gives variables their operators)
from frazil import rewrite as rewrite
from frazil import tensor as tensor
from frazil._core import Constant as Constant
from frazil._core import Container as Container
from frazil._core import DebugModeError as DebugModeError
from frazil._core import FrozenApply as FrozenApply
from frazil._core import FrozenFunctionGraph as FrozenFunctionGraph
from frazil._core import FunctionGraph as FunctionGraph
from frazil._core import InconsistencyError as InconsistencyError
from frazil._core import MissingInputError as MissingInputError
from frazil._core import SharedVariable as SharedVariable
from frazil._core import TensorType as TensorType
from frazil._core import Variable as Variable
from frazil._core import graph_replace as graph_replace
from frazil.compile.function import Function as Function
from frazil.compile.function import function as function
from frazil.compile.inner import rewrite_inner_graph as rewrite_inner_graph
from frazil.compile.mode import Mode as Mode
from frazil.compile.shared import shared as shared
from frazil.compile.specification import In as In
from frazil.compile.specification import Out as Out
from frazil.gradient import DisconnectedInputError as DisconnectedInputError
from frazil.gradient import NotDifferentiableError as NotDifferentiableError
from frazil.gradient import grad as grad
from frazil.ifelse import ifelse as ifelse
from frazil.jacobian_products import Lop as Lop
from frazil.jacobian_products import Rop as Rop
from frazil.jacobians import hessian as hessian
from frazil.jacobians import jacobian as jacobian
from frazil.link.pool import compile_threads as compile_threads
from frazil.loop.checkpointing import scan_checkpoints as scan_checkpoints
from frazil.loop.folding import foldl as foldl
from frazil.loop.folding import foldr as foldr
from frazil.loop.folding import map as map
from frazil.loop.folding import reduce as reduce
from frazil.loop.scanning import scan as scan
from frazil.loop.scanning import until as until
from frazil.op import Op as Op
from frazil.op_from_graph import OpFromGraph as OpFromGraph
from frazil.printing import dprint as dprint
from frazil.printing import pp as pp
from frazil.version import __version__ as __version__

if not _TYPE_CHECKING:  # checkers of types know by themselves which names there are not
    from frazil.absent import IN_FRAZIL as _IN_FRAZIL
    from frazil.absent import refuse as _refuse

    __getattr__ = _refuse("frazil", _IN_FRAZIL)
