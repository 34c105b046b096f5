"""Calls of ``perform``, for nodes whose op has no native form."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

import frazil._core as _core
from frazil._core import Constant, DebugModeError, FrozenApply, ProgramBuilder, Variable
from frazil.graph.answers import arrays_of, listed_values, values_of
from frazil.graph.dispatch import singledispatch
from frazil.graph.op import Array, Op
from frazil.tensor.lengths import lengths
from frazil.tensor.shapes import lengths_of


class NodeFunction:
    """A node as a function of arrays. A cached program keeps the node, not the function."""

    __slots__ = ("node",)

    def __init__(self, node: FrozenApply) -> None:
        self.node = node

    @property
    def __name__(self) -> str:
        return str(self.node.op)

    @abstractmethod
    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        """The outputs."""


class Perform(NodeFunction):
    """The ``perform`` of a node's op."""

    __slots__ = ()

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        return listed_values(self.node, self.node.op.perform(self.node, arrays))


@singledispatch
def node_function(op: Op, node: FrozenApply, linker: object) -> NodeFunction:
    """The function of a node in a program of ``linker`` that comes from the cache."""
    return Perform(node)


def call_perform(
    builder: ProgramBuilder, node: FrozenApply, inputs: Sequence[int], *, checked: bool = False
) -> list[int]:
    """Add a call of the op's ``perform``, and return the slots of its outputs."""
    perform = CheckedPerform(node) if checked else Perform(node)
    return builder.call(perform, inputs, node.output_types)


class CheckedPerform(Perform):
    """Calls an op's ``perform``, and checks it against the op's other declarations.

    It may write to and share declared memory alone, and its results must have the lengths that
    ``infer_shape`` gives.
    """

    __slots__ = ("_last", "_lengths", "_steps")

    def __init__(self, node: FrozenApply) -> None:
        super().__init__(node)
        self._last: tuple[Sequence[Array], Sequence[Array], Sequence[Array]] | None = None
        self._lengths = lengths_of(node, [lengths(x) for x in node.inputs])
        computed = [length for own in self._lengths for length in own or ()]
        self._steps = _core.toposort(computed, [*node.inputs, *node.outputs])

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        """The outputs.

        Raises
        ------
        DebugModeError
            If ``perform`` has written to an input, returns memory of an input that the op's
            ``view_map`` does not name for this output, has other lengths than ``infer_shape``
            says, or returns something else of the same inputs than the call before.
        """
        node = self.node
        before = [array.copy() for array in arrays]
        outputs = arrays_of(node, node.op.perform(node, arrays))
        for position, (array, copy) in enumerate(zip(arrays, before, strict=True)):
            if array.tobytes() != copy.tobytes():
                raise DebugModeError(
                    f"perform of {node.op} has written to its input {position}, {array!r}, which "
                    f"was {copy!r}; it must work on a copy"
                )
        views = {} if node.distinct is not None else node.op.view_map
        for number, output in enumerate(outputs):
            for position, array in enumerate(arrays):
                if position not in views.get(number, ()) and np.shares_memory(output, array):
                    raise DebugModeError(
                        f"perform of {node.op} returns memory of its input {position} as output "
                        f"{number}, which {_why(node, number)}, or return a copy"
                    )
        self._check_lengths(before, outputs)
        if node.op.pure:
            self._check_again(before, outputs)
        return outputs

    def _check_again(self, arrays: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Compare with the call before: outputs follow from inputs alone, and are new arrays."""
        op, last = self.node.op, self._last
        values = [output.copy() for output in outputs]  # callers may write to what they get
        self._last = arrays, outputs, values
        if last is None:
            return
        again = all(map(_are_same, last[0], arrays))
        for number, (memory, first, second) in enumerate(zip(*last[1:], outputs, strict=True)):
            if number not in op.view_map and np.shares_memory(memory, second):
                raise DebugModeError(
                    f"perform of {op} returns the same memory as output {number} of two calls: "
                    "what the first call returned would change. Return a new array"
                )
            if again and not _are_close(first, second):
                raise DebugModeError(
                    f"perform of {op} gave output {number} as {first!r}, and as {second!r} for the "
                    "same inputs: an op that depends on more than its inputs says pure = False"
                )

    def _check_lengths(self, arrays: Sequence[Array], outputs: Sequence[Array]) -> None:
        node = self.node
        known: dict[Variable, Array] = dict(zip(node.inputs, arrays, strict=True))
        known.update(zip(node.outputs, outputs, strict=True))
        for step in self._steps:
            operands = [x.data if isinstance(x, Constant) else known.get(x) for x in step.inputs]
            if all(value is not None for value in operands):
                known.update(zip(step.outputs, values_of(step, operands), strict=True))
        for number, (said, output) in enumerate(zip(self._lengths, outputs, strict=True)):
            found = np.shape(output)
            if said is None or len(said) != len(found):
                continue
            for axis, length in enumerate(said):
                value = length.data if isinstance(length, Constant) else known.get(length)
                if value is not None and int(value) != found[axis]:
                    raise DebugModeError(
                        f"perform of {node.op} gave output {number} the length {found[axis]} "
                        f"along axis {axis}, and infer_shape says {int(value)}"
                    )


def _are_same(first: Array, second: Array) -> bool:
    return first.shape == second.shape and first.tobytes() == second.tobytes()


def _are_close(first: Array, second: Array) -> bool:
    """Whether two results may be those of one computation, but for the order of sums."""
    if "O" in (first.dtype.kind, second.dtype.kind):
        return True  # no result of any op, as the program says
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    if first.dtype.kind not in "fc":
        return first.tobytes() == second.tobytes()
    largest = np.abs(first[np.isfinite(first)]).max(initial=0.0)
    tolerance = np.sqrt(np.finfo(first.dtype).eps)
    return np.allclose(first, second, rtol=tolerance, atol=tolerance * largest, equal_nan=True)


def _why(node: FrozenApply, output: int) -> str:
    if node.distinct is not None:
        return "is distinct: drop distinct from the op"
    return f"its view_map ({dict(node.op.view_map)}) does not say; add {{{output}: [...]}} to it"
