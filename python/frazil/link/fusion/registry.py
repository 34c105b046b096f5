"""The registry of the nodes that each linker fuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar
from weakref import WeakKeyDictionary

from frazil._core import FrozenApply
from frazil.scalar.elemwise import Elemwise
from frazil.scalar.float16 import STORED, computed_in, computes_wide
from frazil.scalar.op import ScalarOp
from frazil.tensor.docstrings import described


class Fusion(Protocol):
    """The nodes that a backend fuses.

    ``statement_limit`` is the number of nodes up to which one loop is worth more than two. With 1
    nothing is computed twice either. With 0 there are no loops at all: each node is a segment of
    its own, and lengths are computed by nodes too.
    """

    @property
    def statement_limit(self) -> int: ...
    def fuses(self, node: FrozenApply) -> bool:
        """Whether a loop of this backend may hold the node.

        The answer must follow from the node's op and its types, and hold for the process. It is
        asked for the nodes that loops know: elementwise ops of one output, reductions, cumulations,
        and reads and writes by arrays of indices.
        """
        ...


FusionT = TypeVar("FusionT", bound=Callable[[], Fusion])

_FACTORIES: dict[str, Callable[[], Fusion]] = {}
_MADE: dict[str, Fusion] = {}


@described
def register_fusion(linker: str) -> Callable[[FusionT], FusionT]:
    """Say what a linker fuses: decorates a class, or a function, that makes a :class:`Fusion`.

    It is called once, when the linker is first asked for. A class may be registered again from the
    place where it was, as when a notebook's cell runs twice.

    linker (str): The linker's name.
    returns (callable): The decorator.
    raises ValueError: If something else registered what this linker fuses.

    >>> import frazil as fz, frazil.tensor as ft
    >>> from frazil.link import register_fusion
    >>> @register_fusion("sums_apart")
    ... class SumsApart:
    ...     statement_limit = 100
    ...
    ...     def fuses(self, node):
    ...         return node.op.__class__.__name__ == "Elemwise"
    >>> x = ft.vector("x")
    >>> graph = fz.FunctionGraph([x], [ft.exp(-x).sum()])
    >>> [segment.nodes() for segment in graph.segment("sums_apart")]
    [[neg(x), exp(neg.out)], [Sum{(0,)}(exp.out)]]
    >>> [len(segment.nodes()) for segment in graph.segment("c")]
    [3]
    """
    if not isinstance(linker, str):
        raise TypeError(
            "register_fusion takes the name of a linker, as in @register_fusion('c'), given "
            f"{linker!r}"
        )

    def register(factory: FusionT) -> FusionT:
        known = _FACTORIES.get(linker)
        if known is not None and _qualified_name(known) != _qualified_name(factory):
            raise ValueError(
                f"what linker {linker!r} fuses is registered already, by "
                f"{_qualified_name(known)}; give the other linker a name of its own"
            )
        _FACTORIES[linker] = factory
        _MADE.pop(linker, None)
        return factory

    return register


def find_fusion(linker: str) -> Fusion:
    """The :class:`Fusion` of the linker of that name.

    Raises
    ------
    ValueError
        If nothing is registered for the name.
    """
    made = _MADE.get(linker)
    if made is None:
        if linker not in _FACTORIES:
            known = ", ".join(map(repr, sorted(_FACTORIES)))
            raise ValueError(
                f"no linker {linker!r} has registered what it fuses; those that have are {known}. "
                f"Decorate a class with @frazil.link.register_fusion({linker!r}), or ask for one "
                "of these"
            )
        made = _MADE.setdefault(linker, _FACTORIES[linker]())
    return made


def _qualified_name(factory: Callable[[], Fusion]) -> str:
    return f"{factory.__module__}.{factory.__qualname__}"


class LoweredOps:
    """Fuses nodes that loops know, if the backend lowers the scalar op.

    That is asked once for an op, the dtypes of its operands and that of its result. ``refusal``
    tells people why there is none.
    """

    def __init__(
        self,
        lowers: Callable[[ScalarOp, Sequence[str], str], bool],
        statement_limit: int,
        refusal: Callable[[ScalarOp, Sequence[str], str], str | None] | None = None,
    ) -> None:
        self.statement_limit = statement_limit
        self._lowers = lowers
        self._refusal = refusal
        self._known: WeakKeyDictionary[ScalarOp, dict[tuple[str, ...], bool]] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[type[LoweredOps], tuple[object, ...]]:
        return type(self), (self._lowers, self.statement_limit, self._refusal)

    @property
    def functions(self) -> Sequence[Callable[..., object]]:
        """The functions that answer for it."""
        return [own for own in (self._lowers, self._refusal) if own is not None]

    def fuses(self, node: FrozenApply) -> bool:
        """Whether a loop may hold the node."""
        if not isinstance(node.op, Elemwise):
            return True
        op = node.op.scalar_op
        known = self._known.get(op)
        if known is None:
            known = self._known.setdefault(op, {})
        operands = tuple(x.dtype for x in node.inputs)
        result = node.output_types[0].dtype
        found = known.get((*operands, result))
        if found is None:
            found = known[*operands, result] = self._lowers(op, *_computed(op, operands, result))
        return found

    def refusal(self, node: FrozenApply) -> str | None:
        """Why no loop holds the node; None if a loop may hold it, or if the reason is unknown."""
        if self._refusal is None or not isinstance(node.op, Elemwise):
            return None
        operands, result = tuple(x.dtype for x in node.inputs), node.output_types[0].dtype
        if any(dtype.startswith("complex") for dtype in (*operands, result)):
            return "loops compute with real numbers"
        op = node.op.scalar_op
        if not computes_wide(op) and STORED in (*operands, result):
            return "loops compute with float16 in float32, whose numbers are nearer to each other"
        return self._refusal(op, *_computed(op, operands, result))


def _computed(op: ScalarOp, operands: tuple[str, ...], result: str) -> tuple[tuple[str, ...], str]:
    """The dtypes of a statement, for a node's dtypes: loops convert stored numbers."""
    if op.converts_to is not None:
        return operands, result
    return tuple(map(computed_in, operands)), computed_in(result)
