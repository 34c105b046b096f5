"""Derivatives of Python functions: ``fz.grad(fn)`` and its kin.

Each takes a function of trees of arrays and returns such a function. Called within a compiled
function, the result joins its trace; otherwise it is compiled by itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Concatenate, Literal, ParamSpec, TypeAlias, TypeVar, overload

from frazil._core import Variable
from frazil.gradient import jacobians, reverse
from frazil.jit.function import JitFunction
from frazil.jit.pytree import flatten, unflatten
from frazil.jit.trace import current_trace
from frazil.jit.traced import TracedArray, is_traced
from frazil.jit.transformed import (
    Argnums,
    Function,
    Transformed,
    backward_function,
    forward_function,
    gradient_rule,
    hessian_rule,
    jacobian_rule,
    value_and_gradient_rule,
)
from frazil.tensor.docstrings import described, described_like

P = ParamSpec("P")
TreeT = TypeVar("TreeT")
ResultT = TypeVar("ResultT")
Disconnected: TypeAlias = Literal["raise", "warn", "ignore"]


@overload
def grad(
    cost: Variable | None,
    wrt: Variable,
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: Disconnected = "raise",
    *,
    known_grads: Mapping[Variable, Variable] | None = None,
    return_disconnected: Literal["zero"] = "zero",
) -> Variable: ...


@overload
def grad(
    cost: Variable | None,
    wrt: Sequence[Variable],
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: Disconnected = "raise",
    *,
    known_grads: Mapping[Variable, Variable] | None = None,
    return_disconnected: Literal["zero"] = "zero",
) -> list[Variable]: ...


@overload
def grad(
    cost: Variable | None,
    wrt: Variable | Sequence[Variable],
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: Disconnected = "raise",
    *,
    known_grads: Mapping[Variable, Variable] | None = None,
    return_disconnected: Literal["zero", "none"],
) -> Variable | list[Variable] | list[Variable | None] | None: ...


@overload
def grad(
    cost: Callable[Concatenate[TreeT, P], Any], wrt: Literal[0] = 0, has_aux: Literal[False] = False
) -> Callable[Concatenate[TreeT, P], TreeT]: ...


@overload
def grad(
    cost: Callable[Concatenate[TreeT, P], tuple[Any, ResultT]],
    wrt: Literal[0] = 0,
    *,
    has_aux: Literal[True],
) -> Callable[Concatenate[TreeT, P], tuple[TreeT, ResultT]]: ...


@overload
def grad(
    cost: Callable[P, Any], wrt: Argnums = 0, has_aux: bool = False, *, argnums: Argnums = 0
) -> Callable[P, Any]: ...


@described
def grad(cost: Any, wrt: Any = None, *rest: Any, **options: Any) -> object:
    """Return the gradients of a scalar variable; of a function, a function that returns them.

    cost (Variable or callable): A variable; the other parameters are then those of
        :func:`frazil.gradient.grad`. Or a Python function of arrays that returns one number.
    wrt (Variable or sequence of them, or int or sequence of int): Of a function, the positions of
        the arguments to differentiate by, trees of arrays: the first one if none are given.
    rest, options: Of a function, ``has_aux``: it returns a pair of the number and something else;
        and ``argnums``, another name of ``wrt``.
    returns (Variable, list of Variable, or callable): Of a function, one that takes its arguments
        and returns the gradient, as a tree like the argument (a tuple of them for several); with
        ``has_aux`` a pair of that and the rest.

    >>> import numpy as np
    >>> import frazil as fz, frazil.tensor as ft
    >>> x = ft.vector("x")
    >>> fz.grad(ft.sum(x**3), x).eval({x: [1.0, 2.0]})
    array([ 3., 12.])
    >>> fz.grad(lambda p: (p["x"] ** 3).sum())({"x": np.array([1.0, 2.0])})
    {'x': array([ 3., 12.])}
    """
    if not _is_function(cost):
        return reverse.grad(cost, _given("grad", wrt), *rest, **options)
    argnums = _argnums("grad", wrt, options)
    has_aux = _has_aux(rest, options)
    return Transformed(cost, argnums, functools.partial(gradient_rule, has_aux=has_aux))


@overload
def value_and_grad(
    fn: Callable[Concatenate[TreeT, P], ResultT], argnums: Literal[0] = 0, has_aux: bool = False
) -> Callable[Concatenate[TreeT, P], tuple[ResultT, TreeT]]: ...


@overload
def value_and_grad(
    fn: Callable[P, ResultT], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[P, tuple[ResultT, Any]]: ...


@described
def value_and_grad(fn: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """Return the function that computes the value of a function, and its gradient.

    fn (callable): A Python function of arrays that returns one number.
    argnums (int or sequence of int): The positions of the arguments to differentiate by: trees of
        arrays.
    has_aux (bool): The function returns a pair of the number and something else.
    returns (callable): It takes the arguments of ``fn`` and returns a pair: what ``fn`` returns,
        and the gradient.

    >>> import numpy as np
    >>> import frazil as fz
    >>> value, gradient = fz.value_and_grad(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    >>> float(value), gradient
    (9.0, array([ 3., 12.]))
    """
    return Transformed(fn, argnums, functools.partial(value_and_gradient_rule, has_aux=has_aux))


@overload
def hessian(
    cost: Variable,
    wrt: Variable,
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: Disconnected = "raise",
) -> Variable: ...


@overload
def hessian(
    cost: Variable,
    wrt: Sequence[Variable],
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: Disconnected = "raise",
) -> list[Variable]: ...


@overload
def hessian(
    cost: Callable[P, object], wrt: Argnums = 0, *, argnums: Argnums = 0
) -> Callable[P, Any]: ...


@described_like(grad)
def hessian(cost: Any, wrt: Any = None, *rest: Any, **options: Any) -> object:
    """Return the second derivatives of a scalar variable; of a function, a function.

    cost (Variable or callable): A variable; the other parameters are then those of
        :func:`frazil.gradient.hessian`. Or a Python function of arrays that returns one number.
    rest, options: Only for variables; of a function, ``argnums`` is another name of ``wrt``.
    returns (Variable, list of Variable, or callable): Of a function, one that returns for each leaf
        of the argument a tree like the argument: the derivatives by both, mixed ones too.

    >>> import numpy as np
    >>> import frazil as fz
    >>> fz.hessian(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0]))
    array([[6., 4.],
           [4., 0.]])
    """
    if not _is_function(cost):
        return jacobians.hessian(cost, _given("hessian", wrt), *rest, **options)
    argnums = _argnums("hessian", wrt, options)
    _no_options("hessian", rest, options)
    return Transformed(cost, argnums, hessian_rule)


@overload
def jacobian(
    expression: Variable,
    wrt: Variable,
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: Disconnected = "raise",
    vectorize: bool = False,
) -> Variable: ...


@overload
def jacobian(
    expression: Variable,
    wrt: Sequence[Variable],
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: Disconnected = "raise",
    vectorize: bool = False,
) -> list[Variable]: ...


@overload
def jacobian(
    expression: Callable[P, object], wrt: Argnums = 0, *, argnums: Argnums = 0
) -> Callable[P, Any]: ...


@described_like(hessian)
def jacobian(expression: Any, wrt: Any = None, *rest: Any, **options: Any) -> object:
    """Return the derivatives of a variable, element by element; of a function, a function.

    expression (Variable or callable): A variable; the other parameters are then those of
        :func:`frazil.gradient.jacobian`. Or a Python function of arrays that returns a tree of
        arrays.
    returns (Variable, list of Variable, or callable): Of a function, one that returns for each
        array of its result a tree like the argument.

    >>> import numpy as np
    >>> import frazil as fz
    >>> fz.jacobian(lambda x: x * np.sum(x))(np.array([2.0, 3.0]))
    array([[7., 2.],
           [3., 8.]])
    """
    if not _is_function(expression):
        return jacobians.jacobian(expression, _given("jacobian", wrt), *rest, **options)
    argnums = _argnums("jacobian", wrt, options)
    _no_options("jacobian", rest, options)
    return Transformed(expression, argnums, jacobian_rule)


@described
def stop_gradient(x: TreeT) -> TreeT:
    """Return arrays whose gradient is zero: they count as constants where they are used.

    See :func:`frazil.gradient.disconnected_grad` for the same, where no other way to the cost is an
    error.

    x (tree of arrays or variables): A value that stops gradients, in graphs and in compiled
        functions.
    returns (tree): Like ``x``, with the same values.

    >>> import numpy as np
    >>> import frazil as fz, frazil.tensor as ft
    >>> fz.grad(lambda x: np.sum(x * fz.stop_gradient(x)))(np.array([3.0]))
    array([3.])
    >>> x = ft.scalar("x")
    >>> fz.grad(x * fz.stop_gradient(x), x).eval({x: 3.0})
    array(3.)
    """
    leaves, structure = flatten(x)
    stopped: TreeT = unflatten(structure, [_stopped(leaf) for leaf in leaves])
    return stopped


def _stopped(leaf: Any) -> object:
    if isinstance(leaf, Variable):
        return reverse.zero_grad(leaf)
    trace = current_trace()
    if trace is None or not is_traced(leaf):
        return leaf
    return TracedArray(trace, reverse.zero_grad(leaf._variable))


@described
def jvp(
    fn: Callable[..., ResultT], primals: Sequence[object], tangents: Sequence[object]
) -> tuple[ResultT, ResultT]:
    """Return the results of a function, and their derivatives in a direction.

    fn (callable): A Python function of arrays.
    primals (sequence): Its arguments.
    tangents (sequence): The direction: trees like the arguments.
    returns (tuple): What ``fn`` returns, and the Jacobian's product with the tangents, a tree like
        it.

    >>> import numpy as np
    >>> import frazil as fz
    >>> x, v = np.array([2.0, 3.0]), np.array([1.0, 0.0])
    >>> fz.jvp(lambda x: x * np.sum(x), (x,), (v,))
    (array([10., 15.]), array([7., 3.]))
    """
    result: tuple[ResultT, ResultT] = forward_function(fn)(tuple(primals), tuple(tangents))
    return result


@described_like(jvp)
def vjp(
    fn: Callable[..., ResultT], *primals: object
) -> tuple[ResultT, Callable[[ResultT], tuple[Any, ...]]]:
    """Return the results of a function, and the function that pulls derivatives back.

    primals: Its arguments.
    returns (tuple): What ``fn`` returns, and a function: given a tree like that, it returns the
        Jacobian's product with it, a tuple of trees like the arguments.

    >>> import numpy as np
    >>> import frazil as fz
    >>> value, pull = fz.vjp(lambda x: x * np.sum(x), np.array([2.0, 3.0]))
    >>> pull(np.array([1.0, 0.0]))
    (array([7., 2.]),)
    """
    backward = backward_function(fn)
    plain = fn if current_trace() is not None else JitFunction(fn)
    return plain(*primals), lambda cotangents: backward(primals, cotangents)


def _is_function(value: object) -> bool:
    return callable(value) and not isinstance(value, Variable)


def _given(name: str, wrt: object) -> Any:
    """Return what to differentiate a variable by, which has no default."""
    if wrt is None:
        raise TypeError(
            f"{name} of a variable needs the variables to differentiate by, as in "
            f"fz.{name}(cost, x); only {name} of a function has a default, its first argument"
        )
    return wrt


def _argnums(name: str, wrt: Any, options: dict[str, Any]) -> Argnums:
    """Return the positions of the arguments to differentiate a function by."""
    if "argnums" not in options:
        return 0 if wrt is None else wrt
    argnums: Argnums = options.pop("argnums")
    if wrt is not None:
        raise TypeError(
            f"{name} of a Python function takes wrt or argnums, which mean the same; given both, "
            f"{wrt!r} and {argnums!r}"
        )
    return argnums


def _has_aux(rest: tuple[object, ...], options: dict[str, object]) -> bool:
    given = dict(options)
    has_aux = bool(rest[0]) if rest else bool(given.pop("has_aux", False))
    _no_options("grad", rest[1:], given)
    return has_aux


def _no_options(name: str, rest: tuple[object, ...], options: dict[str, object]) -> None:
    if rest or options:
        surplus = ", ".join(map(repr, (*rest, *options)))
        raise TypeError(f"{name} of a Python function does not take {surplus}")
