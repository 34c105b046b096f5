"""Derivatives of ops that hold graphs: other ops, which hold the derivatives of these graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

import frazil._core as _core
from frazil._core import Constant, FrozenFunctionGraph, Variable
from frazil.gradient.elementwise import GraphRule, Seeds, Wanted, graph_rule
from frazil.gradient.kinds import is_continuous, is_zero
from frazil.gradient.products import Rop
from frazil.gradient.registry import Pullback, Pushforward, pullback_rule, pushforward_rule
from frazil.gradient.reverse import pull_back, with_zeros
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Gradients, Variables
from frazil.inner.ifelse import IfElse, common_type
from frazil.inner.inner_graph import HasInnerGraph, KnownOfOps
from frazil.inner.op_from_graph import OpFromGraph
from frazil.scalar.composite import Composite
from frazil.scalar.constants import constant
from frazil.tensor.broadcasting import broadcast_like, typed_as

OpT = TypeVar("OpT", bound=HasInnerGraph)


@dataclass(frozen=True)
class VJP:
    """The vector-Jacobian product of an op: the op that computes it.

    It takes the ``needed`` ones among the inputs, outputs and output gradients, counted in this
    order, and computes the gradients of the inputs ``targets``.
    """

    op: HasInnerGraph | None
    needed: tuple[int, ...]
    targets: tuple[int, ...]

    @staticmethod
    def of(
        operands: Sequence[Variable | None],
        gradients: Sequence[Variable],
        targets: Sequence[int],
        make: Callable[[FrozenFunctionGraph], HasInnerGraph],
    ) -> VJP:
        """The product that computes ``gradients`` by the op that ``make`` returns for their graph.

        The op takes only those ``operands`` that it needs, and skips None.
        """
        if not gradients:
            return VJP(None, (), ())
        stops = [x for x in operands if x is not None]
        order = _core.toposort(list(gradients), stops)
        met = {x for node in order for x in node.inputs}.union(gradients)
        needed = [at for at, x in enumerate(operands) if x in met]
        graph = FrozenFunctionGraph([x for x in operands if x in met and x is not None], gradients)
        return VJP(make(graph), tuple(needed), tuple(targets))


def pull(
    inputs: Sequence[Variable], outputs: Sequence[Variable], seeds: Sequence[Variable | None]
) -> list[Variable | None]:
    """Return the gradients of ``inputs``, given ``seeds``, those of ``outputs``; None: none."""
    known: dict[Variable, Variable] = {}
    for y, seed in zip(outputs, seeds, strict=True):
        if seed is not None and not isinstance(y, Constant):
            known[y] = known[y] + seed if y in known else seed
    targets = [x for x in inputs if is_continuous(x)]
    if not known or not targets:
        return [None] * len(inputs)
    gradients = pull_back(known, targets, disconnected_inputs="ignore")
    found = dict(zip(targets, gradients, strict=True))
    return [found.get(x) for x in inputs]


def push(
    inputs: Sequence[Variable], outputs: Sequence[Variable], tangents: Sequence[Variable]
) -> list[Variable | None]:
    """Return the tangents of ``outputs``, given those of ``inputs``; None: none."""
    moving = [(x, t) for x, t in zip(inputs, tangents, strict=True) if is_continuous(x)]
    wanted = [y for y in outputs if is_continuous(y) and not isinstance(y, Constant)]
    if not moving or not wanted:
        return [None] * len(outputs)
    wrt, given = ([*column] for column in zip(*moving, strict=True))
    made = Rop(wanted, wrt, given, disconnected_outputs="ignore", return_disconnected="none")
    found = dict(zip(wanted, made, strict=True))
    return [found.get(y) for y in outputs]


def pulled_by(
    op: OpT,
    make: Callable[[OpT, frozenset[int]], VJP],
    inputs: Variables,
    outputs: Variables,
    output_gradients: Variables,
) -> Gradients:
    """Return the gradients of a node's inputs by the product that ``make`` returns for its op."""
    given = frozenset(
        at
        for at, (y, g) in enumerate(zip(outputs, output_gradients, strict=True))
        if is_continuous(y) and not is_zero(g)
    )
    known = _vjps.of(op)
    vjp = known.get(given)
    if vjp is None:
        vjp = known[given] = make(op, given)
    gradients: list[Variable | None] = [None] * len(inputs)
    if vjp.op is not None:
        typed = map(typed_as, output_gradients, outputs)
        operands = [*inputs, *outputs, *typed]
        made = vjp.op.make_node(*(operands[at] for at in vjp.needed)).outputs
        for at, gradient in zip(vjp.targets, made, strict=True):
            gradients[at] = gradient
    return gradients


_vjps: KnownOfOps[VJP] = KnownOfOps()


@pullback_rule.register
def _(op: IfElse) -> Pullback:
    return partial(pulled_by, op, _vjp_of_ifelse)


