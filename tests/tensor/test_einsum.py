"""Sums of products over named dimensions agree with NumPy."""

import string

import numpy as np
import pytest
from agreement import agree, compiled, like
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import evaluate

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

FEW = settings(max_examples=settings.default.max_examples // 2)
EXAMPLES = {
    "ij,jk->ik": [(2, 3), (3, 4)],
    "ij,jk": [(2, 3), (3, 4)],
    "ii": [(3, 3)],
    "ii->i": [(3, 3)],
    "ij->ji": [(2, 3)],
    "ij->": [(2, 0)],
    "i,j": [(2,), (3,)],
    ", i -> i": [(), (3,)],
    "bij,bjk->bik": [(5, 2, 3), (5, 3, 4)],
    "...ij,...jk": [(1, 2, 3), (5, 3, 4)],
    "...ij,jk->ik...": [(5, 2, 3), (3, 4)],
    "ij,jk,kl,lm->im": [(2, 3), (3, 4), (4, 2), (2, 5)],
    "iij,jk->ik": [(3, 3, 2), (2, 4)],
    "iji->j": [(2, 3, 2)],
    "abc,cd,bd,e->ae": [(2, 3, 4), (4, 5), (3, 5), (2,)],
    "a,b,c->abc": [(2,), (3,), (1,)],
    "ij,ij->i": [(2, 3), (2, 3)],
    "ij,ij,ij->": [(2, 3), (2, 1), (2, 3)],
}


@pytest.mark.parametrize("subscripts", EXAMPLES)
def test_examples(subscripts, mode):
    arrays = [np.random.default_rng(at).normal(size=n) for at, n in enumerate(EXAMPLES[subscripts])]
    inputs = [ft.tensor(shape=[1 if n == 1 else None for n in x.shape]) for x in arrays]
    found = fz.function(inputs, ft.einsum(subscripts, *inputs), mode=mode)(*arrays)
    agree(found, np.einsum(subscripts, *arrays), 1e-10)


@given(st.data())
@FEW
def test_drawn_sums(data):
    letters = "abcd"
    sizes = {one: data.draw(st.sampled_from([0, 1, 2, 3])) for one in letters}
    parts = data.draw(st.lists(st.text(letters, max_size=3), min_size=1, max_size=4))
    used = "".join(sorted(set("".join(parts))))
    output = data.draw(st.permutations(used).map("".join))
    output = output[: data.draw(st.integers(0, len(used)))]
    subscripts = ",".join(parts) + "->" + output
    dtypes = st.sampled_from(["float64", "float32", "int64", "int8", "uint16", "bool"])
    arrays = []
    for part in parts:
        shape = [sizes[one] for one in part]
        array = np.random.default_rng(len(arrays)).normal(size=shape) * 3
        arrays.append(np.asarray(array, data.draw(dtypes)))
    inputs = [like(data.draw, array) for array in arrays]
    result = ft.einsum(subscripts, *inputs)
    expected = np.einsum(subscripts, *arrays)
    values = dict(zip(inputs, arrays, strict=True))
    agree(evaluate(result, values), expected, 1e-4)
    if len(parts) == 3:
        agree(compiled(result, values, "c"), expected, 1e-4)


def test_products_are_those_of_matrices():
    shapes = [(6, 3, 4), (6, 4, 5), (6, 5)]
    inputs = [ft.tensor(shape=shape) for shape in shapes]
    text = str(fz.function(inputs, ft.einsum("bij,bjk,bk->bi", *inputs), mode="c").explain())
    assert text.count(" = dot ") == 2
    arrays = [np.random.default_rng(0).normal(size=shape) for shape in shapes]
    verify_grad(lambda *x: ft.einsum("bij,bjk,bk->bi", *x), arrays, mode="c")


def test_bad_subscripts(mode):
    x, y = ft.matrix("x"), ft.matrix("y")
    for subscripts, message in {
        "ij": "names 1 operands; given 2",
        "ijk,jk": "does not name the dimensions",
        "i1,jk": "not made of letters",
        "ij,jk->iz": "of no operand",
        "ij,jk->ii": "a dimension twice",
        "...j,jk->k": "does not say where the dimensions of '...' are",
    }.items():
        with pytest.raises(ValueError, match=message):
            ft.einsum(subscripts, x, y)
    with pytest.raises(ValueError, match="broadcast"):
        ft.einsum("ij,jk", ft.tensor(shape=(2, 3)), ft.tensor(shape=(4, 3)))
    f = fz.function([x, y], ft.einsum("ij,ji->", x, y), mode=mode)
    with pytest.raises(ValueError, match="broadcast"):
        f(np.ones((2, 3)), np.ones((2, 3)))


NETWORK = "ab,bc,cd,de,ef,fa->", [(2, 3), (3, 4), (4, 50), (50, 2), (2, 3), (3, 2)]


@pytest.mark.parametrize(
    "optimize",
    [None, True, False, "auto", "optimal", "branch-all", "branch-2", "branch-1", "dp", "greedy"],
)
def test_each_order_gives_the_same(optimize):
    subscripts, shapes = NETWORK
    arrays = [np.random.default_rng(at).normal(size=shape) for at, shape in enumerate(shapes)]
    expected = np.einsum(subscripts, *arrays)
    for known in (True, False):
        inputs = [ft.tensor(shape=x.shape if known else (None, None)) for x in arrays]
        result = ft.einsum(subscripts, *inputs, optimize=optimize)
        found = evaluate(result, dict(zip(inputs, arrays, strict=True)))
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_a_path_is_followed():
    # A vector at the end makes matrices of vectors, if one begins there.
    x, y = ft.tensor(shape=(100, 100)), ft.tensor(shape=(100, 100))
    v = ft.tensor(shape=(100,))
    rng = np.random.default_rng(0)
    values = {x: rng.normal(size=(100, 100)), y: rng.normal(size=(100, 100)), v: np.ones(100)}
    planned = ft.einsum("ij,jk,k->i", x, y, v)
    assert planned is ft.einsum("ij,jk,k->i", x, y, v, optimize=[(1, 2), (0, 1)])
    path = np.einsum_path("ij,jk,k->i", *values.values(), optimize="optimal")[0]
    assert planned is ft.einsum("ij,jk,k->i", x, y, v, optimize=path)
    forward = ft.einsum("ij,jk,k->i", x, y, v, optimize=[(0, 1), (0, 1)])
    assert forward is not planned
    np.testing.assert_allclose(evaluate(forward, values), evaluate(planned, values))


def test_many_operands():
    letters = [
        f"{a}{b}" for a, b in zip(string.ascii_lowercase, string.ascii_lowercase[1:], strict=False)
    ]
    matrices = [ft.tensor(shape=(3, 3)) for _ in letters]
    found = ft.einsum(",".join(letters) + "->az", *matrices)
    value = evaluate(found, {x: 2 * np.eye(3) for x in matrices})
    np.testing.assert_array_equal(value, 2.0 ** len(letters) * np.eye(3))


def test_bad_orders():
    x = ft.matrix("x")
    for optimize, error, message in [
        ("best", ValueError, "one of 'auto'"),
        ("random-greedy", ValueError, "one of 'auto'"),
        ([(0, 1)], ValueError, "leaves 2 operands apart"),
        ([(0, 3), (0, 1)], ValueError, "does not choose"),
        ([(0, 0), (0, 1)], ValueError, "does not choose"),
        ([(0,), (0, 1), (0, 1)], ValueError, "does not choose"),
        ([0, 1], TypeError, "tuples of ints"),
    ]:
        with pytest.raises(error, match=message):
            ft.einsum("ij,jk,kl->il", x, x, x, optimize=optimize)
