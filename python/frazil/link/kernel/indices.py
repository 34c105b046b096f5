"""The indices of a kernel's takes and puts, as all linkers number and name them."""

from __future__ import annotations

from collections.abc import Sequence

from frazil.graph.dataclass import dataclass
from frazil.link.kernel.loop_kernel import LoopKernel


@dataclass(frozen=True, slots=True)
class Indices:
    """The indices of a take or a put."""

    name: str
    """The rest of their variables' names, behind the letter ``n``."""
    table: str
    """The pointer to the table of the source or the put."""
    args: Sequence[int]
    """Their values."""
    first: int
    """The number of the first one among all indices of the kernel."""

    def number(self, j: int) -> str:
        """The variable of index ``j``."""
        return f"n{self.name}_{j}"


def indices_of_take(kernel: LoopKernel, k: int) -> Indices:
    """The indices of value ``k``, a take."""
    own = kernel.takes[k]
    first = sum(each.indices for each in kernel.sources[: own.source])
    return Indices(f"{k}", f"pg{own.source}", own.args, first)


def indices_of_put(kernel: LoopKernel, k: int) -> Indices:
    """The indices of put ``k``."""
    first = sum(each.indices for each in kernel.sources)
    first += sum(len(each.args) for each in kernel.puts[:k])
    return Indices(f"h{k}", f"ph{k}", kernel.puts[k].args, first)