def _vjp_of_ifelse(op: IfElse, given: frozenset[int]) -> VJP:
    """The product of an IfElse if only outputs in ``given`` have gradients: an IfElse, too."""
    inputs: list[Variable] = [x.type(x.name) for x in op.fgraph.inputs]
    results = op.fgraph.bind(inputs)
    half = len(results) // 2
    types = [common_type(at, *pair) for at, pair in enumerate(zip(*op.branches, strict=True))]
    seeds = [ty(None) if at in given else None for at, ty in enumerate(types)]
    then, otherwise = (pull(inputs, branch, seeds) for branch in (results[:half], results[half:]))
    targets = [
        at for at, pair in enumerate(zip(then, otherwise, strict=True)) if pair != (None, None)
    ]
    both = [
        broadcast_like(constant(0, inputs[at].dtype), inputs[at]) if (g := arm[at]) is None else g
        for arm in (then, otherwise)
        for at in targets
    ]
    name = None if op.name is None else f"gradient of {op.name}"
    vjp = VJP.of(
        [None, *inputs, *(None for _ in types), *seeds],
        both,
        [1 + at for at in targets],
        lambda graph: IfElse(graph, name),
    )
    return replace(vjp, needed=(0, *vjp.needed)) if targets else vjp


@pullback_rule.register
def _(op: OpFromGraph) -> Pullback:
    return partial(_pull_through if op.pullback is None else _pull_overridden, op)


def _pull_through(
    op: OpFromGraph, inputs: Variables, outputs: Variables, output_gradients: Variables
) -> Gradients:
    return pulled_by(op, _vjp_of_graph, inputs, outputs, output_gradients)


def _pull_overridden(
    op: OpFromGraph, inputs: Variables, outputs: Variables, output_gradients: Variables
) -> Gradients:
    """The gradients of ``lop_overrides``; for inputs without one, the graph's gradients."""
    assert op.pullback is not None
    typed = map(typed_as, output_gradients, outputs)
    made = op.pullback.make_node(*inputs, *outputs, *typed).outputs
    gradients: list[Variable | None] = [None] * len(inputs)
    for at, gradient in zip(op.pulled, made, strict=True):
        gradients[at] = gradient
    if op.pulled_by_graph:
        own = _pull_through(op, inputs, outputs, output_gradients)
        for at in op.pulled_by_graph:
            gradients[at] = own[at]
    return gradients


def _vjp_of_graph(op: OpFromGraph, given: frozenset[int]) -> VJP:
    """The product of the graph of an op if only outputs in ``given`` have gradients."""
    inputs: list[Variable] = [x.type(x.name) for x in op.fgraph.inputs]
    results = op.fgraph.bind(inputs)
    seeds = [y.type(None) if at in given else None for at, y in enumerate(results)]
    gradients = pull(inputs, results, seeds)
    # Outputs of the op are operands, so that they are not computed again.
    computed = [None if y.owner is None or y in results[:at] else y for at, y in enumerate(results)]
    targets = [(at, g) for at, g in enumerate(gradients) if g is not None]
    name = None if op.name is None else f"gradient of {op.name}"
    return VJP.of(
        [*inputs, *computed, *seeds],
        [g for _, g in targets],
        [at for at, _ in targets],
        lambda graph: OpFromGraph(graph, op.inline, name=name),
    )


@pushforward_rule.register
def _(op: OpFromGraph) -> Pushforward | None:
    return None if op.pushforward is None else partial(_push_overridden, op)


def _push_overridden(
    op: OpFromGraph, inputs: Sequence[Variable], tangents: Sequence[Variable]
) -> list[Variable | None]:
    """The tangents of ``rop_overrides``; for outputs without one, the graph's tangents."""
    assert op.pushforward is not None
    typed = [*map(typed_as, tangents, inputs)]
    made = op.pushforward.make_node(*inputs, *typed).outputs
    results: list[Variable | None] = [None] * len(op.fgraph.outputs)
    for at, tangent in zip(op.pushed, made, strict=True):
        results[at] = tangent
    for at, own in zip(op.pushed_by_graph, _push_graph(op, inputs, typed), strict=True):
        results[at] = own
    return results


def _push_graph(
    op: OpFromGraph, inputs: Sequence[Variable], tangents: Sequence[Variable]
) -> list[Variable | None]:
    """The tangents of outputs that have no override."""
    if not op.pushed_by_graph:
        return []
    # An operand may occur several times, or depend on another one.
    places = [x.type(None) for x in inputs]
    seeds = [x.type(None) for x in inputs]
    outputs = op.expand(places)
    made = push(places, [outputs[at] for at in op.pushed_by_graph], seeds)
    operands = dict(zip((*places, *seeds), (*inputs, *tangents), strict=True))
    found = iter(_core.graph_replace([x for x in made if x is not None], operands))
    return [None if x is None else next(found) for x in made]


@graph_rule.register
def _(op: Composite) -> GraphRule:
    return partial(_pull_composite, op)


def _pull_composite(
    op: Composite, inputs: Variables, outputs: Variables, output_gradients: Seeds, wanted: Wanted
) -> Gradients:
    """The gradients of the wanted inputs, found op by op in the composite."""
    # An operand may occur several times, each time with a gradient of its own.
    operands = [x.type() for x in inputs]
    targets = [x for x, want in zip(operands, wanted, strict=True) if want and is_continuous(x)]
    known: dict[Variable, Variable] = {}
    for output, g in zip(op.expand(operands), output_gradients, strict=True):
        if g is not None and is_continuous(output):
            known[output] = known[output] + g if output in known else g
    if not targets or not known:
        return [None] * len(inputs)
    found = with_zeros(pull_back(known, targets, (), "ignore"), targets)
    gradients = dict(zip(targets, found, strict=True))
    replaced = iter(_core.graph_replace(found, dict(zip(operands, inputs, strict=True))))
    return [next(replaced) if x in gradients else None for x in operands]
