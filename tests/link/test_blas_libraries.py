"""Where BLAS and LAPACK come from: NumPy's own library with 64-bit integers, else SciPy's."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from frazil import _core
from frazil.link.toolchain.blas import BLAS, LAPACK, routines_of_numpy, routines_of_scipy

EACH = [precision + routine for routine in (*BLAS, *LAPACK) for precision in "sd"]

EVERY_ROUTINE = """
    import sys, numpy as np, frazil as fz, frazil.tensor as ft
    from frazil.link.toolchain import blas

    asked = []
    if {without}:
        blas.routines_of_numpy = lambda names: None
    scipys = blas.routines_of_scipy
    blas.routines_of_scipy = lambda names, part: asked.append(part) or scipys(names, part)

    rng = np.random.default_rng(0)
    for dtype, near in (("float64", 1e-11), ("float32", 1e-3)):
        a = rng.normal(size=(30, 30)).astype(dtype)
        b = rng.normal(size=(30, 17)).astype(dtype)
        v = rng.normal(size=30).astype(dtype)
        A, B, V = (ft.as_tensor(value).type(name) for value, name in ((a, "A"), (b, "B"), (v, "V")))
        spd = A.T @ A + 30 * ft.eye(30, dtype=dtype)
        lower = ft.linalg.cholesky(spd)
        outputs = [
            A @ B, A.T @ B, A @ V, V @ V, A + ft.outer(V, V), A @ A.T,
            lower, ft.linalg.solve_triangular(lower, B, lower=True),
            ft.linalg.solve_triangular(lower, V, lower=True), ft.linalg.solve(A, B),
            ft.linalg.slogdet(A)[1], *fz.grad(lower.sum() + ft.linalg.det(A / 10), [A]),
        ]
        fast = fz.function([A, B, V], outputs, mode="c", on_unused_input="ignore")(a, b, v)
        slow = fz.function([A, B, V], outputs, mode="py", on_unused_input="ignore")(a, b, v)
        for one, other in zip(fast, slow, strict=True):
            np.testing.assert_allclose(one, other, rtol=near, atol=near * np.abs(other).max())
    print(*asked)
"""


@pytest.mark.parametrize("without", [False, True], ids=["numpy", "scipy"])
def test_each_library_gives_the_same(without):
    script = textwrap.dedent(EVERY_ROUTINE).format(without=without)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    own = routines_of_numpy(EACH) is not None
    expected = "" if own and not without else "cython_blas cython_lapack"
    assert run.stdout.strip() == expected


def test_numpys_own_releases_have_every_routine():
    """Where NumPy calls an OpenBLAS of its own, that is what programs call, too."""
    built = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    found = routines_of_numpy(EACH)
    own = built["name"] == "scipy-openblas" and sys.platform != "win32"
    assert (found is not None) == own
    assert found is None or (list(found) == EACH and all(found.values()))


def test_routines_that_nobody_has():
    assert routines_of_numpy(["no_such_routine"]) is None
    with pytest.raises(KeyError):
        routines_of_scipy(["no_such_routine"], "cython_blas")
    with pytest.raises(ValueError, match="bits must be 32 or 64, given 16"):
        _core.set_routines({}, bits=16)


def test_blas_leaves_scipy_as_it_was():
    script = (
        "import sys, numpy as np, frazil as fz, frazil.tensor as ft\n"
        "from frazil.link.toolchain import blas\n"
        "blas.routines_of_numpy = lambda names: None\n"
        "x = ft.matrix()\n"
        "square = fz.function([x], x @ x)(np.eye(2) * 2)\n"
        "assert 'scipy.linalg' not in sys.modules\n"
        "import scipy.linalg\n"
        "from scipy.linalg import cython_blas\n"
        "assert scipy.linalg.cython_blas is cython_blas\n"
        "assert (scipy.linalg.inv(square) == np.eye(2) / 4).all()\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True)
