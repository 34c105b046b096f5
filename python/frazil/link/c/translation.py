"""The translation unit of some kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from frazil.link.c.literals import OWN
from frazil.link.c.scan import add_scan
from frazil.link.c.source import add_kernel
from frazil.link.c.unit import Unit
from frazil.link.kernel.scan_kernel import AnyKernel, ScanKernel

KERNEL = f"kernel{OWN}"
"""The name of a kernel without a number."""


def translate(
    kernels: Sequence[AnyKernel], *, vector_functions: frozenset[str], register_bits: int
) -> Unit:
    """The unit of some kernels: its function ``kernel_0`` is the first of them, and so on.

    Parameters
    ----------
    kernels : sequence of LoopKernel or ScanKernel
        The kernels.
    vector_functions : frozenset of str
        The functions of the C math library that loops can call on vectors.
    register_bits : int
        The bits of the registers that vectors should fit: 512, 256, or 0 if they are not quick.

    Returns
    -------
    Unit
        The unit; ``text()`` is its C text.

    Raises
    ------
    LoweringError
        If an op has no form in C.

    Examples
    --------
    >>> from frazil.link.c.translation import translate
    >>> from frazil.link.kernel.loop_kernel import LoopKernel, Read, Statement, Write
    >>> from frazil.scalar import neg
    >>> statement = Statement(neg, (0,), "float64")
    >>> write = Write(1, "float64", inner=True, reduce=None)
    >>> kernel = LoopKernel((Read("float64", inner=True),), (), (statement,), (write,))
    >>> unit = translate([kernel], vector_functions=frozenset(), register_bits=0)
    >>> "const f8 v1 = -v0;" in unit.text()
    True
    """
    alone = [
        translate_one(kernel, vector_functions=vector_functions, register_bits=register_bits)
        for kernel in kernels
    ]
    return joined(alone)


def translate_one(
    kernel: AnyKernel, *, vector_functions: frozenset[str], register_bits: int
) -> Unit:
    """The unit of one kernel, which has no number yet: units of several are made of such.

    Its text is that of all kernels which differ only in the constants of its table.
    """
    unit = Unit(vector_functions, register_bits)
    if isinstance(kernel, ScanKernel):
        add_scan(unit, KERNEL, kernel)
    else:
        add_kernel(unit, KERNEL, kernel)
    return unit


def joined(units: Sequence[Unit]) -> Unit:
    """The unit of the kernels of some units; each gets its number, and definitions stand once."""
    whole = Unit(units[0].vector_functions, units[0].register_bits)
    for k, unit in enumerate(units):
        own = {OWN: f"{k}_"}
        for name, text in unit.definitions.items():
            whole.definitions.setdefault(_filled(name, own), _filled(text, own))
        whole.kernels += [_filled(text, {KERNEL: f"kernel_{k}", **own}) for text in unit.kernels]
        whole.table.types += [(_filled(name, own), code) for name, code in unit.table.types]
        whole.table.content += unit.table.content
        whole.pointers.update(unit.pointers)
        whole.foreign_texts.update(unit.foreign_texts)
        whole.has_block_functions |= unit.has_block_functions
    return whole


def _filled(text: str, names: Mapping[str, str]) -> str:
    for place, name in names.items():
        text = text.replace(place, name)
    return text
