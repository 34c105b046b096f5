"""NumPy's functions, called with variables, build graphs of what NumPy computes."""

import importlib
import inspect
import operator

import numpy as np
import pandas as pd
import pytest
import scipy.special
from numpy.testing import assert_allclose, assert_array_equal
from numpy.testing.overrides import get_overridable_numpy_array_functions

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.absent import IN_MODULES_OF_NUMPY, IN_NUMPY
from frazil.tensor.dispatch import counterpart


def place(function):
    """Where the function is: "linalg.inv"."""
    module = function.__module__.removeprefix("numpy").strip(".")
    return f"{module}.{function.__name__}" if module else function.__name__


FUNCTIONS = {place(function): function for function in get_overridable_numpy_array_functions()}
UFUNCS = {key: value for key, value in vars(np).items() if isinstance(value, np.ufunc)}

MISSING = {
    *("i0", "frexp", "gcd", "lcm", "ldexp"),
    *("unique_all", "unique_counts", "unique_inverse", "unique_values"),
}
"""What may be missing yet."""


def state_of(function):
    try:
        counterpart(function)
    except TypeError as error:
        return "missing" if "no function of this name" in str(error) else "explained"
    return "here"


@pytest.mark.parametrize("name", sorted({*FUNCTIONS, *UFUNCS} - {"matmul"}))
def test_each_function_is_here_or_it_is_said_why_not(name):
    function = UFUNCS.get(name) or FUNCTIONS[name]
    state = state_of(function)
    if state == "missing":
        assert name in MISSING
    else:
        module = name.removeprefix("lib.").split(".")[0]
        known = name in IN_NUMPY or module in IN_MODULES_OF_NUMPY
        assert state == "here" or known


def test_what_is_explained_is_in_numpy():
    for module in IN_MODULES_OF_NUMPY:
        inner = "lib." if module in ("recfunctions", "scimath") else ""
        importlib.import_module(f"numpy.{inner}{module}")
    for name in IN_NUMPY:
        module, _, attribute = f"numpy.{name}".rpartition(".")
        assert callable(getattr(importlib.import_module(module), attribute)), name


