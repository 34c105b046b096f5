"""Functions of whole matrices agree with NumPy and SciPy, and their gradients with differences."""

import numpy as np
import pytest
import scipy.linalg
from agreement import agree, check, follow
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

FEW = settings(max_examples=settings.default.max_examples // 4)
rng = np.random.default_rng(0)
A, M, N = rng.normal(size=(2, 3, 3)), rng.normal(size=(3, 3)), rng.normal(size=(4, 4))
B, Q = rng.normal(size=(3, 2)), rng.normal(size=(3, 4))
S, R = M @ M.T + np.eye(3), B.T @ B + np.eye(2)


def symmetric(solve):
    """The solution of a Riccati equation of the symmetric parts of ``q`` and ``r``."""
    return lambda a, b, q, r: solve(a, b, (q + q.T) / 2, (r + r.T) / 2)


EQUATIONS = {
    "expm": (ft.linalg.expm, scipy.linalg.expm, [A]),
    "solve_sylvester": (ft.linalg.solve_sylvester, scipy.linalg.solve_sylvester, [M, N, Q]),
    "solve_continuous_lyapunov": (
        ft.linalg.solve_continuous_lyapunov,
        scipy.linalg.solve_continuous_lyapunov,
        [M, S],
    ),
    "solve_discrete_lyapunov": (
        ft.linalg.solve_discrete_lyapunov,
        scipy.linalg.solve_discrete_lyapunov,
        [M / 4, S],
    ),
    "direct": (
        lambda a, q: ft.linalg.solve_discrete_lyapunov(a, q, "direct"),
        scipy.linalg.solve_discrete_lyapunov,
        [M / 4, S],
    ),
    "solve_continuous_are": (
        symmetric(ft.linalg.solve_continuous_are),
        scipy.linalg.solve_continuous_are,
        [M / 2, B, S, R],
    ),
    "solve_discrete_are": (
        symmetric(ft.linalg.solve_discrete_are),
        scipy.linalg.solve_discrete_are,
        [M / 2, B, S, R],
    ),
}


@pytest.mark.parametrize("name", EQUATIONS)
def test_equations(name, mode):
    ours, theirs, given = EQUATIONS[name]
    inputs = [ft.tensor(shape=(None,) * x.ndim) for x in given]
    check(ours(*inputs), dict(zip(inputs, given, strict=True)), theirs(*given), mode, rtol=1e-8)
    if mode == "c":
        verify_grad(ours, given, mode=mode)
    if (name, mode) in (("expm", "c"), ("solve_sylvester", "c"), ("solve_discrete_are", "py")):
        slope = [one[:1] if one.ndim == 3 else one for one in given]
        verify_grad(lambda *x: fz.grad(ft.sum(ours(*x) ** 2), x[0]), slope, mode=mode)


def stacked(name):
    """A function of stacks that broadcast, and one of each of their matrices."""
    ours, theirs, given = EQUATIONS[name]
    if "are" in name:
        ours = {
            "solve_continuous_are": ft.linalg.solve_continuous_are,
            "solve_discrete_are": ft.linalg.solve_discrete_are,
        }[name]
    factors = np.array([1.0, 0.5, 2.0])[:, None, None]
    stacks = [given[0][None] * factors, *given[1:-1], np.stack([given[-1]] * 2)[:, None]]
    fronts = np.broadcast_shapes(*(x.shape[:-2] for x in stacks))
    every = [np.broadcast_to(x, (*fronts, *x.shape[-2:])) for x in stacks]
    each = [theirs(*(x[at] for x in every)) for at in np.ndindex(fronts)]
    return ours, stacks, np.reshape(each, (*fronts, *each[0].shape))


@pytest.mark.parametrize("name", [name for name in EQUATIONS if name != "expm"])
def test_equations_of_stacks(name, mode):
    ours, stacks, expected = stacked(name)
    inputs = [ft.tensor(shape=[1 if n == 1 else None for n in x.shape]) for x in stacks]
    check(ours(*inputs), dict(zip(inputs, stacks, strict=True)), expected, mode, rtol=1e-8)
    if mode == "c" and "are" not in name:
        verify_grad(ours, stacks, mode=mode)


@pytest.mark.parametrize("name", EQUATIONS)
def test_batches_of_equations_are_stacks(name):
    ours, _, given = EQUATIONS[name]
    inputs = [ft.tensor(shape=x.shape) for x in given]
    batch = ft.tensor(shape=(None, *given[0].shape))
    values = np.stack([given[0], given[0] / 2])
    found = fz.vectorize(ours(*inputs), {inputs[0]: batch})
    f = fz.function([batch, *inputs[1:]], found, mode="py")
    each = [fz.function(inputs, ours(*inputs), mode="py")(one, *given[1:]) for one in values]
    np.testing.assert_allclose(f(values, *given[1:]), each, rtol=1e-9)


def test_equations_take_matrices():
    with pytest.raises(np.linalg.LinAlgError, match="solve_sylvester takes matrices"):
        ft.linalg.solve_sylvester(ft.matrix(), ft.vector(), ft.matrix())
    two, three = (ft.tensor(shape=(n, 2, 2)) for n in (2, 3))
    with pytest.raises(ValueError, match="must be equal or 1"):
        ft.linalg.solve_continuous_lyapunov(two, three)


def test_equations_of_floats_of_32_bits(mode):
    for name, (ours, theirs, arrays) in EQUATIONS.items():
        small = [x.astype("float32") for x in arrays]
        found = fz.function([], ours(*map(ft.constant, small)), mode=mode)()
        assert found.dtype == "float32", name
        np.testing.assert_allclose(found, theirs(*arrays), rtol=2e-2, atol=1e-3, err_msg=name)


def test_no_elements():
    x, y = ft.matrix("x"), ft.matrix("y")
    empty = np.zeros((0, 0))
    for result in (ft.linalg.expm(x), ft.linalg.solve_sylvester(x, y, x)):
        found = fz.function([x, y], result, mode="c", on_unused_input="ignore")(empty, empty)
        agree(found, empty)


@given(st.data(), st.sampled_from([0, 1, 2, 3, 5, 6, 7, -1, -2]))
@FEW
def test_powers(data, n):
    follow(
        lambda a: ft.linalg.matrix_power(a, n),
        lambda a: np.linalg.matrix_power(a, n),
        [data.draw(st.sampled_from([M, A, np.zeros((0, 0)), np.zeros((0, 2, 2))]))],
        data.draw,
        1e-9,
    )


@pytest.mark.parametrize("static", [True, False])
def test_products_of_several_matrices(static):
    v, w = rng.normal(size=3), rng.normal(size=4)
    for factors in ([M, Q], [v, M, Q, N, w], [M, M, Q, N], [v, Q], [Q, w]):
        inputs = [ft.tensor(shape=x.shape if static else (None,) * x.ndim) for x in factors]
        found = fz.function(inputs, ft.linalg.multi_dot(inputs), mode="c")(*factors)
        agree(found, np.linalg.multi_dot(factors), 1e-10)
    shapes = [(10, 1000), (1000, 5), (5, 500)]
    product = ft.linalg.multi_dot([ft.tensor(shape=shape) for shape in shapes])
    assert product.owner.inputs[0].type.shape == (10, 5)


SINGULAR = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 1.0]])


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0), (0, 0), (2, 0, 3)])
def test_norms_of_no_elements(shape, mode):
    for known in (shape, (None,) * len(shape)):
        x = ft.tensor("x", shape=known)
        norms = [(ft.linalg.vector_norm(x, ord=p), 0.0) for p in (np.inf, 1, 2)]
        norms += [(ft.linalg.norm(x, np.inf, axis=-1), np.zeros(shape[:-1]))] * (shape[-1] == 0)
        if len(shape) > 1:
            zeros = np.zeros(shape[:-2])
            norms += [(ft.linalg.matrix_norm(x, ord=p), zeros) for p in (1, np.inf, 2, "nuc")]
        found = fz.function([x], [norm for norm, _ in norms], mode=mode)(np.ones(shape))
        for own, (_, expected) in zip(found, norms, strict=True):
            np.testing.assert_array_equal(own, expected, strict=True)


