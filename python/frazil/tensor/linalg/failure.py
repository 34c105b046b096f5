"""Failures: matrices without factors, and systems without solutions."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from frazil.graph.op import Array, Op

OnError: TypeAlias = Literal["raise", "nan"]
"""Whether a call raises numpy.linalg.LinAlgError, or all elements of the result are NaN."""


class MayFail(Op):
    """An op that has no result for some matrices; its gradients fail as it does."""

    on_error: OnError

    def check_on_error(self) -> None:
        """Raise ValueError if ``on_error`` is neither of its values."""
        if self.on_error not in ("raise", "nan"):
            raise ValueError(f"on_error must be 'raise' or 'nan'; given {self.on_error!r}")

    def fail(self, like: Array, message: str) -> tuple[Array]:
        """Return an array of NaN of the shape and dtype of ``like``, or raise."""
        if self.on_error == "raise":
            raise np.linalg.LinAlgError(message)
        nan: Array = np.full(like.shape, np.nan, like.dtype)
        return (nan,)


def fails_otherwise(op: object, on_error: OnError) -> bool:
    """Whether ``op`` may fail, and not in the way that ``on_error`` says."""
    return isinstance(op, MayFail) and op.on_error != on_error
