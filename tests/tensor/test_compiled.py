"""Compiled programs compute what the reference evaluator does, op by op."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import evaluate

import frazil as fz
import frazil.tensor as ft


def compiled(variable, given, mode):
    """Return the value of ``variable``, computed by a compiled function."""
    return fz.function(list(given), variable, mode=mode, on_unused_input="ignore")(*given.values())


def check_all(variables, *givens, mode):
    """Check one function of all ``variables`` against the reference, for each of ``givens``."""
    function = fz.function(list(givens[0]), variables, mode=mode)
    for values in givens:
        for variable, value in zip(variables, function(*values.values()), strict=True):
            expected = evaluate(variable, values)
            assert value.dtype == expected.dtype
            assert value.shape == expected.shape
            tolerance = 1e-5 if value.dtype == "float32" else 1e-12
            np.testing.assert_allclose(value, expected, rtol=tolerance, err_msg=str(variable))


def reduced(x, names):
    return [getattr(ft, name)(x, axis) for name in names for axis in (None, 0, 2)]


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32"])
def test_reductions(mode, dtype):
    rng = np.random.default_rng(0)
    x = ft.tensor("x", dtype=dtype, shape=(None, None, None))
    values = [
        rng.integers(0, 3, size=shape).astype(dtype)
        for shape in [(2, 3, 4), (1, 1, 1), (40, 3, 70)]
    ]
    variables = reduced(x, ["sum", "prod", "mean", "any", "max", "min"])
    check_all(variables, *({x: value} for value in values), mode=mode)


def test_reductions_of_no_elements(mode):
    x = ft.tensor("x", shape=(None, None, None))
    check_all(reduced(x, ["sum", "prod", "any", "all"]), {x: np.zeros((3, 1, 0))}, mode=mode)


def test_products(mode):
    rng = np.random.default_rng(0)
    given, variables = {}, []
    for dtype in ["int32", "float32", "float64"]:
        A, B = ft.matrix("A", dtype=dtype), ft.matrix("B", dtype=dtype)
        v, w = ft.vector("v", dtype=dtype), ft.vector("w", dtype=dtype)
        for x, shape in [(A, (3, 4)), (B, (4, 2)), (v, (4,)), (w, (3,))]:
            given[x] = rng.integers(-3, 4, size=shape).astype(dtype)
        variables += [A @ B, B.T @ A.T, A @ v, w @ A, v @ v, A[:, ::-2] @ B[::2], A.T[1:] @ w]
        variables += [ft.outer(v, w), ft.dot(A, v[::-1])]
    check_all(variables, given, mode=mode)


def test_creation_and_shapes(mode):
    x, n = ft.matrix("x"), ft.lscalar("n")
    variables = [
        ft.zeros((n, 2)),
        ft.full((n, x.shape[0]), x[0, 0]),
        ft.ones_like(x, "int8"),
        x.shape[0] * x.shape[1] + n,
        x.size,
        ft.broadcast_to(x[:, None], (x.shape[0], n, x.shape[1])),
        x[:n].shape[0],
        ft.squeeze(x[:1], 0),
        x.T.reshape(-1),
        ft.expand_dims(x, (0, 3)),
        ft.moveaxis(ft.expand_dims(x, 0), 0, -1),
    ]
    check_all(variables, {x: np.arange(6.0).reshape(2, 3), n: 3}, mode=mode)


@pytest.mark.parametrize("linker", ["py", "c"])
@given(st.data())
def test_indexing(linker, data):
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    index = data.draw(hnp.basic_indices(shape, max_dims=5, allow_newaxis=True))
    array = np.arange(float(np.prod(shape, dtype=int))).reshape(shape)
    x = ft.tensor("x", shape=[data.draw(st.sampled_from([n, None])) for n in shape])
    np.testing.assert_array_equal(compiled(x[index], {x: array}, linker), array[index])


@pytest.mark.parametrize("linker", ["py", "c"])
@given(st.integers(0, 5), st.integers(-7, 7), st.integers(-7, 7), st.integers(-3, 3).filter(bool))
def test_symbolic_slices(linker, length, start, stop, step):
    x, a, b = ft.vector("x"), ft.lscalar("a"), ft.lscalar("b")
    given = {x: np.arange(float(length)), a: start, b: stop}
    for part in (x[a:b:step], x[a:], x[:b], x[a::-1], x[:b:-1]):
        np.testing.assert_array_equal(compiled(part, given, linker), evaluate(part, given))


@pytest.mark.parametrize("linker", ["py", "c"])
@given(st.data())
def test_replacing_parts(linker, data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4))
    index = data.draw(hnp.basic_indices(shape, allow_ellipsis=False))
    array = np.arange(float(np.prod(shape, dtype=int))).reshape(shape)
    x = ft.tensor("x", shape=[None] * len(shape))
    part = x[index]
    if part is x:
        return  # the whole of x
    for variable in (part.set(-1.0), part.inc(array[index])):
        np.testing.assert_array_equal(
            compiled(variable, {x: array}, linker), evaluate(variable, {x: array})
        )


@pytest.mark.parametrize("linker", ["py", "c"])
def test_run_time_errors(linker):
    x, y, n = ft.vector("x"), ft.vector("y"), ft.lscalar("n")
    with pytest.raises(ValueError, match="declares it"):
        compiled(ft.set_subtensor(x[1:], y), {x: np.zeros(3), y: np.zeros(1)}, linker)
    with pytest.raises(ValueError, match="declares it"):
        compiled(ft.broadcast_to(x, n), {x: np.zeros(1), n: 3}, linker)
    with pytest.raises(ValueError, match="reshape"):
        compiled(ft.reshape(x, (n, 2)), {x: np.zeros(3), n: 2}, linker)
    with pytest.raises(ValueError, match="negative"):
        compiled(ft.reshape(x, (n,)), {x: np.zeros(3), n: -1}, linker)
    with pytest.raises(ValueError, match="negative"):
        compiled(ft.zeros(n), {n: -1}, linker)
    with pytest.raises(IndexError, match="out of bounds"):
        compiled(x[n], {x: np.zeros(3), n: 3}, linker)
    with pytest.raises(ValueError, match=r"element|identity"):
        compiled(ft.max(x), {x: np.zeros(0)}, linker)
    with pytest.raises(ValueError, match=r"length 1|size not equal to one"):
        compiled(ft.squeeze(x, 0), {x: np.zeros(3)}, linker)