UNKNOWN = np.where(np.eye(3) > 0, np.nan, M)


@given(st.data(), st.sampled_from([None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf]))
@FEW
def test_condition_numbers(data, p):
    x = data.draw(st.sampled_from([M, A, Q, A[:0], np.ones((1, 1)), np.zeros((2, 2))]))
    if p not in (None, 2, -2) and x.shape[-2] != x.shape[-1]:
        x = M
    follow(lambda a: ft.linalg.cond(a, p), lambda a: np.linalg.cond(a, p), [x], data.draw, 1e-9)


def test_condition_numbers_of_what_has_none(mode):
    x = ft.tensor3("x")
    for p in (1, "fro", np.inf):
        f = fz.function([x], ft.linalg.cond(x, p), mode=mode)
        found = f(np.stack([SINGULAR, UNKNOWN, M]))
        np.testing.assert_allclose(found, [np.inf, np.nan, np.linalg.cond(M, p)], rtol=1e-9)
    with pytest.raises(np.linalg.LinAlgError, match="without elements"):
        ft.linalg.cond(ft.tensor(shape=(0, 0)))
    for p in (None, -2, "nuc", 1):
        for shape in [(0, 0), (2, 0, 0)] + [(1, 0), (0, 2)] * (p in (None, -2)):
            y = ft.tensor("y", shape=(None,) * len(shape))
            with pytest.raises(ValueError, match="without elements"):
                fz.function([y], ft.linalg.cond(y, p), mode=mode)(np.ones(shape))
    with pytest.raises(ValueError, match="square"):
        ft.linalg.cond(ft.tensor(shape=(2, 3)), 1)
    with pytest.raises(np.linalg.LinAlgError, match="takes a matrix"):
        ft.linalg.cond(ft.vector())
    verify_grad(lambda a: ft.linalg.cond(a), [A], mode=mode)
    verify_grad(lambda a: ft.linalg.cond(a, "fro"), [A], mode=mode)


