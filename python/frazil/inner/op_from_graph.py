"""OpFromGraph: an op that computes a graph, with derivatives that users may override."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import frazil._core as _core
from frazil._core import (
    Constant,
    FrozenApply,
    FrozenFunctionGraph,
    MissingInputError,
    SharedVariable,
    Variable,
)
from frazil.graph.containers import in_container_of
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, OpMeta
from frazil.inner.inner_graph import (
    HasInnerGraph,
    KnownShape,
    Values,
    compute,
    expand_graph,
    output_types,
)
from frazil.inner.outer_lengths import outer_lengths, presumed_lengths
from frazil.inner.overrides import Override, derivatives, listed_overrides
from frazil.scalar.constants import as_tensor
from frazil.tensor.lengths import Lengths


class OpFromGraphMeta(OpMeta):
    """Builds an OpFromGraph from variables, or from the frozen graph that it is to hold."""

    def __call__(cls, inputs: Any = None, *args: Any, **kwargs: Any) -> Any:
        if inputs is None or isinstance(inputs, FrozenFunctionGraph):
            return super().__call__(*(() if inputs is None else (inputs,)), *args, **kwargs)
        return _build(inputs, *args, **kwargs)


@dataclass(frozen=True, eq=False)
class OpFromGraph(HasInnerGraph, metaclass=OpFromGraphMeta):
    """An op that computes a graph: ``OpFromGraph(inputs, outputs)``.

    The graph is compiled once, however often the op is applied. Two that are built alike are the
    same op.

    Parameters
    ----------
    inputs : sequence of Variable
        The variables that stand for the arguments of the op.
    outputs : Variable or sequence of Variable
        The results. They may use shared variables, which need not be passed.
    inline : bool
        Replace the op by its graph before anything is compiled.
    lop_overrides : callable or OpFromGraph, or list of them, optional
        The vector-Jacobian product: a function of three lists (inputs, outputs, gradients of
        outputs) that returns the list of the gradients of the inputs, with None for an input that
        has none. It is called once, here. An OpFromGraph takes all these variables as its inputs.
        A list has a function for each input, which returns the gradient of that input, or None for
        the default: the gradient of the graph by :func:`frazil.grad`.
    rop_overrides : callable or OpFromGraph, or list of them, optional
        The Jacobian-vector product: a function of two lists (inputs, tangents of inputs) that
        returns the tangents of the outputs; or a list with an entry for each output.
    name : str, optional
        A name for messages.
    pullback, pushforward : optional
        Other names of ``lop_overrides`` and ``rop_overrides``.

    Raises
    ------
    MissingInputError
        If the outputs need a variable that is not among the inputs.

    Examples
    --------
    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> x, y = ft.vector("x"), ft.vector("y")
    >>> distance = fz.OpFromGraph([x, y], [ft.sqrt(ft.sum((x - y) ** 2))])
    >>> distance is fz.OpFromGraph([x, y], [ft.sqrt(ft.sum((x - y) ** 2))])
    True
    >>> a = ft.vector("a")
    >>> fz.function([a], distance(a, 2 * a))([3.0, 4.0])
    array(5.)

    A gradient that stays finite:

    >>> def slope(inputs, outputs, gradients):
    ...     return [gradients[0] * ft.sign(inputs[0])]
    >>> root = fz.OpFromGraph([x], [ft.sqrt(ft.abs(x))], lop_overrides=slope)
    >>> fz.grad(ft.sum(root(a)), a).eval({a: [0.0, 4.0]})
    array([0., 1.])
    """

    fgraph: FrozenFunctionGraph
    inline: bool = False
    pullback: OpFromGraph | None = None
    """Computes gradients of inputs from inputs, outputs and their gradients; None: no override."""
    pulled: tuple[int, ...] = ()
    """The inputs whose gradients it computes."""
    pulled_by_graph: tuple[int, ...] = ()
    """The inputs without override, whose gradients the graph gives."""
    pushforward: OpFromGraph | None = None
    """Computes tangents of outputs from inputs and their tangents; None: no override."""
    pushed: tuple[int, ...] = ()
    """The outputs whose tangents it computes."""
    pushed_by_graph: tuple[int, ...] = ()
    """The outputs without override, whose tangents the graph gives."""
    name: str | None = None

    if TYPE_CHECKING:

        def __init__(self, inputs: object, *args: object, **kwargs: object) -> None: ...

    def __str__(self) -> str:
        return f"OpFromGraph{{{self.name or self.fgraph.digest[:8]}}}"

    def make_node(self, *inputs: Any) -> FrozenApply:
        wanted = self.fgraph.inputs
        if len(inputs) != len(wanted):
            raise TypeError(f"{self} takes {len(wanted)} arguments, given {len(inputs)}")
        operands = [
            x if isinstance(x, Variable) else as_tensor(x, inner.dtype)
            for x, inner in zip(inputs, wanted, strict=True)
        ]
        for at, (given, inner) in enumerate(zip(operands, wanted, strict=True)):
            if not inner.type.accepts(given.type):
                raise TypeError(
                    f"argument {at} of {self} must have type {inner.type}, given {given} of type "
                    f"{given.type}; cast or reshape it, or build the op for this type"
                )
        given_types = [x.type for x in operands]
        try:
            types = output_types(self.fgraph, given_types)
        except (TypeError, ValueError) as error:
            error.add_note(f"in {self}, applied to {', '.join(map(str, given_types))}")
            raise
        return FrozenApply(self, operands, list(types))

    def expand(self, inputs: Sequence[Variable]) -> list[Variable]:
        """Return the outputs of the graph over ``inputs``, without the op."""
        with in_container_of(inputs):
            return expand_graph(self.fgraph, inputs)

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        return owned(compute(self.fgraph, inputs), inputs)

    def infer_shape(
        self, node: FrozenApply, input_shapes: Sequence[Lengths]
    ) -> tuple[Lengths | None, ...]:
        graph = self.fgraph
        shapes: dict[Variable, Lengths] = dict(zip(graph.inputs, input_shapes, strict=True))
        values: dict[Variable, Variable] = dict(zip(graph.inputs, node.inputs, strict=True))
        return tuple(outer_lengths(graph, graph.outputs, shapes, values))

    def presume_lengths(
        self, node: FrozenApply, values: Values, input_shapes: Sequence[KnownShape]
    ) -> list[KnownShape]:
        graph = self.fgraph
        shapes: dict[Variable, KnownShape] = dict(zip(graph.inputs, input_shapes, strict=True))
        known: dict[Variable, Variable] = {
            x: outer for x, outer in zip(graph.inputs, values, strict=True) if outer is not None
        }
        return presumed_lengths(graph, graph.outputs, shapes, known)


class Applied:
    """An OpFromGraph whose graph uses shared variables: they are passed with the arguments.

    Attributes
    ----------
    op : OpFromGraph
        Its last arguments stand for the shared variables.
    shared_inputs : tuple of SharedVariable
    """

    __slots__ = ("op", "shared_inputs")

    def __init__(self, op: OpFromGraph, shared_inputs: Sequence[SharedVariable]) -> None:
        self.op = op
        self.shared_inputs = tuple(shared_inputs)

    @property
    def fgraph(self) -> FrozenFunctionGraph:
        """The graph of the op."""
        return self.op.fgraph

    def make_node(self, *inputs: object) -> FrozenApply:
        """Return a node: the op applied to ``inputs`` and the shared variables."""
        wanted = len(self.op.fgraph.inputs) - len(self.shared_inputs)
        if len(inputs) != wanted:
            raise TypeError(f"{self.op} takes {wanted} arguments, given {len(inputs)}")
        return self.op.make_node(*inputs, *self.shared_inputs)

    def __call__(self, *inputs: object) -> Any:
        """Return the output of the op applied to ``inputs``; a list if there are several."""
        outputs = self.make_node(*inputs).outputs
        return outputs[0] if len(outputs) == 1 else list(outputs)


def owned(results: Sequence[Array], inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return ``results``; those that may share memory with ``inputs`` are copied."""
    import numpy as np

    return tuple(
        result.copy() if any(np.may_share_memory(result, x) for x in inputs) else result
        for result in results
    )


