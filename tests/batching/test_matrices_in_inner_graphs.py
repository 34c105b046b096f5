"""Batches of scans, graph ops and branches with linear algebra inside are loops over elements."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

# What calls LAPACK is the same in all native modes; this one compiles soonest.
MODES = st.sampled_from(["py", "cranelift"])
FEW = settings(max_examples=settings.default.max_examples // 8)
A, B = ft.matrix("A"), ft.matrix("B")
x, z = ft.vector("x"), ft.scalar("z")
INPUTS = {A: (3, 3), B: (3, 3), x: (2,), z: ()}
la = ft.linalg


def positive(a):
    return a @ a.mT + 4 * ft.eye(3)


INNER = {
    "cholesky": lambda a: la.cholesky(positive(a)),
    "inv": lambda a: la.inv(positive(a)),
    "qr": lambda a: la.qr(positive(a), "complete")[1],
    "eigh": lambda a: la.eigh(positive(a))[0] * a,
    "expm": lambda a: la.expm(a / 10),
    "solve": lambda a: la.solve(positive(a), a[0])[:, None] * a,
    "triangle": lambda a: la.solve_triangular(positive(a), a, lower=True),
    "tridiagonal": lambda a: la.solve(positive(a), a, assume_a="tridiagonal"),
    "packed": lambda a: la.solve_banded((1, 1), positive(a), a[:, 0]) * a,
    "lyapunov": lambda a: la.solve_discrete_lyapunov(a / 20, a @ a.mT),
    "riccati": lambda a: la.solve_continuous_are(a / 5, ft.eye(3), ft.eye(3), positive(a)),
    "slogdet": lambda a: la.slogdet(positive(a))[1] * a,
    "pinv": lambda a: la.pinv(a + 4 * ft.eye(3)),
    "lu": lambda a: la.lu_solve(la.lu_factor(positive(a)), a),
    "cond": lambda a: la.cond(positive(a), 1) * a,
    "gradient": lambda a: fz.grad(ft.sum(la.cholesky(positive(a)) ** 2), a),
}


def folded(of, steps=3):
    return fz.scan(
        lambda state, b: of(state) / 8 + b, outputs_info=[A], non_sequences=[B], n_steps=steps
    )[0]


OUTER = {
    "scan": folded,
    "map": lambda of: fz.scan(lambda v, a: of(a * v), sequences=[x], non_sequences=[A])[0] + B,
    "graph op": lambda of: fz.OpFromGraph([A, B], [of(A) + B])(A, B * z),
    "branch": lambda of: fz.ifelse(z > 0, of(A), B),
    "scan in a branch": lambda of: fz.ifelse(z > 0, folded(of)[-1], of(B)),
    "scan in a graph op": lambda of: fz.OpFromGraph([A, B], [folded(of, 2)[-1]])(A * z, B),
}


@given(st.data(), MODES, st.sampled_from([*INNER]), st.sampled_from([*OUTER]))
@FEW
def test_batches_are_loops(data, mode, inner, outer):
    output = OUTER[outer](INNER[inner])
    over = data.draw(st.sets(st.sampled_from([*INPUTS]), min_size=1))
    size = data.draw(st.sampled_from([1, 2, 3]))
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    batches = {v: ft.tensor(shape=(None,) * (1 + v.ndim)) for v in over}
    whole = fz.vectorize(output, batches)
    given = [rng.normal(size=(size,) * (v in over) + INPUTS[v]) for v in INPUTS]
    inputs = [batches.get(v, v) for v in INPUTS]
    found = fz.function(inputs, whole, mode=mode, on_unused_input="ignore")(*given)
    one = fz.function([*INPUTS], output, mode="py", on_unused_input="ignore")
    each = [
        one(*(array[at] if v in over else array for v, array in zip(INPUTS, given, strict=True)))
        for at in range(size)
    ]
    # Where the output does not depend on what is replaced, there is no batch.
    expected = each[0] if whole is output else np.stack(each)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
