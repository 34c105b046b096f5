"""Elements at the places of indices that a kernel takes or puts, in C; indices are checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from frazil.link.c import syntax as c
from frazil.link.c.definitions import Definitions, load, place
from frazil.link.c.functions import C_TYPES
from frazil.link.c.values import Values
from frazil.link.c.wide import HAS_REGISTERS
from frazil.link.kernel.indices import Indices, indices_of_put, indices_of_take
from frazil.link.kernel.loop_kernel import Status, Take

_BELOW = """\
INLINE b1 all_below({I} at, i8 length) {{
#if {HAS_REGISTERS}
  return !__builtin_ia32_ucmpq512_mask(at, length - ({I}){{}}, 5, -1);
#else
  b1 all = 1;
  for (i4 l = 0; l < 8; ++l) all &= (u8)at[l] < (u8)length;
  return all;
#endif
}}
"""
_GATHER = """\
INLINE {V} gather_{T}(const char *from, {I} at, i8 stride) {{
#if {HAS_REGISTERS}
  return ({V})__builtin_ia32_gatherdiv8{s}(({V}){{}}, from, at * stride, -1, 1);
#else
  {V} of;
  for (i4 l = 0; l < 8; ++l) of[l] = *(const {T} *)(from + at[l] * stride);
  return of;
#endif
}}
"""
_RUNS = """\
INLINE b1 has_runs({I} at) {{
#if {HAS_REGISTERS}
  const {I} before = __builtin_shuffle(at, ({I}){{0, 0, 1, 2, 3, 4, 5, 6}});
  return __builtin_popcount(__builtin_ia32_cmpq512_mask(at, before, 0, -1)) > 4;
#else
  return 0;
#endif
}}
"""
_GATHERED = {"float64": "df", "int64": "di"}
"""The dtypes whose elements one instruction gathers, and the end of its name."""


def step(indices: Indices) -> str:
    """The bytes from one element of a row to the next."""
    return f"((const i8 *){indices.table})[0]"


def stride_of(indices: Indices, j: int) -> str:
    """The bytes from one place of index ``j`` to the next."""
    return f"((const i8 *){indices.table})[{2 * j + 2}]"


def length_of(indices: Indices, j: int) -> str:
    """The number of places of index ``j``."""
    return f"((const i8 *){indices.table})[{2 * j + 1}]"


def offset(indices: Indices) -> str:
    """The bytes from the first element to the one that indices point to."""
    steps = (f"{indices.number(j)} * {stride_of(indices, j)}" for j in range(len(indices.args)))
    return " + ".join(steps)


def checked(values: Values, indices: Indices) -> Iterator[c.Statement]:
    """Check indices, and count negative ones from the start."""
    for j, argument in enumerate(indices.args):
        index, length = indices.number(j), length_of(indices, j)
        yield c.Declare("i8", index, values.converted(argument, "int64"))
        out_of_bounds = c.If(
            f"{index} >= 0 || {index} < -{length}",
            [
                c.Assign("((i8 *)preport)[0]", f"{indices.first + j}"),
                c.Assign("((i8 *)preport)[1]", index),
                c.Return(f"{int(Status.OUT_OF_BOUNDS)}"),
            ],
        )
        from_start = c.Assign(index, length, "+=")
        yield c.If(f"(u8){index} >= (u8){length}", [out_of_bounds, from_start])


def take(values: Values, k: int, own: Take, element: str) -> Iterator[c.Statement]:
    """Compute value ``k``, an element of a source."""
    indices = indices_of_take(values.kernel, k)
    yield from checked(values, indices)
    inner = values.kernel.sources[own.source].inner
    along = f" + {element} * {step(indices)}" if inner else ""
    value = load(own.dtype, f"(px{own.source}{along} + {offset(indices)})", "0")
    yield c.Const(C_TYPES[own.dtype], f"v{k}", value)


def is_gathered(values: Values, k: int) -> bool:
    """Whether instructions on vectors take all elements of a block of value ``k``.

    They do where a register holds as many indices as a block has elements.
    """
    own = values.kernel.ops[k]
    return (
        isinstance(own, Take)
        and values.unit.has_wide_registers
        and values.kernel.lanes == 8
        and own.dtype in _GATHERED
        and not values.kernel.sources[own.source].inner
        and len(own.args) == 1
        and values.dtypes[own.args[0]] == "int64"
        and not values.kernel.uniform[own.args[0]]
    )


def are_below(definitions: Definitions, indices: Indices, block: str) -> str:
    """The condition that no index of a block is negative or out of bounds."""
    integers = definitions.vector("int64", 8)
    definitions.define(_BELOW.format(I=integers, HAS_REGISTERS=HAS_REGISTERS))
    return f"all_below(*(const {integers}_at *){block}, {length_of(indices, 0)})"


def gather(values: Values, k: int, block: str) -> c.Assign:
    """Take the elements of value ``k`` at the indices of a block, which are in bounds."""
    own, indices, unit = values.kernel.takes[k], indices_of_take(values.kernel, k), values.unit
    integers, vector = unit.vector("int64", 8), unit.vector(own.dtype, 8)
    code, end = C_TYPES[own.dtype], _GATHERED[own.dtype]
    unit.define(_GATHER.format(V=vector, T=code, I=integers, s=end, HAS_REGISTERS=HAS_REGISTERS))
    at = f"*(const {integers}_at *){block}"
    value = f"gather_{code}(px{own.source}, {at}, {stride_of(indices, 0)})"
    return c.Assign(f"*({vector} *)s{k}", value)


def has_runs(values: Values, puts: Sequence[int]) -> str | None:
    """The condition that most lanes of a block have the index of the lane before, for all puts.

    None if that is of no use: it is for sums. One that is read back from memory waits for its
    store, while one that stays in a register does not. A choice at each lane alone would be
    guessed wrongly all the time where indices of few groups come in any order.
    """
    kernel = values.kernel
    arguments = {kernel.puts[k].args for k in puts}
    if not values.unit.has_wide_registers or kernel.lanes != 8 or len(arguments) != 1:
        return None
    ((index, *others),) = arguments
    known = values.dtypes[index] == "int64" and not kernel.uniform[index] and not others
    if not known or not all(_stays_in_register(values, k) for k in puts):
        return None
    integers = values.unit.vector("int64", 8)
    values.unit.define(_RUNS.format(I=integers, HAS_REGISTERS=HAS_REGISTERS))
    return f"has_runs(*(const {integers} *)s{index})"


def _stays_in_register(values: Values, k: int) -> bool:
    """Whether a put adds to an element that a register holds as it lies in memory."""
    put = values.kernel.puts[k]
    is_wide = put.dtype in ("float64", "float32", "int64", "int32")
    return put.reduce is not None and is_wide and not put.inner


def before_runs(values: Values, puts: Sequence[int]) -> Iterator[c.Statement]:
    """Declare what :func:`put_lane_of_runs` knows of the lane before."""
    for k in puts:
        yield c.Declare("i8", f"last{k}", "0")
        yield c.Declare("char", f"*y{k}", "0")
        yield c.Declare(C_TYPES[values.kernel.puts[k].dtype], f"sum{k}")


def put_lane_of_runs(values: Values, puts: Sequence[int]) -> Iterator[c.Statement]:
    """Put the elements of lane ``l`` of a block; the sums of the lane before are known."""
    for k in puts:
        put, indices = values.kernel.puts[k], indices_of_put(values.kernel, k)
        index = values.converted(indices.args[0], "int64")
        look_up = [
            *checked(values, indices),
            c.Assign(f"last{k}", index),
            c.Assign(f"y{k}", f"py{k} + {offset(indices)}"),
            c.Assign(f"sum{k}", load(put.dtype, f"y{k}", "0")),
        ]
        yield c.If(f"!y{k} || {index} != last{k}", look_up)
        value = values.converted(put.value, put.dtype)
        total = values.unit.fold(str(put.reduce), put.dtype, f"sum{k}", value)
        yield c.Assign(f"sum{k}", total)
        yield c.Assign(place(put.dtype, f"y{k}", "0"), f"sum{k}")


def put_lane(values: Values, puts: Sequence[int]) -> Iterator[c.Statement]:
    """Put the elements of lane ``l`` of a block."""
    for k in puts:
        put, indices = values.kernel.puts[k], indices_of_put(values.kernel, k)
        yield from checked(values, indices)
        along = f" + (i + l) * {step(indices)}" if put.inner else ""
        yield c.Declare("char", f"*y{k}", f"py{k}{along} + {offset(indices)}")
        value = values.converted(put.value, put.dtype)
        if put.reduce is not None:
            so_far = load(put.dtype, f"y{k}", "0")
            value = values.unit.fold(put.reduce, put.dtype, so_far, value)
        yield c.Assign(place(put.dtype, f"y{k}", "0"), value)
