"""The exponential of a block, in vector registers of AVX-512.

``x = (n + j / 16) log 2 + r`` with ``|r| <= log(2) / 32``: ``e**x`` is ``2**n``, times the power
``2**(j / 16)``, which a permutation takes from registers, times ``e**r``, a short polynomial. The
rounding error of each power is added to ``r``. The error of the result is below 0.65 ulp, and below
0.8 ulp if the result is subnormal and rounded twice.

For infinite and huge ``x``, ``r`` is NaN or too large and is made small: the scaling by ``2**n``
then gives 0, infinity or NaN, by the value of ``n``. Where the instructions are missing, the C
library's function is called on each lane.
"""

from __future__ import annotations

import math

from frazil.graph.dataclass import dataclass
from frazil.link.c import wide
from frazil.link.c.definitions import Definitions
from frazil.link.c.functions import C_TYPES


@dataclass(frozen=True, slots=True)
class _Constants:
    """The constants of the algorithm for one dtype, as hexadecimal texts."""

    magic: str  # added, it leaves sixteenths: the last four bits are j
    log2_high: str
    log2_low: str
    per_log2: str
    polynomial: tuple[str, ...]  # of (e**r - 1 - r) / r**2, from the lowest power on
    powers: tuple[str, ...]
    rests: tuple[str, ...]  # relative errors of the powers


_CONSTANTS = {
    "float64": _Constants(
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
    "float32": _Constants(
        magic="0x1.8p+19f",
        log2_high="0x1.62e43p-1f",
        log2_low="-0x1.05c61p-29f",
        per_log2="0x1.715476p+0f",
        polynomial=("0x1.00022p-1f", "0x1.555736p-3f"),
        powers=(
            *("0x1p+0f", "0x1.0b5586p+0f", "0x1.172b84p+0f", "0x1.2387a6p+0f", "0x1.306fep+0f"),
            *("0x1.3dea64p+0f", "0x1.4bfdaep+0f", "0x1.5ab07ep+0f", "0x1.6a09e6p+0f"),
            *("0x1.7a1148p+0f", "0x1.8ace54p+0f", "0x1.9c4918p+0f", "0x1.ae89fap+0f"),
            *("0x1.c199bep+0f", "0x1.d5818ep+0f", "0x1.ea4afap+0f"),
        ),
        rests=(
            *("0x0p+0f", "0x1.8d96d4p-25f", "-0x1.9c0c22p-27f", "0x1.964904p-25f"),
            *("0x1.125002p-25f", "0x1.370be4p-25f", "-0x1.0a3550p-25f", "-0x1.00d8acp-27f"),
            *("0x1.26055cp-26f", "-0x1.05cb44p-25f", "0x1.67a1cap-28f", "0x1.a3b5e4p-28f"),
            *("-0x1.f9c304p-27f", "-0x1.6961b4p-28f", "-0x1.a5217cp-28f", "0x1.61428ep-28f"),
        ),
    ),
}

_TABLES = """\
static const {T} powers_{T}[16] ALIGNED = {{{powers}}};
static const {T} rests_{T}[16] ALIGNED = {{{rests}}};
"""

_TEXT = """\
#if {has_registers}
#define HOLD_{T}(name, value) {V} name = value; __asm__ volatile("" : "+v"(name))
#define HOLD_EXP_{V} {held}
#define exp_{V}(x) held_exp_{V}(x, {names})
INLINE {V} held_exp_{V}({V} x, {operands}) {{
  const {V} t = FMA_{T}(x, exp_per_log2, exp_magic), k = t - exp_magic;
  const {V} near = FMA_{T}(k, exp_log2_high, x);
  const {V} wide = FMA_{T}(k, exp_log2_low, near);
  const {V} r = __builtin_ia32_range{s}512_mask(wide, exp_most, 6, wide, -1, 4);
  const {V} s = r * r;
  const {V} power = {power}, rest = {rest};
{polynomial}  const {V} more = r + FMA_{T}(s, q, rest);
  return __builtin_ia32_scalef{s}512_mask(FMA_{T}(power, more, power), k, k, -1, 4);
}}
#else
#define HOLD_EXP_{V}
INLINE {V} exp_{V}({V} x) {{
{on_lanes}}}
#endif
"""

# Both as sums of short chains: what is waited for is the last of many steps.
_POLYNOMIALS = {
    "float64": """\
  const {V} low = FMA_{T}(r, exp_p1, exp_p0);
  const {V} high = FMA_{T}(s, exp_p4, FMA_{T}(r, exp_p3, exp_p2));
  const {V} q = FMA_{T}(s, high, low);
""",
    "float32": "  const {V} q = FMA_{T}(r, exp_p1, exp_p0);\n",
}


def hold_constants(definitions: Definitions, dtype: str) -> str:
    """The C statement that holds the constants in registers: it stands before a loop over blocks.

    Else the compiler takes them from memory in every block, or before all loops, whence they go
    back to memory wherever a function is called.
    """
    return f"HOLD_EXP_{_define(definitions, dtype)}"


def block_exponential(definitions: Definitions, dtype: str) -> str:
    """The name of the C function for a block of whole lanes, where the constants are held."""
    return f"exp_{_define(definitions, dtype)}"


def _define(definitions: Definitions, dtype: str) -> str:
    """Define the function; the type of a block comes back."""
    constants, code = _CONSTANTS[dtype], C_TYPES[dtype]
    vector = definitions.vector(dtype, wide.lanes(dtype))
    wide.define_macros(definitions, dtype)
    powers, rests = ", ".join(constants.powers), ", ".join(constants.rests)
    definitions.define(_TABLES.format(T=code, powers=powers, rests=rests))

    def everywhere(value: str) -> str:
        return f"ALL_{code}({value})"

    held = {
        "per_log2": everywhere(constants.per_log2),
        "magic": everywhere(constants.magic),
        "log2_high": everywhere(f"-{constants.log2_high}"),
        "log2_low": everywhere(f"-({constants.log2_low})"),
        "most": everywhere(f"({code}){(math.log(2) / 31).hex()}"),
    }
    held.update((f"p{k}", everywhere(value)) for k, value in enumerate(constants.polynomial))

    def take(table: str) -> str:
        names = []
        for at, value in enumerate(wide.registers(definitions, dtype, f"{table}_{code}")):
            names.append(f"exp_{table}_{at}")
            held[f"{table}_{at}"] = value
        return wide.lookup(definitions, dtype, names, "t")

    power, rest = take("powers"), take("rests")
    definitions.define(
        _TEXT.format(
            T=code,
            V=vector,
            s=wide.suffix(dtype),
            has_registers=wide.HAS_REGISTERS,
            held=" ".join(f"HOLD_{code}(exp_{name}, {value});" for name, value in held.items()),
            names=", ".join(f"exp_{name}" for name in held),
            operands=", ".join(f"{vector} exp_{name}" for name in held),
            power=power,
            rest=rest,
            polynomial=_POLYNOMIALS[dtype].format(V=vector, T=code),
            on_lanes=wide.on_lanes(dtype, definitions.function("exp", dtype)),
        )
    )
    return vector
