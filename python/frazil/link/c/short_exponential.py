"""``exp`` and ``expm1`` of a block, in registers of AVX2.

The steps and constants are those that the runtime takes there, so both have the same bits. A block
is asked once whether the exponentials of all its numbers are normal numbers; others are left to the
runtime. Two registers of a block go side by side, so the processor waits for neither.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from frazil.graph.dataclass import dataclass
from frazil.link.c.definitions import Definitions
from frazil.link.c.functions import C_TYPES
from frazil.link.c.polynomial import polynomial
from frazil.link.kernel.exponential import EXPONENTIALS, Exponential
from frazil.link.kernel.loop_kernel import BLOCK_BYTES

REGISTER_BYTES = BLOCK_BYTES // 2


@dataclass(frozen=True, slots=True)
class _Width:
    """What differs between the two dtypes; numbers are texts of C."""

    size: int  # the bytes of an element
    formats: tuple[str, str]  # of a number and of its bits, for struct
    integer: str
    sizes: str  # the bits of an element but for its sign
    edge: str  # exponentials of numbers up to this size are normal
    upper: int  # sixteenths that are shifted so far are bits of exponent and fraction
    suffix: str  # the end of the names of instructions
    end: str  # what literals end with
    less_one: tuple[str, ...]  # of (e**r - 1 - r) / r**2 where 1 is taken away, lowest power first
    tables: str


# The entries of both tables lie side by side: one load takes both.
_PAIRS = """\
static const f8 exp_pairs[32] ALIGNED = {{{pairs}}};
#define EXP_PAIR(at) (*(const f8x2 *)(exp_pairs + 2 * (at)))
#define JOIN_PAIRS(a, b) __builtin_ia32_vinsertf128_pd256(__builtin_ia32_pd256_pd(a), b, 1)
INLINE void exp_entries_f8x4(f8x4 t, f8x4 *power, f8x4 *rest) {{
  const i8x4 at = (i8x4)t & 15;
  const f8x4 even = JOIN_PAIRS(EXP_PAIR(at[0]), EXP_PAIR(at[2]));
  const f8x4 odd = JOIN_PAIRS(EXP_PAIR(at[1]), EXP_PAIR(at[3]));
  *power = __builtin_shuffle(even, odd, (i8x4){{0, 4, 2, 6}});
  *rest = __builtin_shuffle(even, odd, (i8x4){{1, 5, 3, 7}});
}}
"""

# Three bits choose from each half of a table, the fourth one from both.
_HALVES = """\
static const f4 exp_powers[16] ALIGNED = {{{powers}}};
static const f4 exp_rests[16] ALIGNED = {{{rests}}};
INLINE f4x8 exp_entry_f4x8(const f4 *table, f4x8 t) {{
  const f4x8 low = __builtin_ia32_permvarsf256(*(const f4x8 *)table, (i4x8)t);
  const f4x8 high = __builtin_ia32_permvarsf256(*(const f4x8 *)(table + 8), (i4x8)t);
  return __builtin_ia32_blendvps256(low, high, (f4x8)((i4x8)t << 28));
}}
INLINE void exp_entries_f4x8(f4x8 t, f4x8 *power, f4x8 *rest) {{
  *power = exp_entry_f4x8(exp_powers, t);
  *rest = exp_entry_f4x8(exp_rests, t);
}}
"""

_WIDTHS: Mapping[str, _Width] = {
    "float64": _Width(
        size=8,
        formats=("d", "q"),
        integer="int64",
        sizes="0x7fffffffffffffff",
        edge="708.0",
        upper=48,
        suffix="pd256",
        end="",
        less_one=(
            *("0.5000000000000001", "0.16666666666666669", "0.0416666666631796"),
            *("0.008333333332945881", "0.0013889074883766677", "0.00019841476502010342"),
        ),
        tables=_PAIRS,
    ),
    "float32": _Width(
        size=4,
        formats=("f", "i"),
        integer="int32",
        sizes="0x7fffffff",
        edge="87.0f",
        upper=19,
        suffix="ps256",
        end="f",
        less_one=("0.5f", "0.16666667f", "0.04166736f", "0.0083334325f"),
        tables=_HALVES,
    ),
}

_MACROS = """\
#define FMA_{V}(a, b, c) __builtin_ia32_vfmadd{s}(a, b, c)
#define ALL_{V}(c) ((c) - ({V}){{}})
#define SIZE_{V}(x) (({V})(({I})(x) & {sizes}))
#define WITH_SIGN_{V}(x, y) (({V})((({I})(x) & {sizes}) | (({I})(y) & ~{sizes})))
"""

_STEPS = """\
INLINE {V} {name}_{V}({V} x) {{
  const {V} t = FMA_{V}(x, ALL_{V}({per_log2}), ALL_{V}({magic})), k = t - {magic};
  const {V} near = FMA_{V}(k, ALL_{V}(-{log2_high}), x);
  const {V} r = FMA_{V}(k, ALL_{V}(-({log2_low})), near), s = r * r;
  {V} low, rest;
  exp_entries_{V}(t, &low, &rest);
  const {V} power = ({V})(({I})low + (({I})t << {upper}));
  const {V} more = r + FMA_{V}(s, {polynomial}, rest);
  return {result};
}}
"""

_RESULTS: Mapping[str, str] = {
    "exp": "FMA_{V}(power, more, power)",
    "expm1": "WITH_SIGN_{V}(FMA_{V}(power, more, power - 1), x)",
}

# The results are values of vectors: what reads the block next takes them from registers.
_BLOCK = """\
INLINE void {name}_{lanes}_{T}({T} *to, const {T} *of) {{
  const {V} {loads};
  {V} {results};
  if (__builtin_expect(__builtin_ia32_movmsk{s}(({V})({common})) != {all}, 0)) {{
    ALIGNED {T} made[{lanes}];
    {many}(made, of, {lanes});
{rare}  }} else {{
{steps}  }}
{stores}}}
"""


def fits(dtype: str, lanes: int) -> bool:
    """Whether a block of so many elements is one register or two, as the functions here take it."""
    width = _WIDTHS.get(dtype)
    return width is not None and width.size * lanes in (REGISTER_BYTES, BLOCK_BYTES)


def block_function(definitions: Definitions, dtype: str, *, name: str, lanes: int) -> str:
    """The name of the C function ``exp`` or ``expm1`` from one block in memory to another."""
    own, width, code = EXPONENTIALS[dtype], _WIDTHS[dtype], C_TYPES[dtype]
    held = REGISTER_BYTES // width.size
    words = {
        "T": code,
        "V": definitions.vector(dtype, held),
        "I": definitions.vector(width.integer, held),
        "s": width.suffix,
        "sizes": width.sizes,
        "name": name,
    }
    definitions.define(_MACROS.format(**words))
    definitions.define(_tables(definitions, own, width))
    terms = [f"{term}{width.end}" for term in own.polynomial] if name == "exp" else width.less_one
    numbers = {
        each: f"{getattr(own, each)}{width.end}"
        for each in ("per_log2", "magic", "log2_high", "log2_low")
    }
    definitions.define(
        _STEPS.format(
            **words,
            **numbers,
            upper=width.upper,
            polynomial=polynomial(
                [f"ALL_{words['V']}({term})" for term in terms],
                f"FMA_{words['V']}",
                by_pairs=dtype == "float64",
            ),
            result=_RESULTS[name].format(**words),
        )
    )
    many, places = f"{name}_many_{code}", range(0, lanes, held)
    definitions.native(many, "void", f"{code} *, const {code} *, i8")
    vector = words["V"]
    loads = [f"x{at} = *(const {vector}_at *)(of + {at})" for at in places]
    common = [f"(SIZE_{vector}(x{at}) <= {width.edge})" for at in places]
    rare = [f"    y{at} = *(const {vector} *)(made + {at});\n" for at in places]
    steps = [f"    y{at} = {name}_{vector}(x{at});\n" for at in places]
    stores = [f"  *({vector} *)(to + {at}) = y{at};\n" for at in places]
    definitions.define(
        _BLOCK.format(
            **words,
            lanes=lanes,
            loads=", ".join(loads),
            results=", ".join(f"y{at}" for at in places),
            common=" & ".join(common),
            all=(1 << held) - 1,
            many=many,
            rare="".join(rare),
            steps="".join(steps),
            stores="".join(stores),
        )
    )
    return f"{name}_{lanes}_{code}"


def _tables(definitions: Definitions, own: Exponential, width: _Width) -> str:
    """The text of the tables, whose powers lack the bits that their sixteenths are."""
    powers = [
        _shifted(float.fromhex(power), -at << width.upper, width.formats)
        for at, power in enumerate(own.powers)
    ]
    rests = [float.fromhex(rest) for rest in own.rests]
    if width.size == 8:  # its entries lie side by side
        definitions.vector("float64", 2)
    pairs = [each for pair in zip(powers, rests, strict=True) for each in pair]
    return width.tables.format(
        powers=_literals(powers, width),
        rests=_literals(rests, width),
        pairs=_literals(pairs, width),
    )


def _shifted(number: float, by: int, formats: tuple[str, str]) -> float:
    """The number whose bits are those of another one and ``by``."""
    real, integer = formats
    (bits,) = struct.unpack(f"<{integer}", struct.pack(f"<{real}", number))
    (made,) = struct.unpack(f"<{real}", struct.pack(f"<{integer}", bits + by))
    return float(made)


def _literals(numbers: Sequence[float], width: _Width) -> str:
    return ", ".join(f"{number.hex()}{width.end}" for number in numbers)
