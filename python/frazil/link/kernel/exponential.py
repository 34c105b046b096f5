"""The constants of the exponential of a block, for all compilers that write out its steps.

``x = (n + j / 16) log 2 + r`` with ``|r| <= log(2) / 32``: ``e**x`` is ``2**n``, times the power
``2**(j / 16)``, which a permutation takes from registers, times ``e**r``, a short polynomial. The
rounding error of each power is added to ``r``. The error of the result is below 0.65 ulp, and below
0.8 ulp if the result is subnormal and rounded twice.

For infinite and huge ``x``, ``r`` is NaN or too large and is made small: the scaling by ``2**n``
then gives 0, infinity or NaN, by the value of ``n``.
"""

from __future__ import annotations

import math

from frazil.graph.dataclass import dataclass

REDUCED_TO = math.log(2) / 31
"""The size to which ``r`` is made small."""


@dataclass(frozen=True, slots=True)
class Exponential:
    """The constants of the algorithm for one dtype, as hexadecimal texts."""

    magic: str  # added, it leaves sixteenths: the last four bits are j
    log2_high: str
    log2_low: str
    per_log2: str
    polynomial: tuple[str, ...]  # of (e**r - 1 - r) / r**2, from the lowest power on
    powers: tuple[str, ...]
    rests: tuple[str, ...]  # relative errors of the powers


EXPONENTIALS = {
    "float64": Exponential(
        magic="0x1.8p+48",
        log2_high="0x1.62e42fefa39efp-1",
        log2_low="0x1.abc9e3b39803fp-56",
        per_log2="0x1.71547652b82fep+0",
        polynomial=(
            *("0x1.0000000000005p-1", "0x1.555555548f549p-3", "0x1.555555545e71ep-5"),
            *("0x1.11123ad56a26cp-7", "0x1.6c185e1d484f3p-10"),
        ),
        powers=(
            *("0x1p+0", "0x1.0b5586cf9890fp+0", "0x1.172b83c7d517bp+0", "0x1.2387a6e756238p+0"),
            *("0x1.306fe0a31b715p+0", "0x1.3dea64c123422p+0", "0x1.4bfdad5362a27p+0"),
            *("0x1.5ab07dd485429p+0", "0x1.6a09e667f3bcdp+0", "0x1.7a11473eb0187p+0"),
            *("0x1.8ace5422aa0dbp+0", "0x1.9c49182a3f090p+0", "0x1.ae89f995ad3adp+0"),
            *("0x1.c199bdd85529cp+0", "0x1.d5818dcfba487p+0", "0x1.ea4afa2a490dap+0"),
        ),
        rests=(
            *("0x0p+0", "0x1.79aa65d837b6dp-54", "-0x1.01b15eaa59348p-55"),
            *("0x1.68efde3a8a894p-54", "0x1.34d754db0abb6p-55", "0x1.59f48a72a4c6dp-55"),
            *("0x1.690cebb7aafb0p-56", "0x1.063e1e21c5409p-54", "-0x1.3b3efbf5e2228p-54"),
            *("-0x1.b32dcb94da51dp-56", "0x1.db72fc1f0eab4p-55", "0x1.1affc2b91ce27p-56"),
            *("0x1.c1a7792cb3387p-55", "0x1.36eae30af0cb3p-56", "0x1.4a385a63d07a7p-56"),
            "-0x1.ff7128fd391f0p-55",
        ),
    ),
    "float32": Exponential(
        magic="0x1.8p+19",
        log2_high="0x1.62e43p-1",
        log2_low="-0x1.05c61p-29",
        per_log2="0x1.715476p+0",
        polynomial=("0x1.00022p-1", "0x1.555736p-3"),
        powers=(
            *("0x1p+0", "0x1.0b5586p+0", "0x1.172b84p+0", "0x1.2387a6p+0", "0x1.306fep+0"),
            *("0x1.3dea64p+0", "0x1.4bfdaep+0", "0x1.5ab07ep+0", "0x1.6a09e6p+0"),
            *("0x1.7a1148p+0", "0x1.8ace54p+0", "0x1.9c4918p+0", "0x1.ae89fap+0"),
            *("0x1.c199bep+0", "0x1.d5818ep+0", "0x1.ea4afap+0"),
        ),
        rests=(
            *("0x0p+0", "0x1.8d96d4p-25", "-0x1.9c0c22p-27", "0x1.964904p-25"),
            *("0x1.125002p-25", "0x1.370be4p-25", "-0x1.0a3550p-25", "-0x1.00d8acp-27"),
            *("0x1.26055cp-26", "-0x1.05cb44p-25", "0x1.67a1cap-28", "0x1.a3b5e4p-28"),
            *("-0x1.f9c304p-27", "-0x1.6961b4p-28", "-0x1.a5217cp-28", "0x1.61428ep-28"),
        ),
    ),
}
