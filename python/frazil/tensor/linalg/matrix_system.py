"""Systems of equations whose matrix is an operand as it is, without factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from frazil._core import FrozenApply, Variable
from frazil.graph.op import Array
from frazil.tensor.lengths import Lengths
from frazil.tensor.linalg.failure import MayFail
from frazil.tensor.linalg.matrices import check_rows, check_square_value, core_of
from frazil.tensor.linalg.stacks import for_each, inferred_front

Trans = Literal["N", "T"]


class MatrixSystem(MayFail):
    """The solution ``x`` of ``a x = b``, or of ``a' x = b`` where ``trans`` is ``"T"``."""

    trans: Trans

    takes_complex = True

    def check_matrix(self, a: Array, node: FrozenApply) -> None:
        """Raise for matrices whose shape is none for this op."""
        check_square_value(a, node)

    def solved(self, a: Array, b: Array) -> tuple[Array, ...]:
        """The solution for one matrix and its right side."""
        raise NotImplementedError

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        a, b = inputs
        core = core_of(node.inputs[1], node.inputs[0])
        self.check_matrix(a, node)
        check_rows(a, b, node, core)
        results = [(b.shape[b.ndim - core :], b.dtype.name)]
        return for_each(self.solved, node, inputs, (2, core), results)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        core = core_of(node.inputs[1], node.inputs[0])
        front = inferred_front(node.inputs, input_shapes, (2, core))
        return ((*front, *input_shapes[1][-core:]),)

    @property
    def other_trans(self) -> Trans:
        """That of the system which the gradient of the right side solves."""
        return "N" if self.trans == "T" else "T"

    def factors_of_gradient(self, x: Variable, g_b: Variable) -> tuple[Variable, Variable]:
        """The two factors, the second one transposed, of the gradient of ``-a``."""
        return (g_b, x) if self.trans == "N" else (x, g_b)


def check_trans(trans: Trans) -> None:
    """Raise ValueError unless it is one of the letters that an op may hold."""
    if trans not in ("N", "T"):
        raise ValueError(f"trans must be 'N' or 'T'; given {trans!r}")


def read_trans(trans: int | str) -> tuple[Trans, bool]:
    """Return which matrix SciPy's ``trans`` means: its transpose or not, and conjugated or not."""
    names: dict[int | str, tuple[Trans, bool]] = {0: ("N", False), 1: ("T", False), 2: ("T", True)}
    names |= {letter: names[at] for at, letter in enumerate("NTC")}
    if trans not in names:
        raise ValueError(f"trans must be 0, 1, 2, 'N', 'T' or 'C'; given {trans!r}")
    return names[trans]
