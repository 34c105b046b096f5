"""Arguments that a trace differentiates by, and the variables that stand for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from frazil._core import Variable
from frazil.jit.identity import is_one_of
from frazil.jit.pytree import Structure, flatten, paths, unflatten
from frazil.jit.trace import Trace, is_array
from frazil.jit.traced import TracedArray, is_traced
from frazil.scalar.constants import as_tensor


class Differentiated:
    """Arguments that a trace differentiates by: in their place stand variables of their own.

    Equal expressions are one variable, so the variable of an argument may be used elsewhere, too.
    """

    def __init__(self, trace: Trace, values: Sequence[object]) -> None:
        self._trace = trace
        self.stands: list[Variable] = []
        self._forms: list[tuple[Structure, list[int | None]]] = []
        self.arguments = [self._taken(value, f"argument {at}") for at, value in enumerate(values)]

    def _taken(self, value: object, name: str) -> object:
        leaves, structure = flatten(value)
        numbers: list[int | None] = []
        for at, (leaf, path) in enumerate(zip(leaves, paths(value, name), strict=True)):
            variable = as_variable(self._trace, leaf)
            if variable is None:
                numbers.append(None)
                continue
            if variable.type.numpy_dtype.kind not in "fc":
                raise TypeError(
                    f"{path} has dtype {variable.dtype}: only floating-point arrays have a "
                    "gradient. Convert it with .astype(float), or choose others by argnums"
                )
            numbers.append(len(self.stands))
            self.stands.append(self._trace.stand_for(variable))
            leaves[at] = TracedArray(self._trace, self.stands[-1], leaf_is_shared(leaf))
        self._forms.append((structure, numbers))
        return unflatten(structure, leaves)

    def check_real(self, what: str) -> None:
        """Raise where an argument is complex: ``what`` is not defined by it here."""
        for x in self.stands:
            if x.type.numpy_dtype.kind == "c":
                raise TypeError(
                    f"{what} is not computed by complex numbers, given {x.type}. Write it in terms "
                    "of the real and the imaginary parts, or take fz.grad of a real number"
                )

    def trees(self, found: Sequence[object], *, single: bool) -> object:
        """The results for each variable, in trees like the arguments; None for other leaves."""
        made = [
            unflatten(structure, [None if at is None else found[at] for at in numbers])
            for structure, numbers in self._forms
        ]
        return made[0] if single else tuple(made)

    def wrap(self, variables: Sequence[Variable]) -> list[TracedArray]:
        """Traced arrays of variables, in terms of the actual arguments."""
        return [TracedArray(self._trace, x) for x in self._trace.settled(variables, self.stands)]


def leaf_is_shared(leaf: object) -> bool:
    """Whether an array that is changed in place changes for others too."""
    return bool(getattr(leaf, "_shared", type(leaf) is np.ndarray))


def as_variable(trace: Trace, leaf: Any) -> Variable | None:
    """The variable of an array or a number; None for anything else."""
    if is_traced(leaf):
        own: Variable = leaf._variable
        return own
    if isinstance(leaf, Variable):
        return leaf
    if is_array(leaf) or is_one_of(type(leaf), (int, float)):
        lifted = trace.lift(leaf) if type(leaf) is np.ndarray else leaf
        return as_tensor(lifted)
    return None
