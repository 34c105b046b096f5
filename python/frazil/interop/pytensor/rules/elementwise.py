"""Rules for ops on elements: ``Elemwise``, scalar ops that stand alone, and ``Composite``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, reduce
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from pytensor.compile.ops import DeepCopyOp, ViewOp
from pytensor.scalar import basic as ps
from pytensor.scalar.loop import ScalarLoop
from pytensor.tensor import basic as ptb
from pytensor.tensor.elemwise import Elemwise
from scipy import special

import frazil.scalar as fs
import frazil.tensor as ft
from frazil._core import Constant as OwnConstant
from frazil._core import Variable
from frazil.interop.pytensor.foreign import performed
from frazil.interop.pytensor.library import classes
from frazil.interop.pytensor.translation import Results, Translation, cast, rule, translate
from frazil.tensor.dispatch import counterpart, has_counterpart

if TYPE_CHECKING:
    from pytensor.graph.basic import Apply
    from pytensor.graph.op import Op as PyTensorOp

Made: TypeAlias = list[Variable]
Function: TypeAlias = Callable[..., Variable]


def _table(functions: dict[str, Function | None]) -> dict[type, Function]:
    """The functions by classes, for the ops that both libraries have."""
    return {
        cls: function
        for name, function in functions.items()
        if function is not None
        for cls in classes(name)
    }


def _optional(name: str) -> Function | None:
    return getattr(ft, name, None)


def _clip(x: Variable, low: Variable, high: Variable) -> Variable:
    """``x`` within limits; where these cross, or one is NaN, PyTensor compares one by one."""
    if isinstance(low, OwnConstant) and isinstance(high, OwnConstant) and _ordered(low, high):
        return ft.clip(x, low, high)
    return ft.switch(ft.lt(x, low), low, ft.switch(ft.gt(x, high), high, x))


def _ordered(low: OwnConstant, high: OwnConstant) -> bool:
    return low.type.shape == high.type.shape and bool(np.all(low.data <= high.data))


_SAME = _table(
    {
        "Sub": ft.sub,
        "TrueDiv": ft.true_div,
        "IntDiv": ft.floor_div,
        "Mod": ft.mod,
        "Pow": ft.pow,
        "Clip": _clip,
        "Abs": ft.abs,
        "Sign": ft.sign,
        "Ceil": ft.ceil,
        "Floor": ft.floor,
        "Trunc": ft.trunc,
        "RoundHalfToEven": ft.rint,
        "Neg": ft.neg,
        "Reciprocal": ft.reciprocal,
        "Log": ft.log,
        "Log2": ft.log2,
        "Log10": ft.log10,
        "Log1p": ft.log1p,
        "Exp": ft.exp,
        "Exp2": ft.exp2,
        "Expm1": ft.expm1,
        "Sqr": ft.sqr,
        "Sqrt": ft.sqrt,
        "Cos": ft.cos,
        "Sin": ft.sin,
        "Tan": ft.tan,
        "ArcCos": ft.arccos,
        "ArcSin": ft.arcsin,
        "ArcTan": ft.arctan,
        "ArcTan2": ft.arctan2,
        "Cosh": ft.cosh,
        "Sinh": ft.sinh,
        "Tanh": ft.tanh,
        "ArcCosh": ft.arccosh,
        "ArcSinh": ft.arcsinh,
        "ArcTanh": ft.arctanh,
        "Deg2Rad": ft.deg2rad,
        "Rad2Deg": ft.rad2deg,
        "AND": ft.bitwise_and,
        "OR": ft.bitwise_or,
        "XOR": ft.bitwise_xor,
        "Invert": ft.bitwise_invert,
        "Erf": ft.erf,
        "Erfc": ft.erfc,
        "Erfcx": ft.erfcx,
        "GammaLn": ft.gammaln,
        "Psi": ft.psi,
        "TriGamma": ft.tri_gamma,
        "Sigmoid": ft.sigmoid,
        "Softplus": ft.softplus,
        "Log1mexp": ft.log1mexp,
        "XlogX": ft.xlogx,
        "Real": ft.real,
        "Conj": ft.conj,
        # Functions that only newer versions of frazil have.
        "Erfinv": _optional("erfinv"),
        "Erfcinv": _optional("erfcinv"),
        "Gamma": _optional("gamma"),
        "GammaInc": _optional("gammainc"),
        "GammaIncC": _optional("gammaincc"),
        "GammaIncInv": _optional("gammaincinv"),
        "GammaIncCInv": _optional("gammainccinv"),
        "BetaInc": _optional("betainc"),
        "BetaIncInv": _optional("betaincinv"),
        "NdtriExp": _optional("ndtri_exp"),
        "Owens_t": _optional("owens_t"),
        "Hyp2F1": _optional("hyp2f1"),
        "J0": _optional("j0"),
        "J1": _optional("j1"),
        "Jv": _optional("jv"),
        "I0": _optional("i0"),
        "I1": _optional("i1"),
        "Iv": _optional("iv"),
        "Ive": _optional("ive"),
        "Kve": _optional("kve"),
        "I0e": _optional("i0e"),
        "I1e": _optional("i1e"),
    }
)
"""Ops whose operands have the dtype of the result."""

_COMPARED = _table(
    {
        "LT": ft.lt,
        "GT": ft.gt,
        "LE": ft.le,
        "GE": ft.ge,
        "EQ": ft.eq,
        "NEQ": ft.neq,
        "IsNan": ft.isnan,
        "IsInf": ft.isinf,
    }
)
_FOLDED = _table({"Add": ft.add, "Mul": ft.mul, "Maximum": ft.maximum, "Minimum": ft.minimum})
_PARTS = _table(
    {
        "Real": ft.real,
        "Imag": ft.imag,
        "Angle": ft.angle,
        "Conj": ft.conj,
        "Complex": ft.complex,
    }
)
"""Ops of complex numbers, whose results have dtypes of their own."""
_KEEP_ZEROS = (ps.Mul, ps.TrueDiv, ps.Neg)
"""Ops that give 0 where an operand is 0, the first or any, and the others are finite."""


def scalar_results(
    op: PyTensorOp, operands: Sequence[Variable], dtypes: Sequence[str]
) -> Made | None:
    """The results of a scalar op for each element; None where it has no rule.

    ``dtypes`` are the dtypes of its results.
    """
    kind, dtype = type(op), dtypes[0]
    if kind in _KEEP_ZEROS and dtype.startswith("float"):
        sunk = _with_zeros_kept(op, operands, dtypes)
        if sunk is not None:
            return sunk
    if kind in _PARTS:
        return [_PARTS[kind](*operands)]
    if kind is ps.Abs and operands[0].dtype.startswith("complex"):
        return [ft.abs(operands[0])]
    if kind in _SAME:
        return [_SAME[kind](*(cast(x, dtype) for x in operands))]
    if kind in _COMPARED:
        return [_COMPARED[kind](*operands)]
    if kind in _FOLDED:
        return [reduce(_FOLDED[kind], [cast(x, dtype) for x in operands])]
    if isinstance(op, ps.Composite):
        return _composite(op, operands)
    if isinstance(op, ScalarLoop):
        return _loop(op, operands)
    other = _OTHER.get(kind.__name__)
    if other is not None:
        return other(operands, dtype)
    own = _of_ufunc(*(getattr(op, "nfunc_spec", None) or ("", 0, 0)))
    return None if own is None else [own(*(cast(x, dtype) for x in operands))]


@cache
def _of_ufunc(name: str, operands: int, results: int) -> Function | None:
    """The function for a ufunc by which an op says what it computes; None where there is none."""
    place, _, short = name.rpartition(".")
    ufunc = getattr({"": np, "scipy.special": special}.get(place), short, None)
    if not isinstance(ufunc, np.ufunc) or (ufunc.nin, ufunc.nout, results) != (operands, 1, 1):
        return None
    return counterpart(ufunc) if has_counterpart(ufunc) else None


def _with_zeros_kept(
    op: PyTensorOp, operands: Sequence[Variable], dtypes: Sequence[str]
) -> Made | None:
    """The op within the branch of an operand ``switch(c, x, 0)`` that is not 0; None without one.

    Gradients of branches have this form. Where the other branch is taken, the factor may be
    infinite, and PyTensor's modes do not give 0 times infinity there.
    """
    for at, x in enumerate(operands if isinstance(op, ps.Mul) else operands[:1]):
        node = x.owner
        if node is None or getattr(node.op, "scalar_op", None) is not fs.where:
            continue
        condition, *both = node.inputs
        for branch, zero in enumerate(both):
            if isinstance(zero, OwnConstant) and not zero.data.any():
                others = [both[1 - branch] if i == at else y for i, y in enumerate(operands)]
                found = scalar_results(op, others, dtypes)
                if found is None:
                    return None
                branches = [found[0], cast(zero, dtypes[0])]
                return [ft.switch(condition, *(branches[::-1] if branch == 0 else branches))]
    return None


def _switch(operands: Sequence[Variable], dtype: str) -> Made:
    condition, *both = operands
    return [ft.switch(cast(condition, "bool"), *(cast(x, dtype) for x in both))]


def _polygamma(operands: Sequence[Variable], dtype: str) -> Made | None:
    order, x = operands
    if not isinstance(order, OwnConstant) or order.data.size != 1:
        return None
    return [ft.polygamma(int(order.data.reshape(())), cast(x, dtype))]


def _half_away(operands: Sequence[Variable], dtype: str) -> Made:
    x = cast(operands[0], dtype)
    return [ft.sign(x) * ft.floor(ft.abs(x) + cast(ft.constant(0.5), dtype))]


def _mul_without_zeros(operands: Sequence[Variable], dtype: str) -> Made:
    a, b = (cast(x, dtype) for x in operands)
    return [ft.switch(ft.eq(a, 0), b, ft.switch(ft.eq(b, 0), a, a * b))]


_OTHER: dict[str, Callable[[Sequence[Variable], str], Made | None]] = {
    "Switch": _switch,
    # Only the shape of the first operand counts, and its real part has that.
    "Second": lambda operands, dtype: [fs.second(ft.real(operands[0]), operands[1])],
    "Identity": lambda operands, dtype: [operands[0]],
    "Cast": lambda operands, dtype: [cast(operands[0], dtype)],
    "PolyGamma": _polygamma,
    "RoundHalfAwayFromZero": _half_away,
    "MulWithoutZeros": _mul_without_zeros,
}


def _inner(steps: Any, known: dict[object, Variable]) -> Callable[[object], Variable] | None:
    """A function that finds variables of a scalar op's graph; None if a node has no rule."""

    def of(x: Any) -> Variable:
        return known[x] if x in known else ft.constant(np.asarray(x.data, x.type.dtype))

    for step in steps:
        wanted = [x.type.dtype for x in step.outputs]
        found = scalar_results(step.op, [of(x) for x in step.inputs], wanted)
        if found is None:
            return None
        known.update(zip(step.outputs, map(cast, found, wanted), strict=True))
    return of


