"""frazil: a tensor-expression compiler whose graphs are immutable.

Write array code over :mod:`frazil.tensor`'s functions, differentiate it with :func:`grad`, compile
it with :func:`function`.
"""

import gc as _gc
import typing as _typing

from frazil import batching as batching
from frazil import gradient as gradient
from frazil import random as random
from frazil import rewrite as rewrite
from frazil import scalar as scalar
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
from frazil._core import __version__ as __version__
from frazil._core import graph_replace as graph_replace
from frazil.batching.vectorize import vectorize as vectorize
from frazil.compile.function import Function as Function
from frazil.compile.function import function as function
from frazil.compile.inner import rewrite_inner_graph as rewrite_inner_graph
from frazil.compile.mode import Mode as Mode
from frazil.compile.shared_variables import shared as shared
from frazil.compile.specification import In as In
from frazil.compile.specification import Out as Out
from frazil.gradient.products import Lop as Lop
from frazil.gradient.products import Rop as Rop
from frazil.gradient.products import hessian_vector_product as hessian_vector_product
from frazil.gradient.products import pullback as pullback
from frazil.gradient.products import pushforward as pushforward
from frazil.gradient.reverse import DisconnectedInputError as DisconnectedInputError
from frazil.gradient.reverse import NotDifferentiableError as NotDifferentiableError
from frazil.graph import inplace as inplace
from frazil.graph.namespace import publish as _publish
from frazil.graph.op import Op as Op
from frazil.graph.printing import dprint as dprint
from frazil.inner.ifelse import ifelse as ifelse
from frazil.inner.op_from_graph import OpFromGraph as OpFromGraph
from frazil.jit import debug as debug
from frazil.jit.batches import vmap as vmap
from frazil.jit.control import cond as cond
from frazil.jit.control import fori_loop as fori_loop
from frazil.jit.control import while_loop as while_loop
from frazil.jit.derivatives import grad as grad
from frazil.jit.derivatives import hessian as hessian
from frazil.jit.derivatives import jacobian as jacobian
from frazil.jit.derivatives import jvp as jvp
from frazil.jit.derivatives import stop_gradient as stop_gradient
from frazil.jit.derivatives import value_and_grad as value_and_grad
from frazil.jit.derivatives import vjp as vjp
from frazil.jit.errors import SharpEdgeError as SharpEdgeError
from frazil.jit.errors import TracedValueError as TracedValueError
from frazil.jit.function import jit as jit
from frazil.jit.pytree import register_pytree as register_pytree
from frazil.link.toolchain.pool import compile_threads as compile_threads
from frazil.scan.build import scan as scan
from frazil.scan.build import until as until
from frazil.scan.checkpointing import scan_checkpoints as scan_checkpoints
from frazil.scan.functional import foldl as foldl
from frazil.scan.functional import foldr as foldr
from frazil.scan.functional import map as map
from frazil.scan.functional import reduce as reduce
from frazil.tensor.formulas import pp as pp

if not _typing.TYPE_CHECKING:  # checkers of types know by themselves which names there are not
    from frazil.tensor.absent import IN_FRAZIL as _IN_FRAZIL
    from frazil.tensor.absent import from_above as _from_above
    from frazil.tensor.absent import refuse as _refuse

    _from_above.update(Lop=Lop, Rop=Rop, pullback=pullback, pushforward=pushforward)
    _from_above.update(grad=grad, hessian=hessian, jacobian=jacobian)
    __getattr__ = _refuse("frazil", _IN_FRAZIL)

_publish(
    globals(),
    modules=["batching", "debug", "gradient", "inplace", "random", "rewrite", "scalar", "tensor"],
)

# What was imported is no garbage, but the first function would wait for a search of all of it. To
# freeze and thaw moves it to the oldest generation, which is searched when that has grown.
if not _gc.get_freeze_count():
    _gc.freeze()
    _gc.unfreeze()
