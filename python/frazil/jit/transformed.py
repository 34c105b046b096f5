"""Functions that differentiate the trace of another function."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from frazil._core import Variable
from frazil.gradient import jacobians, products, reverse
from frazil.jit.differentiated import Differentiated, as_variable
from frazil.jit.function import JitFunction, name_in_module
from frazil.jit.pytree import flatten, unflatten
from frazil.jit.trace import Trace, current_trace
from frazil.jit.traced import is_traced

Argnums: TypeAlias = int | Sequence[int]
Function: TypeAlias = Callable[..., Any]


class Transformed:
    """A function that computes something about another one by differentiating its trace."""

    def __init__(self, fn: Function, argnums: Argnums, rule: Callable[..., object]) -> None:
        if not callable(fn):
            raise TypeError(f"a function of arrays is needed, given {fn!r}")
        functools.update_wrapper(self, fn, updated=())
        self._fn, self._rule = fn, rule
        self._single = not isinstance(argnums, Iterable) or isinstance(argnums, str)
        named: Iterable[object] = [argnums] if self._single else cast(Sequence[int], argnums)
        self._argnums = tuple(map(_position, named))

        @functools.wraps(fn)
        def traced(*args: object, **kwargs: object) -> object:
            return self._traced(*args, **kwargs)

        self._compiled = JitFunction(traced, roots=[fn])

    def __call__(self, *args: object, **kwargs: object) -> Any:
        if current_trace() is not None:
            return self._traced(*args, **kwargs)
        given = list(args)
        for at in self._argnums:
            if -len(given) <= at < len(given):
                given[at] = _with_arrays(given[at])
        return self._compiled(*given, **kwargs)

    def _traced(self, *args: object, **kwargs: object) -> object:
        trace = current_trace()
        assert trace is not None
        positions = self._positions(len(args))
        by = Differentiated(trace, [args[at] for at in positions])
        given = list(args)
        for at, arg in zip(positions, by.arguments, strict=True):
            given[at] = arg
        return self._rule(trace, by, lambda: self._fn(*given, **kwargs), single=self._single)

    def _positions(self, count: int) -> list[int]:
        """The positions to differentiate by, from 0, where ``count`` arguments are given."""
        positions: list[int] = []
        for at in self._argnums:
            if not -count <= at < count:
                raise TypeError(
                    f"argument {at} is to be differentiated by, and {count} were given by position"
                )
            if at % count in positions:
                raise TypeError(
                    f"argument {at % count} is to be differentiated by once; argnums "
                    f"{self._argnums} name it twice"
                )
            positions.append(at % count)
        return positions

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __reduce__(self) -> str | tuple[object, ...]:
        """A pickle is the name in a module, as for functions; without one, the parts."""
        argnums = self._argnums[0] if self._single else self._argnums
        return name_in_module(self) or (type(self), (self._fn, argnums, self._rule))


def _position(at: object) -> int:
    if isinstance(at, bool) or not hasattr(at, "__index__"):
        raise TypeError(
            f"argnums are positions of arguments, an int or several; given {at!r} of type "
            f"{type(at).__name__}"
        )
    return operator.index(at)


def _with_arrays(value: object) -> object:
    """A tree with NumPy's numbers in the place of Python's, so that calls do not differ by them."""
    leaves, structure = flatten(value)
    return unflatten(structure, [np.float64(x) if type(x) is float else x for x in leaves])


def _cost(trace: Trace, returned: object, has_aux: bool) -> tuple[Variable, object]:
    aux = None
    if has_aux:
        if not isinstance(returned, tuple) or len(returned) != 2:
            raise TypeError(f"with has_aux the function returns a pair, given {returned!r}")
        returned, aux = returned
    cost = as_variable(trace, returned)
    if cost is None:
        raise TypeError(f"the function must return one number to have a gradient, not {returned!r}")
    if cost.ndim:
        raise TypeError(
            f"the function must return one number to have a gradient, not an array of {cost.ndim} "
            "dimensions. Reduce it, for example with .sum(), or write fz.jacobian(fn)"
        )
    return cost, aux


def _settled_tree(trace: Trace, by: Differentiated, value: object) -> object:
    """A tree whose traced arrays are in terms of the actual arguments."""
    leaves, structure = flatten(value)
    places = [at for at, leaf in enumerate(leaves) if is_traced(leaf)]
    settled = trace.settled([leaves[at]._variable for at in places], by.stands)
    for at, variable in zip(places, settled, strict=True):
        leaves[at] = type(leaves[at])(trace, variable, leaves[at]._shared)
    return unflatten(structure, leaves)


def value_and_gradient_rule(
    trace: Trace, by: Differentiated, call: Function, *, single: bool, has_aux: bool
) -> tuple[Any, object]:
    """The value that a call returns, and its gradient."""
    cost, aux = _cost(trace, call(), has_aux)
    gradients = reverse.grad(cost, by.stands, disconnected_inputs="ignore")
    value, *wrapped = by.wrap([cost, *gradients])
    found = by.trees(wrapped, single=single)
    return ((value, _settled_tree(trace, by, aux)) if has_aux else value), found


def gradient_rule(
    trace: Trace, by: Differentiated, call: Function, *, single: bool, has_aux: bool
) -> object:
    """The gradient of the value that a call returns."""
    value, found = value_and_gradient_rule(trace, by, call, single=single, has_aux=has_aux)
    return (found, value[1]) if has_aux else found


def hessian_rule(trace: Trace, by: Differentiated, call: Function, *, single: bool) -> object:
    """The second derivatives of the value that a call returns."""
    by.check_real("the Hessian")
    cost, _ = _cost(trace, call(), has_aux=False)
    rows = reverse.grad(cost, by.stands, disconnected_inputs="ignore")
    return by.trees([_derivatives(by, row, single=single) for row in rows], single=single)


def jacobian_rule(trace: Trace, by: Differentiated, call: Function, *, single: bool) -> object:
    """The derivatives of each array that a call returns."""
    by.check_real("the Jacobian")
    leaves, structure = flatten(call())
    variables = [as_variable(trace, leaf) for leaf in leaves]
    return unflatten(
        structure,
        [None if x is None else _derivatives(by, x, single=single) for x in variables],
    )


def _derivatives(by: Differentiated, expression: Variable, *, single: bool) -> object:
    found = jacobians.jacobian(expression, by.stands, disconnected_inputs="ignore")
    return by.trees(by.wrap(found), single=single)


def _real_arguments(primals: Any, what: str) -> tuple[Trace, Differentiated]:
    """The present trace, and its arguments to differentiate by, which ``what`` wants to be real."""
    trace = current_trace()
    assert trace is not None
    by = Differentiated(trace, primals)
    by.check_real(what)
    return trace, by


def forward_function(fn: Function) -> Function:
    """The function of arguments and tangents that returns results and their derivatives."""

    def rule(primals: object, tangents: object) -> object:
        trace, by = _real_arguments(primals, "a derivative in a direction")
        points = [v for x in flatten(tangents)[0] if (v := as_variable(trace, x)) is not None]
        leaves, structure = flatten(fn(*by.arguments))
        values = [as_variable(trace, leaf) for leaf in leaves]
        told = [x for x in values if x is not None]
        pushed = products.Rop(told, by.stands, points, disconnected_outputs="ignore")
        results, directions = iter(by.wrap(told)), iter(by.wrap(pushed))
        kept = [
            leaf if x is None else next(results) for leaf, x in zip(leaves, values, strict=True)
        ]
        moved = [None if x is None else next(directions) for x in values]
        return unflatten(structure, kept), unflatten(structure, moved)

    return _joining(rule, fn)


def backward_function(fn: Function) -> Function:
    """The function of arguments and cotangents that pulls derivatives back."""

    def rule(primals: object, cotangents: object) -> object:
        trace, by = _real_arguments(primals, "a pulled back derivative")
        values = [as_variable(trace, leaf) for leaf in flatten(fn(*by.arguments))[0]]
        points = [as_variable(trace, leaf) for leaf in flatten(cotangents)[0]]
        if len(points) != len(values):
            raise TypeError(
                f"the function returns {len(values)} arrays, and cotangents for {len(points)} "
                "were given: they must be a tree like its result"
            )
        pairs = [
            (y, v) for y, v in zip(values, points, strict=True) if y is not None and v is not None
        ]
        pulled = products.Lop(
            [y for y, _ in pairs], by.stands, [v for _, v in pairs], disconnected_inputs="ignore"
        )
        return by.trees(by.wrap(pulled), single=False)

    return _joining(rule, fn)


def _joining(rule: Function, fn: Function) -> Function:
    """``rule``, compiled unless it is called within a trace, whose part it is then."""
    compiled = JitFunction(rule, roots=[fn])

    def call(primals: object, others: object) -> object:
        if current_trace() is not None:
            return rule(primals, others)
        return compiled(_with_arrays(primals), _with_arrays(others))

    return call
