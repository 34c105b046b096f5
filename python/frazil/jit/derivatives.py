"""Derivatives of Python functions: ``fz.grad(fn)`` and its kin.

Each takes a function of trees of arrays and gives one. Called within a compiled function it joins
that one's trace; called by itself it is compiled.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Concatenate, Literal, ParamSpec, TypeAlias, TypeVar, overload

import numpy as np

from frazil._core import Variable
from frazil.gradient import jacobians, products, reverse
from frazil.jit.function import JitFunction
from frazil.jit.pytree import Structure, flatten, paths, unflatten
from frazil.jit.trace import Trace, current_trace, is_array
from frazil.jit.traced import TracedArray, is_traced
from frazil.scalar.constants import as_tensor

Argnums: TypeAlias = int | Sequence[int]
Function: TypeAlias = Callable[..., Any]
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
    cost: Callable[Concatenate[TreeT, P], Any],
    wrt: Literal[0] = 0,
    has_aux: Literal[False] = False,
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


def grad(cost: Any, wrt: Any = 0, *rest: Any, **options: Any) -> Any:
    """Return the gradients of a scalar variable, or the function that computes a function's.

    Parameters
    ----------
    cost : Variable or callable
        A variable: all parameters are those of :func:`frazil.gradient.grad`. A Python function of
        arrays: it returns one number.
    wrt : Variable or sequence of them, or int or sequence of int
        Of a function, the positions of the arguments to differentiate by: trees of arrays.
    *rest, **options
        Of a function, ``has_aux``: it returns a pair of the number and something else; and
        ``argnums``, another name of ``wrt``.

    Returns
    -------
    Variable, list of Variable, or callable
        Of a function, one that takes its arguments and returns the gradient, as a tree like the
        argument (a tuple of them for several); with ``has_aux`` a pair of that and the rest.

    Examples
    --------
    >>> import numpy as np
    >>> import frazil as fz, frazil.tensor as ft
    >>> x = ft.vector("x")
    >>> fz.grad(ft.sum(x**3), x).eval({x: [1.0, 2.0]})
    array([ 3., 12.])
    >>> fz.grad(lambda p: (p["x"] ** 3).sum())({"x": np.array([1.0, 2.0])})
    {'x': array([ 3., 12.])}
    """
    if not _is_function(cost):
        return reverse.grad(cost, wrt, *rest, **options)
    wrt = options.pop("argnums", wrt)
    has_aux = _has_aux(rest, options)
    return Transformed(cost, wrt, functools.partial(_gradient, has_aux=has_aux))


@overload
def value_and_grad(
    fn: Callable[Concatenate[TreeT, P], ResultT], argnums: Literal[0] = 0, has_aux: bool = False
) -> Callable[Concatenate[TreeT, P], tuple[ResultT, TreeT]]: ...


@overload
def value_and_grad(
    fn: Callable[P, ResultT], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[P, tuple[ResultT, Any]]: ...


def value_and_grad(fn: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """Return the function that computes the value of a function, and its gradient.

    Parameters
    ----------
    fn : callable
        A Python function of arrays that returns one number.
    argnums : int or sequence of int
        The positions of the arguments to differentiate by: trees of arrays.
    has_aux : bool
        The function returns a pair of the number and something else.

    Returns
    -------
    callable
        It takes the arguments of ``fn`` and returns a pair: what ``fn`` returns, and the gradient.

    Examples
    --------
    >>> import numpy as np
    >>> import frazil as fz
    >>> value, gradient = fz.value_and_grad(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    >>> float(value), gradient
    (9.0, array([ 3., 12.]))
    """
    return Transformed(fn, argnums, functools.partial(_value_and_gradient, has_aux=has_aux))


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
    cost: Callable[P, Any], wrt: Argnums = 0, *, argnums: Argnums = 0
) -> Callable[P, Any]: ...


def hessian(cost: Any, wrt: Any = 0, *rest: Any, **options: Any) -> Any:
    """Return the second derivatives of a scalar variable, or the function for those of a function.

    Parameters
    ----------
    cost : Variable or callable
        A variable: all parameters are those of :func:`frazil.gradient.hessian`. A Python function
        of arrays: it returns one number.
    wrt : Variable or sequence of them, or int or sequence of int
        Of a function, the positions of the arguments to differentiate by: trees of arrays.
    *rest, **options
        Only for variables; of a function, ``argnums`` is another name of ``wrt``.

    Returns
    -------
    Variable, list of Variable, or callable
        Of a function, one that returns for each leaf of the argument a tree like the argument: the
        derivatives by both, mixed ones too.

    Examples
    --------
    >>> import numpy as np
    >>> import frazil as fz
    >>> fz.hessian(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0]))
    array([[6., 4.],
           [4., 0.]])
    """
    if not _is_function(cost):
        return jacobians.hessian(cost, wrt, *rest, **options)
    wrt = options.pop("argnums", wrt)
    _no_options("hessian", rest, options)
    return Transformed(cost, wrt, _hessian)


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
    expression: Callable[P, Any], wrt: Argnums = 0, *, argnums: Argnums = 0
) -> Callable[P, Any]: ...


def jacobian(expression: Any, wrt: Any = 0, *rest: Any, **options: Any) -> Any:
    """Return the derivatives of each element of a variable, or the function for a function's.

    Parameters
    ----------
    expression : Variable or callable
        A variable: all parameters are those of :func:`frazil.gradient.jacobian`. A Python function
        of arrays: it returns a tree of arrays.
    wrt : Variable or sequence of them, or int or sequence of int
        Of a function, the positions of the arguments to differentiate by: trees of arrays.
    *rest, **options
        Only for variables; of a function, ``argnums`` is another name of ``wrt``.

    Returns
    -------
    Variable, list of Variable, or callable
        Of a function, one that returns for each array of its result a tree like the argument.

    Examples
    --------
    >>> import numpy as np
    >>> import frazil as fz
    >>> fz.jacobian(lambda x: x * np.sum(x))(np.array([2.0, 3.0]))
    array([[7., 2.],
           [3., 8.]])
    """
    if not _is_function(expression):
        return jacobians.jacobian(expression, wrt, *rest, **options)
    wrt = options.pop("argnums", wrt)
    _no_options("jacobian", rest, options)
    return Transformed(expression, wrt, _jacobian)


def stop_gradient(x: TreeT) -> TreeT:
    """Return arrays whose gradient is zero: they count as constants where they are used.

    Parameters
    ----------
    x : tree of arrays or variables
        What gradients do not flow through, in graphs and in compiled functions.

    Returns
    -------
    tree
        Like ``x``, with the same values.

    See Also
    --------
    frazil.gradient.disconnected_grad : the same, where no other way to the cost is an error.

    Examples
    --------
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


