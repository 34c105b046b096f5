"""Traced arrays that outlive their trace, replaced where they lie by plain arrays."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence

import frazil._core as _core
from frazil.jit.identity import is_one_of
from frazil.jit.trace import Trace
from frazil.jit.traced import TracedArray, TracedLength


def replace_leaked(
    trace: Trace, plain_leaf: Callable[[object], object], likely: Sequence[object]
) -> None:
    """Put plain values in the place of the traced arrays of a trace, in all that holds them.

    ``likely`` are objects that the traced function may have changed.
    """
    # Traced arrays refer to their trace, and nothing that another thread is building does.
    living = [x for x in gc.get_referrers(trace) if is_one_of(type(x), (TracedArray, TracedLength))]
    _core.replace_held(living, [plain_leaf(x) for x in living], likely)