def _build(
    inputs: Iterable[Variable],
    outputs: Variable | Iterable[Variable],
    inline: bool = False,
    lop_overrides: Override | None = None,
    rop_overrides: Override | None = None,
    name: str | None = None,
    *,
    pullback: Override | None = None,
    pushforward: Override | None = None,
) -> OpFromGraph | Applied:
    for own, other, names in (
        (lop_overrides, pullback, "lop_overrides and pullback"),
        (rop_overrides, pushforward, "rop_overrides and pushforward"),
    ):
        if own is not None and other is not None:
            raise ValueError(f"{names} are two names of one argument; pass one of them")
    lop_overrides = pullback if lop_overrides is None else lop_overrides
    rop_overrides = pushforward if rop_overrides is None else rop_overrides
    given = list(inputs)
    results = [outputs] if isinstance(outputs, Variable) else [as_tensor(y) for y in outputs]
    for at, x in enumerate(given):
        if not isinstance(x, Variable) or isinstance(x, Constant):
            raise TypeError(f"input {at} of an OpFromGraph must be a variable, given {x!r}")
        if isinstance(x, SharedVariable):
            raise TypeError(
                f"input {at} of an OpFromGraph is the shared variable {x}, which its outputs may "
                "use without being passed; leave it out"
            )
    if len(set(given)) != len(given):
        raise ValueError("the inputs of an OpFromGraph must differ from each other")
    shared: list[SharedVariable] = []
    try:
        graph = FrozenFunctionGraph(given, results)
    except MissingInputError:
        shared = _shared(given, results)
        graph = FrozenFunctionGraph([*given, *shared], results)
    if lop_overrides is None and rop_overrides is None:
        op: OpFromGraph = OpFromGraph(graph, inline, name=name)
    else:
        op = _overridden(graph, inline, lop_overrides, rop_overrides, name)
    return Applied(op, shared) if shared else op


