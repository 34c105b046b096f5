"""Laws over parameters that have a rank: where they apply, values are those of the left side."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.rewrite import Sort, any_kind, rewrite, rule
from frazil.tensor.transposition import Transpose

FLOATS = ("float64", "float32")
VECTOR = Annotated[fz.Variable, Sort("vector", FLOATS, "float64", ndim=1)]
MATRIX = Annotated[fz.Variable, Sort("matrix", FLOATS, "float64", ndim=2)]
SORTS = {"x": VECTOR, "y": VECTOR, "m": MATRIX, "n": MATRIX}
turned = any_kind(Transpose)

#: The letters of a law say what ranks its parameters have.
TRUE = {
    "sum of sum": ("xy", lambda v: (ft.sum(v.x + v.y), ft.sum(v.x) + ft.sum(v.y))),
    "sum of neg": ("x", lambda v: (ft.sum(-v.x), -ft.sum(v.x))),
    "sum of difference": ("mn", lambda v: (ft.sum(v.m - v.n, 0), ft.sum(v.m, 0) - ft.sum(v.n, 0))),
    "sum of product": ("xy", lambda v: (ft.sum(v.x * v.y), ft.dot(v.x, v.y))),
    "sums of rows": ("mx", lambda v: (ft.sum(v.m * v.x, 1), ft.dot(v.m, v.x))),
    "sum beside": ("mx", lambda v: (ft.sum(v.m + v.x, 1), ft.sum(v.m, 1) + ft.sum(v.x))),
    "max of neg": ("m", lambda v: (ft.max(-v.m, 0), -ft.min(v.m, 0))),
    "max of zeros": ("mn", lambda v: (ft.max(v.m + 0 * v.n), ft.max(v.m))),
    "turned": ("m", lambda v: (ft.exp(v.m.T), ft.exp(v.m).T)),
    "product turned": ("mn", lambda v: ((v.m @ v.n).T, v.n.T @ v.m.T)),
    "trace": ("mn", lambda v: (ft.sum(v.m * v.n.T), ft.trace(v.m @ v.n))),
    "flipped": ("x", lambda v: (ft.flip(ft.exp(v.x)), ft.exp(ft.flip(v.x)))),
    "logsumexp": ("m", lambda v: (ft.log(ft.sum(ft.exp(v.m), 1)), ft.logsumexp(v.m, 1))),
    "joined": ("xy", lambda v: (ft.sum(ft.concatenate([v.x, v.y])), ft.sum(v.x) + ft.sum(v.y))),
    "outer": ("xy", lambda v: (ft.outer(v.x, v.y).T, ft.outer(v.y, v.x))),
    "of any kind": ("m", lambda v: (turned(ft.exp(v.m)), ft.exp(turned(v.m)))),
}


def of_text(name):
    """The rule of a law."""
    letters, law = TRUE[name]

    def written(*given):
        """A law that is true of vectors and matrices with elements."""
        return law(SimpleNamespace(**dict(zip(letters, given, strict=True))))

    named = {1: lambda a: written(a), 2: lambda a, b: written(a, b)}[len(letters)]
    named.__annotations__ = dict(zip("ab", (SORTS[one] for one in letters), strict=False))
    named.__doc__ = written.__doc__
    return rule(named)


@pytest.mark.parametrize("name", TRUE)
def test_a_true_law_changes_no_value(name):
    letters, law = TRUE[name]
    own = of_text(name)
    applied = []

    @settings(max_examples=settings.default.max_examples // 2)
    @given(st.data())
    def is_kept(data):
        length = data.draw(st.sampled_from([2, 3, 1, 0]))
        operands, inputs, values = {}, [], []
        for letter in letters:
            ndim = SORTS[letter].__metadata__[0].ndim
            # A dimension is declared as 1 and repeats, is declared, or is known to a call alone.
            kinds = [data.draw(st.sampled_from("??n1")) for _ in range(ndim)]
            shape = [{"?": None, "n": length, "1": 1}[kind] for kind in kinds]
            dtype = data.draw(st.sampled_from([*FLOATS, "int64"]))
            x = ft.tensor(letter, dtype=dtype, shape=shape)
            rng = np.random.default_rng(data.draw(st.integers(0, 99)))
            value = rng.integers(-3, 4, [1 if kind == "1" else length for kind in kinds])
            inputs.append(x)
            values.append(value.astype(dtype))
            operands[letter] = data.draw(st.sampled_from([x, x[::-1], x * 2, x.T]))
        if name == "of any kind":
            left = ft.exp(operands["m"]).T
        else:
            try:
                left, _ = law(SimpleNamespace(**operands))
            except (TypeError, ValueError):
                return
        made, trace = rewrite(left, [own])
        applied.extend(trace)
        assert (made.dtype, made.ndim) == (left.dtype, left.ndim)
        plain, ruled = (
            fz.function(inputs, y, mode=fz.Mode("py").excluding("all"), on_unused_input="ignore")
            for y in (left, made)
        )
        try:
            expected = plain(*values)
        except ValueError:
            return  # a rule may drop an error
        np.testing.assert_allclose(ruled(*values), expected, rtol=1e-5, atol=1e-5)

    is_kept()
    assert applied, "no operand matched"


def test_a_parameter_with_a_rank_matches_no_dimension_that_repeats():
    own = of_text("sum of sum")
    x, y, one = ft.vector("x"), ft.vector("y"), ft.tensor("one", shape=(1,))
    assert fz.pp(rewrite(ft.sum(x + y), [own]).graph) == "sum(x) + sum(y)"
    left = ft.sum(x + one)
    assert rewrite(left, [own]).graph is left


def test_a_right_side_of_another_dtype_does_not_apply():
    own = of_text("max of zeros")
    m, n = ft.matrix("m"), ft.matrix("n")
    narrow = ft.matrix("narrow", dtype="float32")
    assert rewrite(ft.max(m + 0 * n), [own]).graph is ft.max(m)
    left = ft.max(narrow + 0 * n)
    assert rewrite(left, [own]).graph is left


@pytest.mark.parametrize("module", ["frazil.rewrite.rules.own", "users"])
def test_an_op_of_a_right_side_types_itself_in_every_module(module):
    def max_of_zeros(m, n):
        """max(m + 0 n) == max(m)."""
        return ft.max(m + 0 * n), ft.max(m)

    max_of_zeros.__annotations__ = {"m": MATRIX, "n": MATRIX}
    max_of_zeros.__module__ = module
    own = rule(max_of_zeros)
    m, narrow = ft.matrix("m"), ft.matrix("narrow", dtype="float32")
    assert rewrite(ft.max(m + 0 * narrow), [own]).graph is ft.max(m)
    left = ft.max(narrow + 0 * m)
    assert rewrite(left, [own]).graph is left


def test_a_right_side_takes_all_operands_and_gives_all_outputs():
    @dataclass(frozen=True, eq=False)
    class Halves(fz.Op):
        def make_node(self, *operands):
            return fz.FrozenApply(self, operands, [x.type for x in operands[:1]] * 2)

    @rule
    def swapped(x: VECTOR, *others: VECTOR):
        """The halves of x and of the others are their sums and maxima."""
        first, second = Halves()(x, *others)
        joined = ft.concatenate([x, *others])
        return [first, second], [ft.cumsum(joined)[:2], ft.sort(joined)[:2]]

    x, y, z = (ft.vector(name) for name in "xyz")
    first, second = Halves()(x, y, z)
    joined = ft.concatenate([x, y, z])
    assert rewrite(first, [swapped]).graph is ft.cumsum(joined)[:2]
    assert rewrite(second, [swapped]).graph is ft.sort(joined)[:2]


def test_a_right_side_that_fails_says_so():
    refusing = [None]

    @rule
    def total(x: VECTOR):
        """sum(-x) == -sum(x)."""
        if x.name != "x" and refusing[0] is not None:
            raise refusing[0]("refused")
        return ft.sum(-x), -ft.sum(x)

    left = ft.sum(-ft.vector("given"))
    refusing[0] = TypeError  # as an op refuses operands
    assert rewrite(left, [total]).graph is left
    refusing[0] = ZeroDivisionError
    with pytest.raises(ZeroDivisionError, match="refused") as raised:
        rewrite(ft.sum(-ft.vector("other")), [total])
    assert any("right side of rule total" in note for note in raised.value.__notes__)