def _composite(op: PyTensorOp, operands: Sequence[Variable]) -> Made | None:
    graph = op.fgraph
    of = _inner(graph.toposort(), dict(zip(graph.inputs, operands, strict=True)))
    return None if of is None else [of(x) for x in graph.outputs]


def _loop(op: PyTensorOp, operands: Sequence[Variable]) -> Made | None:
    graph = op.fgraph
    values = [ft.tensor(x.name, dtype=x.type.dtype, shape=()) for x in graph.inputs]
    of = _inner(graph.toposort(), dict(zip(graph.inputs, values, strict=True)))
    if of is None:
        return None
    *updates, last = [of(x) for x in graph.outputs]
    if not op.is_while:
        updates, until = [*updates, last], None
    else:
        until = last
    states, constants = values[: len(updates)], values[len(updates) :]
    made = fs.ScalarLoop(states, updates, constants, until, name=op.name)(*operands)
    results = [made] if isinstance(made, Variable) else list(made)
    if op.is_while:
        # A loop without steps counts as ended in PyTensor.
        results[-1] = ft.bitwise_or(results[-1], ft.le(operands[0], 0))
    return results


def _thin(operands: Sequence[Variable]) -> list[Variable]:
    """The operands, constants of one element without dimensions where others have as many.

    PyTensor gives all operands one rank; frazil's rules know numbers better than arrays of one.
    """
    rank = max((x.ndim for x in operands if not isinstance(x, OwnConstant)), default=-1)
    return [
        ft.constant(x.data.reshape(()))
        if isinstance(x, OwnConstant) and 0 < x.ndim <= rank and x.data.size == 1
        else x
        for x in operands
    ]


