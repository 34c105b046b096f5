"""Reverse-mode differentiation of graphs.

While :func:`grad` walks back, a gradient that is constant along a dimension may have length 1 there
or lack a dimension in front, as the gradient of a sum does. Elementwise nodes take such a gradient
as it is. Sums and most views take one without dimensions as it is, where all elements are equal.
Other gradients they, and other ops, get in the shape of the variable, and so does the user.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias, overload

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Constant, FrozenApply, Variable
from frazil.gradient.answers import gradients_of
from frazil.gradient.elementwise import pull_elementwise
from frazil.gradient.kinds import is_continuous
from frazil.gradient.registry import has_own_pullback, pullback_of
from frazil.gradient.sums import sum_of
from frazil.graph.answers import note_place
from frazil.graph.call_site import users_level
from frazil.graph.containers import in_container_of
from frazil.graph.garbage import no_collections
from frazil.graph.op import Op
from frazil.inner.inner_graph import HasInnerGraph, first_impure
from frazil.inner.op_from_graph import OpFromGraph
from frazil.inner.sinking import plan_sinking
from frazil.scalar.constants import TensorLike, as_operand, as_tensor, constant
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.basic_indexing import Subtensor
from frazil.tensor.broadcasting import BroadcastTo, broadcast_like
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.docstrings import described
from frazil.tensor.reductions import Reduce
from frazil.tensor.reshaping import Reshape
from frazil.tensor.transposition import Transpose

TAKE_SCALAR = (BroadcastTo, DropDims, ExpandDims, Reduce, Reshape, Subtensor, Transpose)
"""Ops whose ``L_op`` takes a gradient without dimensions for one with equal elements."""


Carrier: TypeAlias = tuple[FrozenApply, tuple[Variable, ...], tuple[Variable, ...], Sequence[bool]]
"""A node that carries gradients, its inputs, its outputs, and which inputs want one."""


class DisconnectedInputError(ValueError):
    """The cost does not depend on a variable of ``wrt``."""


class NotDifferentiableError(TypeError):
    """The cost depends on a variable through an op that has no gradient."""


@overload
def grad(
    cost: Variable | None,
    wrt: Variable,
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: Literal["raise", "warn", "ignore"] = "raise",
    *,
    known_grads: Mapping[Variable, Variable] | None = None,
    return_disconnected: Literal["zero"] = "zero",
) -> Variable: ...


@overload
def grad(
    cost: Variable | None,
    wrt: Sequence[Variable],
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: Literal["raise", "warn", "ignore"] = "raise",
    *,
    known_grads: Mapping[Variable, Variable] | None = None,
    return_disconnected: Literal["zero"] = "zero",
) -> list[Variable]: ...


@overload
def grad(
    cost: Variable | None,
    wrt: Variable | Sequence[Variable],
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: Literal["raise", "warn", "ignore"] = "raise",
    *,
    known_grads: Mapping[Variable, Variable] | None = None,
    return_disconnected: Literal["zero", "none"],
) -> Variable | list[Variable] | list[Variable | None] | None: ...


@described
def grad(
    cost: Variable | None,
    wrt: Variable | Sequence[Variable],
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: Literal["raise", "warn", "ignore"] = "raise",
    *,
    known_grads: Mapping[Variable, Variable] | None = None,
    return_disconnected: Literal["zero", "none"] = "zero",
) -> object:
    """Return the gradients of a scalar cost.

    cost (Variable or None): A floating-point variable without dimensions. May be None if
        ``known_grads`` is given.
    wrt (Variable or sequence of Variable): The variables by which to differentiate: floating-point
        inputs, or any variables between inputs and the cost.
    consider_constant (iterable of Variable): Variables that no gradient flows through.
    disconnected_inputs ({"raise", "warn", "ignore"}): The reaction if the cost does not depend on
        one of ``wrt``.
    known_grads (mapping of Variable to Variable): The gradients of some variables, as they are:
        nothing is added to them, neither by the cost nor by each other, nor to that of the cost,
        which is one. The other gradients are computed from these, and from the cost where it is
        given.
    return_disconnected ({"zero", "none"}): The gradient of a variable that the cost does not depend
        on: zeros, or None.
    returns (Variable or list of Variable): One gradient for each of ``wrt``, of its dtype and
        shape. A list if ``wrt`` is one. By a complex ``z = x + iy`` it is ``dcost/dx - i
        dcost/dy``, as in JAX; its conjugate is the direction of steepest ascent.
    raises DisconnectedInputError: If the cost does not depend on one of ``wrt``.
    raises NotDifferentiableError: If the cost depends on one of ``wrt`` through an op without
        gradient.
    raises TypeError: If the cost is not a floating-point scalar, or one of ``wrt`` is not
        floating-point.

    >>> import frazil as fz, frazil.tensor as ft
    >>> x = ft.vector("x")
    >>> fz.grad(ft.sum(x**3), x).eval({x: [1.0, 2.0]})
    array([ 3., 12.])
    """
    targets = listed(wrt)
    check_reactions(targets, disconnected_inputs, return_disconnected)
    with in_container_of(targets), no_collections():
        known = _known_gradients(known_grads or {})
        seeds = {**_of_cost(cost, known), **known}
        results = _gradients(
            seeds,
            targets,
            frozenset(consider_constant or ()),
            # A known variable may depend on the cost, whose gradient by itself is one all the same.
            tuple(seeds) if known else (),
            disconnected_inputs,
        )
        if return_disconnected == "zero":
            results = [*with_zeros(results, targets)]
    return results[0] if isinstance(wrt, Variable) else results


def pull_back(
    gradients: Mapping[Variable, Variable],
    targets: Sequence[Variable],
    consider_constant: Iterable[Variable] = (),
    disconnected_inputs: str = "raise",
) -> list[Variable | None]:
    """Return the gradients of ``targets``, given those of several outputs; None: there is none.

    If one output depends on another, the gradient that follows is added to the one that is given.
    :func:`grad` adds nothing to a known gradient.
    """
    check_reactions(targets, disconnected_inputs)
    with in_container_of(targets), no_collections():
        known, constants = _known_gradients(gradients), frozenset(consider_constant)
        return _gradients(known, targets, constants, (), disconnected_inputs)


def with_zeros(gradients: Sequence[Variable | None], targets: Sequence[Variable]) -> list[Variable]:
    """Return the gradients of ``targets``, zeros where there is none."""
    return [
        broadcast_like(constant(0, x.dtype), x) if g is None else g
        for g, x in zip(gradients, targets, strict=True)
    ]


def _gradients(
    gradients: dict[Variable, Variable],
    targets: Sequence[Variable],
    constants: frozenset[Variable],
    known: Collection[Variable],
    disconnected_inputs: str,
) -> list[Variable | None]:
    """Return the gradients of ``targets``, given those that the walk starts from; None: none.

    Nothing is added to those of ``known``.
    """
    _core.at_one_line(_walk_back, gradients, targets, constants, known)
    results: list[Variable | None] = []
    for target in targets:
        gradient = gradients.get(target)
        if gradient is None:
            _report_disconnected(target, disconnected_inputs)
        results.append(None if gradient is None else broadcast_like(gradient, target))
    return results


@described
def disconnected_grad(x: TensorLike) -> Variable:
    """Return ``x`` as a constant for :func:`grad`: no gradient flows through it.

    If a cost depends on a variable only through the result, it counts as independent of it.

    x (tensor_like): Any tensor.
    returns: With the values and the type of ``x``.

    >>> from frazil.gradient import disconnected_grad, grad
    >>> x = ft.scalar("x")
    >>> grad(x * disconnected_grad(x), x).eval({x: 3.0})
    array(3.)
    """
    return _core.elemwise(scalar.disconnected_grad, as_operand(x))


@described
def zero_grad(x: TensorLike) -> Variable:
    """Return ``x``, whose gradient is zero.

    x (tensor_like): Any tensor.
    returns: With the values and the type of ``x``.

    >>> from frazil.gradient import grad, zero_grad
    >>> x = ft.scalar("x")
    >>> grad(zero_grad(x) ** 2, x).eval({x: 3.0})
    array(0.)
    """
    return _core.elemwise(scalar.zero_grad, as_operand(x))


def check_reactions(
    targets: Sequence[Variable], disconnected_inputs: str, return_disconnected: str = "zero"
) -> None:
    """Raise unless targets and the reactions to disconnected ones are such as users may give."""
    if disconnected_inputs not in ("raise", "warn", "ignore"):
        raise ValueError(
            "disconnected_inputs must be 'raise', 'warn' or 'ignore'; "
            f"given {disconnected_inputs!r}"
        )
    if return_disconnected not in ("zero", "none"):
        raise ValueError(
            f"return_disconnected must be 'zero' or 'none'; given {return_disconnected!r}"
        )
    _check_targets(targets)


def _check_targets(targets: Sequence[Variable]) -> None:
    for target in targets:
        if not isinstance(target, Variable):
            raise TypeError(
                f"wrt must be a variable or a sequence of them; given {target!r} "
                f"of type {type(target).__name__}"
            )
        if not is_continuous(target):
            raise TypeError(
                f"cannot differentiate with respect to {_describe(target)}: only floating-point "
                "variables have a gradient. Cast it before it is used, and take the gradient "
                "with respect to the result."
            )


def _of_cost(cost: Variable | None, known: Mapping[Variable, Variable]) -> dict[Variable, Variable]:
    """Return the gradient of the cost."""
    if cost is None:
        if not known:
            raise ValueError("grad needs a cost, or known_grads to start from")
        return {}
    if not isinstance(cost, Variable):
        raise TypeError(f"the cost must be a variable; given {cost!r}")
    if cost.ndim:
        raise TypeError(
            f"the cost must be a scalar; given {_describe(cost)} with {cost.ndim} dimensions. "
            "Reduce it first, for example with .sum()."
        )
    if not is_continuous(cost):
        raise TypeError(f"the cost must be floating-point; given {_describe(cost)}")
    if cost.type.numpy_dtype.kind == "c":
        raise TypeError(
            f"the cost must be real; given {_describe(cost)}. Take its real part, ft.real(...), "
            "for example, or the gradient of abs(...)"
        )
    return {cost: _one(cost.dtype)}


def _known_gradients(given: Mapping[Variable, Variable]) -> dict[Variable, Variable]:
    """Return gradients in the dtypes of their variables."""
    known: dict[Variable, Variable] = {}
    for variable, own in given.items():
        gradient = as_tensor(own)
        if not is_continuous(gradient) or gradient.ndim > variable.ndim:
            raise TypeError(
                f"the known gradient of {_describe(variable)} must be floating-point and have no "
                f"more dimensions; given {gradient.type}"
            )
        known[variable] = as_tensor(gradient, variable.dtype)
    return known


def _walk_back(
    gradients: dict[Variable, Variable],
    targets: Sequence[Variable],
    constants: frozenset[Variable],
    known: Collection[Variable],
) -> None:
    """Add to ``gradients`` the gradients of all variables between it and ``targets``."""
    # Nodes that only one branch of an IfElse needs are differentiated within that branch.
    nodes = plan_sinking([*gradients, *targets], constants)
    folded: dict[Variable, Constant] = {}
    carriers: Sequence[Carrier] = _core.gradient_carriers(nodes, targets, constants)
    if known:
        carriers = _towards_unknown(carriers, targets, known)
    for node, inputs, outputs, wanted in reversed(carriers):
        if len(outputs) == 1:  # nearly always
            given: Sequence[Variable | None] = (gradients.get(outputs[0]),)
        else:
            given = [gradients.get(output) for output in outputs]
        if given.count(None) == len(given):
            continue
        pulled = _pull(node, inputs, outputs, given, wanted, folded)
        for variable, gradient, want in zip(inputs, pulled, wanted, strict=True):
            if gradient is None or not want:
                continue
            if gradient.dtype != variable.dtype:
                gradient = _in_dtype(gradient, variable.dtype)
            before = gradients.get(variable)
            gradients[variable] = gradient if before is None else sum_of(before, gradient)


def _towards_unknown(
    carriers: Iterable[Carrier], targets: Iterable[Variable], known: Collection[Variable]
) -> list[Carrier]:
    """Return the nodes without which some gradient of ``targets`` is not found.

    The walk ends at a variable whose gradient is known, as what lies behind it adds nothing.
    """
    unknown = {target for target in targets if target not in known}
    needed: list[Carrier] = []
    for node, inputs, outputs, wanted in carriers:
        wanted = [want and x in unknown for x, want in zip(inputs, wanted, strict=True)]
        if any(wanted):
            unknown.update(y for y in outputs if y not in known)
            needed.append((node, inputs, outputs, wanted))
    return needed


def _in_dtype(gradient: Variable, dtype: str) -> Variable:
    """Return a gradient in the dtype of its variable; a real one changes by real steps only."""
    if gradient.type.numpy_dtype.kind == "c" and np.dtype(dtype).kind != "c":
        gradient = _core.elemwise(scalar.real, gradient)
    return as_tensor(gradient, dtype)


def _pull(
    node: FrozenApply,
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    given: Sequence[Variable | None],
    wanted: Sequence[bool],
    folded: dict[Variable, Constant],
) -> Sequence[Variable | None]:
    """Return the gradients of a node's inputs; ``given`` are those of ``outputs``."""
    op = node.op
    try:
        if type(op) is Elemwise or (isinstance(op, Elemwise) and not has_own_pullback(op)):
            return pull_elementwise(op, inputs, outputs, given, wanted, folded)
        check_runs_once(node)
        taken = [_as_taken(op, y, g) for y, g in zip(outputs, given, strict=True)]
        if _is_users_rule(op):
            # Length 1 for an operand of unknown length is refused: it was not broadcast by mistake.
            pulled = _core.at_lines_of_others(pullback_of(op), inputs, outputs, taken)
            return gradients_of(node, pulled)
        pulled = pullback_of(op)(inputs, outputs, taken)
        # frazil's own rules give length 1 for an unknown length where elements are equal, or where
        # another operand tells the length, as in a product with a column.
        return gradients_of(node, pulled, may_broadcast=True)
    except NotImplementedError as error:
        raise _not_differentiable(node, str(error)) from error
    except Exception as error:
        if _is_users_rule(op):
            note_place(error, "L_op of", node)
        raise