TENSOR = rng.normal(size=(2, 3, 6))


@given(st.data(), st.sampled_from([(TENSOR, 2), (N, 1), (rng.normal(size=(4, 2, 2)), 1)]))
@FEW
def test_inverses_of_tensors(data, drawn):
    x, ind = drawn
    follow(
        lambda a: ft.linalg.tensorinv(a, ind),
        lambda a: np.linalg.tensorinv(a, ind),
        [x],
        data.draw,
        1e-9,
    )


@given(st.data(), st.sampled_from([None, (0,), (0, 2), (2, 0)]))
@FEW
def test_systems_of_tensors(data, axes):
    shape, b = {None: ((2, 3, 6), (2, 3)), (0,): ((6, 2, 3), (2, 3))}.get(axes, ((2, 6, 3), (6,)))
    follow(
        lambda a, b: ft.linalg.tensorsolve(a, b, axes),
        lambda a, b: np.linalg.tensorsolve(a, b, axes),
        [rng.normal(size=shape), rng.normal(size=b)],
        data.draw,
        1e-8,
    )


def test_tensors_in_all_linkers(mode):
    x = ft.tensor3("x")
    check(ft.linalg.tensorinv(x), {x: TENSOR}, np.linalg.tensorinv(TENSOR), mode, rtol=1e-9)
    verify_grad(ft.linalg.tensorinv, [TENSOR], mode=mode)
    verify_grad(ft.linalg.tensorsolve, [TENSOR, TENSOR[:, :, 0]], mode=mode)
    for bad in (lambda: ft.linalg.tensorinv(np.ones((2, 3))), lambda: ft.linalg.tensorinv(Q, 1)):
        with pytest.raises(np.linalg.LinAlgError, match="product of the others"):
            bad()
    with pytest.raises(ValueError, match="ind must be"):
        ft.linalg.tensorinv(x, 0)
    with pytest.raises(ValueError, match="first dimensions are those of the right side"):
        ft.linalg.tensorsolve(ft.vector(), x)
    with pytest.raises(np.exceptions.AxisError):
        ft.linalg.tensorsolve(x, x, axes=(3,))