@rule(Elemwise)
def _elemwise(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    dtypes = [x.type.dtype for x in node.outputs]
    operands = t.operands(node)
    users = getattr(translate.dispatch(type(op.scalar_op)), "users", None)
    if users is not None:
        made = users(op.scalar_op, node, *operands)
        results = [made] if isinstance(made, Variable) else list(made)
    else:
        found = scalar_results(op.scalar_op, _thin(operands), dtypes)
        if found is None:
            return performed(node, t)
        results = found
    return [_widened(cast(x, d), operands) for x, d in zip(results, dtypes, strict=True)]


def _widened(x: Variable, operands: Sequence[Variable]) -> Variable:
    """A result that does not depend on an operand, in the shape of all."""
    for operand in operands:
        pairs = zip(operand.broadcastable[::-1], x.broadcastable[::-1], strict=False)
        if operand.ndim > x.ndim or any(own and not theirs for theirs, own in pairs):
            x = fs.second(operand, x)
    return x


@rule(ps.ScalarOp)
def _scalar(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    dtypes = [x.type.dtype for x in node.outputs]
    results = scalar_results(op, t.operands(node), dtypes)
    if results is None:
        return performed(node, t)
    return [cast(x, d) for x, d in zip(results, dtypes, strict=True)]


@rule(ptb.ScalarFromTensor, ptb.TensorFromScalar, ViewOp, DeepCopyOp, *classes("CpuContiguous"))
def _same(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    return t[node.inputs[0]]
