"""``fz.vmap``: Python functions over batches of their arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np

from frazil._core import TensorType, Variable
from frazil.batching.vectorize import vectorize
from frazil.jit.derivatives import P, ResultT
from frazil.jit.differentiated import as_variable
from frazil.jit.effects import add_mapped_effect
from frazil.jit.function import JitFunction, name_in_module
from frazil.jit.identity import is_one_of
from frazil.jit.pytree import flatten, parts_of, paths, unflatten
from frazil.jit.trace import Trace, current_trace
from frazil.jit.traced import TracedArray
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.lengths import length, lengths
from frazil.tensor.transposition import moveaxis

Axes: TypeAlias = Any
"""An axis, None, or a container of these like the first levels of a tree."""


def vmap(fn: Callable[P, ResultT], in_axes: Axes = 0, out_axes: Axes = 0) -> Callable[P, ResultT]:
    """Return the function that computes a function for each element of a batch at once.

    Parameters
    ----------
    fn : callable
        A Python function of trees of arrays that returns a tree of arrays.
    in_axes : int, None or tree of them
        Along which axis arrays are batches: of all positional arguments, or of each, as a sequence.
        An entry is an axis for all arrays of the argument, or a container of axes like it. None:
        the array is the same for all elements. Arguments by name are batches along axis 0.
    out_axes : int, None or tree of them
        Along which axis results are stacked: an axis for all, or a container of axes like what
        ``fn`` returns. None: the result is the same for all elements, and returned once.

    Returns
    -------
    callable
        It takes the arguments of ``fn`` as batches.

    Raises
    ------
    TypeError
        If nothing in the arguments is a batch, a result is no array, or axes are no tree like what
        they are for.
    ValueError
        If batches differ in length, or a result that is to be returned once differs.

    See Also
    --------
    frazil.vectorize : takes a graph over a batch, with the same rules.

    Examples
    --------
    >>> import numpy as np
    >>> import frazil as fz
    >>> distance = fz.vmap(lambda a, b: np.sqrt(np.sum((a - b) ** 2)), in_axes=(0, None))
    >>> distance(np.array([[3.0, 4.0], [0.0, 1.0]]), np.zeros(2))
    array([5., 1.])
    >>> shift = fz.vmap(lambda p: p["x"] + p["by"], in_axes=({"x": 1, "by": None},), out_axes=1)
    >>> shift({"x": np.array([[1.0, 2.0], [3.0, 4.0]]), "by": 10.0})
    array([[11., 12.],
           [13., 14.]])
    """

    made: Callable[P, ResultT] = Batched(fn, in_axes, out_axes)
    return made


class Batched:
    """A function that computes another one for each element of a batch."""

    def __init__(self, fn: Callable[..., object], in_axes: Axes, out_axes: Axes) -> None:
        functools.update_wrapper(self, fn, updated=())
        self._fn, self._in_axes, self._out_axes = fn, in_axes, out_axes

        @functools.wraps(fn)
        def traced(*args: object, **kwargs: object) -> object:
            return self._traced(args, kwargs)

        self._compiled = JitFunction(traced, roots=[fn])

    def __call__(self, *args: object, **kwargs: object) -> Any:
        if current_trace() is not None:
            return self._traced(args, kwargs)
        return self._compiled(*args, **kwargs)

    def _traced(self, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        trace = current_trace()
        assert trace is not None
        leaves, structure = flatten((args, kwargs))
        of_args = _per_argument(self._in_axes, args)
        axes = _spread((of_args, dict.fromkeys(kwargs, 0)), (args, kwargs), "in_axes")
        batches = Batches(trace)
        names = [own for at, arg in enumerate(args) for own in paths(arg, f"argument {at}")]
        names += [own for name, arg in kwargs.items() for own in paths(arg, name)]
        given = [
            leaf if axis is None else batches.element(leaf, axis, name)
            for leaf, axis, name in zip(leaves, axes, names, strict=True)
        ]
        if not batches.whole:
            raise TypeError("fz.vmap: no argument is a batch of arrays")
        own_args, own_kwargs = unflatten(structure, given)
        with batches.mapped():
            returned = self._fn(*own_args, **own_kwargs)
        return batches.stacked(returned, self._out_axes)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __reduce__(self) -> str | tuple[object, ...]:
        """A pickle is the name in a module, as for functions; without one, the parts."""
        return name_in_module(self) or (type(self), (self._fn, self._in_axes, self._out_axes))


class Batches:
    """The batches that arguments are, each with the variable that stands for one element."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.whole: dict[Variable, Variable] = {}
        self._lengths: dict[int, str] = {}

    def element(self, leaf: object, axis: int, name: str) -> object:
        """A variable for one element of a leaf that is a batch; other leaves as they are."""
        whole = as_variable(self._trace, leaf)
        if whole is None:
            return leaf
        if not whole.ndim:
            raise TypeError(
                f"fz.vmap: {name} is a number and no batch. Give None in in_axes for an argument "
                "that is the same for all elements"
            )
        batch = moveaxis(whole, axis, 0)
        self._check_length(batch, name)
        element = TensorType(batch.dtype, batch.type.shape[1:])(None)
        self._trace.stand_as(element, batch[0])
        self.whole[element] = batch
        return TracedArray(self._trace, element)

    def _check_length(self, batch: Variable, name: str) -> None:
        found = self._trace.known(length(batch, 0))
        if found is None:
            return  # in a step of a scan, whose values no trace knows
        self._lengths.setdefault(int(found), name)
        if len(self._lengths) > 1:
            (wanted, first), (own, last) = self._lengths.items()
            raise ValueError(
                f"fz.vmap: {first} is a batch of {wanted} elements, and {last} of {own}"
            )

    @contextmanager
    def mapped(self) -> Iterator[None]:
        """Run the function for one element, and then its callbacks for all of them."""
        trace = self._trace
        before, trace.mapped = trace.mapped, []
        try:
            yield
            found = trace.mapped
        finally:
            trace.mapped = before
        if not found:
            return
        count = self._count()
        taken = [x for _, variables in found for x in variables]
        batches = [
            broadcast_to(whole, (count, *lengths(whole))) if whole.ndim == x.ndim else whole
            for x, whole in zip(taken, vectorize(taken, self.whole), strict=True)
        ]
        calls = [(call, len(variables)) for call, variables in found]
        add_mapped_effect(trace, calls, batches, count)

    def _count(self) -> Variable:
        """The number of elements."""
        return length(next(iter(self.whole.values())), 0)

    def stacked(self, returned: object, out_axes: Axes) -> object:
        """The results for all elements, from those that were returned for one."""
        leaves, structure = flatten(returned)
        axes = _spread(out_axes, returned, "out_axes")
        variables = [as_variable(self._trace, leaf) for leaf in leaves]
        found = [x for x in variables if x is not None]
        if len(found) < len(leaves):
            raise TypeError("fz.vmap: the function must return arrays and numbers only")
        count = self._count()
        stacks = []
        for one, whole, axis in zip(found, vectorize(found, self.whole), axes, strict=True):
            same = whole.ndim == one.ndim  # it does not depend on the batch
            if axis is None and not same:
                raise ValueError(
                    "fz.vmap: out_axes is None for a result that differs from element to element. "
                    "Give the axis along which it is stacked"
                )
            if same and axis is not None:
                whole = broadcast_to(whole, (count, *lengths(whole)))
            moved = whole if axis in (None, 0) else moveaxis(whole, 0, axis)
            stacks.append(TracedArray(self._trace, moved))
        return unflatten(structure, stacks)


