"""What kernels take and put where indices say, as C: with checked indices."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from frazil.link.c.functions import C_TYPES
from frazil.link.c.unit import Unit, load, store
from frazil.link.kernel import LoopKernel, Status, Take, Write
from frazil.link.passes import Pass


class Indices:
    """Writes the takes and puts of a kernel; ``texts`` are the expressions of its values."""

    def __init__(self, unit: Unit, kernel: LoopKernel, texts: Sequence[str]) -> None:
        self.unit = unit
        self.kernel = kernel
        self.texts = texts

    def take(self, k: int, take: Take, element: str) -> Iterator[str]:
        """The element of a source: value ``k``."""
        source = self.kernel.sources[take.source]
        first = sum(each.indices for each in self.kernel.sources[: take.source])
        place = yield from self._place(f"{k}", f"g{take.source}", take.args, first)
        step = f" + {element} * ((const i8 *)pg{take.source})[0]" if source.inner else ""
        value = load(take.dtype, f"(px{take.source}{step} + {place})", "0")
        yield f"const {C_TYPES[take.dtype]} v{k} = {value};"

    def put_lane(self, one: Pass) -> Iterator[str]:
        """What a pass puts for lane ``l`` of a block."""
        kernel = self.kernel
        first = sum(each.indices for each in kernel.sources)
        for k in one.puts:
            put = kernel.puts[k]
            place = yield from self._place(f"h{k}", f"h{k}", put.args, first)
            first += len(put.args)
            step = f" + (i + l) * ((const i8 *)ph{k})[0]" if put.inner else ""
            yield f"char *y{k} = py{k}{step} + {place};"
            own = kernel.dtypes[put.value]
            value = self.unit.convert(self.texts[put.value], own, put.dtype)
            if put.reduce is not None:
                write = Write(put.value, put.dtype, put.inner, put.reduce)
                value = self.unit.fold(write, load(put.dtype, f"y{k}", "0"), value)
            yield store(put.dtype, f"y{k}", "0", value)

    def _place(
        self, name: str, table: str, args: Sequence[int], first: int
    ) -> Generator[str, None, str]:
        """Lines that check indices; the offset in bytes of where they point."""
        offsets = []
        for j, argument in enumerate(args):
            index, own = f"n{name}_{j}", self.kernel.dtypes[argument]
            yield f"i8 {index} = {self.unit.convert(self.texts[argument], own, 'int64')};"
            length = f"((const i8 *)p{table})[{2 * j + 1}]"
            yield f"if ((u8){index} >= (u8){length}) {{"
            yield f"if ({index} >= 0 || {index} < -{length}) {{"
            yield f"((i8 *)preport)[0] = {first + j}; ((i8 *)preport)[1] = {index};"
            yield f"return {int(Status.OUT_OF_BOUNDS)};"
            yield "}"
            yield f"{index} += {length};"
            yield "}"
            offsets.append(f"{index} * ((const i8 *)p{table})[{2 * j + 2}]")
        return " + ".join(offsets)