A = np.array([[4.0, 1.0, 2.0], [1.0, 5.0, 0.5], [2.0, 0.5, 6.0]])
V = np.array([1.0, -2.5, 3.5])
NAN = np.array([np.nan, 1.0, np.inf])
K = np.array([[0, 2, 1], [1, 0, 2], [2, 1, 0]])
CALLS = {
    "arange": [],  # of numbers, and one variable: below
    "array_split": [lambda f: f(V, 2), lambda f: f(A, [1, 2], axis=1)],
    "array_equiv": [lambda f: f(V, A), lambda f: f(V, A * 0 + V)],
    "argpartition": [lambda f: f(np.sort(V), 1), lambda f: f(np.sort(V), kth=1, axis=None)],
    "astype": [lambda f: f(A, "float32", copy=False)],
    "can_cast": [lambda f: f(A, "float32"), lambda f: f(K, "int8", casting="same_kind")],
    "atleast_3d": [lambda f: f(A), lambda f: f(A, V)],
    "average": [lambda f: f(A, axis=0), lambda f: f(A, weights=A)],
    "append": [lambda f: f(A, V), lambda f: f(A, A, axis=0)],
    "bincount": [lambda f: f(K[0]), lambda f: f(K[0], V, minlength=5)],
    "compress": [lambda f: f([True, False], A, axis=1), lambda f: f(V > 0, A, 0)],
    "convolve": [lambda f: f(V, V), lambda f: f(a=V, v=V[:2], mode="same")],
    "correlate": [lambda f: f(V, V), lambda f: f(V, V[:2], mode="full")],
    "delete": [lambda f: f(A, 1), lambda f: f(A, [0, 2], axis=1)],
    "diag_indices_from": [lambda f: f(A)],
    "diagflat": [lambda f: f(A), lambda f: f(V, k=-1)],
    "digitize": [lambda f: f(A, np.sort(V)), lambda f: f(x=A, bins=np.sort(V), right=True)],
    "ediff1d": [lambda f: f(A), lambda f: f(V, to_end=1.0, to_begin=[2.0, 3.0])],
    "extract": [lambda f: f(A > 1, A)],
    "gradient": [lambda f: f(A), lambda f: f(A, 2.0, np.sort(V), edge_order=2)],
    "histogram": [lambda f: f(A), lambda f: f(np.float32(A), bins=3, range=(0, 5))],
    "histogram_bin_edges": [lambda f: f(A), lambda f: f(A, 3)],
    "insert": [lambda f: f(A, 1, 7.0), lambda f: f(A, [0, 2], V[:2, None], axis=0)],
    "interp": [lambda f: f(A, np.sort(V), V), lambda f: f(A, np.sort(V), fp=V, left=0.0)],
    "intersect1d": [lambda f: f(A, V), lambda f: f(K, K[0] + 1, return_indices=True)],
    "isin": [lambda f: f(A, V), lambda f: f(K, [0, 1], invert=True)],
    "lib.stride_tricks.sliding_window_view": [lambda f: f(A, (2, 2)), lambda f: f(A, 2, axis=1)],
    "pad": [
        lambda f: f(A, 1),
        lambda f: f(A, ((1, 2), (0, 1)), "edge"),
        lambda f: f(V, 2, constant_values=(4, 5)),
        lambda f: f(V, 2, "linear_ramp", end_values=3),
        lambda f: f(V, (1, 2), "mean", stat_length=2),
    ],
    "ravel_multi_index": [lambda f: f((K[0], K[1]), (3, 3)), lambda f: f((K[0],), (2,), "clip")],
    "unique": [
        lambda f: f(A, axis=1, return_counts=True),
        lambda f: f(K),
        lambda f: f(V, True, True, return_counts=True),
        lambda f: f(V, sorted=False),
    ],
    "unravel_index": [lambda f: f(K, (3, 3)), lambda f: f(K, shape=(3, 2), order="F")],
    "block": [lambda f: f([[A, A], [V, V]]), lambda f: f([V, 1.0])],
    "broadcast_arrays": [lambda f: f(A, V), lambda f: f(A, V, subok=False)],
    "broadcast_to": [lambda f: f(V, (2, 3)), lambda f: f(array=V, shape=(2, 3))],
    "choose": [lambda f: f(K, [A, A, A])],
    "clip": [
        lambda f: f(A, 1, 2),
        lambda f: f(A, a_min=1, a_max=2),
        lambda f: f(A, min=1),
        lambda f: f(A, None, V, out=None),
    ],
    "column_stack": [lambda f: f([V, V])],
    "concatenate": [lambda f: f([A, A]), lambda f: f((A, A), 1), lambda f: f([A, A], axis=None)],
    "cumulative_prod": [lambda f: f(A, axis=0)],
    "cumulative_sum": [lambda f: f(A, axis=0, include_initial=True)],
    "dsplit": [lambda f: f(A[:, None], [1, 2])],
    "dstack": [lambda f: f([A, A])],
    "empty": [],
    "empty_like": [],
    "expand_dims": [lambda f: f(A, 1), lambda f: f(a=A, axis=(0, 1))],
    "eye": [],
    "full": [],
    "full_like": [lambda f: f(A, 2.0), lambda f: f(A, fill_value=1, dtype="int64", order="C")],
    "geomspace": [lambda f: f(np.abs(V), 4.0, num=4), lambda f: f(NAN[:2], 4.0)],
    "hsplit": [lambda f: f(A, 3)],
    "hstack": [lambda f: f([A, A])],
    "identity": [],
    "inner": [lambda f: f(A, V)],
    "lexsort": [lambda f: f(A, axis=0)],
    "linspace": [lambda f: f(V, 4.0, num=4), lambda f: f(np.float32(V), 4, 3)],
    "logspace": [lambda f: f(V, 4.0, num=4)],
    "mean": [lambda f: f(A), lambda f: f(A, 0, None, None, True), lambda f: f(a=A, axis=(0, 1))],
    "meshgrid": [lambda f: f(V, A[0]), lambda f: f(V, A[0], indexing="ij", copy=False)],
    "moveaxis": [lambda f: f(A, 0, 1)],
    "nan_to_num": [lambda f: f(NAN), lambda f: f(NAN, True, 1.0, posinf=2.0)],
    "nanpercentile": [lambda f: f(NAN, 30), lambda f: f(A, [30, 70], axis=0, method="lower")],
    "nanquantile": [lambda f: f(NAN[:2], 0.3), lambda f: f(A, [0.3, 0.7], axis=0)],
    "ones": [],
    "partition": [lambda f: f(V, 1), lambda f: f(np.sort(A, None), kth=3, kind="introselect")],
    "percentile": [lambda f: f(A, 30), lambda f: f(A, [30, 70], axis=0, method="lower")],
    "polyadd": [lambda f: f(V, K[0]), lambda f: f(V, V[1:])],
    "polyder": [lambda f: f(V), lambda f: f(V, m=2)],
    "polyint": [lambda f: f(V), lambda f: f(V, m=2, k=[1.0, 2.0])],
    "polysub": [lambda f: f(V, V[1:])],
    "polyval": [lambda f: f(V, A)],
    "quantile": [lambda f: f(A, 0.3), lambda f: f(A, [0.3, 0.7], axis=0, keepdims=True)],
    "ravel": [lambda f: f(A), lambda f: f(A.T, order="C")],
    "repeat": [lambda f: f(A, 2), lambda f: f(A, [1, 2, 0], axis=0)],
    "reshape": [lambda f: f(A, (1, 9)), lambda f: f(A, shape=-1), lambda f: f(A, 9, "C")],
    "roll": [lambda f: f(A, 1), lambda f: f(A, 1, axis=0)],
    "searchsorted": [lambda f: f(np.sort(V), A), lambda f: f(np.sort(V), v=A, side="right")],
    "select": [lambda f: f([A > 1, A > 4], [A, -A], default=3.0)],
    "size": [lambda f: f(A), lambda f: f(A, 1)],
    "setdiff1d": [lambda f: f(A, V), lambda f: f(V, A, assume_unique=True)],
    "sort": [lambda f: f(A), lambda f: f(A, 0, kind="stable"), lambda f: f(a=A, axis=None)],
    "split": [lambda f: f(A, 3), lambda f: f(A, [1, 2], axis=1)],
    "stack": [lambda f: f([A, A]), lambda f: f((A, A), axis=1)],
    "std": [lambda f: f(A), lambda f: f(A, 0, None, None, 1), lambda f: f(A, ddof=1, axis=1)],
    "sum": [
        lambda f: f(A),
        lambda f: f(a=A, axis=0, keepdims=True),
        lambda f: f(A, (0, 1), "float32"),
        lambda f: f(A, 1, None, None, True),
        lambda f: f(A, 1, initial=3, where=A > 1),
    ],
    "max": [lambda f: f(A), lambda f: f(A, initial=0, where=A > 1, axis=0)],
    "diff": [lambda f: f(A), lambda f: f(A, prepend=0.0, axis=0)],
    "swapaxes": [lambda f: f(A, 0, 1)],
    "take": [lambda f: f(A, K, mode="wrap"), lambda f: f(A, K), lambda f: f(A, [0, 1], axis=1)],
    "take_along_axis": [lambda f: f(A, K), lambda f: f(A, K, axis=0), lambda f: f(V, K[0], -1)],
    "tensordot": [lambda f: f(A, A), lambda f: f(A, A, axes=([0], [1]))],
    "tile": [lambda f: f(A, 2), lambda f: f(A, reps=(2, 1))],
    "transpose": [lambda f: f(A), lambda f: f(A, (1, 0)), lambda f: f(A, axes=(0, 1))],
    "trapezoid": [lambda f: f(A, V), lambda f: f(A, dx=0.5, axis=0)],
    "tri": [],
    "tril": [lambda f: f(A), lambda f: f(A, k=1)],
    "unwrap": [lambda f: f(A), lambda f: f(K, axis=0, period=3)],
    "unstack": [lambda f: f(A), lambda f: f(A, axis=1)],
    "vander": [lambda f: f(V), lambda f: f(V, N=2, increasing=True)],
    "var": [
        lambda f: f(A),
        lambda f: f(A, 0, None, None, 1),
        lambda f: f(A, correction=0.5, where=A > 1, axis=1),
    ],
    "vsplit": [lambda f: f(A, 3)],
    "vstack": [lambda f: f([A, A])],
    "where": [lambda f: f(A > 1, A, V), lambda f: f(A > 1)],
    "zeros": [],
    "linalg.cholesky": [lambda f: f(A), lambda f: f(A, upper=True)],
    "einsum": [lambda f: f("ij,jk->k", A, A), lambda f: f("i,i", V, V, optimize=True)],
    "linalg.eigh": [lambda f: f(A), lambda f: f(A, UPLO="U")],
    "linalg.cond": [lambda f: f(A), lambda f: f(A, "fro"), lambda f: f(A, p=-2)],
    "linalg.tensorinv": [lambda f: f(A, ind=1)],
    "linalg.tensorsolve": [lambda f: f(A, V), lambda f: f(A, V, axes=(0,))],
    "linalg.lstsq": [lambda f: f(A, V), lambda f: f(A, A, rcond=0.1)],
    "linalg.matrix_norm": [lambda f: f(A), lambda f: f(A, ord="nuc", keepdims=True)],
    "linalg.matrix_power": [lambda f: f(A, 3)],
    "linalg.multi_dot": [lambda f: f([A, A, V])],
    "linalg.pinv": [lambda f: f(A), lambda f: f(A, rcond=0.1), lambda f: f(A, hermitian=True)],
    "linalg.qr": [lambda f: f(A), lambda f: f(A, mode="r")],
    "linalg.svd": [lambda f: f(A), lambda f: f(A, False), lambda f: f(A, compute_uv=False)],
    "linalg.vector_norm": [lambda f: f(A), lambda f: f(A, axis=0, ord=1)],
    "linalg.cross": [lambda f: f(A, V)],
    "linalg.diagonal": [lambda f: f(A, offset=1)],
    "linalg.norm": [lambda f: f(A), lambda f: f(A, 1), lambda f: f(A, axis=0, keepdims=True)],
    "linalg.outer": [lambda f: f(V, V)],
    "linalg.trace": [lambda f: f(A, offset=1), lambda f: f(A, dtype="float32")],
    "linalg.vecdot": [lambda f: f(A, V)],
    "cross": [lambda f: f(A, V), lambda f: f(A, A, axis=0)],
    "diag": [lambda f: f(A), lambda f: f(V, 1)],
    "trace": [lambda f: f(A, 1)],
    "fliplr": [lambda f: f(A)],
}
"""Calls of functions whose arguments are not all matrices."""

