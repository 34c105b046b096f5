"""Elements that a kernel takes from, or puts to, where indices point, in C; indices are checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from frazil.link.c import syntax as c
from frazil.link.c.definitions import load, place
from frazil.link.c.functions import C_TYPES
from frazil.link.c.values import Values
from frazil.link.kernel.loop_kernel import LoopKernel, Status, Take


@dataclass(frozen=True, slots=True)
class Indices:
    """The indices of a take or a put.

    Attributes
    ----------
    name : str
        What the names of their variables have behind the letter ``n``.
    table : str
        The name of the table of the source or the put.
    args : sequence of int
        Their values.
    first : int
        The number of the first one among all indices of the kernel.
    """

    name: str
    table: str
    args: Sequence[int]
    first: int

    @property
    def step(self) -> str:
        """The bytes from one element of a row to the next."""
        return f"((const i8 *)p{self.table})[0]"

    @property
    def offset(self) -> str:
        """The bytes from the first element to the one that the indices point to."""
        steps = (
            f"n{self.name}_{j} * ((const i8 *)p{self.table})[{2 * j + 2}]"
            for j in range(len(self.args))
        )
        return " + ".join(steps)

    def checked(self, values: Values) -> Iterator[c.Statement]:
        """Check the indices, and count negative ones from the start."""
        for j, argument in enumerate(self.args):
            index, length = f"n{self.name}_{j}", f"((const i8 *)p{self.table})[{2 * j + 1}]"
            yield c.Declare("i8", index, values.converted(argument, "int64"))
            out_of_bounds = c.If(
                f"{index} >= 0 || {index} < -{length}",
                [
                    c.Assign("((i8 *)preport)[0]", f"{self.first + j}"),
                    c.Assign("((i8 *)preport)[1]", index),
                    c.Return(f"{int(Status.OUT_OF_BOUNDS)}"),
                ],
            )
            from_start = c.Assign(index, length, "+=")
            yield c.If(f"(u8){index} >= (u8){length}", [out_of_bounds, from_start])


def indices_of_take(kernel: LoopKernel, k: int, own: Take) -> Indices:
    """The indices of value ``k``, a take."""
    first = sum(each.indices for each in kernel.sources[: own.source])
    return Indices(f"{k}", f"g{own.source}", own.args, first)


def indices_of_put(kernel: LoopKernel, k: int) -> Indices:
    """The indices of put ``k``."""
    first = sum(each.indices for each in kernel.sources)
    first += sum(len(each.args) for each in kernel.puts[:k])
    return Indices(f"h{k}", f"h{k}", kernel.puts[k].args, first)


def take(values: Values, k: int, own: Take, element: str) -> Iterator[c.Statement]:
    """Compute value ``k``, an element of a source."""
    indices = indices_of_take(values.kernel, k, own)
    yield from indices.checked(values)
    inner = values.kernel.sources[own.source].inner
    step = f" + {element} * {indices.step}" if inner else ""
    value = load(own.dtype, f"(px{own.source}{step} + {indices.offset})", "0")
    yield c.Const(C_TYPES[own.dtype], f"v{k}", value)


def put_lane(values: Values, puts: Sequence[int]) -> Iterator[c.Statement]:
    """Put the elements of lane ``l`` of a block."""
    for k in puts:
        put, indices = values.kernel.puts[k], indices_of_put(values.kernel, k)
        yield from indices.checked(values)
        step = f" + (i + l) * {indices.step}" if put.inner else ""
        yield c.Declare("char", f"*y{k}", f"py{k}{step} + {indices.offset}")
        value = values.converted(put.value, put.dtype)
        if put.reduce is not None:
            so_far = load(put.dtype, f"y{k}", "0")
            value = values.unit.fold(put.reduce, put.dtype, so_far, value)
        yield c.Assign(place(put.dtype, f"y{k}", "0"), value)
