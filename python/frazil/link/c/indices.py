"""Elements at the places of indices that a kernel takes or puts, in C; indices are checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from frazil.link.c import syntax as c
from frazil.link.c.definitions import load, place
from frazil.link.c.functions import C_TYPES
from frazil.link.c.values import Values
from frazil.link.kernel.indices import Indices, indices_of_put, indices_of_take
from frazil.link.kernel.loop_kernel import Status, Take


def step(indices: Indices) -> str:
    """The bytes from one element of a row to the next."""
    return f"((const i8 *){indices.table})[0]"


def stride_of(indices: Indices, j: int) -> str:
    """The bytes from one place of index ``j`` to the next."""
    return f"((const i8 *){indices.table})[{2 * j + 2}]"


def offset(indices: Indices) -> str:
    """The bytes from the first element to the one that indices point to."""
    steps = (f"{indices.number(j)} * {stride_of(indices, j)}" for j in range(len(indices.args)))
    return " + ".join(steps)


def checked(values: Values, indices: Indices) -> Iterator[c.Statement]:
    """Check indices, and count negative ones from the start."""
    for j, argument in enumerate(indices.args):
        index, length = indices.number(j), f"((const i8 *){indices.table})[{2 * j + 1}]"
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
