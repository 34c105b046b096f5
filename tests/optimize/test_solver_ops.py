"""The ops are values: equal ones are one, distinct ones never merge; bad input is told of."""

import copy
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.compile.inner import rewrite_inner_graph
from frazil.compile.mode import find_linker
from frazil.optimize import Minimize, Root, minimize, minimize_scalar, root, root_scalar
from frazil.optimize.options import freeze_options, thaw_options


def squares(power=2, **arguments):
    x, a = ft.vector("x"), ft.vector("a")
    solution, _ = root(x**power - a, x, **arguments)
    return solution


def test_equal_ones_are_one_object():
    op = squares().owner.op
    assert isinstance(op, Root)
    assert squares().owner.op is op
    with fz.Container():
        assert squares().owner.op is op
    assert squares(
        optimizer_kwargs={"tol": 1e-9, "options": {"xtol": 1e-8, "maxfev": 9}}
    ).owner.op is (
        squares(optimizer_kwargs={"options": {"maxfev": 9, "xtol": 1e-8}, "tol": 1e-9}).owner.op
    )


def test_distinct_ones_never_merge():
    ops = {
        squares().owner.op,
        squares(3).owner.op,
        squares(method="lm").owner.op,
        squares(jac=False).owner.op,
        squares(optimizer_kwargs={"tol": 1e-9}).owner.op,
    }
    assert len(ops) == len({op.digest for op in ops}) == 5
    x, a = ft.vector("x"), ft.vector("a")
    two, three = root(x**2 - a, x)[0], root(x**3 - a, x)[0]
    f = fz.function([x, a], [two, three])
    np.testing.assert_allclose(f([1.0], [64.0]), [[8.0], [4.0]], rtol=1e-8)


def test_they_come_back_from_bytes_text_and_copies():
    solution = squares()
    x, a = solution.owner.inputs
    op = solution.owner.op
    assert pickle.loads(pickle.dumps(op)) is copy.deepcopy(op) is op
    graph = fz.FrozenFunctionGraph([x, a], [solution])
    assert fz.FrozenFunctionGraph.parse(str(graph)) is graph
    assert pickle.loads(pickle.dumps(graph)) is graph
    f = fz.function([x, a], solution)
    for g in (copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        np.testing.assert_allclose(g([1.0], [9.0]), [3.0], rtol=1e-8)


def test_a_pickle_is_read_without_the_package_loaded():
    solution = squares()
    f = fz.function(list(solution.owner.inputs), solution)
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer)([1.0], [9.0]).round(6))"
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(f), capture_output=True)
    assert done.stdout == b"[3.]\n", done.stderr


def test_the_graph_is_made_better_by_another_op():
    x, a = ft.vector("x"), ft.vector("a")
    solution, _ = minimize(ft.sum(ft.log(1 + ft.exp(x * 1)) - a * x), x)
    op = solution.owner.op
    better = rewrite_inner_graph(op, find_linker("c"))
    assert isinstance(better, Minimize)
    assert better is not op
    assert solution.owner.op is op
    assert "softplus" in str(better.fgraph)
    f = fz.function([x, a], solution)
    np.testing.assert_allclose(f([0.0], [0.5]), [0.0], atol=1e-6)


def test_many_threads_compile_and_call_the_same():
    solution = squares(5)
    x, a = solution.owner.inputs
    given = np.arange(1.0, 9.0)
    expected = given**0.2
    barrier, wrong = threading.Barrier(8), []

    def work(mode):
        try:
            barrier.wait()
            for _ in range(3):
                f = fz.function([x, a], [solution, fz.grad(solution.sum(), a)], mode=mode)
                for _ in range(5):
                    found, slope = f(np.ones(8), given)
                    np.testing.assert_allclose(found, expected, rtol=1e-6)
                    np.testing.assert_allclose(slope, expected / (5 * given), rtol=1e-6)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(mode,)) for mode in ["c", "py"] * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_options_come_back():
    given = {"tol": 1e-3, "bounds": [(0, None), (1.5, 2)], "options": {"disp": False, "name": "a"}}
    thawed = thaw_options(freeze_options(given))
    assert thawed == {**given, "bounds": [[0, None], [1.5, 2]]}
    assert freeze_options({"x": np.array([1.0, 2.0]), "n": np.int64(3)}) == freeze_options(
        {"n": 3, "x": [1.0, 2.0]}
    )
    with pytest.raises(TypeError, match=r"optimizer_kwargs\['callback'\] must be made of numbers"):
        freeze_options({"callback": print})


