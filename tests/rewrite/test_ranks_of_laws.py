"""Laws are written without dimensions and match any rank: what that would change is refused."""

from typing import Annotated

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.rewrite import Float, Integer, Rule, Sort, catalog, holds, rewrite, rule

OTHER_OPS = {
    "sum": lambda x: ft.log(ft.sum(ft.exp(x))),
    "prod": lambda x: ft.log(ft.prod(x)),
    "mean": lambda x: ft.mean(ft.exp(x)),
    "var": lambda x: ft.exp(ft.var(x)),
    "max": lambda x: ft.exp(ft.max(x)),
    "min": lambda x: ft.exp(x.min()),
    "any": lambda x: ~ft.any(x > 0),
    "all": lambda x: ~ft.all(x > 0),
    "transpose": lambda x: ft.exp(ft.transpose(ft.log(x))),
    "T": lambda x: ft.exp(x.T),
    "dot": lambda x: ft.exp(ft.dot(x, x)),
    "tensordot": lambda x: ft.exp(ft.tensordot(x, x, axes=0)),
    "size": lambda x: ft.exp(x) / x.size,
    "flatten": lambda x: ft.exp(x.flatten()),
    "squeeze": lambda x: ft.exp(ft.squeeze(x)),
    "atleast_1d": lambda x: ft.exp(ft.atleast_1d(x)),
    "norm": lambda x: ft.exp(ft.linalg.vector_norm(x)),
    "logsumexp": lambda x: ft.exp(ft.logsumexp(x)),
    "softmax": lambda x: ft.exp(ft.softmax(x)),
    "sum over an axis": lambda x: ft.exp(ft.sum(x, axis=-1)),
}
FLAT = {
    "argmax": lambda x: ft.exp(x) + ft.argmax(x),
    "cumsum": lambda x: ft.exp(ft.cumsum(x)),
    "outer": lambda x: ft.exp(ft.outer(x, x)),
    "ravel": lambda x: ft.exp(x.ravel()),
    "exp": ft.exp,
}
"""What is of one dimension first, or of none, whatever the rank."""

REFUSED = {
    "index": lambda x: ft.exp(x[0]),
    "length": lambda x: ft.exp(x) / x.shape[0],
    "matmul": lambda x: ft.exp(x @ x),
    "axis": lambda x: ft.exp(ft.max(x, axis=1)),
    "swapaxes": lambda x: ft.exp(ft.swapaxes(x, 0, 1)),
    "reshape": lambda x: ft.exp(x.reshape((2, 3))),
    "concatenate": lambda x: ft.exp(ft.concatenate([x, x])),
    "diagonal": lambda x: ft.exp(ft.diagonal(x)),
}


def law(left, right=lambda x: x):
    def written(x: Float):
        """A law."""
        return left(x), right(x)

    return written


@pytest.mark.parametrize("name", OTHER_OPS)
def test_an_op_that_does_nothing_without_dimensions_is_refused(name):
    for written in (law(OTHER_OPS[name]), law(lambda x: ft.tan(ft.cos(x)), OTHER_OPS[name])):
        with pytest.raises((TypeError, IndexError)) as caught:
            rule(written)
        message = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
        assert "rule written" in message
        assert "no dimensions while it is written" in message


@pytest.mark.parametrize("name", FLAT)
def test_an_op_of_every_rank_is_taken(name):
    assert rule(law(FLAT[name])).without_dimensions() == []


@pytest.mark.parametrize("name", REFUSED)
def test_an_op_that_needs_dimensions_is_refused(name):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        rule(law(REFUSED[name]))
    assert "rule written, whose parameters have no dimensions" in caught.value.__notes__[0]


def test_the_message_says_what_is_lost_and_what_to_write():
    with pytest.raises(TypeError) as caught:
        rule(law(OTHER_OPS["sum"]))
    assert str(caught.value) == (
        "rule written: its parameters have no dimensions while it is written, though they match "
        "variables of any rank. So it says log(exp(x)), which would be log(sum(exp(x))) of "
        "matrices (by Sum). A law is for elementwise ops: apply another op by its class, "
        "any_kind(Sum)(...), with a function as the right side, or give the parameter a rank, as "
        'in Annotated[Variable, Sort("matrix", ("float64",), "float64", ndim=2)]'
    )


def test_a_guard_of_another_variable_is_refused():
    def written(x: Float, y: Float):
        """A law."""
        return ft.exp(x) * y, ft.tan(x), holds(lambda y: True, ft.sum(y))

    with pytest.raises(TypeError, match=r"says y, which would be sum\(y\) of matrices"):
        rule(written)


def test_each_of_several_parameters_counts():
    def written(x: Float, y: Float, n: Integer):
        """A law."""
        return ft.exp(x) * ft.sum(y) + ft.arange(n)[0], ft.exp(x)

    with pytest.raises(TypeError, match="sum"):
        rule(written)


def test_frazils_own_laws_are_for_every_rank():
    laws = {own for group in vars(catalog).values() if isinstance(group, tuple) for own in group}
    laws = [own for own in laws if isinstance(own, Rule)]
    assert len(laws) > 200
    for own in laws:
        assert own.without_dimensions() == [], own.name


def test_what_takes_no_dimensions_matches_none():
    @rule
    def second_of_range(n: Integer):
        """A range of n starts with 0."""
        return ft.arange(n), lambda node, n: ft.arange(n + 0)

    assert second_of_range.without_dimensions() == [0]


def test_a_parameter_with_a_rank_matches_this_rank():
    vector = Annotated[fz.Variable, Sort("vector", ("float64",), "float64", ndim=1)]

    def written(x, y):
        """The product of two vectors is that of the second and the first."""
        return ft.dot(ft.tan(x), y), ft.dot(y, ft.tan(x))

    written.__annotations__ = {"x": vector, "y": vector}
    swapped = rule(written)
    x, y, m, n = ft.vector("x"), ft.vector("y"), ft.matrix("m"), ft.matrix("n")
    assert fz.pp(rewrite(ft.dot(ft.tan(x), y), [swapped]).graph) == "y @ tan(x)"
    product = ft.dot(ft.tan(m), n)
    assert rewrite(product, [swapped]).graph is product
    f = fz.function([m, n], product, mode=fz.Mode("py").including(swapped))
    given = np.arange(4.0).reshape(2, 2), np.array([[1.0, 2.0], [3.0, 5.0]])
    np.testing.assert_allclose(f(*given), np.tan(given[0]) @ given[1])


def test_sides_have_one_rank():
    """The node that the core makes for a right side has the rank of what it replaces."""
    vector = Annotated[fz.Variable, Sort("vector", ("float64",), "float64", ndim=1)]
    with pytest.raises(TypeError, match=r"right side, CumOp.*float64\[\?\] where .*float64\[\];"):

        @rule
        def cumulated(x: vector):
            """sum(x) == cumsum(x)."""
            return ft.sum(x), ft.cumsum(x)

    with pytest.raises(TypeError, match="left side has 1 outputs and its right side 2"):

        @rule
        def doubled(x: Float):
            """exp(x) == x, x."""
            return ft.exp(x), [x, x]


def test_a_right_side_of_other_inputs_is_named():
    other = ft.vector("other")

    @rule
    def foreign(x: Float):
        """Not a law: it reads a variable that the node does not."""
        return ft.exp(x), lambda node, x: x + other

    x = ft.vector("x")
    with pytest.raises(fz.MissingInputError) as failed:
        fz.function([x], ft.exp(x), mode=fz.Mode("py").including(foreign))
    assert failed.value.__notes__[0].startswith(
        "rule foreign gives what needs other: foreign: exp("
    )
