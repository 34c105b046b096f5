"""The base class of ops that hold a graph, and the properties that follow from the graph."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, MutableMapping, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeAlias, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np

import frazil._core as _core
from frazil._core import Constant, FrozenApply, FrozenFunctionGraph, TensorType, Variable
from frazil.graph.answers import note_place, values_of
from frazil.graph.containers import in_container_of
from frazil.graph.op import Array, Op
from frazil.scalar.graph import ScalarGraphOp
from frazil.tensor.broadcasting import with_lengths

KnownShape: TypeAlias = tuple[Variable | None, ...]
"""The lengths of a variable; None for those that only values tell."""

Values: TypeAlias = Sequence[Variable | None]
"""The operands of a node that does not run; None for those that are not known."""


class HasInnerGraph(Op):
    """An op that computes a graph of its own.

    It holds exactly one frozen graph, as the field ``fgraph``. Two ops built alike are the same
    object, so they are compared and hashed without a look into the graph. The graph is never
    edited: a rewrite replaces the op (:func:`frazil.rewrite_inner_graph`).

    Attributes
    ----------
    fgraph : FrozenFunctionGraph
        The inner graph. The class of the op says what its inputs and outputs mean.
    """

    fgraph: FrozenFunctionGraph

    takes_complex = True

    @property
    def pure(self) -> bool:  # type: ignore[override]
        """Whether all nodes of the graph are pure."""
        known = _pure.get(self.fgraph)
        if known is None:
            known = _pure[self.fgraph] = first_impure(self.fgraph) is None
        return known

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.fgraph.digest[:8]}}}"

    def presume_lengths(
        self, node: FrozenApply, values: Values, input_shapes: Sequence[KnownShape]
    ) -> Sequence[KnownShape]:
        """Return the lengths that the outputs would have if the node ran.

        Parameters
        ----------
        node : FrozenApply
            A node that does not run.
        values : sequence of Variable or None
            Its operands, as far as they are known.
        input_shapes : sequence of tuple of Variable or None
            Their lengths.

        Returns
        -------
        sequence of tuple of Variable or None
            None where shapes do not tell a length.
        """
        return [(None,) * output.ndim for output in node.outputs]


def first_impure(fgraph: FrozenFunctionGraph) -> FrozenApply | None:
    """Return the first node of a graph whose op is impure; None if there is none."""
    return next((node for node in fgraph.toposort() if not node.op.pure), None)


# Kept as long as the graph is alive.
_pure: WeakKeyDictionary[FrozenFunctionGraph, bool] = WeakKeyDictionary()


Holder = TypeVar("Holder", bound=HasInnerGraph | ScalarGraphOp)


def with_inner_graph(op: Holder, fgraph: FrozenFunctionGraph) -> Holder:
    """Return an op that holds ``fgraph`` and has all other parameters of ``op``."""
    if fgraph is op.fgraph:
        return op
    return cast(Holder, replace(cast(Any, op), fgraph=fgraph))


KnownT = TypeVar("KnownT")


class KnownOfOps(Generic[KnownT]):
    """Remembers results for ops that hold a graph, as long as the graph is alive.

    The Python object of an op may be freed while nodes of the op exist, and be made again later.
    Its graph stays.

    Examples
    --------
    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> from frazil.inner.inner_graph import KnownOfOps
    >>> x = ft.vector("x")
    >>> known = KnownOfOps()
    >>> node = fz.OpFromGraph([x], [ft.exp(x)])(x).owner
    >>> known.of(node.op)["nodes"] = 1
    >>> known.of(node.op)
    {'nodes': 1}
    """

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[
            FrozenFunctionGraph, dict[tuple[object, ...], dict[Hashable, KnownT]]
        ] = WeakKeyDictionary()

    def of(self, op: HasInnerGraph) -> dict[Hashable, KnownT]:
        """Return the results for ``op``: a dict to read and to add to."""
        # A key that held the graph would keep it alive.
        others = tuple(None if value is op.fgraph else value for value in op._params())
        return self._known.setdefault(op.fgraph, {}).setdefault((type(op), *others), {})


def compute(fgraph: FrozenFunctionGraph, arrays: Sequence[Array]) -> list[Array]:
    """Return the values of the outputs, computed node by node by ``perform``."""
    values: dict[Variable, Array] = dict(zip(fgraph.inputs, arrays, strict=True))

    def value(x: Variable) -> Array:
        return x.data if isinstance(x, Constant) else values[x]

    for node in fgraph.toposort():
        try:
            results = values_of(node, [value(x) for x in node.inputs])
        except Exception as error:
            if not isinstance(node.op, HasInnerGraph):
                note_place(error, "", node)
            raise
        values.update(zip(node.outputs, results, strict=True))
    return [np.asarray(value(output)) for output in fgraph.outputs]


def output_types(
    fgraph: FrozenFunctionGraph, given: Sequence[TensorType]
) -> tuple[TensorType, ...]:
    """Return the types of a graph's outputs for inputs of the types ``given``, which they accept.

    A length that ``given`` states and the type of the input leaves open is followed through the
    graph. A length of 1 is not: only a dimension that is declared as 1 broadcasts.
    """
    refined = tuple(map(_refined, (x.type for x in fgraph.inputs), given))
    if all(told == x.type for told, x in zip(refined, fgraph.inputs, strict=True)):
        return tuple(output.type for output in fgraph.outputs)
    known = _types.setdefault(fgraph, {})
    if refined not in known:
        applied = expand_graph(fgraph, [told(None) for told in refined])
        known[refined] = tuple(y.type for y in applied)
    return known[refined]


def expand_graph(fgraph: FrozenFunctionGraph, inputs: Sequence[Variable]) -> list[Variable]:
    """Return the outputs of a graph over ``inputs``, with the lengths that their types state."""
    own = [x.type for x in fgraph.inputs]
    given = [x.type for x in inputs]
    if own == given or list(map(_refined, own, given)) != given:
        return fgraph.bind(inputs)
    # Nodes that depend on no input are not applied below: they must be in this container already,
    # and their buffers belong to this expansion alone.
    with in_container_of(inputs):
        places = [x.type(None) for x in fgraph.inputs]
    outputs = fgraph.bind(places)
    made: dict[Variable, Variable] = dict(zip(places, inputs, strict=True))
    return clone_nodes(outputs, _core.toposort(outputs, places), made)


def clone_nodes(
    outputs: Sequence[Variable],
    order: Iterable[FrozenApply],
    made: MutableMapping[Variable, Variable],
) -> list[Variable]:
    """Return ``outputs`` with the nodes of ``order`` applied to the replacements in ``made``.

    The replacements of all outputs of these nodes are added to ``made``. Unlike those in
    :class:`frazil.inner.successors.Successors` they may be of wider types. An op with a graph takes
    only what has the lengths that its graph states, so a run checks these.
    """
    for node in order:
        inputs = [made.get(x, x) for x in node.inputs]
        if all(a is b for a, b in zip(inputs, node.inputs, strict=True)):
            continue
        if isinstance(node.op, HasInnerGraph):
            inputs = [with_lengths(a, b.type) for a, b in zip(inputs, node.inputs, strict=True)]
        made.update(zip(node.outputs, node.op.make_node(*inputs).outputs, strict=True))
    return [made.get(output, output) for output in outputs]


def _refined(declared: TensorType, given: TensorType) -> TensorType:
    """``declared`` with the lengths of ``given``, but for those of 1."""
    pairs = zip(declared.shape, given.shape, strict=True)
    return TensorType(declared.dtype, [own if told == 1 else told for own, told in pairs])


# Kept as long as the graph is alive.
_types: WeakKeyDictionary[
    FrozenFunctionGraph, dict[tuple[TensorType, ...], tuple[TensorType, ...]]
] = WeakKeyDictionary()
