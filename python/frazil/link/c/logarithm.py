"""``log`` and ``log1p`` of a block, in vector registers of AVX-512.

``u = 2**k * m`` with ``m`` from 3/4 to 3/2: ``m`` rounded to sixteenths leads to a reciprocal ``q``
of so few bits that ``r = m * q - 1``, below 0.055, has no error. ``log u`` is then
``k log 2 - log q + log(1 + r)``, the last as a polynomial of degree 11. ``k log 2`` and ``log q``
come in two parts, the larger with room for their sum to be exact. Next to 1, where results are
small, ``q`` is 1 and ``k`` is 0, so that nothing cancels.

``log1p`` takes ``u = 1 + y``, rounded, and adds to ``r`` what was lost. ``log`` has an error below
0.6 ulp, ``log1p``, where ``r`` is rounded, below 1.6 ulp. One instruction mends zeros, infinities,
NaN and negative numbers. Where the instructions are missing, the C library's functions are called
on each lane.
"""

from __future__ import annotations

from frazil.graph.dataclass import dataclass
from frazil.link.c import wide
from frazil.link.c.definitions import Definitions
from frazil.link.c.functions import C_TYPES


@dataclass(frozen=True, slots=True)
class _Constants:
    """The constants of the algorithm for one dtype, as hexadecimal texts."""

    magic: str  # added to m, it leaves sixteenths
    log2_high: str
    log2_low: str
    polynomial: tuple[str, ...]  # of (log(1 + r) - r) / r**2, from the lowest power on
    high: tuple[str, ...]  # -log q, for sixteenths modulo 16: from 1 to 3/2, and from 3/4 on
    low: tuple[str, ...]
    literal: str  # what literals end with
    integer: str  # what instructions on bits do


_RECIPROCALS = (
    *(1.0, 0.9375, 0.875, 0.84375, 0.8125, 0.75, 0.71875, 0.6875, 0.6875),
    *(0.0, 0.0, 0.0),
    *(1.3125, 1.25, 1.125, 1.0625),
)

_CONSTANTS = {
    "float64": _Constants(
        magic="0x1.8p+48",
        log2_high="0x1.62e42fefa3800p-1",
        log2_low="0x1.ef35793c76730p-45",
        polynomial=(
            *("-0x1.0000000000001p-1", "0x1.55555555554ecp-2", "-0x1.fffffffff597ep-3"),
            *("0x1.9999999a525aep-3", "-0x1.555555a50dce0p-3", "0x1.249246081c3bdp-3"),
            *("-0x1.fffe0eb360d04p-4", "0x1.c726a04e0f395p-4", "-0x1.9c4369105b5a4p-4"),
            "0x1.6f8fb3a02c297p-4",
        ),
        high=(
            *("0x0p+0", "0x1.08598b59e4000p-4", "0x1.1178e8227e000p-3", "0x1.5bf406b544000p-3"),
            *("0x1.a93ed3c8ae000p-3", "0x1.269621134e000p-2", "0x1.522ae0738a000p-2"),
            *("0x1.7fafa3bd81000p-2", "0x1.7fafa3bd81000p-2", "0x0p+0", "0x0p+0", "0x0p+0"),
            *("-0x1.1675cababa000p-2", "-0x1.c8ff7c79aa000p-3", "-0x1.e27076e2b0000p-4"),
            "-0x1.f0a30c0118000p-5",
        ),
        low=(
            *("0x0p+0", "-0x1.7e5dd7009902cp-46", "0x1.1ef78ce2d07f2p-45"),
            *("-0x1.27023eb68981cp-46", "-0x1.8724350562169p-45", "-0x1.1b61f10522625p-44"),
            *("0x1.ebe708164c759p-45", "0x1.46fb79bf6d4cbp-44", "0x1.46fb79bf6d4cbp-44"),
            *("0x0p+0", "0x0p+0", "0x0p+0", "-0x1.8380e731f55c4p-44", "0x1.7794f689f8434p-45"),
            *("0x1.a342c2af0003cp-45", "0x1.d599e83368e91p-45"),
        ),
        literal="",
        integer="q",
    ),
    "float32": _Constants(
        magic="0x1.8p+19f",
        log2_high="0x1.62e4p-1f",
        log2_low="0x1.7f7d1cp-20f",
        polynomial=(
            *("-0x1p-1f", "0x1.55553p-2f", "-0x1.00010ep-2f", "0x1.9acedcp-3f"),
            "-0x1.52ff64p-3f",
        ),
        high=(
            *("0x0p+0f", "0x1.0860p-4f", "0x1.1180p-3f", "0x1.5bf0p-3f", "0x1.a940p-3f"),
            *("0x1.2698p-2f", "0x1.5228p-2f", "0x1.7fb0p-2f", "0x1.7fb0p-2f"),
            *("0x0p+0f", "0x0p+0f", "0x0p+0f", "-0x1.1678p-2f", "-0x1.c900p-3f"),
            *("-0x1.e280p-4f", "-0x1.f0c0p-5f"),
        ),
        low=(
            *("0x0p+0f", "-0x1.9d2988p-18f", "-0x1.c5f760p-17f", "0x1.01ad50p-17f"),
            *("-0x1.2c3752p-19f", "-0x1.deecb2p-18f", "0x1.7039c6p-17f", "-0x1.7109fap-20f"),
            *("-0x1.7109fap-20f", "0x0p+0f", "0x0p+0f", "0x0p+0f", "0x1.1aa2a2p-17f"),
            *("0x1.070cacp-20f", "0x1.f123aap-17f", "0x1.cf3feep-17f"),
        ),
        literal="f",
        integer="d",
    ),
}