def _is_users_rule(op: Op) -> bool:
    """Whether a user wrote what differentiates an op."""
    if isinstance(op, OpFromGraph) and op.pullback is not None:
        return True
    return not type(op).__module__.startswith("frazil.")


def check_runs_once(node: FrozenApply) -> None:
    """Raise if the inner graph of a node is impure, as its derivative would compute it again."""
    if isinstance(node.op, HasInnerGraph) and not node.op.pure:
        raise NotDifferentiableError(
            f"the derivative of {node.op}{_where(node)} would compute its inner graph again, and "
            f"{first_impure(node.op.fgraph)} in it is not pure: it may give another result then. "
            "Apply it outside, and pass its result; or name the output in consider_constant"
        )


def _as_taken(op: Op, output: Variable, g: Variable | None) -> Variable:
    """Return the gradient of an output in the form that ``op.L_op`` takes."""
    if g is None:
        g = constant(0, output.dtype)
    if g.ndim == 0 and isinstance(op, TAKE_SCALAR):
        return g
    return broadcast_like(g, output)


def _one(dtype: str) -> Constant:
    return constant(np.ones((), dtype))


def _report_disconnected(target: Variable, how: str) -> None:
    message = (
        f"the cost does not depend on {_describe(target)}, or only through ops that are not "
        "differentiable, such as comparisons and integers. Pass disconnected_inputs='ignore' "
        "to get zeros for it."
    )
    if how == "raise":
        raise DisconnectedInputError(message)
    if how == "warn":
        warnings.warn(message, stacklevel=users_level())


def _not_differentiable(node: FrozenApply, why: str) -> NotDifferentiableError:
    return NotDifferentiableError(
        f"the op {node.op}{_where(node)} has no gradient, and the cost depends on it"
        f"{f': {why}' if why else ''}. Name its result in consider_constant if no gradient is to "
        "flow through it."
    )


def _where(node: FrozenApply) -> str:
    return f" (first built at {node.source[0]}:{node.source[1]})" if node.source else ""


def _describe(variable: Variable) -> str:
    if variable.name is not None:
        return f"{variable.name!r} of type {variable.type}"
    if variable.owner is not None:
        return f"the result of {variable.owner.op}, of type {variable.type}"
    return f"an unnamed variable of type {variable.type}"


def listed(variables: Variable | Iterable[Variable]) -> list[Variable]:
    """Return one variable, or several, as a list; also what users give in the place of one."""
    if isinstance(variables, list | tuple):  # abstract classes are slow to ask
        return list(variables)
    if not isinstance(variables, Variable) and isinstance(variables, Iterable):
        return list(variables)
    return [variables]