def test_bad_problems_are_told_of():
    x, a, k = ft.vector("x"), ft.vector("a"), ft.lvector("k")
    y = ft.scalar("y")
    with pytest.raises(TypeError, match=r"objective must be one number.*sum"):
        minimize(x - a, x)
    with pytest.raises(TypeError, match="objective must be floating-point"):
        minimize(ft.sum(k), x)
    with pytest.raises(ValueError, match="objective does not depend on a of type"):
        minimize(ft.sum(x**2), a)
    with pytest.raises(TypeError, match="solves for floats; given k"):
        minimize(ft.sum(k * 1.0), k)
    with pytest.raises(TypeError, match="x must be a variable; given 1"):
        minimize(ft.sum(x), 1)
    with pytest.raises(ValueError, match="something to solve for"):
        minimize(ft.sum(x), [])
    with pytest.raises(ValueError, match="hess=True needs jac=True"):
        minimize(ft.sum(x**2), x, jac=False, hess=True)
    with pytest.raises(ValueError, match="needs a static length"):
        minimize(ft.sum(x**2), x, hess=True, use_vectorized_jac=True)
    with pytest.raises(TypeError, match="solves for one number"):
        minimize_scalar(ft.sum(x**2), x)
    with pytest.raises(ValueError, match="pass bracket as an argument of its own"):
        minimize_scalar(y**2, y, optimizer_kwargs={"bracket": [0, 1]})
    with pytest.raises(TypeError, match="bounds must be a vector"):
        minimize_scalar(y**2, y, bounds=1.0)
    with pytest.raises(TypeError, match="one equation in one number"):
        root_scalar(x**2, x)
    with pytest.raises(ValueError, match="hess=True needs jac=True"):
        root_scalar(y**2, y, hess=True)
    with pytest.raises(ValueError, match="as many equations as unknowns; given 2"):
        root(ft.stack([y, y]), y)
    with pytest.raises(TypeError, match="equation must be floating-point"):
        root(k, x)
    with pytest.raises(ValueError, match="equation does not depend on a"):
        root(x, a)


def test_a_missing_variable_is_named():
    x, a = ft.vector("x"), ft.vector("a")
    solution, _ = minimize(ft.sum((x - a) ** 2), x)
    with pytest.raises(fz.MissingInputError, match="a"):
        fz.function([x], solution)


def test_operands_must_have_their_types():
    op = squares().owner.op
    x = ft.vector("x")
    with pytest.raises(TypeError, match="takes 2 operands; given 1"):
        op(x)
    with pytest.raises(TypeError, match=r"operand 1 of Root.* must have type"):
        op(x, ft.matrix("m"))


def test_what_goes_wrong_inside_is_told(mode):
    y, a = ft.scalar("y"), ft.scalar("a")
    solution, _ = root_scalar(y**2 + a, y, method="brentq", bracket=[0.0, 1.0])
    with pytest.raises(ValueError, match="different signs"):
        fz.function([y, a], solution, mode=mode)(0.0, 1.0)
    x, b = ft.vector("x"), ft.matrix("b")
    solution, _ = root(ft.linalg.cholesky(b) @ x - 1, x)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        fz.function([x, b], solution, mode=mode)(np.ones(2), -np.eye(2))
