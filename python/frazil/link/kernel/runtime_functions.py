"""The functions of floats that kernels over blocks take from the runtime.

In the runtime each has the same operations for one element, for a register of AVX-512, and for many
elements. So all kernels that call them give the same bits, wherever an element stands.
"""

from __future__ import annotations

from frazil.scalar.elementary import Elementary
from frazil.scalar.op import ScalarOp

OF_BLOCKS: frozenset[ScalarOp] = frozenset(
    map(
        Elementary,
        (
            *("arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cbrt", "cos", "cosh"),
            *("erf", "erfc", "exp", "exp2", "expm1", "log", "log10", "log1mexp", "log1p", "log2"),
            *(
                "gammaln",
                "log_sigmoid",
                "ndtr",
                "pow",
                "psi",
                "sigmoid",
                "sin",
                "sinh",
                "softplus",
                "tan",
                "tanh",
            ),
        ),
    )
)
"""The ops that the runtime has such functions of."""