def _stopped(leaf: Any) -> Any:
    if isinstance(leaf, Variable):
        return reverse.zero_grad(leaf)
    trace = current_trace()
    if trace is None or not is_traced(leaf):
        return leaf
    return TracedArray(trace, reverse.zero_grad(leaf._variable))


def jvp(
    fn: Callable[..., ResultT], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[ResultT, ResultT]:
    """Return what a function gives, and its derivative in a direction.

    Parameters
    ----------
    fn : callable
        A Python function of arrays.
    primals : sequence
        Its arguments.
    tangents : sequence
        The direction: trees like the arguments.

    Returns
    -------
    tuple
        What ``fn`` returns, and the Jacobian's product with the tangents, a tree like it.

    Examples
    --------
    >>> import numpy as np
    >>> import frazil as fz
    >>> x, v = np.array([2.0, 3.0]), np.array([1.0, 0.0])
    >>> fz.jvp(lambda x: x * np.sum(x), (x,), (v,))
    (array([10., 15.]), array([7., 3.]))
    """
    result: tuple[ResultT, ResultT] = _forward(fn)(tuple(primals), tuple(tangents))
    return result


def vjp(
    fn: Callable[..., ResultT], *primals: Any
) -> tuple[ResultT, Callable[[ResultT], tuple[Any, ...]]]:
    """Return what a function gives, and the function that pulls its derivatives back.

    Parameters
    ----------
    fn : callable
        A Python function of arrays.
    *primals
        Its arguments.

    Returns
    -------
    tuple
        What ``fn`` returns, and a function: given a tree like that, it returns the Jacobian's
        product with it, a tuple of trees like the arguments.

    Examples
    --------
    >>> import numpy as np
    >>> import frazil as fz
    >>> value, pull = fz.vjp(lambda x: x * np.sum(x), np.array([2.0, 3.0]))
    >>> pull(np.array([1.0, 0.0]))
    (array([7., 2.]),)
    """
    backward = _backward(fn)
    plain = fn if current_trace() is not None else JitFunction(fn)
    return plain(*primals), lambda cotangents: backward(primals, cotangents)


class Transformed:
    """A function that computes something about another one by differentiating its trace."""

    def __init__(self, fn: Function, argnums: Argnums, rule: Callable[..., Any]) -> None:
        if not callable(fn):
            raise TypeError(f"a function of arrays is needed, given {fn!r}")
        functools.update_wrapper(self, fn, updated=())
        self._fn, self._rule = fn, rule
        self._argnums = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        self._single = isinstance(argnums, int)

        @functools.wraps(fn)
        def traced(*args: Any, **kwargs: Any) -> Any:
            return self._traced(*args, **kwargs)

        self._compiled = JitFunction(traced, roots=[fn])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if current_trace() is not None:
            return self._traced(*args, **kwargs)
        given = list(args)
        for at in self._argnums:
            if at < len(given):
                given[at] = _with_arrays(given[at])
        return self._compiled(*given, **kwargs)

    def _traced(self, *args: Any, **kwargs: Any) -> Any:
        trace = current_trace()
        assert trace is not None
        if any(not -len(args) <= at < len(args) for at in self._argnums):
            raise TypeError(
                f"argument {max(self._argnums)} is to be differentiated by, "
                f"and {len(args)} were given by position"
            )
        by = Differentiated(trace, [args[at] for at in self._argnums])
        given = list(args)
        for at, arg in zip(self._argnums, by.arguments, strict=True):
            given[at] = arg
        return self._rule(trace, by, lambda: self._fn(*given, **kwargs), single=self._single)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)


