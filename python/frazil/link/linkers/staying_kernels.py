"""The kernels of the extension that stay when C has compiled others.

Sums have the same partial results in both, and both take functions of floats from the runtime, for
a block in registers of AVX-512. Where the processor has AVX2 alone, C computes some functions by
the runtime's steps, and takes others from the C library, whose last bits are others: kernels with
one of these stay the extension's. So do those that walk a row several times, or whose elements
indices choose: they are quicker than C's there. The steps of scans, which wait for each other, take
functions from the C library in both.
"""

from __future__ import annotations

from collections.abc import Iterator

from frazil._core import vector_bits
from frazil.link.c.short_registers import short_form
from frazil.link.kernel.runtime_functions import OF_BLOCKS
from frazil.scalar.op import ScalarOp


def stays(text: str) -> bool:
    """Whether a kernel of the extension with this text keeps its place when C has compiled others.

    Examples
    --------
    >>> from frazil.link.linkers.staying_kernels import stays
    >>> stays("loop 8 0\\nread float64 1\\nop neg float64 float64 0\\nwrite 1 float64 1 -\\npass")
    False
    """
    bits = vector_bits()
    if bits >= 512:
        return False
    if bits < 256:
        return has_functions(text)
    if _is_quicker(text):
        return True
    return any(short_form(op, dtype) is None for op, dtype in _functions(text))


def _is_quicker(text: str) -> bool:
    """Whether the extension's kernel is quicker than C's where both have registers of AVX2."""
    walks_again = text.count("\npass") > 1
    return text.startswith("loop ") and (walks_again or _chooses_elements(text))


def _chooses_elements(text: str) -> bool:
    """Whether indices choose elements, and not rows, that the loop with this text takes or puts."""
    inner = {"source": 2, "put": 3}  # the word that says so
    lines = (line.split(" ") for line in text.splitlines())
    return any(words[0] in inner and words[inner[words[0]]] == "0" for words in lines)


def has_functions(text: str) -> bool:
    """Whether the loop with this text has functions of floats that the runtime has for blocks.

    Examples
    --------
    >>> from frazil.link.linkers.staying_kernels import has_functions
    >>> start = "loop 8 0\\nread float64 1\\n"
    >>> [has_functions(f"{start}op {name} float64 float64 0") for name in ("neg", "exp")]
    [False, True]
    """
    return next(_functions(text), None) is not None


def _functions(text: str) -> Iterator[tuple[ScalarOp, str]]:
    """The functions of floats of the loop with this text, with the dtypes that they compute in."""
    if not text.startswith("loop "):
        return
    if _OPS.keys().isdisjoint(text.split(" ")):
        return  # most texts, found without a look at each line
    for line in text.splitlines():
        if line.startswith("op "):
            _, name, _, given, *_ = line.split(" ")
            if name in _OPS and given.startswith("float"):
                yield _OPS[name], given.partition(",")[0]


_OPS = {str(op.table_name): op for op in OF_BLOCKS}
