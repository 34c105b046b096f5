"""Python functions over batches."""

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft

xs = np.arange(6.0).reshape(3, 2) - 2


def fn(p, x):
    return {"y": np.tanh(p["w"] @ x) * x.sum(), "c": p["w"].sum(), "n": 1.0}


def test_gives_what_a_loop_gives():
    p = {"w": np.arange(4.0).reshape(2, 2)}
    found = fz.vmap(fn, in_axes=(None, 0))(p, xs)
    for name in ("y", "c", "n"):
        wanted = np.stack([fn(p, x)[name] for x in xs])
        np.testing.assert_allclose(found[name], wanted)
    along = fz.vmap(lambda p, x: fn(p, x)["y"], in_axes=(None, 1), out_axes=1)(p, xs.T)
    np.testing.assert_allclose(along, found["y"].T)


def test_goes_with_derivatives_and_itself():
    def cost(x):
        return (x**3).sum()

    np.testing.assert_allclose(fz.vmap(fz.grad(cost))(xs), 3 * xs**2)
    np.testing.assert_allclose(fz.grad(lambda x: fz.vmap(cost)(x).sum())(xs), 3 * xs**2)
    outer = fz.jit(fz.vmap(fz.vmap(lambda a, b: a * b, (None, 0)), (0, None)), mode="py")
    np.testing.assert_allclose(outer(xs[:, 0], xs[0]), np.outer(xs[:, 0], xs[0]))


def test_errors_say_what_is_wrong():
    with pytest.raises(TypeError, match="2 arguments, and 1"):
        fz.vmap(fn, (None, 0))(xs)
    with pytest.raises(TypeError, match="no argument is a batch"):
        fz.vmap(lambda x: x, None)(xs)
    with pytest.raises(TypeError, match="in_axes"):
        fz.vmap(lambda x: x)(np.float64(1.0))
    with pytest.raises(TypeError, match="arrays and numbers only"):
        fz.vmap(lambda x: "text")(xs)


def test_axes_are_trees_as_in_arguments_and_results():
    given = {"x": xs.T, "by": np.arange(2.0), "name": "kept"}

    def shifted(p, *, scale):
        return {"sum": p["x"] + p["by"], "same": p["by"] * 2, "scaled": p["x"] * scale}

    found = fz.vmap(
        shifted,
        in_axes=({"x": 1, "by": None, "name": None},),
        out_axes={"sum": 1, "same": None, "scaled": 0},
    )(given, scale=np.arange(3.0))
    np.testing.assert_allclose(found["sum"], (xs + given["by"]).T)
    np.testing.assert_allclose(found["same"], given["by"] * 2)
    np.testing.assert_allclose(found["scaled"], xs * np.arange(3.0)[:, None])
    with pytest.raises(ValueError, match="0 is a batch of 3 elements, and argument 1 of 2"):
        fz.vmap(lambda a, b: a + b)(np.ones(3), np.ones(2))
    with pytest.raises(ValueError, match="differs from element to element"):
        fz.vmap(lambda x: x, out_axes=None)(xs)
    with pytest.raises(TypeError, match=r"in_axes has .* where a dict is"):
        fz.vmap(lambda p: p["x"], in_axes=({"y": 0},))(given)


def test_loops_end_for_each_element_by_itself():
    def grown(x):
        return fz.while_loop(lambda s: s.sum() < 50, lambda s: s * 1.5 + 1, x)

    np.testing.assert_allclose(fz.vmap(grown)(xs + 3), np.stack([grown(x) for x in xs + 3]))
    slope = fz.grad(lambda x: grown(x).sum())
    np.testing.assert_allclose(fz.vmap(slope)(xs + 3), np.stack([slope(x) for x in xs + 3]))
    sums = fz.vmap(lambda n: fz.fori_loop(0, n, lambda i, s: s + i, 0))
    assert sums(np.array([0, 1, 2, 5])).tolist() == [0, 0, 1, 10]


def test_the_branch_that_an_element_does_not_take_has_no_derivative():
    """That of a root is infinite at zero, and NaN for negative numbers."""
    weights = np.array([[2.0, 1.0], [1.0, 3.0]])
    rows = np.array([[1.0, 2.0], [-1.0, 0.0], [0.0, 0.0], [3.0, 1.0]])

    def rooted(weights, row):
        def root(row):
            return np.sqrt(weights @ np.sqrt(row)).sum()

        return fz.cond(row.sum() > 0, root, lambda row: (row * 2).sum(), row)

    def total(weights, rows):
        return fz.vmap(rooted, in_axes=(None, 0))(weights, rows).sum()

    found = fz.grad(total, argnums=(0, 1))(weights, rows)
    each = [fz.grad(rooted, argnums=(0, 1))(weights, row) for row in rows]
    np.testing.assert_allclose(found[0], sum(by_weights for by_weights, _ in each))
    np.testing.assert_allclose(found[1], np.stack([by_row for _, by_row in each]))
    assert found[1][1:3].tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_second_derivatives_of_a_branch_that_is_not_taken():
    def power(x):
        return fz.cond(x > 0, lambda x: x**1.5, lambda x: x * x, x)

    points = np.array([4.0, 0.0, -1.0])
    slopes = lambda xs: fz.grad(lambda xs: fz.vmap(power)(xs).sum())(xs).sum()  # noqa: E731
    np.testing.assert_allclose(fz.grad(slopes)(points), [0.375, 2.0, 2.0])


@pytest.mark.parametrize("transform", [fz.jit, fz.vmap, fz.grad, fz.value_and_grad])
def test_variables_of_a_graph_are_no_arrays(transform):
    x = ft.matrix("x") if transform is fz.vmap else ft.vector("x")
    with pytest.raises(TypeError, match=r"was given x of a graph.*fz\.vectorize"):
        transform(lambda row: (row * 2.0).sum())(x)
    with pytest.raises(TypeError, match="was given x of a graph, or captured it"):
        fz.jit(lambda y: x + y)(1.0)