class Differentiated:
    """Arguments that a trace differentiates by: in their place stand variables of their own.

    Equal expressions are one variable, so that of an argument may be used elsewhere too.
    """

    def __init__(self, trace: Trace, values: Sequence[Any]) -> None:
        self._trace = trace
        self.stands: list[Variable] = []
        self._forms: list[tuple[Structure, list[int | None]]] = []
        self.arguments = [self._taken(value, f"argument {at}") for at, value in enumerate(values)]

    def _taken(self, value: Any, name: str) -> Any:
        leaves, structure = flatten(value)
        numbers: list[int | None] = []
        for at, (leaf, path) in enumerate(zip(leaves, paths(value, name), strict=True)):
            variable = as_variable(self._trace, leaf)
            if variable is None:
                numbers.append(None)
                continue
            if variable.type.numpy_dtype.kind != "f":
                raise TypeError(
                    f"{path} has dtype {variable.dtype}: only floating-point arrays have a "
                    "gradient. Convert it with .astype(float), or choose others by argnums"
                )
            numbers.append(len(self.stands))
            self.stands.append(self._trace.stand_for(variable))
            leaves[at] = TracedArray(self._trace, self.stands[-1], leaf_is_shared(leaf))
        self._forms.append((structure, numbers))
        return unflatten(structure, leaves)

    def trees(self, found: Sequence[Any], *, single: bool) -> Any:
        """What was found for each variable, in trees like the arguments; None for other leaves."""
        made = [
            unflatten(structure, [None if at is None else found[at] for at in numbers])
            for structure, numbers in self._forms
        ]
        return made[0] if single else tuple(made)

    def wrap(self, variables: Sequence[Variable]) -> list[TracedArray]:
        """Traced arrays of variables, in terms of the actual arguments."""
        return [TracedArray(self._trace, x) for x in self._trace.settled(variables, self.stands)]


def leaf_is_shared(leaf: Any) -> bool:
    """Whether an array that is changed in place changes for others too."""
    return bool(getattr(leaf, "_shared", type(leaf) is np.ndarray))


