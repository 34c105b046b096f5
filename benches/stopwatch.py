"""How long one thing takes."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def duration(action: Callable[[], object]) -> float:
    """Return how many seconds ``action`` takes; what it makes is freed afterwards."""
    gc.collect()
    started = time.perf_counter()
    kept = action()
    elapsed = time.perf_counter() - started
    del kept
    return elapsed
