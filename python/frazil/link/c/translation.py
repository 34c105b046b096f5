"""The translation unit of some kernels."""

from __future__ import annotations

from collections.abc import Sequence

from frazil.link.c.scan import add_scan
from frazil.link.c.source import add_kernel
from frazil.link.c.unit import Unit
from frazil.link.kernel.scan_kernel import AnyKernel, ScanKernel


def translate(
    kernels: Sequence[AnyKernel], *, vector_functions: frozenset[str], has_wide_registers: bool
) -> Unit:
    """The unit of some kernels: its function ``kernel_0`` is the first of them, and so on.

    Parameters
    ----------
    kernels : sequence of LoopKernel or ScanKernel
        The kernels.
    vector_functions : frozenset of str
        The functions of the C math library that loops can call on vectors.
    has_wide_registers : bool
        Whether a register of the processor holds a block.

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
    >>> unit = translate([kernel], vector_functions=frozenset(), has_wide_registers=False)
    >>> "const f8 v1 = -v0;" in unit.text()
    True
    """
    unit = Unit(vector_functions, has_wide_registers)
    for k, kernel in enumerate(kernels):
        if isinstance(kernel, ScanKernel):
            add_scan(unit, f"kernel_{k}", kernel)
        else:
            add_kernel(unit, f"kernel_{k}", kernel)
    return unit
