"""Programs of the C linker call Python for nothing but ops of users."""

import inspect
from dataclasses import dataclass

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil import FrozenApply
from frazil.tensor import assert_

DTYPES = ["float64", "float32", "float16", "int64", "uint64", "int16", "uint8", "bool"]

# NumPy knows which numbers of 16 bits follow each other, and counts ranges of them.
OF_NUMPY = {"float16": {"ARange{float16}", "nextafter"}}


@dataclass(frozen=True)
class Given:
    """What functions are applied to: inputs whose lengths no type knows."""

    m: fz.Variable
    v: fz.Variable
    s: fz.Variable
    k: fz.Variable  # positions
    n: fz.Variable  # a number of something


def given(dtype):
    return Given(
        ft.tensor("m", dtype=dtype, shape=(None, None)),
        ft.tensor("v", dtype=dtype, shape=(None,)),
        ft.tensor("s", dtype=dtype, shape=()),
        ft.lvector("k"),
        ft.lscalar("n"),
    )


def of_one(function):
    return lambda g: function(g.m)


def of_two(function):
    return lambda g: function(g.m, g.v)


def of_order(function):
    return lambda g: function(2.0, g.m)


CALLS = {
    **{name: of_order(getattr(ft, name)) for name in ("iv", "ive", "jv", "kv", "kve", "yv")},
    "zeta": of_order(ft.zeta),
    "argpartition": lambda g: ft.argpartition(g.m, 0),
    "block": lambda g: ft.block([[g.m, g.m], [g.v]]),
    "compress": lambda g: ft.compress(g.k > 0, g.m, 0),
    "convolve2d": lambda g: ft.convolve2d(g.m, g.m),
    "correlate2d": lambda g: ft.correlate2d(g.m, g.m),
    "pad odd": lambda g: ft.pad(g.m, 2, "reflect", reflect_type="odd"),
    "diag_indices": lambda g: ft.diag_indices(g.n),
    "gradient": lambda g: [*ft.gradient(g.m, g.v, 2.0), ft.gradient(g.v, edge_order=2)],
    "lexsort": lambda g: ft.lexsort([g.m, g.m]),
    "nanpercentile": lambda g: ft.nanpercentile(g.m, 30, 0),
    "nanquantile": lambda g: ft.nanquantile(g.m, 0.3, 0, "lower"),
    "partition": lambda g: ft.partition(g.m, 0),
    "polyadd": lambda g: ft.polyadd(g.v, g.k),
    "polyder": lambda g: ft.polyder(g.v),
    "polyint": lambda g: ft.polyint(g.v),
    "polysub": lambda g: ft.polysub(g.v, g.k),
    "polyval": lambda g: ft.polyval(g.v, g.m),
    "trapezoid": lambda g: ft.trapezoid(g.m, g.v),
    "unique": lambda g: [ft.unique(g.m, True, True, True, 0)[0], ft.unique(g.v)],
    "append": lambda g: ft.append(g.m, g.m, 1),
    "avg_pool": lambda g: ft.avg_pool(g.m, 2),
    "bincount": lambda g: [ft.bincount(g.k), ft.bincount(g.k, ft.cast(g.k, "float64"))],
    "conv1d": lambda g: ft.conv1d(g.m[None], g.m[None], 2, 1),
    "conv2d": lambda g: ft.conv2d(g.m[None, None], g.m[None, None]),
    "convolve": lambda g: ft.convolve(g.v, g.v),
    "correlate": lambda g: ft.correlate(g.v, g.v),
    "delete": lambda g: [ft.delete(g.v, g.k), ft.delete(g.m, slice(1, g.n), 0)],
    "digitize": lambda g: ft.digitize(g.m, g.v),
    "histogram": lambda g: ft.histogram(g.m, 3),
    "histogram_bin_edges": lambda g: ft.histogram_bin_edges(g.m, 3),
    "insert": lambda g: [ft.insert(g.v, g.k, g.s), ft.insert(g.m, g.n, g.s, 0)],
    "interp": lambda g: ft.interp(g.m, g.v, g.v),
    "max_pool": lambda g: ft.max_pool(g.m, 2),
    "pad": lambda g: [
        *(ft.pad(g.m, 1, mode=mode) for mode in ("constant", "edge", "wrap", "reflect")),
        *(ft.pad(g.m, 1, mode=mode) for mode in ("linear_ramp", "mean", "median")),
    ],
    "ravel_multi_index": lambda g: ft.ravel_multi_index((g.k, g.k), (g.n, 3)),
    "sliding_window_view": lambda g: ft.sliding_window_view(g.v, g.n),
    "unravel_index": lambda g: ft.unravel_index(g.k, (g.n, 3)),
    "alloc": lambda g: ft.alloc(g.s, g.n, 2),
    "arange": lambda g: [ft.arange(g.s), ft.arange(g.s, g.s + 3, g.s), ft.arange(0, g.n, 2)],
    "betainc": lambda g: ft.betainc(g.m, g.v, g.s),
    "betaincinv": lambda g: ft.betaincinv(g.m, g.v, g.s),
    "hyp2f1": lambda g: ft.hyp2f1(g.m, g.v, g.s, g.m),
    "multigammaln": lambda g: ft.multigammaln(g.m, 2),
    "yn": lambda g: ft.yn(2, g.m),
    "argmax": lambda g: [ft.argmax(g.m), ft.argmax(g.m, 0)],
    "argmin": lambda g: [ft.argmin(g.m), ft.argmin(g.m, 0)],
    "assert_": lambda g: [assert_(g.m, g.v > 1, g.n > 0), assert_(g.m, g.n > 0) * 2],
    "as_tensor": lambda g: ft.as_tensor(g.v, "float64"),
    "as_tensor_variable": lambda g: ft.as_tensor_variable(g.v) * 1,
    "astype": lambda g: ft.astype(g.v, "float32"),
    "batched_dot": lambda g: [ft.batched_dot(g.m[None], g.m[None]), ft.batched_dot(g.m, g.m)],
    "broadcast_arrays": lambda g: ft.broadcast_arrays(g.m[:1], g.v),
    "broadcastable_at_run_time": lambda g: ft.broadcastable_at_run_time(g.v, 0, g.n),
    "broadcast_to": lambda g: ft.broadcast_to(g.s, (g.n, 3)),
    "cast": lambda g: ft.cast(g.v, "int8"),
    "check_parameters": lambda g: ft.check_parameters(g.m, g.v > 1),
    "clip": lambda g: ft.clip(g.m, 1, g.v),
    "concatenate": lambda g: ft.concatenate([g.m, g.m[::-1]], 1),
    "constant": lambda g: ft.constant([1, 2]),
    "cumulative_prod": lambda g: ft.cumulative_prod(g.m, axis=0),
    "cumulative_sum": lambda g: ft.cumulative_sum(g.m, axis=1, include_initial=True),
    "diag": lambda g: [ft.diag(g.m), ft.diag(g.v, 1)],
    "diagonal": lambda g: ft.diagonal(g.m, 1),
    "diff": lambda g: ft.diff(g.v),
    "dimshuffle": lambda g: ft.dimshuffle(g.m, 1, "x", 0),
    "dot": lambda g: [ft.dot(g.m, g.v), ft.dot(g.m, g.m)],
    "dsplit": lambda g: ft.dsplit(g.m[:, None], [1, 2]),
    "einsum": lambda g: [ft.einsum("ij,j->i", g.m, g.v), ft.einsum("ij,ik,i", g.m, g.m, g.v)],
    "empty": lambda g: ft.empty((g.n, 2)),
    "expand_dims": lambda g: ft.expand_dims(g.v, 1),
    "eye": lambda g: ft.eye(g.n, g.n + 1, 1),
    "fill_diagonal": lambda g: ft.fill_diagonal(g.m, g.s),
    "flip": lambda g: ft.flip(g.m, 0),
    "full": lambda g: ft.full((g.n, 2), g.s),
    "full_like": lambda g: ft.full_like(g.m, 1),
    "horizontal_stack": lambda g: ft.horizontal_stack(g.m, g.m),
    "hstack": lambda g: ft.hstack([g.m, g.m]),
    "identity_like": lambda g: ft.identity_like(g.m),
    "inc_subtensor": lambda g: [
        ft.inc_subtensor(g.m[1:], g.s),
        ft.inc_subtensor(g.v[g.k], g.s),
        ft.inc_subtensor(g.m[g.k, g.k], g.s),
    ],
    "matrix_transpose": of_one(ft.matrix_transpose),
    "matmul": lambda g: [ft.matmul(g.m, g.v), ft.matmul(g.m[None], g.m)],
    "mean": lambda g: ft.mean(g.m, 0),
    "moveaxis": lambda g: ft.moveaxis(g.m, 0, 1),
    "ones": lambda g: ft.ones((g.n, 2)),
    "outer": lambda g: ft.outer(g.v, g.v),
    "permute_dims": lambda g: ft.permute_dims(g.m, (1, 0)),
    "polygamma": lambda g: ft.polygamma(2, g.m),
    "put_along_axis": lambda g: ft.put_along_axis(g.v, g.k, g.s, 0),
    "repeat": lambda g: [ft.repeat(g.m, 2, 0), ft.repeat(g.v, g.k), ft.repeat(g.m, g.n)],
    "reshape": lambda g: [ft.reshape(g.m, (-1, 2)), ft.reshape(g.m.T, (g.n, -1))],
    "roll": lambda g: ft.roll(g.m, 1, 0),
    "round": lambda g: ft.round(g.m),
    "searchsorted": lambda g: ft.searchsorted(g.v, g.m),
    "set_subtensor": lambda g: [
        ft.set_subtensor(g.m[1:], g.s),
        ft.set_subtensor(g.v[g.k], g.s),
        ft.set_subtensor(g.v[g.v > 1], g.s),
    ],
    "shape": lambda g: ft.shape(g.m),
    "size": lambda g: ft.size(g.m),
    "specify_shape": lambda g: ft.specify_shape(g.m, (g.n, 2)),
    "split": lambda g: ft.split(g.v, [2, 3]),
    "squeeze": lambda g: ft.squeeze(g.m[:1], 0),
    "specify_broadcastable": lambda g: ft.specify_broadcastable(g.m, 0),
    "split_dims": lambda g: ft.split_dims(g.m, (g.n, -1)),
    "stack": lambda g: ft.stack([g.m, g.m], 1),
    "swapaxes": lambda g: ft.swapaxes(g.m, 0, 1),
    "switch": lambda g: ft.switch(g.m > 1, g.m, g.v),
    "take": lambda g: [ft.take(g.v, g.k), ft.take(g.m, g.k, 1), g.m[g.k], g.m[:, g.k, None]],
    "take_along_axis": lambda g: ft.take_along_axis(g.v, g.k, 0),
    "tensordot": lambda g: ft.tensordot(g.m, g.m, 1),
    "tile": lambda g: ft.tile(g.m, (g.n, 2)),
    "transpose": of_one(ft.transpose),
    "tri": lambda g: ft.tri(g.n),
    "vander": lambda g: ft.vander(g.v, 3),
    "vecmat": lambda g: ft.vecmat(g.v, g.m),
    "vertical_stack": lambda g: ft.vertical_stack(g.m, g.m),
    "vstack": lambda g: ft.vstack([g.m, g.m]),
    "where": lambda g: ft.where(g.m > 1, g.v, g.m),
    "zeros": lambda g: ft.zeros((g.n, 2)),
    "join": lambda g: ft.join(1, g.m, g.m),
    "linalg.cho_solve": lambda g: ft.linalg.cho_solve((g.m, True), g.v),
    "linalg.cho_factor": lambda g: ft.linalg.cho_factor(g.m)[0],
    "linalg.hankel": lambda g: ft.linalg.hankel(g.v, g.v),
    "linalg.khatri_rao": lambda g: ft.linalg.khatri_rao(g.m, g.m),
    "linalg.toeplitz": lambda g: ft.linalg.toeplitz(g.v, g.v),
    "linalg.cond": lambda g: [ft.linalg.cond(g.m), ft.linalg.cond(g.m, 1)],
    "linalg.solve_banded": lambda g: ft.linalg.solve_banded((1, 1), g.m, g.v),
    "linalg.tensorinv": lambda g: ft.linalg.tensorinv(g.m, 1),
    "linalg.tensorsolve": lambda g: ft.linalg.tensorsolve(g.m, g.v),
    "linalg.matrix_power": lambda g: ft.linalg.matrix_power(g.m, 3),
    "linalg.multi_dot": lambda g: ft.linalg.multi_dot([g.v, g.m, g.m]),
    "linalg.qr": lambda g: [*ft.linalg.qr(g.m), ft.linalg.qr(g.m, "r")],
    "linalg.svd": lambda g: [*ft.linalg.svd(g.m, False), ft.linalg.svd(g.m)[1]],
    "linalg.lu_solve": lambda g: ft.linalg.lu_solve(ft.linalg.lu_factor(g.m), g.v),
    "linalg.solve": lambda g: [
        ft.linalg.solve(g.m, g.v, assume_a=kind)
        for kind in ("gen", "pos", "lower triangular", "tridiagonal", "banded", "diagonal")
    ],
    "linalg.solve_triangular": lambda g: ft.linalg.solve_triangular(g.m, g.v),
}