def _shared(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> list[SharedVariable]:
    """The shared variables that outputs need.

    Raises
    ------
    MissingInputError
        If they need another variable that is not among ``inputs``.
    """
    given = set(inputs)
    shared: dict[SharedVariable, None] = {}
    order = _core.toposort(list(outputs), list(inputs))
    for x in (*(x for node in order for x in node.inputs), *outputs):
        if isinstance(x, SharedVariable):
            shared[x] = None
        elif x.owner is None and x not in given and not isinstance(x, Constant):
            raise MissingInputError(
                f"the outputs of an OpFromGraph need {x} of type {x.type}, which is not among its "
                "inputs; add it to them"
            )
    return list(shared)


def _overridden(
    graph: FrozenFunctionGraph,
    inline: bool,
    lop_overrides: Override | None,
    rop_overrides: Override | None,
    name: str | None,
) -> OpFromGraph:
    """The op of a graph with overridden derivatives."""
    inputs = [x.type(x.name) for x in graph.inputs]
    outputs = graph.bind(inputs)
    # An override may use the outputs of the graph.
    stand_ins = [
        y.type(y.name) if y.owner is None or y in outputs[:at] else y
        for at, y in enumerate(outputs)
    ]
    seeds = [y.type(None) for y in outputs]
    tangents = [x.type(None) for x in inputs]

    backwards = [inputs, stand_ins, seeds]
    pullback = _traced(lop_overrides, backwards, inputs, "lop_overrides", inline)
    forwards = [inputs, tangents]
    pushforward = _traced(rop_overrides, forwards, outputs, "rop_overrides", inline)
    op: OpFromGraph = OpFromGraph(graph, inline, *pullback, *pushforward, name)
    return op


def _traced(
    override: Override | None,
    groups: Sequence[Sequence[Variable]],
    targets: Sequence[Variable],
    what: str,
    inline: bool,
) -> tuple[OpFromGraph | None, tuple[int, ...], tuple[int, ...]]:
    """The op of an override, the positions of the targets that it computes, and those left out."""
    if override is None:
        return None, (), ()
    flat = [x for group in groups for x in group]
    if isinstance(override, OpFromGraph):
        takes, gives = len(override.fgraph.inputs), len(override.fgraph.outputs)
        if (takes, gives) != (len(flat), len(targets)):
            raise TypeError(
                f"an OpFromGraph as {what} takes {len(flat)} arguments here and gives "
                f"{len(targets)} results; given one that takes {takes} and gives {gives}"
            )
        return override, tuple(range(len(targets))), ()
    made = derivatives(override, groups, targets, what)
    unsaid = tuple(at for at, entry in enumerate(listed_overrides(override)) if entry is None)
    positions = tuple(at for at, result in enumerate(made) if result is not None)
    op: Any = OpFromGraph(flat, [result for result in made if result is not None], inline)
    if isinstance(op, Applied):
        raise TypeError(
            f"{what} uses the shared variable {op.shared_inputs[0]}; pass it to the OpFromGraph "
            "as an argument"
        )
    return op, positions, unsaid
