"""The op that draws random numbers, and the conversion of arguments to its operands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, ClassVar, TypeAlias

import numpy as np

import frazil._core as _core
from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.random.by_numpy import NUMPY, by_name
from frazil.random.states import generator_of, state_of
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.broadcasting import check_lengths
from frazil.tensor.lengths import (
    LengthLike,
    Lengths,
    as_lengths,
    length,
    lengths,
    static_length,
    static_shape,
)

Size: TypeAlias = LengthLike | Iterable[LengthLike] | None
"""The shape of the result; None: the shape to which the parameters broadcast."""

Drawn: TypeAlias = tuple[Variable, Variable]
"""The state of the generator after the draw, and what was drawn."""


@dataclass(frozen=True)
class DistributionSignature:
    """The parameters and results of a distribution."""

    parameters: tuple[str, ...]
    """The dtype of each parameter."""
    takes_rows: tuple[bool, ...]
    """Whether it takes the numbers along the last axis of a parameter together."""
    has_rows: bool
    """Whether it draws the numbers along the last axis together."""


@cache
def signature_of(distribution: str, dtype: str) -> DistributionSignature:
    """Return the parameters and results of a distribution."""
    parameters, has_rows = _core.distribution_form(distribution, dtype)
    return DistributionSignature(
        tuple(name for name, _ in parameters), tuple(row for _, row in parameters), has_rows
    )


class Drawing(Op):
    """An op that draws: its first operand is the state before, its first output the state after.

    ``by_python`` says why NumPy draws by a call of Python; None if it need not.
    """

    by_python: ClassVar[str | None] = None

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        return [None] * len(inputs)


@dataclass(frozen=True, eq=False)
class Draw(Drawing):
    """Numbers of a distribution, and the state of the generator after them.

    The operands are the state before, the distribution's parameters, which broadcast, and the
    lengths of the result. Equal operands give equal numbers, as every op does: to draw others, draw
    from the state that a draw returned.
    """

    distribution: str
    dtype: str

    @property
    def signature(self) -> DistributionSignature:
        """The parameters and results of the distribution."""
        return signature_of(self.distribution, self.dtype)

    @property
    def arity(self) -> int:
        """The number of parameters."""
        return len(self.signature.parameters)

    def make_node(self, state: Variable, *operands: Variable) -> FrozenApply:
        parameters, shape = operands[: self.arity], operands[self.arity :]
        given = tuple(x.dtype for x in parameters)
        check_state(state)
        if given != self.signature.parameters:
            wanted = list(self.signature.parameters)
            raise TypeError(f"{self} takes parameters of types {wanted}, given {list(given)}")
        static = static_shape(shape)
        for x, is_row in zip(parameters, self.signature.takes_rows, strict=True):
            self._check_parameter(x, is_row, static)
        return FrozenApply(self, [state, *operands], [state.type, TensorType(self.dtype, static)])

    def _check_parameter(self, x: Variable, is_row: bool, shape: Sequence[int | None]) -> None:
        """Raise ValueError if a parameter does not broadcast to what is drawn."""
        own, wanted = x.type.shape, tuple(shape)
        fits = True
        if is_row:
            fits = len(own) > 0 and (own[-1] == wanted[-1] or None in (own[-1], wanted[-1]))
            own = own[:-1]
        if self.signature.has_rows:
            wanted = wanted[:-1]
        pairs = zip(own[::-1], wanted[::-1], strict=False)
        fits &= len(own) <= len(wanted)
        if not fits or any(n not in (1, None, m) and m is not None for n, m in pairs):
            more = ": it has more dimensions" if len(own) > len(wanted) else ""
            raise ValueError(
                f"{self.distribution}: a parameter of type {x.type} does not broadcast to what is "
                f"drawn, of shape {tuple(shape)}{more}"
            )

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        state, parameters = inputs[0], inputs[1 : 1 + self.arity]
        shape = tuple(int(n) for n in inputs[1 + self.arity :])
        batch = shape[:-1] if self.signature.has_rows else shape
        operands = zip(node.inputs[1:], parameters, self.signature.takes_rows, strict=False)
        for x, array, is_row in operands:
            check_lengths(x, array.shape, shape if is_row else batch)
        generator = generator_of(state)
        draw_of: Callable[..., Any] = NUMPY.get(self.distribution, by_name)
        drawn = np.asarray(draw_of(generator, self, parameters, shape), dtype=self.dtype)
        return state_of(generator), drawn

    def infer_shape(
        self, node: FrozenApply, input_shapes: Sequence[Lengths]
    ) -> tuple[Lengths, Lengths]:
        return input_shapes[0], tuple(node.inputs[1 + self.arity :])


def check_state(state: Variable) -> None:
    """Raise TypeError unless a variable may hold the state of a generator."""
    if state.dtype != "uint64" or state.ndim != 1:
        raise TypeError(
            f"the state of a generator is a vector of uint64, given {state.type}; make one with "
            "fz.random.shared_rng(seed) or fz.random.state_of(seed)"
        )


def draw(
    distribution: str,
    rng: TensorLike,
    parameters: Sequence[TensorLike],
    size: Size,
    dtype: str = "float64",
    row: LengthLike | None = None,
) -> Drawn:
    """Return the state after a draw, and what was drawn.

    ``row`` is the length of rows, where the distribution draws such and takes none.
    """
    signature = signature_of(distribution, dtype)
    operands = [
        as_parameter(distribution, x, wanted)
        for x, wanted in zip(parameters, signature.parameters, strict=True)
    ]
    taken = list(zip(operands, signature.takes_rows, strict=True))
    for x, is_row in taken:
        if is_row and x.ndim == 0:
            raise ValueError(
                f"{distribution} takes a parameter with dimensions, given one of type {x.type}"
            )
    shape: Lengths
    if size is None:
        shape = broadcast_lengths([lengths(x)[: x.ndim - is_row] for x, is_row in taken])
    else:
        shape = as_lengths(size)
    if signature.has_rows:
        rows = [length(x, x.ndim - 1) for x, is_row in taken if is_row]
        shape = (*shape, *(rows or as_lengths([] if row is None else [row])))
    state, drawn = Draw(distribution, dtype)(as_tensor(rng), *operands, *shape)
    return state, drawn


def broadcast_lengths(shapes: Sequence[Lengths]) -> Lengths:
    """Return the shape to which shapes broadcast; only a length that is known to be 1 repeats."""
    ndim = max(map(len, shapes), default=0)
    made = []
    for axis in range(-ndim, 0):
        own = [shape[axis] for shape in shapes if len(shape) >= -axis]
        longer = [n for n in own if static_length(n) != 1]
        known = [n for n in longer if static_length(n) is not None]
        made.append((*known, *longer, *own)[0])
    return tuple(made)


def as_parameter(distribution: str, x: TensorLike, dtype: str) -> Variable:
    """Return a parameter in the type that the distribution takes, if NumPy casts it so, too."""
    given = as_tensor(x)
    if given.dtype == dtype:
        return given
    # As NumPy: float32 draws round their parameters, integers are never cut.
    if dtype != "float32" and not np.can_cast(given.dtype, dtype) and not _fits(x, dtype):
        raise TypeError(
            f"{distribution} takes a parameter of type {dtype} here, given {given.type}, which "
            f"NumPy does not cast to it by itself; use ft.cast(x, {dtype!r})"
        )
    return as_tensor(x, dtype)


def _fits(x: TensorLike, dtype: str) -> bool:
    """Whether integers that are given are values of ``dtype``."""
    if isinstance(x, Variable):
        return False
    values = np.asarray(x)
    if values.size == 0 or values.dtype.kind not in "iu":
        return False
    limits = np.iinfo(dtype)
    return limits.min <= int(values.min()) and int(values.max()) <= limits.max