INPUTS = {
    *("matrix", "matrices", "row", "col", "scalar", "scalars", "tensor", "tensor3", "tensor4"),
    *("vector", "vectors"),
    *(letter + kind for letter in "bdfilw" for kind in ("matrix", "scalar", "vector")),
}


PYTHON = {
    *("complex", "sort_complex", "linalg.eig", "linalg.eigvals"),  # no kernels of complex numbers
    *("linalg.expm", "linalg.solve_continuous_are", "linalg.solve_continuous_lyapunov"),
    *("linalg.solve_discrete_are", "linalg.solve_discrete_lyapunov", "linalg.solve_sylvester"),
}
"""What SciPy and NumPy compute: the docstrings of the ops, and the docs, say why."""

OF_TYPES = {"can_cast", "result_type"}
"""What answers while a graph is written, and builds none."""


def functions():
    """Return how each is applied: to one operand or two unless :data:`CALLS` says how."""
    found = {}
    for prefix, module in (("", ft), ("linalg.", ft.linalg)):
        for name, function in vars(module).items():
            if name[0] == "_" or inspect.isclass(function) or not inspect.isfunction(function):
                continue
            if prefix + name in INPUTS | PYTHON | OF_TYPES:
                continue
            if prefix and vars(ft).get(name) is function:
                continue  # the same under two names
            parameters = inspect.signature(function).parameters.values()
            needed = [p for p in parameters if p.default is p.empty and p.kind < p.KEYWORD_ONLY]
            plain = of_two if len(needed) == 2 else of_one
            found[prefix + name] = CALLS.get(prefix + name, plain(function))
    return found


