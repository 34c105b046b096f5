"""PyTensor's ops, one by one: the values are those of their own ``perform``."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
import scipy.special
from conditionals import ifelse
from pytensor.compile.builders import OpFromGraph
from pytensor.compile.mode import Mode
from pytensor.scalar.basic import UnaryScalarOp, upgrade_to_float
from pytensor.scan.utils import until
from pytensor.tensor.basic import permute_row_elements
from pytensor.tensor.elemwise import Elemwise

from frazil.interop.pytensor import compiled_function
from frazil.interop.pytensor.library import classes

# What differs between the versions of PyTensor.
Eigh, CholeskySolve = classes("Eigh", "CholeskySolve")
AXES_ARE_INPUTS = "axis" not in pt.basic.Join.__props__
HALVES = [{"UPLO": half} if "UPLO" in Eigh.__props__ else {"lower": half == "L"} for half in "LU"]
REFERENCE = Mode("py", None)
DRAWN = np.random.default_rng(5)
VECTOR, MATRIX = DRAWN.normal(size=4), DRAWN.normal(size=(4, 4))
STACK = DRAWN.normal(size=(2, 3, 3))
SPD = np.eye(3) * 4 + 0.5 * (STACK + STACK.transpose(0, 2, 1))
SQUARE = np.eye(4) * 3 + MATRIX
RIGHT = DRAWN.normal(size=(2, 3, 2))
WHOLE = np.array([3, -2, 0, 7])
PLACES = np.array([2, 0, 2])
MASK = np.array([True, False, True, True])
SHAPE = np.array([2, 8])

v, m, s = pt.dvector("v"), pt.dmatrix("m"), pt.dtensor3("s")
k, i, n, b = pt.lvector("k"), pt.lvector("i"), pt.lscalar("n"), pt.bvector("b")
r, a, shape = pt.dtensor3("r"), pt.dscalar("a"), pt.lvector("shape")
mask = pt.vector("mask", dtype="bool")
w = pt.fvector("w")
VALUES = {
    v: VECTOR,
    m: SQUARE,
    s: SPD,
    k: WHOLE,
    i: PLACES,
    n: np.array(2),
    b: WHOLE.astype("int8"),
    r: RIGHT,
    a: np.array(0.7),
    shape: SHAPE,
    mask: MASK,
    w: VECTOR.astype("float32"),
}
KNOWN = pt.tensor("known", dtype="float64", shape=(1, 4))
VALUES[KNOWN] = VECTOR[None]


def unit(x):
    return pt.sigmoid(x)


ELEMENTWISE = {
    "limits that cross or are none": [
        *(pt.clip(m, 1.0, -1.0), pt.clip(m, a, -a), pt.clip(m, -a, a), pt.clip(m, np.nan, 1.0)),
        *(pt.clip(v, -1.0, np.nan), pt.clip(pt.log(v), -1.0, 1.0), pt.clip(k, 2, b)),
    ],
    "functions of a real number": [
        f(v)
        for f in (
            *(pt.exp, pt.exp2, pt.expm1, pt.sin, pt.cos, pt.tan, pt.sinh, pt.cosh, pt.tanh),
            *(pt.arctan, pt.arcsinh, pt.abs, pt.sign, pt.ceil, pt.floor, pt.trunc, pt.neg, pt.sqr),
            *(pt.erf, pt.erfc, pt.sigmoid, pt.softplus, pt.isnan, pt.isinf, pt.deg2rad),
            *(pt.rad2deg, pt.reciprocal, pt.erfcx, pt.round, pt.i0, pt.i1, pt.j0, pt.j1),
        )
    ],
    "functions of a share": [
        f(unit(v))
        for f in (
            *(pt.log, pt.log2, pt.log10, pt.log1p, pt.sqrt, pt.arcsin, pt.arccos, pt.arctanh),
            *(pt.gammaln, pt.psi, pt.tri_gamma, pt.erfinv, pt.erfcinv, pt.gamma),
        )
    ],
    "half away from zero": [pt.round(v * 2, mode="half_away_from_zero")],
    "arithmetic": [v + v, v - a, v * v * a, v / a, v // a, v % a, unit(v) ** a, pt.clip(v, -1, a)],
    "whole numbers": [k + 1, k // n, k % n, k * b, k & b, k | 1, k ^ b, ~k, pt.abs(k), k**2, k / n],
    "comparisons": [v < a, v > a, v <= a, v >= a, pt.eq(k, b), pt.neq(k, b), pt.invert(v < a)],
    "choices": [pt.switch(v > 0, v, a), pt.maximum(v, a), pt.minimum(v, a), pt.where(k, v, 0)],
    "casts": [pt.cast(v, "int32"), pt.cast(k, "float32"), pt.cast(k, "bool"), w + k, w * 2, b / b],
    "of two numbers": [pt.arctan2(v, a), pt.gammainc(unit(v), a), pt.gammaincc(unit(v), a)],
    "loops of elements": [
        *pytensor.grad(pt.gammainc(unit(v), a).sum(), [v, a]),
        *pytensor.grad(pt.betainc(unit(v), a, unit(v)).sum(), [v, a]),
    ],
    "of three numbers": [pt.betainc(unit(v), a, unit(v))],
    "broadcasts": [v[:, None] * v, m + v, KNOWN + m, pt.second(m, a)],
    "filled": [pt.ones_like(m), pt.zeros_like(v), pt.fill(m, a)],
}
z = pt.zvector("z")
VALUES[z] = VECTOR * (1 + 0.5j) + 0.2j
HERMITIAN = pt.outer(z, pt.conj(z)) + np.diag([1.0, -2.0, 3.0, 0.5])
SHIFTED = HERMITIAN + 5 * np.eye(4)
COMPLEX = {
    "arithmetic": [z + a, z * z, z / (z + 3), 1 - z, -z, z**2, pt.sqr(z), pt.reciprocal(z + 3)],
    "parts": [pt.real(z), pt.imag(z), pt.conj(z), pt.angle(z), pt.abs(z), pt.complex(v, a * v)],
    "parts of real numbers": [pt.real(v), pt.imag(v), pt.conj(v), pt.angle(v)],
    "functions": [f(z) for f in (pt.exp, pt.sin, pt.cos, pt.tanh, pt.sqrt, pt.log, pt.expm1)],
    "arrays": [
        *(z.sum(), z.mean(), z[::2], z[i], pt.concatenate([z, v]), pt.stack([z, z]).T),
        *(pt.set_subtensor(z[0], 0), pt.inc_subtensor(z[i], 1j), pt.switch(v > 0, z, 0)),
    ],
    "matrices": [pt.dot(m, z), pt.outer(z, z), pt.eq(z, z), pt.cast(v, "complex64") * 2],
    "filled": [pt.zeros_like(z), pt.second(z, b), pt.second(v, z), pt.ones_like(z, dtype="int8")],
    "of Hermitian matrices": [
        out
        for half, lower in ((pt.tril, True), (pt.triu, False))
        for out in (
            pt.linalg.solve(half(HERMITIAN), z, assume_a="her", lower=lower, b_ndim=1),
            pt.real(pt.linalg.eigvalsh(half(HERMITIAN), half(SHIFTED), lower=lower)),
        )
    ],
    "factors, by PyTensor's perform": [pt.linalg.inv(pt.outer(z, z) + 3 * pt.eye(4))],
}
h, g = pt.tensor("h", dtype="float16", shape=(None,)), pt.tensor("g", dtype="float16", shape=(4, 4))
VALUES[h], VALUES[g] = VECTOR.astype("float16"), SQUARE.astype("float16")
FLOAT16 = {
    "arithmetic": [h * 2 + h, h / 3, h // 2, h % 2, h**2, h + v, v.astype("float16"), -h, h > 0],
    "functions": [
        *(f(h) for f in (pt.exp, pt.sigmoid, pt.erf, pt.round, pt.tanh)),
        *(f(pt.abs(h)) for f in (pt.sqrt, pt.log1p, pt.gammaln)),
        *(pt.clip(h, -1, 1), pt.switch(h > 0, h, 0), pt.special.softmax(h), pt.logsumexp(h)),
    ],
    "reductions": [h.sum(), h.mean(), h.max(), h.prod(), h.var(), pt.argmax(h), pt.cumsum(h)],
    "arrays": [
        *(h[i], h[1:], pt.concatenate([h, h]), g.T, pt.sort(h), pt.alloc(h[0], 3)),
        *(pt.set_subtensor(h[0], 1), pt.inc_subtensor(h[i], 1), pt.eye(3, dtype="float16")),
    ],
    "matrices": [pt.dot(g, h), pt.dot(g, g), pt.outer(h, h)],
    "gradients": [pytensor.grad(pt.exp(h).sum(), h)],
}
SHAPES = {
    "transposed": [m.T, m.dimshuffle(1, "x", 0), v[None], KNOWN.dimshuffle(1), KNOWN.squeeze()],
    "shapes": [m.shape, m.shape[0], s.shape[1:], v.size, pt.shape(v)[0] * n],
    "reshaped": [
        *(m.reshape((2, 8)), m.reshape((-1, 2)), m.flatten(), m.ravel()),
        *(m.reshape((v.shape[0], -1)), s.reshape((s.shape[0], 9)), m.reshape((n, 8))),
    ],
    "reshaped by a vector": [
        pt.reshape(m, shape, ndim=2),
        pt.reshape(m, shape - np.array([3, 0]), ndim=2),
    ],
    "allocated": [pt.zeros((2, n)), pt.ones(3), pt.full((n,), a), pt.alloc(v, n, 4)],
    "joined": [
        *(pt.concatenate([v, v]), pt.stack([v, v], axis=1), pt.join(1, m, m), pt.stack([a, 1.0])),
        pt.concatenate([[1.0], v]),
    ],
    "split": [*pt.split(m, [1, 3], n_splits=2, axis=1), *pt.split(m, [1, 3], n_splits=2, axis=-1)],
    "specified": [pt.specify_shape(v, (4,)) * 2, pt.specify_shape(m, (None, 4)).sum(axis=0)],
    "ranges": [pt.arange(4), pt.arange(n), pt.arange(1, 7, n), pt.eye(3), pt.eye(n, 4, 1)],
    "diagonals": [pt.diag(m), pt.diag(v), pt.diagonal(s, axis1=1, axis2=2), pt.tril(m), pt.triu(m)],
    "repeated": [pt.repeat(v, 2), pt.repeat(m, 2, axis=1), pt.tile(v, 3), pt.roll(v, 1)],
    "places of what is not 0": [*pt.nonzero(k)],
}
if AXES_ARE_INPUTS:
    SHAPES["joined and split along an axis that the call knows"] = [
        *(pt.join(n - 1, m, 2 * m), pt.join(n - 3, s, s), pt.join(n - 2, v, v)),
        *pt.split(m, [1, 3], n_splits=2, axis=n - 2),
        *pt.split(s, shape - np.array([1, 6]), n_splits=2, axis=n - 1),
    ]
INDEXING = {
    "basic": [
        v[1],
        v[1:],
        v[::-1],
        m[1],
        m[:, 1],
        m[1:3, ::2],
        v[n],
        v[:n],
        v[n:],
        m[-1, n],
        v[:0],
    ],
    "of arrays": [v[i], m[i], m[i, i], m[:, i], m[i, 1:], m[i[:, None], i], m[1, i], m[i, :, None]],
    "chosen": [
        pt.choose(k % 2, s[0, :2, :1, None][:, 0], mode="raise"),
        pt.choose(i, m[:, None, :3], mode="raise"),
        *(pt.choose(k, m, mode="wrap"), pt.choose(k, m, mode="clip"), pt.choose(n, m)),
    ],
    "permuted rows": [
        *(permute_row_elements(m, pt.argsort(v)), permute_row_elements(m[0], pt.argsort(m))),
        permute_row_elements(m, pt.argsort(m), inverse=True),
        pt.inverse_permutation(pt.argsort(v)),
    ],
    "of masks": [v[mask], m[mask], m[mask, 1]],
    "of constants": [v[[0, 2]], m[[0, 1], [1, 2]], v[np.array([True, False, True, True])]],
    "set": [
        *(pt.set_subtensor(v[1], a), pt.set_subtensor(v[1:], 0.0), pt.set_subtensor(m[1], v)),
        *(pt.set_subtensor(m[:, n], a), pt.set_subtensor(v[:], a), pt.set_subtensor(m[::2], 1)),
    ],
    "increased": [
        pt.inc_subtensor(v[1:3], a),
        pt.inc_subtensor(m[:, 0], v),
        pt.inc_subtensor(v[:], v),
    ],
    "set by arrays": [
        *(pt.set_subtensor(v[[0, 2]], a), pt.inc_subtensor(v[i], 1.0), pt.inc_subtensor(m[i], 2.0)),
        *(
            pt.set_subtensor(v[mask], 0.0),
            pt.inc_subtensor(m[i, i], v[:3]),
            pt.set_subtensor(m[i, 1:2], a),
        ),
    ],
    "repeated values": [
        pt.set_subtensor(m[:3, :2], r[0][:1]),
        pt.inc_subtensor(m[:, :2], r[0][:1]),
    ],
    "constant masks": [m[[0], MASK], pt.inc_subtensor(m[MASK], 1.0), m[np.diag(MASK)]],
    "steps of variables": [v[::n], v[:: -n + 1]],
}
REDUCTIONS = {
    "sums": [m.sum(), m.sum(axis=0), m.prod(axis=1), s.sum(axis=(0, 2)), k.sum(), b.sum(), w.sum()],
    "ends": [m.max(), m.min(axis=0), pt.max(s, axis=(0, 1)), k.max(), m.argmax(), m.argmin(axis=1)],
    "ends along no axis": [*pt.max_and_argmax(m, axis=())],
    "logic": [pt.any(v > 0), pt.all(v > -9, axis=0), (m > 0).any(axis=1)],
    "moments": [m.mean(), m.var(axis=0), m.std(axis=1), m.norm(2)],
    "accumulated": [pt.cumsum(m, axis=1), pt.cumprod(v), pt.cumsum(m), pt.diff(v)],
    "sorted": [pt.sort(v), pt.sort(m, axis=0), pt.argsort(v), pt.sort(m, axis=None)],
    "searched": [
        *(pt.searchsorted(pt.sort(v), a), pt.searchsorted(pt.sort(v), m, side="right")),
        pt.searchsorted(v, m, sorter=pt.argsort(v)),
    ],
    "filled diagonals": [pt.fill_diagonal(x, a) for x in (m, m[:2], m.reshape((n, n, 4))[..., :2])],
    "softmax": [
        *(pt.special.softmax(m, axis=-1), pt.special.log_softmax(m, axis=0)),
        *(pt.logsumexp(m, axis=1), pt.logaddexp(v, a), pt.special.softmax(v, axis=None)),
    ],
    "gradient of softmax": [pytensor.grad((pt.special.softmax(m, axis=-1) * m).sum(), m)],
    "products of what is not 0": [pytensor.grad(pt.prod(m, axis=1).sum(), m)],
}
if "initial" in pt.math.Max.__props__:
    REDUCTIONS["ends of what may be empty"] = [
        *(pt.max(x, axis=0, initial=-np.inf) for x in (v, m, v[:0], k[:0], m[:0, :2])),
        *(pt.min(x, axis=0, initial=np.inf) for x in (v, m, v[:0], k[:0], m[:0, :2])),
        pt.max(m[:, :0], initial=-np.inf),
    ]
EIGENVECTORS = [pt.linalg.eigh(s[0], **half) for half in HALVES]
MATRICES = {
    "products": [
        pt.dot(m, v),
        m @ m,
        pt.dot(v, v),
        v @ m,
        s @ s,
        s @ r,
        pt.tensordot(s, s, [[1, 2], [1, 2]]),
    ],
    "of stacks": [pt.matmul(s, m[:3, :3]), pt.vecdot(m, m), pt.matvec(m, v), pt.outer(v, v)],
    "einsum": [pt.einsum("ij,jk->ik", m, m), pt.einsum("bij,bij->b", s, s)],
    "factors": [
        pt.linalg.cholesky(s[0]),
        pt.linalg.cholesky(s),
        pt.linalg.cholesky(s, lower=False),
    ],
    "inverse": [pt.linalg.inv(m), pt.linalg.det(m), *pt.linalg.slogdet(m), pt.linalg.inv(s)],
    "systems": [
        *(pt.linalg.solve(m, m), pt.linalg.solve(m, v, b_ndim=1), pt.linalg.solve(s, r)),
        *(pt.linalg.solve(s, r, assume_a="pos"), pt.linalg.solve(s, r[..., 0], b_ndim=1)),
    ],
    "symmetric systems": [pt.linalg.solve(s, r, assume_a="sym")],
    "triangular systems": [
        *(pt.linalg.solve_triangular(m, m, lower=True), pt.linalg.solve_triangular(s, r)),
        pt.linalg.solve_triangular(s[0], r[..., 0], lower=True, b_ndim=1),
    ],
    "by a factor": [pt.linalg.cho_solve((pt.linalg.cholesky(s), True), r)],
    "determinants of stacks": [pt.linalg.det(s), *pt.linalg.slogdet(s)],
    "taken apart": [
        *(*pt.linalg.svd(m), *pt.linalg.svd(s, full_matrices=False)),
        *(pt.linalg.svd(m, compute_uv=False), *pt.linalg.qr(m), *pt.linalg.qr(s, mode="economic")),
        *(pt.linalg.qr(m[:, :2], mode="r"), *map(pt.abs, EIGENVECTORS[1])),
    ],
    "pseudo-inverses": [
        *(pt.linalg.pinv(m[:, :2]), pt.linalg.pinv(m @ m.T, hermitian=True)),
        pytensor.grad(pt.linalg.pinv(m).sum(), m),
    ],
    "eigenvalues with regard to another matrix": [
        *(pt.linalg.eigvalsh(m[:3, :3], x) for x in (s[0] @ s[0].T + np.eye(3), pt.eye(3))),
        pt.linalg.eigvalsh(m[:3, :3], pt.triu(s[0]), lower=False),
    ],
    "exponentials": [pt.linalg.expm(m), pytensor.grad(pt.linalg.expm(m / 4).sum(), m)],
    "eigenvalues of any matrix": [pt.linalg.eig(m)[0], pt.abs(pt.linalg.eig(s[0])[1])],
    "blocks": [pt.linalg.block_diag(m, m[:1], m[:, :2])],
    "gradients": [pytensor.grad(pt.linalg.slogdet(s)[1].sum(), s)],
    "gradients of eigenvalues": [pytensor.grad(pt.exp(w).sum(), s) for w, _ in EIGENVECTORS],
    "gradients of eigenvectors": [pytensor.grad((v[0] * v[1]).sum(), s) for _, v in EIGENVECTORS],
    "gradient of a factor": [pytensor.grad(pt.linalg.cholesky(s).sum(), s)],
}


def scanned(step, *args, **settings):
    return pytensor.scan(step, *args, **settings, return_updates=False)


def filled(x):
    """A scan whose gradient reads and writes one buffer."""
    return scanned(lambda e, x2, x1: x1 * e + 0.5 * x2, x, [{"initial": x[:2], "taps": [-2, -1]}])


INNER = OpFromGraph([v, a], [v * a, v.sum()])
LOOPS = {
    "map": [scanned(lambda e: e**2, v)],
    "sum": [scanned(lambda e, total: total + e, v, pt.zeros(()))],
    "taps": [filled(v), filled(v)[-1]],
    "gradient through taps": [pytensor.grad(filled(v).sum(), v)],
    "while": [scanned(lambda x: (x * 2, until(x > 5)), None, pt.ones(()), n_steps=20)],
    "backwards": [scanned(lambda e, total: total * 0.5 + e, v, pt.zeros(()), go_backwards=True)],
    "of matrices": [scanned(lambda x, m: pt.tanh(m @ x), None, v, m, n_steps=3)],
    "gradient of matrices": [
        pytensor.grad(scanned(lambda x, m: pt.tanh(m @ x), None, v, m, n_steps=n)[-1].sum(), m)
    ],
    "truncated gradient": [
        pytensor.grad(scanned(lambda e, t: t * e, v, pt.ones(()), truncate_gradient=2)[-1], v)
    ],
    "two states": list(scanned(lambda e, p, q: (p + e, q * p), v, [pt.zeros(()), pt.ones(())])),
    "graph in an op": [*INNER(v, a)],
    "branches": [ifelse(pt.gt(a, 0), v, 2 * v), *ifelse(pt.gt(a, 1), [v, m], [v * 2, m * 3])],
}
CASES = {
    f"{theme}: {name}": outputs
    for theme, cases in {
        "elementwise": ELEMENTWISE,
        "complex": COMPLEX,
        "float16": FLOAT16,
        "shapes": SHAPES,
        "indexing": INDEXING,
        "reductions": REDUCTIONS,
        "matrices": MATRICES,
        "loops": LOOPS,
    }.items()
    for name, outputs in cases.items()
}


@pytest.mark.filterwarnings("ignore:frazil has no rule")
@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_pytensors_perform(name):
    outputs = CASES[name]
    inputs = [x for x in pytensor.graph.traversal.graph_inputs(outputs) if x in VALUES]
    inputs = list(dict.fromkeys(inputs))
    ours = pytensor.function(inputs, outputs, mode="FRAZIL")
    theirs = pytensor.function(inputs, outputs, mode=REFERENCE)
    values = [VALUES[x] for x in inputs]
    for at, (own, wanted) in enumerate(zip(ours(*values), theirs(*values), strict=True)):
        assert own.dtype == wanted.dtype, (at, outputs[at])
        assert own.shape == wanted.shape, (at, outputs[at])
        accuracy = {"float16": 2e-3, "float32": 1e-5}.get(own.dtype.name, 1e-11)
        np.testing.assert_allclose(own, wanted, rtol=accuracy, atol=accuracy, err_msg=str(at))


def test_composites_are_taken_apart():
    x = pt.dvector("x")
    linker = pytensor.compile.mode.predefined_modes["FRAZIL"].linker
    fused = Mode(type(linker)(), "fast_run")
    f = pytensor.function([x], pt.exp(pt.sin(x) * 2) + 1, mode=fused)
    np.testing.assert_allclose(f(VECTOR), np.exp(np.sin(VECTOR) * 2) + 1, rtol=1e-14)
    assert len(compiled_function(f).explain().segments) == 1


def test_gradients_of_branches_that_are_not_taken_are_no_numbers_of_theirs():
    x = pt.dvector("x")
    tail = pt.log(pt.erfcx(-x)) - x**2
    slope = pytensor.grad(pt.switch(x < -1, tail, pt.log(pt.erfc(-x))).sum(), x)
    f = pytensor.function([x], slope, mode="FRAZIL")
    found = f(np.array([-60.0, -2.0, 0.0, 60.0]))
    wanted = pytensor.function([x], slope, mode="FAST_COMPILE")(np.array([-60.0, -2.0, 0.0, 60.0]))
    assert np.isfinite(wanted).all()
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_a_scalar_is_one_of_numpys():
    x = pt.bscalar("x")
    f = pytensor.function([x], [pt.scalar_from_tensor(x), x], mode="FRAZIL")
    scalar, array = f(np.array(56, "int8"))
    assert type(scalar) is np.int8
    assert scalar == 56
    assert isinstance(array, np.ndarray)


def test_dtypes_are_those_that_pytensor_says():
    x = pt.matrix("x", dtype="uint8")
    made = CholeskySolve(b_ndim=2)(x, x)
    found = pytensor.function([x], made, mode="FRAZIL")(np.eye(2, dtype="uint8"))
    assert found.dtype == made.dtype
    np.testing.assert_array_equal(found, np.eye(2))


@pytest.mark.parametrize("sizes", [[1, 1], [5, -1], [1, 4]])
def test_a_split_is_of_the_whole(sizes):
    known = pytensor.function([m], pt.split(m, sizes, n_splits=2), mode="FRAZIL")
    given = pytensor.function([m, k], pt.split(m, k, n_splits=2), mode="FRAZIL")
    for f, values in ((known, [MATRIX]), (given, [MATRIX, np.array(sizes)])):
        with pytest.raises(ValueError, match="sizes of a split"):
            f(*values)


def test_lengths_of_a_split_may_be_computed():
    rows = m.shape[0]
    f = pytensor.function([m], pt.split(m, [rows - 3, 3], n_splits=2), mode="FRAZIL")
    assert [len(part) for part in f(MATRIX)] == [len(MATRIX) - 3, 3]
    for value in (np.ones((2, 1)), np.ones((0, 1))):  # the first part has a negative length
        with pytest.raises(ValueError, match="sizes of a split"):
            f(value)
    of_all = pytensor.function([m], pt.split(m, [rows, m.shape[1]], n_splits=2), mode="FRAZIL")
    with pytest.raises(ValueError, match="sizes of a split"):
        of_all(MATRIX)


def test_a_gradient_of_a_join_is_split_without_a_check():
    other = pt.dmatrix("other")
    joined = pt.sqr(pt.concatenate([m, pt.exp(other), m], axis=1)).sum()
    f = pytensor.function([m, other], pytensor.grad(joined, [m, other]), mode="FRAZIL")
    assert not f.maker.linker.compiled.checks
    first, second = f(MATRIX, np.zeros((len(MATRIX), 2)))
    np.testing.assert_allclose(first, 4 * MATRIX, rtol=1e-12)
    np.testing.assert_array_equal(second, np.full((len(MATRIX), 2), 2.0))


def test_positions_out_of_bounds_are_errors():
    chosen = pytensor.function([k, m], pt.choose(k, m, mode="raise"), mode="FRAZIL")
    with pytest.raises(ValueError, match="invalid entry"):
        chosen(np.array([0, 4, 0, 0]), MATRIX)


if AXES_ARE_INPUTS:

    def test_axes_out_of_bounds_are_errors():
        joined = pytensor.function([n, m], pt.join(n, m, m), mode="FRAZIL")
        with pytest.raises(ValueError, match="axis is out of bounds"):
            joined(np.array(2), MATRIX)


def test_ops_that_name_a_ufunc_are_that_ufunc():
    class Scaled(UnaryScalarOp):  # as PyMC has some of its own
        nfunc_spec = ("scipy.special.i1e", 1, 1)

    x = pt.dvector("x")
    f = pytensor.function([x], Elemwise(Scaled(upgrade_to_float))(x) + 1, mode="FRAZIL")
    np.testing.assert_allclose(f(VECTOR), scipy.special.i1e(VECTOR) + 1, rtol=1e-14)
    assert len(compiled_function(f).explain().segments) == 1


@pytest.mark.parametrize("value", [True, False])
def test_masks_whose_type_knows_that_they_have_one_element(value):
    one = pt.tensor("one", dtype="bool", shape=(1,))
    outputs = [m[one], m.T[:, one], pt.set_subtensor(m[one], 0.0), pt.inc_subtensor(m[one, 1], v)]
    row, new = np.arange(3.0)[None], np.ones(1 if value else 0)
    found = pytensor.function([m, v, one], outputs, mode="FRAZIL")(row, new, np.array([value]))
    expected = pytensor.function([m, v, one], outputs, mode="FAST_COMPILE")(row, new, [value])
    for own, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(own, theirs, strict=True)
    with pytest.raises((IndexError, ValueError), match="length"):
        pytensor.function([m, one], m[one], mode="FRAZIL")(np.ones((2, 3)), np.array([value]))


def test_factors_and_systems_run_natively():
    """Versions of PyTensor keep their classes in other modules."""
    outputs = [
        *(*pt.linalg.svd(m), pt.linalg.svd(m, compute_uv=False), *pt.linalg.qr(m)),
        *(*pt.linalg.eigh(m), pt.linalg.eigvalsh(m, m), *pt.linalg.eig(m), pt.linalg.pinv(m)),
        *(pt.linalg.cholesky(m), pt.linalg.solve(m, v, b_ndim=1), pt.linalg.inv(m)),
        *(pt.linalg.det(m), *pt.linalg.slogdet(m), pt.linalg.expm(m), pt.linalg.block_diag(m, m)),
        *(pt.linalg.solve_triangular(m, v, b_ndim=1), *pt.linalg.lu_factor(m)),
    ]
    f = pytensor.function([m, v], outputs, mode="FRAZIL")
    assert "PyTensor" not in str(compiled_function(f).explain())
