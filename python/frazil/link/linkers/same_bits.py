"""The kernels of the extension that stay when C has compiled others, as C's would have other bits.

Sums have the same partial results in both, and both take functions of floats from the runtime, for
a block in registers of AVX-512. Where the processor has no such registers, C takes them from the C
library, whose last bits are others, and kernels with such functions stay the extension's. So do
those with ``tanh``, which has the same bits in C with AVX2: C would win nothing. The steps of
scans, which wait for each other, take functions from the C library in both.
"""

from __future__ import annotations

from frazil._core import vector_bits
from frazil.link.kernel.runtime_functions import OF_BLOCKS


def stays(text: str) -> bool:
    """Whether a kernel of the extension with this text keeps its place, as C gives other bits.

    Examples
    --------
    >>> from frazil.link.linkers.same_bits import stays
    >>> stays("loop 8 0\\nread float64 1\\nop neg float64 float64 0\\nwrite 1 float64 1 -\\npass")
    False
    """
    return vector_bits() < 512 and has_functions(text)


def has_functions(text: str) -> bool:
    """Whether the loop with this text has functions of floats that the runtime has for blocks.

    Examples
    --------
    >>> from frazil.link.linkers.same_bits import has_functions
    >>> start = "loop 8 0\\nread float64 1\\n"
    >>> [has_functions(f"{start}op {name} float64 float64 0") for name in ("neg", "exp")]
    [False, True]
    """
    if not text.startswith("loop "):
        return False
    if _NAMES.isdisjoint(text.split(" ")):
        return False  # most texts, found without a look at each line
    statements = (line.split(" ") for line in text.splitlines() if line.startswith("op "))
    return any(name in _NAMES and given.startswith("float") for _, name, _, given, *_ in statements)


_NAMES = frozenset(op.table_name for op in OF_BLOCKS)
