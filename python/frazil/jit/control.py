"""Choices and loops by traced values: ``fz.cond``, ``fz.while_loop``, ``fz.fori_loop``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from frazil._core import Variable
from frazil.inner.ifelse import ifelse
from frazil.jit.differentiated import as_variable
from frazil.jit.identity import is_one_of
from frazil.jit.pytree import Structure, flatten, unflatten
from frazil.jit.trace import Trace, current_trace
from frazil.jit.traced import TracedArray, is_traced
from frazil.scalar.constants import as_tensor, constant
from frazil.scan.build import build_scan, last_states, until
from frazil.tensor.checks import Check, checked
from frazil.tensor.docstrings import described
from frazil.tensor.elementwise.table import logical_not
from frazil.tensor.lengths import literal, maximum, subtract

ResultT = TypeVar("ResultT")
StateT = TypeVar("StateT")


def cond(
    predicate: object,
    true_fun: Callable[..., ResultT],
    false_fun: Callable[..., ResultT],
    *operands: object,
) -> ResultT:
    """Return the result of one of two functions; the other is not computed.

    Parameters
    ----------
    predicate : array_like
        One truth value.
    true_fun, false_fun : callable
        They take the operands, and return trees of one structure whose arrays have the same dtypes
        and ranks.
    *operands
        Trees of arrays.

    Returns
    -------
    tree
        What ``true_fun`` returns if the predicate holds, else what ``false_fun`` does. Outside of
        a compiled function the one that is chosen is called.

    Examples
    --------
    >>> import numpy as np
    >>> import frazil as fz
    >>> root = fz.jit(lambda x: fz.cond(x > 0, np.sqrt, np.zeros_like, x))
    >>> float(root(np.float64(4.0))), float(root(np.float64(-4.0)))
    (2.0, 0.0)
    """
    trace = current_trace()
    if trace is None or not is_traced(predicate):
        return (true_fun if predicate else false_fun)(*operands)
    with trace.inner():
        yes, structure = flatten(true_fun(*operands))
        no, other = flatten(false_fun(*operands))
    if structure != other:
        raise TypeError(f"true_fun and false_fun return other structures: {structure}, {other}")
    kinds = [_is_numeric(a) or _is_numeric(b) for a, b in zip(yes, no, strict=True)]
    for a, b, numeric in zip(yes, no, kinds, strict=True):
        if not numeric and a is not b and a != b:
            raise TypeError(f"true_fun returns {a!r} where false_fun returns {b!r}")
    pairs = [_common(trace, a, b) for a, b, numeric in zip(yes, no, kinds, strict=True) if numeric]
    condition = as_tensor(_variable(trace, predicate), "bool")
    chosen = iter(ifelse(condition, [a for a, _ in pairs], [b for _, b in pairs]) if pairs else ())
    leaves = [
        TracedArray(trace, next(chosen)) if numeric else a
        for a, numeric in zip(yes, kinds, strict=True)
    ]
    result: ResultT = unflatten(structure, leaves)
    return result


@described
def while_loop(
    cond_fun: Callable[[StateT], object],
    body_fun: Callable[[StateT], StateT],
    init_val: StateT,
    *,
    max_steps: int = 1_000_000,
) -> StateT:
    """Return the state that a loop ends with.

    cond_fun (callable): Takes a state and says whether to go on.
    body_fun (callable): Takes a state and returns the next one: a tree of the same structure, whose
        arrays have the same dtypes and ranks.
    init_val (tree): The state to begin with.
    max_steps (int): The most steps that there may be. Gradients hold memory for so many.
    returns (tree): The first state for which ``cond_fun`` does not hold.
    raises ValueError: When it holds after ``max_steps`` steps, too.

    >>> import numpy as np
    >>> import frazil as fz
    >>> halve = fz.jit(lambda x: fz.while_loop(lambda s: s > 1, lambda s: s / 2, x))
    >>> float(halve(np.float64(20.0)))
    0.625
    """
    trace = current_trace()
    if trace is None:
        state = init_val
        for _ in range(max_steps):
            if not cond_fun(state):
                return state
            state = body_fun(state)
        if cond_fun(state):
            raise ValueError(_goes_on(max_steps))
        return state
    end: StateT = cond(
        _as_traced(trace, cond_fun(init_val)),
        lambda state: _steps(trace, body_fun, state, max_steps, cond_fun),
        lambda state: state,
        _all_traced(trace, init_val),
    )
    return end


@described
def fori_loop(
    lower: Any, upper: Any, body_fun: Callable[[Any, StateT], StateT], init_val: StateT
) -> StateT:
    """Return the state that a loop over integers ends with.

    lower, upper (int or array_like): The first integer, and the one after the last.
    body_fun (callable): Takes an integer and a state, and returns the next state: a tree of the
        same structure, whose arrays have the same dtypes and ranks.
    init_val (tree): The state to begin with.
    returns (tree): The last state.

    >>> import numpy as np
    >>> import frazil as fz
    >>> power = fz.jit(lambda x, n: fz.fori_loop(0, n, lambda i, s: s * x, 1.0))
    >>> float(power(np.float64(2.0), np.int64(10)))
    1024.0
    """
    trace = current_trace()
    if trace is None:
        state = init_val
        for i in range(int(lower), int(upper)):
            state = body_fun(i, state)
        return state

    def body(pair: tuple[Any, StateT]) -> tuple[Any, StateT]:
        i, state = pair
        return i + 1, body_fun(i, state)

    start: tuple[Any, StateT] = (
        _as_traced(trace, np.int64(lower) if type(lower) is int else lower),
        init_val,
    )
    first, end = (as_tensor(_variable(trace, x), "int64") for x in (lower, upper))
    count = maximum(subtract(end, first), literal(0))
    return _steps(trace, body, _all_traced(trace, start), count)[1]


def _goes_on(max_steps: int | Variable) -> str:
    return (
        f"fz.while_loop goes on after max_steps={max_steps} steps. Let cond_fun become false, or "
        "give a larger max_steps="
    )


def _steps(
    trace: Trace,
    body_fun: Callable[[StateT], StateT],
    state: StateT,
    max_steps: int | Variable,
    cond_fun: Callable[[StateT], object] | None = None,
) -> StateT:
    """The state after ``max_steps`` steps, or after the first one that ``cond_fun`` ends.

    With ``cond_fun`` there is at least one, and not ending is an error.
    """
    leaves, structure = flatten(state)
    places = [at for at, leaf in enumerate(leaves) if is_traced(leaf)]
    before = [leaves[at]._variable for at in places]

    def step(*variables: Variable) -> object:
        inner = list(leaves)
        for at, variable, start in zip(places, variables, before, strict=False):
            trace.stand_as(variable, start)
            inner[at] = TracedArray(trace, variable)
        with trace.inner():
            made = body_fun(unflatten(structure, inner))
            after = _checked(trace, made, structure, leaves, places)
            if cond_fun is None:
                return after
            ended = logical_not(as_tensor(_variable(trace, cond_fun(made)), "bool"))
        return [*after, ended], until(ended)

    begun = before if cond_fun is None else [*before, constant(False)]
    infos = [{"initial": x} for x in begun]
    _, lasts, _ = build_scan(step, None, infos, None, max_steps, -1, False, False, None)
    ends = last_states(lasts)
    check = Check(_goes_on(max_steps), in_gradients=True)
    for at, last in zip(places, ends, strict=False):
        whole = last if cond_fun is None else checked(last, [ends[-1]], check)
        leaves[at] = TracedArray(trace, whole)
    result: StateT = unflatten(structure, leaves)
    return result


def _checked(
    trace: Trace, made: object, structure: Structure, leaves: Sequence[Any], places: Sequence[int]
) -> list[Variable]:
    """The next values of the parts of a state that change."""
    found, other = flatten(made)
    if other != structure:
        raise TypeError(f"the state changes its structure in a step: {structure} becomes {other}")
    after = []
    for at in places:
        before = leaves[at]._variable
        variable = _variable(trace, found[at])
        if variable.dtype != before.dtype:
            if type(found[at]) not in (int, float, bool):
                raise TypeError(
                    f"the state changes its type in a step: {before.type} becomes "
                    f"{variable.type}. Begin with an array of that dtype"
                )
            variable = as_tensor(variable, before.dtype)
        after.append(variable)
    return after


def _common(trace: Trace, a: object, b: object) -> tuple[Variable, Variable]:
    """Two results as variables of one dtype; a Python number takes the dtype of the other."""
    one, other = _variable(trace, a), _variable(trace, b)
    if is_one_of(type(a), (int, float, bool)):
        one = as_tensor(one, other.dtype)
    elif is_one_of(type(b), (int, float, bool)):
        other = as_tensor(other, one.dtype)
    return one, other


def _variable(trace: Trace, value: object) -> Variable:
    made = as_tensor(value) if type(value) is bool else as_variable(trace, value)
    if made is None:
        raise TypeError(f"an array or a number is needed, given {value!r}")
    return made


def _is_numeric(value: object) -> bool:
    kinds = (int, float, bool, np.ndarray)
    return is_traced(value) or is_one_of(type(value), kinds) or issubclass(type(value), np.generic)


def _as_traced(trace: Trace, value: object) -> object:
    if is_traced(value) or not _is_numeric(value):
        return value
    return TracedArray(trace, _variable(trace, value))


def _all_traced(trace: Trace, value: StateT) -> StateT:
    leaves, structure = flatten(value)
    result: StateT = unflatten(structure, [_as_traced(trace, leaf) for leaf in leaves])
    return result