def _per_argument(in_axes: Axes, args: tuple[object, ...]) -> tuple[Axes, ...]:
    if in_axes is None or _is_axis(in_axes):
        return (in_axes,) * len(args)
    if not isinstance(in_axes, list | tuple):
        raise TypeError(f"in_axes is an axis, None or a sequence of these, given {in_axes!r}")
    if len(in_axes) != len(args):
        raise TypeError(f"in_axes is for {len(in_axes)} arguments, and {len(args)} were given")
    return tuple(in_axes)


def _is_axis(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _spread(axes: Axes, tree: object, what: str) -> list[int | None]:
    """The axis of each leaf of a tree, of a tree of axes that has some of its first levels."""
    if axes is None or _is_axis(axes):
        return [axes] * len(flatten(tree)[0])
    own, parts = parts_of(axes), parts_of(tree)
    alike = type(axes) is type(tree) or is_one_of(type(axes), (list, tuple))
    if (
        own is None
        or parts is None
        or not alike
        or len(own[0]) != len(parts[0])
        or (type(axes) is dict and own[1] != parts[1])
    ):
        raise TypeError(
            f"fz.vmap: {what} has {axes!r} where a {type(tree).__name__} is: give an axis, None, "
            "or a container of these like it"
        )
    return [
        axis
        for one, part in zip(own[0], parts[0], strict=True)
        for axis in _spread(one, part, what)
    ]
