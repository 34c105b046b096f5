"""What rules apply to, where a vector for each parameter does not show it, too."""

import itertools

import numpy as np
from rule_cases import sample_left, wildcards

import frazil.tensor as ft
from frazil.rewrite import fill, rewrite
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.lengths import Shape_i
from frazil.tensor.linalg import LUFactor
from frazil.tensor.linalg.determinants import LogAbsDet
from frazil.tensor.reductions import All, Any, Max, Min, Peak, Prod, Sum
from frazil.tensor.reshaping import Reshape
from frazil.tensor.transposition import Transpose

x, y, z = ft.vector("x"), ft.vector("y"), ft.vector("z")
n = ft.matrix("n")
m, t = ft.matrix("m"), ft.tensor("t", shape=(None, None, None))
p = ft.tensor("p", shape=(None, None), dtype="bool")
q = ft.tensor("q", shape=(None, None, None), dtype="bool")
ones = ft.tensor("ones", shape=(1, 1, None))
c, row = ft.scalar("c"), ft.tensor("row", shape=(1, None))
one, one_true = ft.tensor("o", shape=(1, None)), ft.tensor("u", shape=(1, None), dtype="bool")
exp, log = ft.exp, ft.log
weights = ft.constant(np.array([0.25, 0.5, 0.25]))


def reductions():
    for kind in (Max, Min, Peak, All, Any, Sum, Prod):
        name = kind.__name__.lower()
        truth = kind in (All, Any)
        yield f"{name}_of_{name}", kind((0,))(kind((1,))(q if truth else t))
        yield f"{name}_of_transposed", kind((1,))(Transpose((1, 2, 0))(q if truth else t))
        yield f"{name}_of_one", kind((0,))(one_true if truth else one)


def one_a_row(x, rows, columns):
    """The gradient of the elements of ``log_softmax(x)`` at these positions."""
    total = Sum((1,))(ft.inc_subtensor(ft.zeros_like(x)[rows, columns], y))
    return ft.inc_subtensor((exp(x) * total[:, None])[rows, columns], y)


EXAMPLES = {
    "fold": ft.constant([1.0, 2.0]) + ft.constant(3.0),
    "read_buffer": ft.set_subtensor(ft.zeros(3)[1:], ft.full(2, c)),
    **dict(reductions()),
    "transpose_of_transpose": Transpose((1, 2, 0))(Transpose((0, 2, 1))(t)),
    "transpose_in_order": Transpose((0, 1))(m),
    "expand_of_expand": ExpandDims((0, 2))(ExpandDims((1,))(x)),
    "drop_of_drop": DropDims((0,))(DropDims((1,))(ones)),
    "drop_of_expand": DropDims((0, 1))(ExpandDims((0, 2))(row)),
    "expand_of_drop": ExpandDims((0,))(DropDims((0,))(row)),
    "reshape_of_reshape": ft.reshape(Reshape(1)(m, ft.constant(np.int64(-1))), (3, 3)),
    "reshape_to_own_shape": Reshape(2)(m, Shape_i(0)(m), ft.constant(np.int64(-1))),
    "broadcast_to_own_shape": ft.broadcast_to(m, (Shape_i(0)(m), Shape_i(1)(m))),
    "length_of_result": Shape_i(0)(exp(x)),
    "number_in_dimensions": x * ExpandDims((0,))(c),
    "first_in_dimensions": ExpandDims((1,))(x) * ExpandDims((1,))(y),
    "second_in_dimensions": m - ExpandDims((0,))(x),
    "log_of_total": log(Sum((1,))(exp(m))),
    "log_of_kept_total": log(ExpandDims((1,))(Sum((1,))(exp(m)))),
    "log_of_weighted_total": log(Sum((1,))(exp(m) * weights)),
    "log_of_kept_weighted_total": log(ExpandDims((0,))(Sum((0,))(exp(x) * y))),
    "log_of_mean": log(Sum((1,))(exp(m)) / y),
    "log_of_scaled_total": log(Sum((1,))(exp(m)) * y),
    "log_of_product": log(Prod((0,))(exp(x))),
    "exp_of_log": exp(log(abs(x))),
    "expm1_of_log1p": ft.expm1(ft.log1p(abs(x))),
    "exp_of_log1p": exp(ft.log1p(abs(x))),
    "log_of_pow": log(abs(x) ** 3.0),
    "sqr_of_sqrt": ft.sqr(ft.sqrt(abs(x))),
    "exp_among_factors": exp(x) * (y * ft.sigmoid(-x)),
    "exp_among_farther_factors": (exp(x) * y) * (z / ft.sigmoid(x) * ft.sigmoid(-x)),
    "exp_over_factors": exp(m) / ExpandDims((1,))(Sum((1,))(exp(m))),
    "scaled_exp_over_factors": (exp(m) * y) / ExpandDims((1,))(Sum((1,))(exp(m))),
    "factors_over_exp": (y * exp(x)) / exp(x),
    "factors_over_scaled_exp": (y * exp(x)) / (exp(x) * z),
    "factors_over_divided_exp": (y * ft.sigmoid(x)) / (exp(x) / z),
    "quotient_by_exp_among_factors": (y / exp(x)) * (z * ft.sigmoid(x)),
    "divided_exp_among_factors": (exp(x) / y) * (z * ft.sigmoid(-x)),
    "sigmoid_among_factors": ft.sigmoid(x) * (y / ft.sigmoid(x)),
    "one_plus_exp_among_factors": (1 + exp(x)) * (y * ft.sigmoid(-x)),
    "scaled_one_plus_exp_among_factors": ((1 + exp(x)) * y) * (z * ft.sigmoid(-x)),
    "whole_power": x**3.0,
    "whole_power_of_integer": ft.lvector("i") ** 3,
    "over_exp": y / exp(c),
    "sum_of_neg": Sum((1,))(-m),
    "sum_of_scaled": Sum((1,))(m * 3.0),
    "sum_of_divided": Sum((0,))(m / 0.3),
    "sum_of_filled": Sum((0,))(fill(x, c)),
    "sum_of_expanded": Sum((0, 1))(ExpandDims((1,))(x)),
    "element_of_each_row": exp(m + x)[ft.arange(m.shape[0]), ft.lvector("j") % 2],
    "sum_of_one_element": one_a_row(m, ft.arange(m.shape[0]), ft.lvector("j") % 2),
    "part_of_negation": (-m)[1:, ::2],
    "log_abs_det_of_factors": LogAbsDet()(m, *LUFactor()(m)),
    "add_dot": m + m @ n,
    "sub_dot": m - m @ n,
    "add_scaled_dot": m + c * (m @ n),
    "sub_scaled_dot": m - c * (m @ n),
    "sum_of_products": ft.sum(ft.expand_dims(m, 1) * n, axis=2),
    "products_of_columns_and_rows": m[:, :, None] @ m[:, None],
    "sum_of_broadcast": Sum((0,))(ft.broadcast_to(row, (5, Shape_i(1)(row)))),
}
"""An expression for each such rule."""

KNOWN = {"abs_of_nonnegative": lambda x: ft.exp(x)}
"""Rules whose law holds only for variables about which something is known."""


def sample(rule):
    """An expression to which the rule applies."""
    if rule.name in EXAMPLES:
        return EXAMPLES[rule.name]
    own = wildcards(rule)
    for positions in itertools.product(*(range(len(w.stands_for)) for w in own)):
        left = sample_left(rule, dict(zip(own, positions, strict=True)), KNOWN.get(rule.name))
        if left is not None and rewrite(left, [rule]).graph is not left:
            return left
    raise AssertionError(f"{rule} applies to no sample")
