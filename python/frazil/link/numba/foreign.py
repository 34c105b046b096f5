"""Calls of what users wrote for Numba: the texts and functions of ops that are not frazil's own.

Numba is not imported for it: :mod:`frazil.link.numba.jitted` makes the functions that are called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from frazil.link.numba.translation import Value, Writer
from frazil.scalar.op import ScalarOp

INF = "inf"
"""What a text calls infinity."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """An op of a user, for operands of types ``params`` with a result of type ``result``.

    ``text`` is an expression of ``x0``, ``x1`` and so on; without one the op's ``impl`` is called.
    ``functions`` say by which name and for which type the text calls what kernels may call.
    """

    op: ScalarOp
    text: str | None
    params: tuple[str, ...]
    result: str
    functions: Mapping[str, tuple[str, str]] = field(default_factory=dict, compare=False)

    def emit(self, writer: Writer, args: Sequence[Value]) -> Value:
        """Write the call; the result."""
        name = writer.module.foreign(self)
        params = (*self.params, "status")
        return writer.call(name, params, self.result, [*args, writer.status()])
