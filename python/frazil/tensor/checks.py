"""Messages of a run about values: conditions that do not hold, and values to be printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import ClassVar

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Constant, FrozenApply, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.docstrings import described
from frazil.tensor.lengths import Lengths
from frazil.tensor.reductions import all

_ERRORS = {error.__name__: error for error in (ValueError, AssertionError, IndexError)}


@dataclass(frozen=True, eq=False)
class Check(Op):
    """A view of the first operand, if the second, a 0-d bool, is true; else a run stops.

    ``error`` names the class of the error: ValueError, AssertionError or IndexError.
    ``in_gradients`` says whether gradients, which may be computed without the view, check it, too.
    """

    takes_complex = True

    message: str
    error: str = "ValueError"
    in_gradients: bool = False
    view_map: ClassVar[Mapping[int, Sequence[int]]] = {0: [0]}

    def make_node(self, x: Variable, condition: Variable) -> FrozenApply:
        if condition.ndim or condition.dtype != "bool":
            raise TypeError(f"a condition is a bool without dimensions; given {condition.type}")
        return FrozenApply(self, [x, condition], [x.type])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        x, condition = inputs
        if not condition:
            raise self.exception()
        return (x,)

    def exception(self) -> Exception:
        """The exception to raise where the condition does not hold."""
        return _ERRORS[self.error](self.message)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (input_shapes[0],)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (g,) = output_gradients
        return [self(g, inputs[1]) if self.in_gradients else g, None]


@described
def assert_(x: TensorLike, *conditions: TensorLike, msg: str = "an assertion failed") -> Variable:
    """Return ``x``; a run that uses it raises AssertionError unless all conditions hold.

    Only computed variables are checked: go on with the variable that this returns. Rewriting keeps
    the check; ``mode=fz.Mode().excluding("checks")`` leaves it out.

    x (tensor_like): Any tensor.
    conditions (tensor_like): They hold where all their elements are true (not zero).
    msg (str): The message of the error.
    returns: A view of ``x``, with the same gradient.
    raises AssertionError: At once if a condition is a constant and does not hold.

    >>> x = ft.vector("x")
    >>> y = ft.sqrt(ft.assert_(x, x >= 0, msg="x is negative"))
    >>> y.eval({x: [4.0, 9.0]})
    array([2., 3.])
    """
    return checked(as_tensor(x), conditions, Check(msg, "AssertionError"))


@described
def check_parameters(expr: TensorLike, *conditions: TensorLike, msg: str = "") -> Variable:
    """Return ``expr``; a run that uses it raises ValueError unless all conditions hold.

    expr (tensor_like): A value of the parameters, as a logarithm of a density.
    conditions (tensor_like): They hold where all their elements are true (not zero).
    msg (str): The message of the error: the conditions as text.
    returns: A view of ``expr``; see :func:`assert_`.
    raises ValueError: At once if a condition is a constant and does not hold.

    >>> sigma = ft.scalar("sigma")
    >>> ft.check_parameters(-ft.log(sigma), sigma > 0, msg="sigma > 0").eval({sigma: 1.0})
    array(-0.)
    """
    return checked(as_tensor(expr), conditions, Check(msg or "a parameter is out of range"))


def checked(x: Variable, conditions: Iterable[TensorLike], check: Check) -> Variable:
    """Return ``x``, checked for what is not known to hold."""
    open_conditions = []
    for given in conditions:
        if isinstance(given, str):
            raise TypeError(
                f"a condition is a variable or a value, given the text {given!r}: a message is "
                f"passed by name, as msg={given!r}"
            )
        condition = as_tensor(given)
        whole = as_tensor(all(condition), "bool")
        if not isinstance(condition, Constant):
            open_conditions.append(whole)
        elif not condition.data.all():
            raise check.exception()
    if not open_conditions:
        return x
    view: Variable = check(x, reduce(_and, open_conditions))
    return view


def _and(a: Variable, b: Variable) -> Variable:
    return _core.elemwise(scalar.and_, a, b)


@dataclass(frozen=True, eq=False)
class Print(Op):
    """A view of its operand that prints it in each run; it runs as often as it is written.

    Parameters
    ----------
    message : str
        The text before the value.
    attrs : tuple of str
        The things to print: ``"__str__"`` is the value, ``"shape"``, ``"min"`` and others are
        attributes of the array, which are called if they can be.

    Examples
    --------
    >>> import frazil as fz, frazil.tensor as ft
    >>> x = ft.vector("x")
    >>> f = fz.function([x], ft.exp(ft.Print("x", ("__str__", "shape"))(x)))
    >>> y = f([0.0, 0.0])
    x __str__ = [0. 0.]
    x shape = (2,)
    """

    message: str = ""
    attrs: tuple[str, ...] = ("__str__",)
    pure: ClassVar[bool] = False
    view_map: ClassVar[Mapping[int, Sequence[int]]] = {0: [0]}

    def make_node(self, x: TensorLike) -> FrozenApply:
        x = as_tensor(x)
        return FrozenApply(self, [x], [x.type])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        (x,) = inputs
        for name in self.attrs:
            value = getattr(x, name)
            print(self.message, name, "=", value() if callable(value) else value)
        return (x,)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (input_shapes[0],)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        return [output_gradients[0]]