def outputs_of(apply, g):
    """Return a list of what comes out; nothing where the dtype is refused."""
    try:
        made = apply(g)
    except TypeError as refusal:
        if "argument" in str(refusal):  # of Python, about the call
            raise
        return []
    return list(made) if isinstance(made, list | tuple) else [made]


def calls_of_python(outputs, g):
    """Return the ops that a function of these outputs leaves to Python."""
    inputs = [g.m, g.v, g.s, g.k, g.n]
    f = fz.function(inputs, outputs, mode="c", on_unused_input="ignore")
    return {
        node.op
        for segment in f.explain().segments
        for node in segment.nodes
        if any(" = call " in text for text in segment.instructions)
    }


@pytest.mark.parametrize("dtype", DTYPES)
def test_no_function_calls_python(dtype):
    g = given(dtype)
    outputs = {name: outputs_of(apply, g) for name, apply in functions().items()}
    assert sum(map(bool, outputs.values())) > 50
    called = calls_of_python([x for made in outputs.values() for x in made], g)
    assert {*map(str, called)} == OF_NUMPY.get(dtype, set())


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_no_gradient_calls_python(dtype):
    g = given(dtype)
    gradients = []
    for name, apply in functions().items():
        for output in outputs_of(apply, g):
            if np.dtype(output.dtype).kind != "f":
                continue
            cost = ft.sum(output * ft.cos(output))
            try:
                gradients += fz.grad(cost, [g.m, g.v, g.s], disconnected_inputs="ignore")
            except fz.NotDifferentiableError:
                assert name in {"linalg.lu_factor"}
    assert len(gradients) > 200
    assert {*map(str, calls_of_python(gradients, g))} == OF_NUMPY.get(dtype, set())


@dataclass(frozen=True)
class Halved(fz.Op):
    """One of a user."""

    def make_node(self, x):
        return FrozenApply(self, [x], [x.type])

    def perform(self, node, inputs):
        return (inputs[0] / 2,)

    def infer_shape(self, node, input_shapes):
        return input_shapes


def test_an_op_of_a_user_does():
    g = given("float64")
    assert calls_of_python([Halved()(g.m) + 1, ft.exp(g.m)], g) == {Halved()}
