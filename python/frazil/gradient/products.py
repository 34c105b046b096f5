"""Vector-Jacobian products (``Lop``) and Jacobian-vector products (``Rop``) of graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, cast

import frazil._core as _core
from frazil._core import FrozenApply, Variable
from frazil.gradient.answers import tangents_of
from frazil.gradient.kinds import is_continuous
from frazil.gradient.registry import pushforward_of
from frazil.gradient.reverse import (
    DisconnectedInputError,
    check_reactions,
    check_runs_once,
    grad,
    listed,
    pull_back,
    with_zeros,
)
from frazil.graph.containers import in_container_of
from frazil.scalar.constants import TensorLike, as_tensor, constant
from frazil.tensor.broadcasting import broadcast_like
from frazil.tensor.docstrings import described, described_like


@described_like(grad)
def Lop(
    f: Variable | Sequence[Variable],
    wrt: Variable | Sequence[Variable],
    eval_points: TensorLike | Sequence[TensorLike],
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: Literal["raise", "warn", "ignore"] = "raise",
    return_disconnected: Literal["zero", "none"] = "zero",
) -> Any:
    """Return a vector-Jacobian product: a row vector times the Jacobian.

    f (Variable or sequence of Variable): The variables to differentiate.
    wrt (Variable or sequence of Variable): The variables by which to differentiate.
    eval_points (tensor_like or sequence of them): The row vector: for each of ``f`` an array of its
        shape.
    returns (Variable or list of Variable): One array in the shape of each of ``wrt``. A list if
        ``wrt`` is one.
    raises ValueError: If there are not as many ``eval_points`` as ``f``.
    raises TypeError: If one has another rank than its variable.

    >>> import frazil as fz, frazil.tensor as ft
    >>> x = ft.vector("x")
    >>> fz.Lop(x * ft.sum(x), x, [1.0, 0.0]).eval({x: [2.0, 3.0]})
    array([7., 2.])
    """
    known = _paired(listed(f), eval_points, "f")
    targets = listed(wrt)
    check_reactions(targets, disconnected_inputs, return_disconnected)
    results = pull_back(known, targets, consider_constant or (), disconnected_inputs)
    if return_disconnected == "zero":
        results = [*with_zeros(results, targets)]
    return results[0] if isinstance(wrt, Variable) else results


@described
def Rop(
    f: Variable | Sequence[Variable],
    wrt: Variable | Sequence[Variable],
    eval_points: TensorLike | Sequence[TensorLike],
    disconnected_outputs: Literal["raise", "ignore"] = "raise",
    return_disconnected: Literal["zero", "none"] = "zero",
) -> Any:
    """Return a Jacobian-vector product: the Jacobian times a column vector.

    An op with an ``R_op``, such as :class:`frazil.OpFromGraph` with ``rop_overrides``, is
    differentiated by it. For other ops the product is the vector-Jacobian product of a
    vector-Jacobian product, which is linear in its vector.

    f (Variable or sequence of Variable): The variables to differentiate.
    wrt (Variable or sequence of Variable): The variables by which to differentiate.
    eval_points (tensor_like or sequence of them): The column vector: for each of ``wrt`` an array
        of its shape.
    disconnected_outputs ({"raise", "ignore"}): The reaction if one of ``f`` depends on none of
        ``wrt``.
    return_disconnected ({"zero", "none"}): The result for such an output.
    returns (Variable or list of Variable): One array in the shape of each of ``f``. A list if ``f``
        is one.
    raises DisconnectedInputError: If one of ``f`` depends on none of ``wrt``.
    raises ValueError: If there are not as many ``eval_points`` as ``wrt``.
    raises TypeError: If one has another rank than its variable, or a variable is not
        floating-point.

    >>> import frazil as fz, frazil.tensor as ft
    >>> x = ft.vector("x")
    >>> fz.Rop(x * ft.sum(x), x, [1.0, 0.0]).eval({x: [2.0, 3.0]})
    array([7., 3.])
    """
    values = listed(f)
    for x in (*values, *listed(wrt)):
        if not is_continuous(x):
            raise TypeError(f"only floating-point variables have derivatives, given {x}: {x.type}")
    tangents: dict[Variable, Variable] = _paired(listed(wrt), eval_points, "wrt")
    with in_container_of([*values, *tangents]):
        order = _core.toposort(values, list(tangents))
        if any(pushforward_of(node.op) is not None for node in order):
            _walk_forward(order, tangents)
            made = [tangents.get(y) for y in values]
        else:
            made = _by_vjp_of_vjp(values, tangents)
    results: list[Variable | None] = []
    for y, tangent in zip(values, made, strict=True):
        if tangent is None and disconnected_outputs == "raise":
            raise DisconnectedInputError(
                f"{y} depends on none of wrt, or only through ops that are not differentiable; "
                "pass disconnected_outputs='ignore' to get zeros for it"
            )
        if tangent is None and return_disconnected == "zero":
            tangent = constant(0, y.dtype)
        results.append(None if tangent is None else broadcast_like(tangent, y))
    return results[0] if isinstance(f, Variable) else results


pullback = Lop
pushforward = Rop


@described_like(Lop)
def hessian_vector_product(
    cost: Variable,
    wrt: Variable | Sequence[Variable],
    p: TensorLike | Sequence[TensorLike],
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: Literal["raise", "warn", "ignore"] = "raise",
) -> Any:
    """Return the second derivatives of a scalar cost times a vector, without their matrix.

    cost (Variable): A floating-point variable without dimensions.
    p (tensor_like or sequence of them): The vector: for each of ``wrt`` an array of its shape.
    returns (Variable or list of Variable): One array in the shape of each of ``wrt``, mixed
        derivatives included. A list if ``wrt`` is one.
    raises ValueError: If there are not as many vectors as ``wrt``.

    >>> import frazil as fz, frazil.tensor as ft
    >>> x = ft.vector("x")
    >>> cost = x[0] ** 2 * x[1]
    >>> fz.hessian_vector_product(cost, x, [1.0, 10.0]).eval({x: [2.0, 3.0]})
    array([46.,  4.])
    """
    constants = frozenset(consider_constant or ())
    targets = listed(wrt)
    first = grad(cost, targets, constants, disconnected_inputs)
    vectors = list(_paired(targets, p, "wrt").values())
    found = Lop(first, targets, vectors, constants, "ignore")
    return found[0] if isinstance(wrt, Variable) else found


def _paired(
    variables: Sequence[Variable], points: TensorLike | Sequence[TensorLike], what: str
) -> dict[Variable, Variable]:
    """The points by their variables."""
    alone = len(variables) == 1 and not (
        isinstance(points, list | tuple) and len(points) == 1 and isinstance(points[0], Variable)
    )
    given = cast(list[TensorLike], [points] if alone else [*cast(Sequence[TensorLike], points)])
    if len(given) != len(variables):
        raise ValueError(
            f"one eval_point is needed for each of {what}: {len(variables)}, given {len(given)}"
        )
    paired: dict[Variable, Variable] = {}
    for x, point in zip(variables, given, strict=True):
        made = as_tensor(point, x.dtype)
        if made.ndim != x.ndim:
            raise TypeError(
                f"the eval_point of {x} must have {x.ndim} dimensions as it has, given {made.type}"
            )
        paired[x] = paired[x] + made if x in paired else made
    return paired


def _by_vjp_of_vjp(
    outputs: Sequence[Variable], tangents: Mapping[Variable, Variable]
) -> list[Variable | None]:
    """The tangents of outputs: ``v -> v J`` is linear, so its own product with ``t`` is ``J t``."""
    seeds = [y.type(None) for y in outputs]
    known: dict[Variable, Variable] = {}
    for y, seed in zip(outputs, seeds, strict=True):
        known[y] = known[y] + seed if y in known else seed
    pulled = pull_back(known, list(tangents), disconnected_inputs="ignore")
    back: dict[Variable, Variable] = {}
    for g, tangent in zip(pulled, tangents.values(), strict=True):
        if g is not None:
            back[g] = back[g] + tangent if g in back else tangent
    if not back:
        return [None] * len(outputs)
    made = pull_back(back, seeds, disconnected_inputs="ignore")
    # The result depends on the seeds only by their lengths.
    zeros = [broadcast_like(constant(0, y.dtype), y) for y in outputs]
    found = [x for x in made if x is not None]
    replaced = iter(_core.graph_replace(found, list(zip(seeds, zeros, strict=True))))
    return [None if x is None else next(replaced) for x in made]


def _walk_forward(order: Sequence[FrozenApply], tangents: dict[Variable, Variable]) -> None:
    """Add to ``tangents`` the tangents of all variables that depend on theirs."""
    for node in order:
        if not any(x in tangents for x in node.inputs):
            continue
        outputs = [y for y in node.outputs if is_continuous(y)]
        made: Sequence[Variable | None] | None = None
        check_runs_once(node)
        push = pushforward_of(node.op)
        if push is not None:
            own = [tangents.get(x, broadcast_like(constant(0, x.dtype), x)) for x in node.inputs]
            try:
                made = push(node.inputs, own)
            except NotImplementedError:
                made = None
        if made is not None:
            pairs = list(zip(node.outputs, tangents_of(node, made), strict=True))
        else:
            pairs = list(zip(outputs, _of_node(node, outputs, tangents), strict=True))
        for y, tangent in pairs:
            if tangent is not None:
                tangents[y] = tangent


def _of_node(
    node: FrozenApply, outputs: Sequence[Variable], tangents: Mapping[Variable, Variable]
) -> list[Variable | None]:
    """The tangents of a node's outputs, by its vector-Jacobian product."""
    distinct = list(dict.fromkeys(node.inputs))
    stands = {x: x.type(None) for x in distinct if x in tangents}
    again = node.clone_with_new_inputs([stands.get(x, x) for x in node.inputs])
    twins = dict(zip(node.outputs, again.outputs, strict=True))
    if not outputs:
        return []
    made = _by_vjp_of_vjp([twins[y] for y in outputs], {stands[x]: tangents[x] for x in stands})
    found = [x for x in made if x is not None]
    names = {stand: x for x, stand in stands.items()}
    replaced = iter(_core.graph_replace(found, names))
    return [None if x is None else next(replaced) for x in made]
