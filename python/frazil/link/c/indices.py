"""Elements that a kernel takes from, or puts to, where indices point, in C; indices are checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from frazil.link.c import syntax as c
from frazil.link.c.definitions import load, place
from frazil.link.c.functions import C_TYPES
from frazil.link.c.values import Values
from frazil.link.kernel.loop_kernel import Status, Take


def take(values: Values, k: int, own: Take, element: str) -> Iterator[c.Statement]:
    """Compute value ``k``, an element of a source."""
    sources = values.kernel.sources
    source = sources[own.source]
    first = sum(each.indices for each in sources[: own.source])
    yield from _checked(values, f"{k}", f"g{own.source}", own.args, first)
    step = f" + {element} * ((const i8 *)pg{own.source})[0]" if source.inner else ""
    offset = _offset(f"{k}", f"g{own.source}", len(own.args))
    value = load(own.dtype, f"(px{own.source}{step} + {offset})", "0")
    yield c.Const(C_TYPES[own.dtype], f"v{k}", value)


def put_lane(values: Values, puts: Sequence[int]) -> Iterator[c.Statement]:
    """Put the elements of lane ``l`` of a block."""
    kernel = values.kernel
    first = sum(each.indices for each in kernel.sources)
    for k in puts:
        put, name = kernel.puts[k], f"h{k}"
        yield from _checked(values, name, name, put.args, first)
        first += len(put.args)
        step = f" + (i + l) * ((const i8 *)ph{k})[0]" if put.inner else ""
        yield c.Declare("char", f"*y{k}", f"py{k}{step} + {_offset(name, name, len(put.args))}")
        value = values.converted(put.value, put.dtype)
        if put.reduce is not None:
            so_far = load(put.dtype, f"y{k}", "0")
            value = values.unit.fold(put.reduce, put.dtype, so_far, value)
        yield c.Assign(place(put.dtype, f"y{k}", "0"), value)


def _checked(
    values: Values, name: str, table: str, args: Sequence[int], first: int
) -> Iterator[c.Statement]:
    """Check indices, the first of which is number ``first`` of the kernel."""
    for j, argument in enumerate(args):
        index, length = f"n{name}_{j}", f"((const i8 *)p{table})[{2 * j + 1}]"
        yield c.Declare("i8", index, values.converted(argument, "int64"))
        out_of_bounds = c.If(
            f"{index} >= 0 || {index} < -{length}",
            [
                c.Assign("((i8 *)preport)[0]", f"{first + j}"),
                c.Assign("((i8 *)preport)[1]", index),
                c.Return(f"{int(Status.OUT_OF_BOUNDS)}"),
            ],
        )
        yield c.If(f"(u8){index} >= (u8){length}", [out_of_bounds, c.Assign(index, length, "+=")])


def _offset(name: str, table: str, count: int) -> str:
    """The bytes from the first element to the one that indices point to."""
    steps = (f"n{name}_{j} * ((const i8 *)p{table})[{2 * j + 2}]" for j in range(count))
    return " + ".join(steps)
