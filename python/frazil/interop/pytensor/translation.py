"""PyTensor's graphs as frazil's, node by node: one rule for each class of ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import toposort
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.random.type import RandomGeneratorType
from pytensor.tensor.type import TensorType

import frazil.tensor as ft
from frazil._core import Constant as OwnConstant
from frazil._core import TensorType as OwnType
from frazil._core import Variable
from frazil.graph.dispatch import singledispatch
from frazil.interop.pytensor.library import classes
from frazil.interop.pytensor.needed import needed_checks
from frazil.interop.pytensor.origins import built_at_trace, place_of
from frazil.tensor.docstrings import described

if TYPE_CHECKING:
    from pytensor.graph.basic import Apply

Results: TypeAlias = Variable | Sequence[Variable | None]
Rule: TypeAlias = Callable[[Any, Any, "Translation"], Results]
RuleT = TypeVar("RuleT", bound=Callable[..., Any])

DTYPES = frozenset(
    ["bool", "float16", "float32", "float64", "complex64", "complex128"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)

_BRANCHES = classes("IfElse", "LazyIfElse")


class NoRule(NotImplementedError):
    """A part of a PyTensor graph that frazil cannot compute."""


class Translation:
    """Frazil's variables for PyTensor's.

    Parameters
    ----------
    outer : Translation, optional
        That of the graph around.
    local : bool
        Checks are made where they stand: not every call comes by, or a call comes by many times.

    Attributes
    ----------
    checks : list of tuple
        Conditions that a call must look at, each with PyTensor's op that says what to raise.
    idle : set of Apply
        Checks whose results no output needs: they are not made.
    performed : list of str
        The ops whose ``perform`` runs.
    """

    def __init__(self, outer: Translation | None = None, local: bool = False) -> None:
        self.made: dict[Any, Any] = {}
        self.checks: list[tuple[Variable, Any]] = []
        self.idle: set[Any] = set()
        self.local: bool = local or (outer is not None and outer.local)
        self.performed: list[str] = [] if outer is None else outer.performed

    def graph(
        self, inputs: Sequence[Any], outputs: Sequence[object], values: Sequence[object]
    ) -> list[Variable]:
        """The variables for ``outputs``, given those for ``inputs``."""
        self.made.update(zip(inputs, values, strict=True))
        order = list(toposort(outputs, blockers=list(inputs)))
        self.local = self.local or any(isinstance(node.op, _BRANCHES) for node in order)
        checks = {node for node in order if isinstance(node.op, CheckAndRaise)}
        self.idle |= checks - needed_checks(outputs) if checks else checks
        for node in order:
            self._node(node)
        return [self[x] for x in outputs]

    def beside(self, outputs: Sequence[object]) -> list[Variable]:
        """The variables for what is computed of variables that were translated before."""
        for node in toposort(outputs, blockers=list(self.made)):
            self._node(node)
        return [self[x] for x in outputs]

    def _node(self, node: Apply) -> None:
        for x in (*node.inputs, *node.outputs):
            if _is_of_numbers(x.type) and own_type(x.type) is None:
                raise NoRule(_without_counterpart(x, node))
        try:
            results = self._results(node)
        except Exception as error:
            error.add_note(f"while frazil took over PyTensor's node {node}")
            raise
        found = [results] if isinstance(results, Variable) else list(results)
        for theirs, ours in zip(node.outputs, found, strict=True):
            self.made[theirs] = None if ours is None else refined(ours, theirs.type)

    def _results(self, node: Apply) -> Results:
        found: Results
        try:
            found = built_at_trace(translate.dispatch(type(node.op)), node.op, node, self)
        except TypeError:
            if not any(_is_special(x.type) for x in (*node.inputs, *node.outputs)):
                raise
            # Not all ops of frazil that take float64 take complex numbers and float16.
            found = built_at_trace(translate.dispatch(object), node.op, node, self)
        return found

    def __getitem__(self, x: Any) -> Variable:
        known = self.made.get(x)
        if known is None:
            if not isinstance(x, Constant):
                raise NoRule(
                    f"{x} has PyTensor's type {x.type}, which has no counterpart in frazil"
                )
            known = self.made[x] = ft.constant(constant_value(x))
        return known

    def operands(self, node: Apply) -> list[Variable]:
        """The variables for the inputs of a node."""
        return [self[x] for x in node.inputs]


def _is_of_numbers(kind: object) -> bool:
    # Arrays whose dimensions have names, as pymc.dims makes them: their module warns at its import.
    return isinstance(kind, TensorType | ScalarType) or type(kind).__name__ == "XTensorType"


def _is_special(kind: Any) -> bool:
    return _is_of_numbers(kind) and kind.dtype in ("float16", "complex64", "complex128")


def _without_counterpart(x: Any, node: object) -> str:
    """The message about a variable with numbers that frazil lacks."""
    place = place_of(node)
    where = "" if place is None else f", made at {place[0]}:{place[1]} in {place[2]},"
    return (
        f"{x.name or x}{where} has PyTensor's type {x.type}, which has no counterpart in frazil; "
        "compile this function in another mode"
    )


@singledispatch
def translate(op: object, node: object, t: Translation) -> Results:
    """Frazil's variables for the outputs of ``node``."""
    raise NoRule(f"PyTensor's op {op} has no rule")


