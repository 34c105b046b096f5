"""The op that draws random numbers, and how its operands are made of what users give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

import frazil._core as _core
from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.random.states import generator_of, state_of
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.broadcasting import broadcast_length, check_lengths
from frazil.tensor.lengths import LengthLike, Lengths, as_lengths, static_shape

Size: TypeAlias = LengthLike | Iterable[LengthLike] | None
"""The shape of what is drawn; None: that to which the parameters broadcast."""

Drawn: TypeAlias = tuple[Variable, Variable]
"""The state of the generator after the draw, and what was drawn."""


@dataclass(frozen=True, eq=False)
class Draw(Op):
    """Numbers of a distribution, and the state of the generator after them.

    The operands are the state before, the distribution's parameters, which broadcast, and the
    lengths of the result. Equal operands give equal numbers, as every op does: to draw others, draw
    from the state that a draw returned.
    """

    distribution: str
    dtype: str

    @property
    def parameters(self) -> Sequence[str]:
        """The dtypes of the parameters."""
        return _core.distribution_parameters(self.distribution, self.dtype)

    def make_node(self, state: Variable, *operands: Variable) -> FrozenApply:
        dtypes = self.parameters
        parameters, shape = operands[: len(dtypes)], operands[len(dtypes) :]
        given = [x.dtype for x in parameters]
        if state.dtype != "uint64" or state.ndim != 1:
            raise TypeError(
                f"the state of a generator is a vector of uint64, given {state.type}; make one "
                "with fz.random.shared_rng(seed) or fz.random.state_of(seed)"
            )
        if given != list(dtypes):
            raise TypeError(f"{self} takes parameters of types {list(dtypes)}, given {given}")
        static = static_shape(shape)
        for x in parameters:
            if x.ndim > len(static):
                raise ValueError(
                    f"{self.distribution}: a parameter of type {x.type} does not broadcast to size "
                    f"{static}: it has more dimensions"
                )
            for known, wanted in zip(x.type.shape[::-1], static[::-1], strict=False):
                if known not in (1, None, wanted) and wanted is not None:
                    raise ValueError(
                        f"{self.distribution}: a parameter of type {x.type} does not broadcast to "
                        f"size {static}"
                    )
        return FrozenApply(self, [state, *operands], [state.type, TensorType(self.dtype, static)])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        count = len(self.parameters)
        state, parameters = inputs[0], inputs[1 : 1 + count]
        shape = tuple(int(n) for n in inputs[1 + count :])
        for x, array in zip(node.inputs[1 : 1 + count], parameters, strict=True):
            check_lengths(x, array.shape, shape)
        generator = generator_of(state)
        draw_of: Callable[..., Any] = _DRAWN.get(self.distribution, _by_name)
        drawn = np.asarray(draw_of(generator, self, parameters, shape), dtype=self.dtype)
        return state_of(generator), drawn

    def infer_shape(
        self, node: FrozenApply, input_shapes: Sequence[Lengths]
    ) -> tuple[Lengths, Lengths]:
        return input_shapes[0], tuple(node.inputs[1 + len(self.parameters) :])

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        return [None] * len(inputs)


def _by_name(
    generator: np.random.Generator, op: Draw, parameters: Sequence[Array], shape: tuple[int, ...]
) -> Any:
    return getattr(generator, op.distribution)(*parameters, size=shape)


def _typed(
    generator: np.random.Generator, op: Draw, parameters: Sequence[Array], shape: tuple[int, ...]
) -> Any:
    dtype = np.dtype(op.dtype)
    return getattr(generator, op.distribution)(*parameters, size=shape, dtype=dtype)


def _exponential_by_inversion(
    generator: np.random.Generator, op: Draw, parameters: Sequence[Array], shape: tuple[int, ...]
) -> Any:
    # The types of NumPy's stubs are those of constants.
    dtype: Any = np.dtype(op.dtype)
    return generator.standard_exponential(shape, dtype=dtype, method="inv")


def _integers(
    generator: np.random.Generator, op: Draw, parameters: Sequence[Array], shape: tuple[int, ...]
) -> Any:
    low, high, endpoint = parameters
    dtype: Any = np.dtype(op.dtype)
    return generator.integers(low, high, size=shape, dtype=dtype, endpoint=bool(endpoint))


_DRAWN: dict[str, Callable[..., Any]] = {
    "random": _typed,
    "standard_normal": _typed,
    "standard_exponential": _typed,
    "standard_exponential_inv": _exponential_by_inversion,
    "standard_gamma": _typed,
    "integers": _integers,
}
"""How NumPy draws where that is no call with the parameters and a size."""


def draw(
    distribution: str,
    rng: TensorLike,
    parameters: Sequence[TensorLike],
    size: Size,
    dtype: str = "float64",
) -> Drawn:
    """Return the state after a draw, and what was drawn."""
    dtypes = _core.distribution_parameters(distribution, dtype)
    operands = [
        as_parameter(distribution, x, wanted) for x, wanted in zip(parameters, dtypes, strict=True)
    ]
    if size is None:
        ndim = max((x.ndim for x in operands), default=0)
        shape: Lengths = tuple(broadcast_length(operands, axis) for axis in range(-ndim, 0))
    else:
        shape = as_lengths(size)
    state, drawn = Draw(distribution, dtype)(as_tensor(rng), *operands, *shape)
    return state, drawn


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
