"""How kernels that fold prefetch memory where only one array is read."""

from __future__ import annotations

AHEAD = 4096
"""The distance in bytes at which memory is prefetched: a page, as the processor itself looks no
further than the end of one."""

PREFETCHED_FROM = 1 << 14
"""The least number of elements for which memory is prefetched: fewer are in a cache."""