VALUELESS = {"array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray"}
"""Functions that take variables as ``like=`` only."""

HERE = [name for name in FUNCTIONS if state_of(FUNCTIONS[name]) == "here"]


def default_calls(function):
    """A call by a matrix in each place that must be filled."""
    parameters = inspect.signature(function).parameters.values()
    needed = [
        one for one in parameters if one.default is one.empty and one.kind is not one.VAR_KEYWORD
    ]
    return [lambda f: f(*[A] * len(needed))]


def computed(value):
    """What was built, computed."""
    if isinstance(value, fz.Variable):
        return fz.function([], value, mode="py")()
    if isinstance(value, tuple | list):
        return [computed(one) for one in value]
    return value


def on_variables(call, function):
    """The call with a constant in place of each array."""

    def replaced(one):
        if isinstance(one, np.ndarray):
            return ft.constant(one)
        return [replaced(each) for each in one] if type(one) in (list, tuple) else one

    def called(*args, **kwargs):
        return function(*map(replaced, args), **{k: replaced(v) for k, v in kwargs.items()})

    return computed(call(called))


def assert_same(built, expected):
    if isinstance(expected, tuple | list):
        assert len(built) == len(expected)
        for one, other in zip(built, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, type | np.dtype):
        assert built is expected
    else:
        assert np.asarray(built).dtype == np.asarray(expected).dtype
        assert_allclose(built, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", sorted(set(HERE) - VALUELESS))
def test_a_function_builds_what_numpy_computes(name):
    function = FUNCTIONS[name]
    for call in CALLS.get(name) or default_calls(function) * (name not in CALLS):
        assert_same(on_variables(call, function), call(function))


@pytest.mark.parametrize("name", sorted(UFUNCS))
@pytest.mark.parametrize("kind", ["f", "i", "b"])
def test_a_ufunc_builds_what_numpy_computes(name, kind):
    ufunc = UFUNCS[name]
    if state_of(ufunc) != "here":
        return
    values = {"f": [A / 7, A / 7 + 0.1], "i": [K, K + 1], "b": [A > 1, A > 3]}[kind]
    operands = values[: ufunc.nin]
    try:
        with np.errstate(all="ignore"):
            expected = ufunc(*operands)
    except TypeError:
        return
    outputs = expected if isinstance(expected, tuple) else (expected,)
    if any(output.dtype in ("float16", "int8") for output in outputs) or name == "reciprocal":
        return  # docs/differences.md
    assert_same(on_variables(lambda f: f(*operands), ufunc), expected)


def test_methods_of_ufuncs():
    for call in (
        lambda f: f(np.add.reduce)(A),
        lambda f: f(np.add.reduce)(A, axis=None),
        lambda f: f(np.maximum.reduce)(A, 1, keepdims=True),
        lambda f: f(np.logical_and.reduce)(A > 1),
        lambda f: f(np.multiply.accumulate)(A, axis=1),
        lambda f: f(np.subtract.outer)(V, A),
    ):
        built = call(lambda f: lambda x, *args, **kwargs: f(ft.constant(x), *args, **kwargs))
        assert_same(computed(built), call(lambda f: f))
    with pytest.raises(TypeError, match=r"inc_subtensor"):
        np.add.at(ft.vector(), [0], 1)


def test_makers_of_arrays_like_a_variable():
    x = ft.vector("x")
    assert np.zeros((2, 3), like=x).type.shape == (2, 3)
    assert np.asarray([1.0, 2.0], like=x) is ft.constant([1.0, 2.0])
    assert np.array([1, 2], dtype="float32", like=x) is ft.constant([1, 2], "float32")
    assert np.arange(3, like=x).type.shape == (3,)
    assert np.eye(2, M=3, like=x).type.shape == (2, 3)
    assert x[0] in np.full(2, x[0], like=x).owner.inputs


def test_operators_of_arrays_build_graphs():
    x = ft.vector("x", shape=(3,))
    for left in (V, np.float64(2), np.int64(3), pd.Series(V)):
        for built, same in (
            (left + x, ft.add(left, x)),
            (left * x, ft.mul(left, x)),
            (left**x, ft.pow(left, x)),
            (left < x, x > left),
        ):
            assert built.type == same.type
            assert_array_equal(built.eval({x: V}), same.eval({x: V}))
    assert_array_equal((A @ x).eval({x: V}), A @ V)
    assert np.add(pd.Series(V), x).type == x.type
    assert np.add(x, pd.Series(V)).type == x.type
    assert_array_equal(operator.eq(V, x).eval({x: V}), [True] * 3)  # as NumPy's np.equal


def test_ufuncs_of_scipy():
    x = ft.vector("x")
    assert scipy.special.expit(x) is ft.expit(x)
    with pytest.raises(TypeError, match=r"scipy.special.ellipj takes arrays"):
        scipy.special.ellipj(x, x)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: np.add(x, 1, out=np.zeros(3)), r"np.add of variables takes no out="),
        (lambda x: np.sum(x, out=np.zeros(())), r"np.sum of variables takes no out="),
        (lambda x: np.add(x, 1, where=[True]), r"np.add of variables takes no where=.*ft.where"),
        (lambda x: np.add(x, 1, dtype="float32"), r"takes no dtype=.*astype"),
        (lambda x: np.ravel(x, order="K"), r"no layout of memory, which order 'K' asks for"),
        (lambda x: np.nan_to_num(x, copy=False), r"takes no copy=.*does not change"),
        (lambda x: np.fill_diagonal(x, 0), r"ft.fill_diagonal"),
        (lambda x: np.put(x, [0], 1), r"ft.set_subtensor"),
        (lambda x: np.lib.scimath.sqrt(x), r"complex depends on values"),
        (lambda x: np.real_if_close(x), r"complex depends on values"),
        (lambda x: np.frompyfunc(len, 1, 1)(x), r"no function of this name"),
        (lambda x: np.bitwise_xor.reduce(x), r"fz.reduce"),
        (lambda x: np.pad(x, 1, median=2), r"no median="),
    ],
)
def test_what_cannot_be_is_said(call, message):
    with pytest.raises(TypeError, match=message):
        call(ft.vector("x"))


def test_a_message_names_the_function_that_was_called():
    for call in (lambda x: np.sum(x, axis=3), lambda x: np.add.reduce(x, axis=3)):
        with pytest.raises(np.exceptions.AxisError, match=r"^sum takes axes from -1 to 0"):
            call(ft.vector("x"))


def test_an_array_cannot_become_a_graph_in_place():
    total = np.zeros(3)
    with pytest.raises(TypeError, match=r"write a = a \+ x"):
        total += ft.vector("x")


def test_a_class_of_higher_priority_comes_first():
    class Other:
        __array_priority__ = 2000

        def __array_ufunc__(self, function, method, *inputs, **kwargs):
            return "other"

        def __array_function__(self, function, types, args, kwargs):
            return "others"

    x = ft.vector("x")
    assert np.add(x, Other()) == np.add(Other(), x) == "other"
    assert np.concatenate([x, Other()]) == "others"


def test_the_line_that_called_numpy_is_the_nodes():
    x = ft.vector("x", shape=(3,))
    f = fz.function([x], np.linalg.solve(np.outer(x, x), x))
    with pytest.raises(np.linalg.LinAlgError, match=r"test_numpy_functions\.py"):
        f(V)