def rule(*ops: type) -> Callable[[RuleT], RuleT]:
    """Make the decorated function the rule for the nodes of these classes of ops."""

    def decorate(function: RuleT) -> RuleT:
        for cls in ops:
            translate.register(cls)(function)
        return function

    return decorate


@described
def register(*ops: type) -> Callable[[RuleT], RuleT]:
    """Say what frazil computes for an op of your own; decorates a function.

    The function is called with the op, its node in PyTensor's graph, and frazil's variables for the
    node's inputs; it returns the variable for its output, or a list where there are several. For an
    op of elements (a ``ScalarOp``) it says what ``Elemwise`` of it is.

    ops (type): Classes of PyTensor's ops; a subclass without a rule of its own has the rule of its
        base.
    returns (callable): The decorator.

    >>> import numpy as np, pytensor, pytensor.tensor as pt
    >>> from pytensor.graph.op import Op
    >>> import frazil.interop.pytensor as door
    >>> import frazil.tensor as ft
    >>> class Twice(Op):
    ...     itypes, otypes = [pt.dvector], [pt.dvector]
    ...     def perform(self, node, inputs, outputs):
    ...         outputs[0][0] = inputs[0] * 2
    >>> @door.register(Twice)
    ... def _(op, node, x):
    ...     return x * 2
    >>> x = pt.dvector("x")
    >>> pytensor.function([x], Twice()(x), mode="FRAZIL")(np.ones(2))
    array([2., 2.])
    """

    def decorate(function: RuleT) -> RuleT:
        def own(op: object, node: object, t: Translation) -> Results:
            made: Results = function(op, node, *t.operands(node))
            return made

        own.users = function  # type: ignore[attr-defined]
        for cls in ops:
            translate.register(cls)(own)
        return function

    return decorate


def own_type(theirs: Any) -> OwnType | None:
    """Frazil's type for a type of PyTensor's; None where there is none."""
    if isinstance(theirs, RandomGeneratorType):
        return OwnType("uint64", (None,))
    dense = _is_of_numbers(theirs) and type(theirs).__name__ != "SparseTensorType"
    if dense and theirs.dtype in DTYPES:
        # A length below 0 is one that PyTensor finds wrong at the call.
        lengths = [None if n is None or n < 0 else n for n in getattr(theirs, "shape", ())]
        return OwnType(theirs.dtype, tuple(lengths))
    return None


def constant_value(x: Any) -> np.ndarray[Any, Any]:
    """The value of one of PyTensor's constants, as an array."""
    if own_type(x.type) is None or isinstance(x.type, RandomGeneratorType):
        raise NoRule(f"a constant of PyTensor's type {x.type} has no counterpart in frazil")
    return np.asarray(x.data, dtype=x.type.dtype)


def refined(x: Variable, theirs: Any) -> Variable:
    """``x`` with PyTensor's dtype, and the lengths 1 that its type knows and frazil's does not."""
    if not _is_of_numbers(theirs):
        return x
    x = cast(x, theirs.dtype)
    shape = getattr(theirs, "shape", ())
    if not shape:
        return x
    unknown = [own is None and n == 1 for own, n in zip(x.type.shape, shape, strict=True)]
    if not any(unknown):
        return x
    return ft.specify_shape(x, [1 if one else None for one in unknown])


def cast(x: Variable, dtype: str) -> Variable:
    """``x`` in another dtype; true is what is not 0."""
    if x.dtype == dtype:
        return x
    if isinstance(x, OwnConstant) and np.can_cast(x.dtype, dtype, "same_kind"):
        return ft.constant(x.data.astype(dtype))
    return ft.neq(x, 0) if dtype == "bool" else ft.cast(x, dtype)
