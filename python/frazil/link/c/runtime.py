"""Functions of floats that C's kernels take from the runtime.

C's kernels hold a block in a register of AVX-512, and call by pointers. ``exp``, ``log`` and
``log1p``, which models call most, take the same steps in the kernel itself.
"""

from __future__ import annotations

from frazil.link.c.definitions import Definitions
from frazil.link.c.functions import C_TYPES
from frazil.link.kernel.loop_kernel import BLOCK_BYTES
from frazil.scalar.elementary import Elementary
from frazil.scalar.op import ScalarOp

OF_STEPS: frozenset[ScalarOp] = frozenset(map(Elementary, ("cbrt", "gammaln", "psi")))
"""Ops that the steps of scans take from the runtime, too; others are the C library's there."""


def of_one(definitions: Definitions, op: ScalarOp, dtype: str) -> str:
    """The name of the function of one element."""
    code = C_TYPES[dtype]
    name = f"{op.table_name}_one_{code}"
    definitions.native(name, code, ", ".join([code] * op.nin))
    return name


def of_elements(definitions: Definitions, dtype: str, *, op: ScalarOp, lanes: int) -> str:
    """The name of the function from one block in memory to another."""
    code = C_TYPES[dtype]
    many, name = f"{op.table_name}_many_{code}", f"{op.table_name}_{lanes}_{code}"
    definitions.native(many, "void", f"{code} *, const {code} *, i8")
    definitions.define(f"#define {name}(to, of) {many}(to, of, {lanes})\n")
    return name


def of_block(definitions: Definitions, dtype: str, *, op: ScalarOp, lanes: int) -> str:
    """The name of the function of a block."""
    code, vector = C_TYPES[dtype], definitions.vector(dtype, lanes)
    size = 8 if dtype == "float64" else 4
    if lanes * size == BLOCK_BYTES:
        name = f"{op.table_name}_block_{code}"
        definitions.native(name, vector, ", ".join([vector] * op.nin))
        return name
    many, name = f"{op.table_name}_many_{code}", f"{op.table_name}_{vector}"
    operands = "xy"[: op.nin]
    definitions.native(many, "void", f"{code} *, {f'const {code} *, ' * op.nin}i8")
    params = ", ".join(f"{vector} {x}" for x in operands)
    given = "".join(f"(const {code} *)&{x}, " for x in operands)
    definitions.define(
        f"INLINE {vector} {name}({params}) {{\n"
        f"  {vector} made;\n"
        f"  {many}(({code} *)&made, {given}{lanes});\n"
        "  return made;\n"
        "}\n"
    )
    return name
