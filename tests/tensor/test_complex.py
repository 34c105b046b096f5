"""Complex numbers: NumPy's results in all linkers, gradients, and ops that refuse them."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

LINKERS = ["py", "c", "cranelift", "numba", "debug"]
UNARY = {
    **{name: getattr(np, name) for name in ("abs", "angle", "conj", "real", "imag", "negative")},
    **{name: getattr(np, name) for name in ("exp", "expm1", "log", "log1p", "log2", "log10")},
    **{
        name: getattr(np, name) for name in ("sqrt", "square", "sign", "isnan", "isinf", "isfinite")
    },
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: getattr(np, name) for name in ("arcsin", "arccos", "arctan", "arcsinh", "arccosh")},
    "arctanh": np.arctanh,
    "sum": np.sum,
    "prod": np.prod,
    "mean": np.mean,
    "cumsum": np.cumsum,
    "flip": np.flip,
    "round": np.round,
    "transpose": np.transpose,
}
BINARY = {
    name: getattr(np, name)
    for name in ("add", "subtract", "multiply", "divide", "power", "equal", "not_equal")
}
NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-3, 2.5]),
    st.floats(-10, 10),
)


@cache
def compiled(linker, dtype, other):
    x, y = ft.matrix("x", dtype=dtype), ft.matrix("y", dtype=other)
    results = [getattr(ft, name)(x) for name in UNARY]
    results += [getattr(ft, name)(x, y) for name in BINARY]
    results += [
        x[1:, ::-1],
        ft.concatenate([x, y]),
        ft.where(ft.isnan(y), x, y),
        x.T.reshape((-1,)),
        *ft.nonzero(x),
    ]
    return fz.function([x, y], results, mode=linker)


def expected(a, b):
    with np.errstate(all="ignore"):
        results = [function(a) for function in UNARY.values()]
        results += [function(a, b) for function in BINARY.values()]
        joined = np.concatenate([a, b])
        return [
            *results,
            a[1:, ::-1],
            joined,
            np.where(np.isnan(b), a, b),
            a.T.reshape(-1),
            *np.nonzero(a),
        ]


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize("linker", LINKERS[:4])
@settings(max_examples=12, deadline=None)
@given(st.data())
def test_results_are_numpys(linker, data):
    dtype = data.draw(st.sampled_from(["complex64", "complex128"]))
    other = data.draw(st.sampled_from([dtype, "float32"]))
    shape = data.draw(st.sampled_from([(2, 3), (0, 2), (1, 3), (3, 1), (2, 0)]))
    count = int(np.prod(shape))
    parts = [
        np.array(data.draw(st.lists(NUMBERS, min_size=count, max_size=count)), float)
        for _ in range(3)
    ]
    a = np.empty((shape[0], 2 * shape[1]), dtype)[:, ::2]
    if data.draw(st.booleans()):
        a = a[::-1, ::-1]
    with np.errstate(over="ignore"):
        a.real, a.imag = parts[0].reshape(shape), parts[1].reshape(shape)
        b = np.asfortranarray(parts[2].reshape(shape).astype(other))
    found = compiled(linker, dtype, other)(a, b)
    names = [*UNARY, *BINARY, "part", "join", "where", "reshape", "nonzero", "nonzero"]
    for name, own, numpys in zip(names, found, expected(a, b), strict=True):
        assert own.dtype == numpys.dtype, name
        if name in ("mean", "angle", "sum", "prod", "power"):
            np.testing.assert_allclose(own, numpys, rtol=2e-4 if dtype == "complex64" else 1e-12)
        else:
            np.testing.assert_array_equal(own, numpys, err_msg=name)


def test_debug_mode_finds_nothing_wrong():
    a = np.array([[1 + 2j, -3j], [0.5, -1.0]])
    found = compiled("debug", "complex128", "complex128")(a, a)
    for own, numpys in zip(found, expected(a, a), strict=True):
        np.testing.assert_allclose(own, numpys, rtol=1e-14)


DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES += ["float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("other", DTYPES)
def test_promotion_is_numpys(dtype, other):
    x, y = ft.vector("x", dtype=dtype), ft.vector("y", dtype=other)
    assert (x + y).dtype == np.promote_types(dtype, other).name == (y * x).dtype
    assert (x == x) is True
    assert (x * 2).dtype == (x * 2.5).dtype == (x + 1j).dtype == dtype
    wanted = np.result_type(np.zeros(1, other), 1j).name
    # There is no float16: NumPy goes from integers of 8 bits through it to complex64 or beyond.
    assert (y + 1j).dtype == wanted
    assert (y + 1j).eval({y: np.ones(1, other)}).tolist() == [1 + 1j]


def test_numbers_arrays_and_arguments_convert_as_numpy_has_it():
    z, w = ft.vector("z", dtype="complex64"), ft.matrix("w", dtype="complex128")
    assert ft.constant(1 + 2j).dtype == "complex128"
    assert ft.as_tensor([1j, 2]).eval().tolist() == [1j, 2]
    f = fz.function([z], z.cumsum(), mode="c")
    assert f([1, 2.5, 1j]).tolist() == [1, 3.5, 3.5 + 1j]
    with pytest.raises(TypeError, match="must be complex64"):
        f(np.zeros(1, "complex128"))
    with pytest.raises(TypeError, match="must be float64"):
        fz.function([x := ft.vector("x")], x)([1j])
    # Four bytes behind a place for eight: aligned for complex64, not for complex128.
    moved = np.zeros(9, "float32")[1:].view("complex64")
    moved[:] = [1, 2j, 3, 4]
    assert fz.function([z], [z, z[::2]], mode="c")(moved)[1].tolist() == [1, 3]
    same = fz.function([w], w.T, mode="c")
    assert same(np.array([[1j, 2]])).tolist() == [[1j], [2]]
    assert fz.pp(z * 2j) == "z * 2j"
    assert fz.FrozenFunctionGraph([z], [z * (1 - 2j) + [1j, 2]]).digest


def test_graphs_of_complex_numbers_pickle_and_print_as_text():
    import pickle

    z = ft.vector("z", dtype="complex128")
    graph = fz.FrozenFunctionGraph([z], [ft.exp(z) * (np.nan - 2j) + [1j, -0.0]])
    assert pickle.loads(pickle.dumps(graph)) is graph
    f = pickle.loads(pickle.dumps(fz.function([z], z * 1j, mode="c")))
    assert f([1j]).tolist() == [-1]


def rational(z):
    return (z * z + 1) / (z - 3j)


@pytest.mark.parametrize(
    "function",
    [
        *(rational, ft.exp, ft.log, ft.sqrt, ft.sin, ft.tanh, ft.arctan, ft.arcsinh, ft.log1p),
        *(ft.conj, ft.abs, ft.angle, ft.sign, ft.square, ft.reciprocal, ft.expm1, ft.cos),
        lambda z: z**3 + 2.0**z + z ** (1 + 1j),
        lambda z: ft.prod(z) * ft.sum(z) * ft.mean(z),
        lambda z: ft.set_subtensor(z[1:], 2j * z[0]).cumsum(),
        lambda z: ft.concatenate([z, z[::-1] * 2j])[[0, 2, 2]] * ft.real(z)[0],
        lambda z: ft.outer(z, z) @ z + ft.vdot(z, z * 1j),
        lambda z: ft.var(z) + ft.linalg.norm(z),
        lambda z: ft.complex(ft.imag(z), ft.real(z) * 2),
        lambda z: ft.where(ft.real(z) > 0, z, z * z),
    ],
)
def test_gradients_are_those_of_finite_differences_in_both_parts(function):
    def of_parts(x, y):
        result = function(x + 1j * y)
        return ft.real(result * (0.7 - 0.2j)) + ft.imag(result * (0.3 + 1.1j))

    verify_grad(of_parts, [np.array([0.4, -0.8, 1.3]), np.array([1.1, 0.6, -0.7])], mode="py")


def test_a_gradient_is_that_by_the_real_part_less_i_times_that_by_the_imaginary_part():
    z, x = ft.vector("z", dtype="complex128"), ft.vector("x")
    cost = (ft.real(z) * 2 + ft.imag(z) * 3 + ft.imag(x * z)).sum()
    by_z, by_x = fz.grad(cost, [z, x])
    f = fz.function([z, x], [by_z, by_x], on_unused_input="ignore")
    found = f([1 + 2j], [5.0])
    assert found[0].tolist() == [2 - 3j - 5j]
    assert found[1].tolist() == [2.0]
    assert (by_z.dtype, by_x.dtype) == ("complex128", "float64")
    with pytest.raises(TypeError, match="the cost must be real"):
        fz.grad(z.sum(), z)
    # Where a size is zero, so is its gradient.
    at_zero = fz.grad(ft.abs(z).sum(), z).eval({z: [0j]})
    assert at_zero.tolist() == [0]


Z = ft.matrix("z", dtype="complex128")


@pytest.mark.parametrize(
    "build",
    [
        *(ft.max, ft.min, ft.argmax, ft.floor, ft.erf),
        *(ft.sigmoid, ft.gammaln, ft.cov, ft.corrcoef, ft.softmax, ft.logsumexp),
        *(ft.cbrt, ft.exp2, ft.signbit, ft.nanmax, ft.ptp),
        lambda z: z < 1,
        lambda z: z // 2,
        lambda z: z % 2,
        lambda z: z & True,
        lambda z: ft.maximum(z, 0),
        lambda z: ft.clip(z, 0, 1),
        lambda z: ft.arctan2(z, 1.0),
        lambda z: ft.hypot(z, z),
        lambda z: ft.logaddexp(z, z),
        lambda z: ft.cast(z, "float64"),
        lambda z: ft.cast(z, "int8"),
        lambda z: ft.set_subtensor(ft.matrix("x")[0], z[0]),
        lambda z: ft.arange(z[0, 0]),
        lambda z: ft.complex(z, 1.0),
        lambda z: ft.fft.rfft(z),
        lambda z: ft.linalg.solve_discrete_are(z, z, z, z),
    ],
)
def test_what_has_no_rule_for_complex_numbers_refuses_them_when_it_is_built(build):
    with pytest.raises(TypeError, match=r"complex|imaginary"):
        build(Z)


def test_rules_of_real_numbers_do_not_touch_complex_ones():
    z = ft.vector("z", dtype="complex128")
    a = np.array([1 + 2j, -3.0 - 4j])
    results = [ft.abs(z) ** 2, ft.log(ft.exp(z * 3)), ft.sqrt(z * z), ft.exp(ft.log(z)), z - z]
    found = fz.function([z], results, mode="c")(a)
    wanted = [np.abs(a) ** 2, np.log(np.exp(a * 3)), np.sqrt(a * a), np.exp(np.log(a)), a - a]
    for own, numpys in zip(found, wanted, strict=True):
        np.testing.assert_allclose(own, numpys, rtol=1e-14)


def test_ops_of_ones_own_take_complex_numbers_if_they_say_so():
    from dataclasses import dataclass

    class Twice(fz.Op):
        def make_node(self, x):
            return fz.FrozenApply(self, [x], [x.type])

        def perform(self, node, inputs):
            return (inputs[0] * 2,)

    @dataclass(frozen=True, eq=False)
    class Thrice(Twice):
        takes_complex = True

    @dataclass(frozen=True, eq=False)
    class NoComplex(Twice):
        pass

    with pytest.raises(TypeError, match=r"has no rule for complex numbers.*takes_complex = True"):
        NoComplex()(Z)
    assert fz.function([Z], Thrice()(Z), mode="c")([[1j]]).tolist() == [[2j]]


@pytest.mark.parametrize("linker", LINKERS[:2])
def test_products_are_numpys(linker):
    a, b = np.array([[1 + 2j, 3], [0, -1j]]), np.array([1j, 2.0])
    x, y = ft.matrix("x", dtype="complex128"), ft.vector("y", dtype="complex128")
    results = [x @ y, x @ x, ft.vdot(y, y), ft.vecdot(x, y), ft.linalg.norm(x), ft.var(x)]
    results += [ft.outer(y, y), ft.einsum("ij,j->i", x, y), ft.linalg.norm(y, 1), ft.trace(x)]
    results += [ft.isclose(x, y), ft.allclose(x, x + 1e-9j), ft.matvec(x, y), ft.vecmat(y, x)]
    results += [ft.correlate(y, y, "full"), ft.convolve(y, y), ft.std(x, 0), ft.tensordot(x, x)]
    wanted = [a @ b, a @ a, np.vdot(b, b), np.vecdot(a, b), np.linalg.norm(a), np.var(a)]
    wanted += [np.outer(b, b), a @ b, np.linalg.norm(b, 1), np.trace(a)]
    wanted += [np.isclose(a, b), np.array(True), np.matvec(a, b), np.vecmat(b, a)]
    wanted += [np.correlate(b, b, "full"), np.convolve(b, b), np.std(a, 0), np.tensordot(a, a)]
    found = fz.function([x, y], results, mode=linker)(a, b)
    for own, numpys in zip(found, wanted, strict=True):
        assert own.dtype == numpys.dtype
        np.testing.assert_allclose(own, numpys, rtol=1e-14)


def test_batches_are_as_loops():
    z, batch = ft.vector("z", dtype="complex128"), ft.matrix("zs", dtype="complex128")
    values = np.array([[1 + 1j, 2.0], [3j, -1.0]])
    result = ft.abs(ft.exp(z) * z[::-1]).sum() + ft.real(ft.fft.fft(z))[0]
    found = fz.vectorize(result, {z: batch}).eval({batch: values})
    one = fz.function([z], result)
    np.testing.assert_allclose(found, [one(row) for row in values], rtol=1e-14)


def test_shared_variables_and_updates_hold_complex_numbers():
    total = fz.shared(np.zeros(2, complex))
    f = fz.function([], total * 1j, updates={total: total + (1 + 1j)}, mode="c")
    f()
    assert f().tolist() == [-1 + 1j] * 2
    assert total.get_value().tolist() == [2 + 2j] * 2


def test_numpys_functions_of_complex_variables():
    z = ft.vector("z", dtype="complex128")
    a = np.array([1 + 2j, 3.0])
    for function in (np.real, np.imag, np.angle, np.conj, np.iscomplex, np.isreal, np.fft.fft):
        np.testing.assert_allclose(function(z).eval({z: a}), function(a))
    assert (np.iscomplexobj(z), np.isrealobj(z)) in [(True, False), (False, True)]


@pytest.mark.parametrize(
    "name", ["nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nancumsum", "nan_to_num"]
)
@pytest.mark.parametrize("linker", ["py", "c"])
def test_nan_in_either_part_is_left_out_as_in_numpy(name, linker):
    values = np.array([1 + 2j, complex(np.nan, 1), 3 - 1j, complex(0, np.nan), -2j])
    z = ft.vector("z", dtype="complex128")
    found = fz.function([z], getattr(ft, name)(z), mode=linker)(values)
    wanted = getattr(np, name)(values)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_explanations_show_calls_for_complex_numbers(mode):
    x = ft.vector("x")
    f = fz.function([x], ft.exp(ft.cast(x, "complex128") * 1j), mode=mode)
    assert f([0.0]).tolist() == [1.0]
    assert "cast{complex128}" in str(f.explain())