def as_variable(trace: Trace, leaf: Any) -> Variable | None:
    """The variable of an array or a number; None for anything else."""
    if is_traced(leaf):
        own: Variable = leaf._variable
        return own
    if isinstance(leaf, Variable):
        return leaf
    if is_array(leaf) or type(leaf) in (int, float):
        lifted = trace.lift(leaf) if type(leaf) is np.ndarray else leaf
        return as_tensor(lifted)
    return None


def _is_function(value: object) -> bool:
    return callable(value) and not isinstance(value, Variable)


def _has_aux(rest: tuple[Any, ...], options: dict[str, Any]) -> bool:
    given = dict(options)
    has_aux = bool(rest[0]) if rest else bool(given.pop("has_aux", False))
    _no_options("grad", rest[1:], given)
    return has_aux


def _no_options(name: str, rest: tuple[Any, ...], options: dict[str, Any]) -> None:
    if rest or options:
        surplus = ", ".join(map(repr, (*rest, *options)))
        raise TypeError(f"{name} of a Python function does not take {surplus}")


def _with_arrays(value: Any) -> Any:
    """A tree with NumPy's numbers in the place of Python's, so that calls do not differ by them."""
    leaves, structure = flatten(value)
    return unflatten(structure, [np.float64(x) if type(x) is float else x for x in leaves])


def _cost(trace: Trace, returned: Any, has_aux: bool) -> tuple[Variable, Any]:
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


def _settled_tree(trace: Trace, by: Differentiated, value: Any) -> Any:
    """A tree whose traced arrays are in terms of the actual arguments."""
    leaves, structure = flatten(value)
    places = [at for at, leaf in enumerate(leaves) if is_traced(leaf)]
    settled = trace.settled([leaves[at]._variable for at in places], by.stands)
    for at, variable in zip(places, settled, strict=True):
        leaves[at] = type(leaves[at])(trace, variable, leaves[at]._shared)
    return unflatten(structure, leaves)


def _value_and_gradient(
    trace: Trace, by: Differentiated, call: Function, *, single: bool, has_aux: bool
) -> Any:
    cost, aux = _cost(trace, call(), has_aux)
    gradients = reverse.grad(cost, by.stands, disconnected_inputs="ignore")
    value, *wrapped = by.wrap([cost, *gradients])
    found = by.trees(wrapped, single=single)
    return ((value, _settled_tree(trace, by, aux)) if has_aux else value), found


def _gradient(
    trace: Trace, by: Differentiated, call: Function, *, single: bool, has_aux: bool
) -> Any:
    value, found = _value_and_gradient(trace, by, call, single=single, has_aux=has_aux)
    return (found, value[1]) if has_aux else found


def _hessian(trace: Trace, by: Differentiated, call: Function, *, single: bool) -> Any:
    cost, _ = _cost(trace, call(), has_aux=False)
    rows = reverse.grad(cost, by.stands, disconnected_inputs="ignore")
    return by.trees([_derivatives(by, row, single=single) for row in rows], single=single)


def _jacobian(trace: Trace, by: Differentiated, call: Function, *, single: bool) -> Any:
    leaves, structure = flatten(call())
    variables = [as_variable(trace, leaf) for leaf in leaves]
    return unflatten(
        structure,
        [None if x is None else _derivatives(by, x, single=single) for x in variables],
    )


def _derivatives(by: Differentiated, expression: Variable, *, single: bool) -> Any:
    found = jacobians.jacobian(expression, by.stands, disconnected_inputs="ignore")
    return by.trees(by.wrap(found), single=single)


def _forward(fn: Function) -> Function:
    def rule(primals: Any, tangents: Any) -> Any:
        trace = current_trace()
        assert trace is not None
        by = Differentiated(trace, primals)
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


def _backward(fn: Function) -> Function:
    def rule(primals: Any, cotangents: Any) -> Any:
        trace = current_trace()
        assert trace is not None
        by = Differentiated(trace, primals)
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

    def call(primals: Any, others: Any) -> Any:
        if current_trace() is not None:
            return rule(primals, others)
        return compiled(_with_arrays(primals), _with_arrays(others))

    return call
