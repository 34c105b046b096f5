"""Gradients of ops that hold graphs: ops that hold the gradients of these, made once an op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from frazil import _core
from frazil._core import Constant, FrozenApply, FrozenFunctionGraph, Variable
from frazil.inner_graph import HasInnerGraph, KnownOfOps
from frazil.tensor.broadcasting import BroadcastTo, broadcast_to
from frazil.tensor.lengths import lengths


@dataclass(frozen=True)
class Pulled:
    """The gradient of an op: what computes it, of which of its operands, for which inputs.

    Operands are the inputs of the op, its outputs, and the gradients of those, one after the other.
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
    ) -> Pulled:
        """The gradient that ``make`` makes an op of, which takes no operand that it does not need.

        An operand is None where another one stands for it.
        """
        if not gradients:
            return Pulled(None, (), ())
        stops = [x for x in operands if x is not None]
        order = _core.toposort(list(gradients), stops)
        met = {x for node in order for x in node.inputs}.union(gradients)
        needed = [at for at, x in enumerate(operands) if x in met]
        graph = FrozenFunctionGraph([x for x in operands if x in met and x is not None], gradients)
        return Pulled(make(graph), tuple(needed), tuple(targets))


def pull(
    inputs: Sequence[Variable], outputs: Sequence[Variable], seeds: Sequence[Variable | None]
) -> list[Variable | None]:
    """Return the gradients of ``inputs`` for ``seeds``, those of ``outputs``; None: none."""
    from frazil.gradient import grad

    known: dict[Variable, Variable] = {}
    for y, seed in zip(outputs, seeds, strict=True):
        if seed is not None and not isinstance(y, Constant):
            known[y] = known[y] + seed if y in known else seed
    targets = [x for x in inputs if is_continuous(x)]
    if not known or not targets:
        return [None] * len(inputs)
    gradients: Any = grad(
        None,
        targets,
        known_grads=known,
        disconnected_inputs="ignore",
        return_disconnected="none",
    )
    found = dict(zip(targets, gradients, strict=True))
    return [found.get(x) for x in inputs]


def push(
    inputs: Sequence[Variable], outputs: Sequence[Variable], tangents: Sequence[Variable]
) -> list[Variable | None]:
    """Return the tangents of ``outputs`` for those of ``inputs``; None: none."""
    from frazil.jacobian_products import Rop

    moving = [(x, t) for x, t in zip(inputs, tangents, strict=True) if is_continuous(x)]
    wanted = [y for y in outputs if is_continuous(y) and not isinstance(y, Constant)]
    if not moving or not wanted:
        return [None] * len(outputs)
    wrt, given = ([*column] for column in zip(*moving, strict=True))
    made = Rop(wanted, wrt, given, disconnected_outputs="ignore", return_disconnected="none")
    found = dict(zip(wanted, made, strict=True))
    return [found.get(y) for y in outputs]


def pulled_by(
    op: Any,
    pull: Callable[[Any, frozenset[int]], Pulled],
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    output_gradients: Sequence[Variable],
) -> list[Variable | None]:
    """Return the gradients of a node's inputs by an op that ``pull`` makes, once for each op."""
    given = frozenset(
        at
        for at, (y, g) in enumerate(zip(outputs, output_gradients, strict=True))
        if is_continuous(y) and not is_zero(g)
    )
    known = _pulled.of(op)
    pulled = known.get(given)
    if pulled is None:
        pulled = known[given] = pull(op, given)
    gradients: list[Variable | None] = [None] * len(inputs)
    if pulled.op is not None:
        typed = map(typed_as, output_gradients, outputs)
        operands = [*inputs, *outputs, *typed]
        made = pulled.op.make_node(*(operands[at] for at in pulled.needed)).outputs
        for at, gradient in zip(pulled.targets, made, strict=True):
            gradients[at] = gradient
    return gradients


_pulled: KnownOfOps[Pulled] = KnownOfOps()


def is_continuous(x: Variable) -> bool:
    """Return whether ``x`` can have a gradient."""
    return x.dtype in ("float64", "float32")


def typed_as(gradient: Variable, of: Variable) -> Variable:
    """Return ``gradient`` with the lengths that the type of what it is the gradient of tells."""
    if of.type.accepts(gradient.type):
        return gradient
    return broadcast_to(gradient, lengths(of))


def is_zero(x: Variable) -> bool:
    """Return whether ``x`` is written as an array of zeros."""
    node: FrozenApply | None = x.owner
    while node is not None and isinstance(node.op, BroadcastTo):
        x = node.inputs[0]
        node = x.owner
    return isinstance(x, Constant) and x.data.size == 1 and not x.data.any()
