"""The exponential of a block, in vector registers of AVX-512.

The algorithm and its constants are those of :mod:`frazil.link.kernel.exponential`. Where the
instructions are missing, the C library's function is called on each lane.
"""

from __future__ import annotations

from frazil.link.c import wide
from frazil.link.c.definitions import Definitions
from frazil.link.c.functions import C_TYPES
from frazil.link.kernel.exponential import EXPONENTIALS, REDUCED_TO, Exponential

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


def _literals(dtype: str) -> Exponential:
    """The constants as literals of C."""
    own = EXPONENTIALS[dtype]
    end = "f" if dtype == "float32" else ""

    def literals(numbers: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(f"{each}{end}" for each in numbers)

    magic, log2_high, log2_low, per_log2 = literals(
        (own.magic, own.log2_high, own.log2_low, own.per_log2)
    )
    tables = map(literals, (own.polynomial, own.powers, own.rests))
    return Exponential(magic, log2_high, log2_low, per_log2, *tables)


def _define(definitions: Definitions, dtype: str) -> str:
    """Define the function; the type of a block comes back."""
    constants, code = _literals(dtype), C_TYPES[dtype]
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
        "most": everywhere(f"({code}){REDUCED_TO.hex()}"),
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
