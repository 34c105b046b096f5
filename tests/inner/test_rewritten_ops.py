"""Ops with graphs are made better as other ops, and stay as they are."""

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.compile.mode import find_linker
from frazil.optimize import minimize, root

x, a = ft.dvector("x"), ft.dvector("a")


def softplus(z):
    """As nobody should compute it."""
    return ft.log(1 + ft.exp(z))


def call():
    return fz.OpFromGraph([x], [softplus(x)])(x)


def loop():
    return fz.scan(lambda state: softplus(state), outputs_info=x, n_steps=3, return_updates=False)


def branches():
    return fz.ifelse(x.sum() > 0, softplus(x), x)


def minimum():
    return minimize(ft.sum((softplus(x) - a) ** 2), x)[0]


def zero():
    return root(softplus(x) - a, x)[0]


def op_of(y):
    """The op with a graph that ``y`` comes from."""
    while not hasattr(y.owner.op, "fgraph"):
        y = y.owner.inputs[0]
    return y.owner.op


@pytest.mark.parametrize("build", [call, loop, minimum, zero])
def test_another_op_holds_the_better_graph(build, mode):
    op = op_of(build())
    before = fz.pp(op.fgraph)
    better = fz.rewrite_inner_graph(op, mode)
    assert type(better) is type(op)
    assert better is not op
    assert better is fz.rewrite_inner_graph(op, find_linker(mode))
    assert "softplus" in fz.pp(better.fgraph)
    assert fz.pp(op.fgraph) == before
    assert op is op_of(build())


@pytest.mark.parametrize("build", [call, loop, branches])
def test_what_was_compiled_for_one_linker_is_good_for_another(build):
    y = build()
    outputs = [
        fz.function([x], y, mode=mode)([800.0, -2.0, 1.0])
        for mode in ("c", "cranelift", "numba", "py")
    ]
    assert np.isfinite(outputs[0]).all()
    np.testing.assert_allclose(outputs[0], outputs[1], rtol=1e-12)
    np.testing.assert_allclose(outputs[0], outputs[2], rtol=1e-12)


def test_an_unknown_linker_is_told():
    with pytest.raises(ValueError, match=r"mode must be one of .*given 'fortran'"):
        fz.rewrite_inner_graph(op_of(call()), "fortran")
