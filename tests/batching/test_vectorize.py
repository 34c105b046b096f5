"""``fz.vectorize``: batches give what a loop over their elements gives."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft

SIZE = 3

x, y, z = ft.vector("x"), ft.vector("y"), ft.scalar("z")
A, B, T = ft.matrix("A"), ft.matrix("B"), ft.tensor3("T")
k, n, K = ft.lscalar("k"), ft.lscalar("n"), ft.lvector("K")
SHAPES = {x: (4,), y: (4,), z: (), A: (4, 4), B: (4, 5), T: (4, 3, 2), k: (), n: (), K: (2,)}


def drawn(variable, batched, rng):
    """An argument for a variable, or a batch of them."""
    shape = (SIZE,) * batched + SHAPES[variable]
    if variable.dtype == "int64":
        return rng.integers(-2, 2, shape)
    return rng.normal(size=shape)


def batch_of(variable, static=None):
    return ft.tensor(
        f"batch_{variable.name}", dtype=variable.dtype, shape=(static, *variable.type.shape)
    )


def check(output, over, mode="py", static=None):
    """The batch of an output is the stack of what it is for each element."""
    needed = [v for v in SHAPES if v in ancestors(output)]
    rng = np.random.default_rng(7)
    arguments = {v: drawn(v, v in over, rng) for v in needed}
    batches = {v: batch_of(v, static) for v in over}
    whole = fz.vectorize(output, batches)
    found = fz.function([batches.get(v, v) for v in needed], whole, mode=mode)(*arguments.values())
    one = fz.function(needed, output, mode="py")
    wanted = [one(*(a[at] if v in over else a for v, a in arguments.items())) for at in range(SIZE)]
    assert found.dtype == output.dtype
    np.testing.assert_allclose(found, np.stack(wanted), rtol=1e-10, atol=1e-12)


def ancestors(output):
    found, pending = set(), [output]
    while pending:
        v = pending.pop()
        if v not in found:
            found.add(v)
            pending += v.owner.inputs if v.owner is not None else ()
    return found


def scanned(last):
    rows, _ = fz.scan(
        lambda a, b, c: ft.tanh(a * b + c), sequences=[x], outputs_info=[y], non_sequences=[A[0]]
    )
    return rows[-1] if last else rows


CASES = {
    "elementwise of two ranks": (lambda: A + ft.exp(x), [x]),
    "matrix by batch of vectors": (lambda: ft.dot(A, x), [x]),
    "batch of matrices by vector": (lambda: ft.dot(A, x), [A]),
    "vector by batch of matrices": (lambda: ft.dot(x, B), [B]),
    "batches of both": (lambda: ft.dot(A, x), [A, x]),
    "inner products": (lambda: ft.dot(x, y), [x, y]),
    "matrix by batch of matrices": (lambda: ft.dot(A, B), [B]),
    "products of batches": (lambda: ft.matmul(T, ft.swapaxes(T, 1, 2)), [T]),
    "product with one for all": (lambda: ft.matmul(T, A[:2, :]), [A]),
    "position": (lambda: x[k], [k]),
    "position in a batch": (lambda: x[k], [k, x]),
    "slice and position": (lambda: T[1:, k], [k]),
    "slice and position in a batch": (lambda: T[1:, k, ::-1], [k, T]),
    "set at a position": (lambda: ft.set_subtensor(T[1:, k], y[:2]), [k]),
    "set batches at a position": (lambda: ft.set_subtensor(T[1:, k], y[:2]), [k, y]),
    "set in one for all": (lambda: ft.set_subtensor(T[:, 0], y[:2]), [y]),
    "increase a batch": (lambda: ft.inc_subtensor(T[1:, 0], y[:2]), [T]),
    "rows by batch of indices": (lambda: T[K], [K]),
    "columns by batch of indices": (lambda: T[:, K], [K, T]),
    "constant indices": (lambda: T[:, [0, 1, 1]], [T]),
    "indices apart": (lambda: T[[0, 1], :, [0, 1]], [T]),
    "indices apart, batched": (lambda: T[K, :, [0, 1]], [T, K]),
    "indices apart of one for all": (lambda: T[K, :, [0, 1]], [K]),
    "add at indices apart": (lambda: ft.inc_subtensor(T[K, :, [0, 1]], y[:3]), [K, y]),
    "add a batch at indices apart": (lambda: ft.inc_subtensor(T[K, :, [0, 1]], y[:3]), [y]),
    "add at repeated columns": (lambda: ft.inc_subtensor(T[:, [0, 1, 1]], y[:2]), [y]),
    "put at batch of columns": (lambda: ft.set_subtensor(T[:, K], y[:2]), [K, T]),
    "join with one for all": (lambda: ft.concatenate([x, y]), [y]),
    "flatten": (lambda: B.reshape((-1,)), [B]),
    "repeat": (lambda: ft.repeat(x, 2) + ft.tile(y, 2), [x]),
    "axes": (lambda: ft.sort(B, axis=0) + ft.cumsum(B, axis=1) + B.max(axis=1)[:, None], [B]),
    "positions of extremes": (lambda: ft.argmax(B, axis=1) + ft.argsort(B, axis=0)[:, 0], [B]),
    "reductions of all kinds": (lambda: B.prod() + B.min(axis=0) + ft.any(B > 0, axis=0), [B]),
    "diagonals": (lambda: ft.diag(x) + ft.diag(ft.diag(A)) + ft.eye(4), [x, A]),
    "filled": (lambda: ft.full((4,), z) + ft.zeros_like(x), [z]),
    "lengths": (lambda: x / x.shape[0] + ft.arange(x.shape[0]), [x]),
    "inverse": (lambda: ft.linalg.inv(A @ A.T + ft.eye(4)), [A]),
    "solution": (lambda: ft.linalg.solve(A @ A.T + ft.eye(4), x), [x]),
    "factor": (lambda: ft.linalg.cholesky(A @ A.T + ft.eye(4)), [A]),
    "solution of a batch of systems": (lambda: ft.linalg.solve(A @ A.T + ft.eye(4), x), [A, x]),
    "solution for a batch of matrices": (lambda: ft.linalg.solve(A @ A.T + ft.eye(4), B), [A]),
    "triangular solution": (
        lambda: ft.linalg.solve_triangular(A @ A.T + ft.eye(4), x, lower=True),
        [A],
    ),
    "gradient of a factor": (
        lambda: fz.grad(ft.sum(ft.linalg.cholesky(A @ A.T + ft.eye(4)) ** 3), A),
        [A],
    ),
    "solution of few diagonals": (
        lambda: ft.linalg.solve(A @ A.T + 9 * ft.eye(4), x, assume_a="tridiagonal"),
        [A],
    ),
    "packed diagonals": (lambda: ft.linalg.solve_banded((2, 1), A + 9 * ft.eye(4), x), [x]),
    "determinant": (lambda: ft.linalg.slogdet(A @ A.T + ft.eye(4))[1], [A]),
    "values": (lambda: ft.linalg.svdvals(A) + ft.linalg.eigvalsh(A), [A]),
    "orthogonal factor": (lambda: ft.linalg.qr(A)[0], [A]),
    "pseudo-inverse": (lambda: ft.linalg.pinv(B), [B]),
    "range of a batch of stops": (lambda: ft.arange(n * 0 + 3) * z, [n]),
    "gradient": (lambda: fz.grad(ft.sum(ft.exp(A @ x) ** 2), x), [x]),
    "gradient for a batch of matrices": (lambda: fz.grad(ft.sum(ft.exp(A @ x)), A), [A, x]),
    "scan": (lambda: scanned(last=False), [x]),
    "scan with a batch of constants": (lambda: scanned(last=False), [A]),
    "last row of a scan": (lambda: scanned(last=True), [y]),
    "gradient of a scan": (lambda: fz.grad(scanned(last=False).sum(), x), [y, A]),
    "choice for all": (lambda: fz.ifelse(z > 0, x, 2 * x), [x]),
    "choice for each": (lambda: fz.ifelse(z > 0, x, 2 * y), [z]),
    "graph op": (lambda: fz.OpFromGraph([x, y], [ft.exp(x) + y])(x, y), [y]),
}


@pytest.mark.parametrize("static", [None, SIZE])
@pytest.mark.parametrize("case", CASES)
def test_batch_is_the_stack_of_its_elements(case, static):
    build, over = CASES[case]
    check(build(), over, static=static)


@pytest.mark.parametrize(
    "case", ["batches of both", "set batches at a position", "gradient of a scan", "inverse"]
)
def test_compiled_batches(case, mode):
    build, over = CASES[case]
    check(build(), over, mode=mode)


def test_batches_of_several_dimensions_broadcast():
    P, Q = ft.tensor("P", shape=(None, None, None)), ft.matrix("Q")
    product = fz.vectorize(ft.dot(x, y), {x: P, y: Q})
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=(2, 3, 4)), rng.normal(size=(3, 4))
    np.testing.assert_allclose(
        fz.function([P, Q], product)(p, q), np.einsum("abi,bi->ab", p, q), rtol=1e-12
    )
    single = ft.tensor("single", shape=(None, 1, None))
    product = fz.vectorize(ft.dot(x, y), {x: single, y: Q})
    assert product.ndim == 2
    np.testing.assert_allclose(
        fz.function([single, Q], product)(p[:, :1], q), p[:, 0] @ q.T, rtol=1e-12
    )


def test_several_outputs_and_one_that_stays():
    X = ft.matrix("X")
    doubled, constant = fz.vectorize([2 * x, ft.exp(y)], {x: X})
    assert constant is ft.exp(y)
    np.testing.assert_array_equal(doubled.eval({X: [[1.0, 2.0]]}), [[2.0, 4.0]])


def test_any_variable_is_replaced():
    inner = ft.exp(x)
    rows = ft.matrix("rows")
    assert fz.vectorize(ft.sum(inner), {inner: rows}) is ft.sum(rows, axis=1)


def doubled_until_large():
    def doubled(count, value):
        return (count + 1, value * 2), fz.until(value * 2 > 100)

    return fz.scan(doubled, outputs_info=[ft.constant(0), z], n_steps=50)[0]


def test_elements_end_a_scan_at_their_own_step(mode):
    counts, values = doubled_until_large()
    lasts = [counts.owner.op, values.owner.op]
    assert lasts[0] is lasts[1]
    states = [y for y in counts.owner.outputs if y.ndim == 0]
    op = counts.owner.op
    body = replace(op, fgraph=without_stacks(op))
    ends = body.make_node(*counts.owner.inputs).outputs
    assert len(states) == len(ends) == 3
    batch = ft.vector("batch")
    found = fz.function([batch], fz.vectorize(list(ends), {z: batch}), mode=mode)([1.0, 60.0, 3.0])
    for rows, wanted in zip(found, ([7, 1, 6], [128.0, 120.0, 192.0], [7, 1, 6]), strict=True):
        np.testing.assert_array_equal(rows, wanted)


def without_stacks(op):
    graph = op.fgraph
    return fz.FrozenFunctionGraph(list(graph.inputs), [*op.next_states, op.condition])


def test_a_custom_gradient_holds_for_each_element():
    def tripled(inputs, outputs, gradients):
        return [3 * gradients[0]]

    op = fz.OpFromGraph([x], [ft.exp(x)], lop_overrides=tripled)
    X = ft.matrix("X")
    whole = fz.vectorize(op(x), {x: X})
    slope = fz.grad(whole.sum(), X).eval({X: np.ones((2, 3))})
    np.testing.assert_array_equal(slope, np.full((2, 3), 3.0))


@dataclass(frozen=True, eq=False)
class Halves(fz.Op):
    """An op that knows nothing of batches."""

    def make_node(self, v):
        return fz.FrozenApply(self, [v], [v.type, v.type])

    def perform(self, node, inputs):
        assert inputs[0].ndim == 1
        return inputs[0] / 2, -inputs[0] / 2


def test_an_op_without_rule_runs_for_each_element(mode):
    X = ft.matrix("X")
    upper, lower = fz.vectorize(Halves()(x), {x: X})
    values = np.arange(6.0).reshape(2, 3)
    for found, sign in zip(
        fz.function([X], [upper, lower], mode=mode)(values), (1, -1), strict=True
    ):
        np.testing.assert_array_equal(found, sign * values / 2)


@pytest.mark.parametrize("size", [0, 1])
def test_batches_of_none_and_of_one(size):
    X = ft.matrix("X")
    out = fz.vectorize([x.sum(), x.reshape((2, -1)), ft.dot(A, x)], {x: X})
    found = fz.function([X, A], out, mode="py")(np.ones((size, 4)), np.eye(4))
    assert [value.shape for value in found] == [(size,), (size, 2, 2), (size, 4)]


def test_wrong_replacements():
    with pytest.raises(TypeError, match="is replaced by a tensor of its dtype"):
        fz.vectorize(x.sum(), {x: ft.matrix("m", dtype="float32")})
    with pytest.raises(TypeError, match="more dimensions in front"):
        fz.vectorize(x.sum(), {x: z})
    v = ft.vector("v", shape=(3,))
    with pytest.raises(ValueError, match="must have these lengths"):
        fz.vectorize(v.sum(), {v: ft.tensor("w", shape=(2, 4))})
    with pytest.raises(ValueError, match="do not broadcast together"):
        fz.vectorize(
            ft.dot(x, y), {x: ft.tensor("p", shape=(2, 4)), y: ft.tensor("q", shape=(3, 4))}
        )


def test_lengths_that_differ_between_elements_raise_when_they_run():
    N = ft.lvector("N")
    part = fz.vectorize(x[:n], {n: N})
    f = fz.function([x, N], part, mode="py")
    np.testing.assert_array_equal(f(np.arange(4.0), [2, 2]), [[0, 1], [0, 1]])
    with pytest.raises(ValueError, match="shape"):
        f(np.arange(4.0), [2, 3])


@pytest.mark.parametrize("mode", ["py", "cranelift"])
def test_one_batch_may_tell_the_length_of_another(mode):
    start, add, row = ft.dscalar("start"), ft.dscalar("add"), ft.vector("row")
    known, unknown, rows = ft.tensor("known", shape=(3,)), ft.vector("unknown"), ft.matrix("rows")
    last = fz.reduce(lambda x, state: ft.tanh(state + x * add), row, start)[0]
    outputs = [
        fz.vectorize(last, {start: unknown, add: known, row: rows}),
        fz.vectorize(last, {start: known, add: unknown, row: rows}),
        fz.vectorize(last, {start: known, add: unknown}),
    ]
    one, other = np.array([0.5, -1.0, 2.0]), np.array([0.1, 0.2, -0.3])
    many = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    found = fz.function([known, unknown, rows, row], outputs, mode=mode)(one, other, many, many[0])
    for value, (a, b, x) in zip(
        found, [(other, one, many), (one, other, many), (one, other, many[:1])], strict=True
    ):
        np.testing.assert_allclose(value, np.tanh(np.tanh(a + x[:, 0] * b) + x[:, 1] * b))