_TABLES = """\
static const {T} reciprocals_{T}[16] ALIGNED = {{{reciprocals}}};
static const {T} logs_{T}[16] ALIGNED = {{{high}}};
static const {T} log_rests_{T}[16] ALIGNED = {{{low}}};
"""

_LOG = """\
INLINE {V} {name}_{V}({V} x) {{
#if {has_registers}
{enter}  const {V} m = __builtin_ia32_getmant{s}512_mask(u, 11, u, -1, 4);
  const {V} k = __builtin_ia32_getexp{s}512_mask(m, m, -1, 4)
                - __builtin_ia32_getexp{s}512_mask(u, u, -1, 4);
  const {V} t = m + {magic};
  const {V} q = {reciprocal};
  const {V} exact = FMA_{T}(m, q, ALL_{T}(-1)), r = {r};
  const {V} high = FMA_{T}(k, ALL_{T}(-{log2_high}), {log}), sum = high + r, s = r * r;
  const {V} low = FMA_{T}(k, ALL_{T}(-{log2_low}), {log_rest}){lost};
{polynomial}  const {V} near = sum + FMA_{T}(s, p, low);
  const {V} y = __builtin_ia32_fixupimm{s}512_mask(near, u, ({I})ALL_FIXES_{T}, 0, -1, 4);
  return {leave};
#else
{on_lanes}#endif
}}
"""

# The results of an instruction for zeros, infinities, NaN and negative numbers.
_FIXES = "#define ALL_FIXES_{T} ((({I}){{}}) + 0x3530422)\n"

_ENTER = {
    "log": "  const {V} u = x;\n",
    "log1p": "  const {V} u = x + 1, lost = x - (u - 1);\n",
}
_R = {
    "log": "exact",
    "log1p": "FMA_{T}(__builtin_ia32_scalef{s}512_mask(lost, k, k, -1, 4), q, exact)",
}
_LEAVE = {
    "log": "y",
    # With the sign of x, which zero has.
    "log1p": (
        "({V})__builtin_ia32_pternlog{i}512_mask(({I})y, ({I})x, ({I})ALL_{T}(({T})-0.0), 0xd8, -1)"
    ),
}

# As sums of short chains: what is waited for is the last of many steps.
_POLYNOMIALS = {
    "float64": """\
  const {V} s2 = s * s;
  const {V} a = FMA_{T}(s, {pair[1]}, {pair[0]}), b = FMA_{T}(s, {pair[3]}, {pair[2]});
  const {V} p = FMA_{T}(s2, FMA_{T}(s2, {pair[4]}, b), a);
""",
    "float32": """\
  const {V} a = FMA_{T}(s, FMA_{T}(s, ALL_{T}({last}), {pair[1]}), {pair[0]}), p = a;
""",
}


def block_log(definitions: Definitions, dtype: str) -> str:
    """The name of the C function that is ``log`` of a block; the unit defines it."""
    return _define(definitions, dtype, "log")


def block_log1p(definitions: Definitions, dtype: str) -> str:
    """The name of the C function that is ``log1p`` of a block; the unit defines it."""
    return _define(definitions, dtype, "log1p")


def _define(definitions: Definitions, dtype: str, name: str) -> str:
    constants, code, lanes = _CONSTANTS[dtype], C_TYPES[dtype], wide.lanes(dtype)
    vector = definitions.vector(dtype, lanes)
    integers = definitions.vector("int32" if dtype == "float32" else "int64", lanes)
    wide.define_macros(definitions, dtype)
    reciprocals = ", ".join(f"{each.hex()}{constants.literal}" for each in _RECIPROCALS)
    tables = _TABLES.format(
        T=code,
        reciprocals=reciprocals,
        high=", ".join(constants.high),
        low=", ".join(constants.low),
    )
    definitions.define(tables + _FIXES.format(T=code, I=integers))
    words = {
        "T": code,
        "V": vector,
        "I": integers,
        "s": wide.suffix(dtype),
        "i": constants.integer,
    }

    def take(table: str) -> str:
        return wide.lookup(definitions, dtype, wide.registers(definitions, dtype, table), "t")

    terms = constants.polynomial
    pairs = [
        f"FMA_{code}(r, ALL_{code}({terms[k + 1]}), ALL_{code}({terms[k]}))"
        for k in range(0, len(terms) - 1, 2)
    ]
    definitions.define(
        _LOG.format(
            **words,
            name=name,
            has_registers=wide.HAS_REGISTERS,
            enter=_ENTER[name].format(**words),
            magic=constants.magic,
            log2_high=constants.log2_high,
            log2_low=constants.log2_low,
            reciprocal=take(f"reciprocals_{code}"),
            log=take(f"logs_{code}"),
            log_rest=take(f"log_rests_{code}"),
            r=_R[name].format(**words),
            lost=" + (high - sum + r)" if name == "log" else "",
            polynomial=_POLYNOMIALS[dtype].format(**words, pair=pairs, last=terms[-1]),
            leave=_LEAVE[name].format(**words),
            on_lanes=wide.on_lanes(dtype, definitions.function(name, dtype)),
        )
    )
    return f"{name}_{vector}"