def test_matrices_of_blocks():
    for blocks in ((M, Q), (M, [1.0, 2.0], 3.0), (A, A[:, :1]), (np.eye(2, dtype=int), Q)):
        found = fz.function([], ft.linalg.block_diag(*blocks), mode="c")()
        agree(found, scipy.linalg.block_diag(*blocks))
    verify_grad(ft.linalg.block_diag, [M, Q], mode="c")


@given(st.data(), st.sampled_from([None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf]))
@FEW
def test_norms_of_matrices(data, ord):
    keep = data.draw(st.booleans())
    x = rng.normal(size=data.draw(st.sampled_from([(2, 3, 4), (1, 2, 2), (3, 1)])))
    if ord is not None:
        follow(
            lambda a: ft.linalg.matrix_norm(a, ord=ord, keepdims=keep),
            lambda a: np.linalg.matrix_norm(a, ord=ord, keepdims=keep),
            [x],
            data.draw,
            1e-10,
        )
    axis = data.draw(st.sampled_from([(0, 1), (1, 0), (-1, 0)]))
    follow(
        lambda a: ft.linalg.norm(a, ord, axis, keep),
        lambda a: np.linalg.norm(a, ord, axis, keep),
        [x],
        data.draw,
        1e-10,
    )


@given(st.data(), st.sampled_from([0, 1, 2, 3, -1, 0.5, np.inf, -np.inf]))
@FEW
def test_norms_of_vectors(data, ord):
    axis = data.draw(st.sampled_from([None, 1, (0, 2), (-1, 0)]))
    follow(
        lambda a: ft.linalg.vector_norm(a, ord=ord, axis=axis),
        lambda a: np.linalg.vector_norm(a, ord=ord, axis=axis),
        [rng.normal(size=(2, 3, 4))],
        data.draw,
        1e-10,
    )


def test_bad_operands(mode):
    x = ft.matrix("x")
    with pytest.raises(TypeError, match="an integer"):
        ft.linalg.matrix_power(x, 0.5)
    with pytest.raises(ValueError, match="square"):
        ft.linalg.matrix_power(ft.tensor(shape=(2, 3)), 2)
    with pytest.raises(ValueError, match="two matrices or more"):
        ft.linalg.multi_dot([x])
    with pytest.raises(np.linalg.LinAlgError, match="operand 1"):
        ft.linalg.multi_dot([x, ft.vector(), x])
    with pytest.raises(ValueError, match="method must be"):
        ft.linalg.solve_discrete_lyapunov(x, x, "schur")
    with pytest.raises(np.linalg.LinAlgError, match="solve_sylvester takes matrices"):
        ft.linalg.solve_sylvester(x, x, ft.vector())
    with pytest.raises(ValueError, match="no norm of order 3"):
        ft.linalg.matrix_norm(x, ord=3)
    f = fz.function([x], ft.linalg.solve_sylvester(x, x, x[:1]), mode=mode)
    with pytest.raises(ValueError, match="right side has shape"):
        f(np.eye(2))
    g = fz.function([x], ft.linalg.solve_continuous_are(x, x * 0, x, x), mode=mode)
    with pytest.raises(np.linalg.LinAlgError):
        g(np.eye(2))
