"""float16: kept as such, computed with in float32, and rounded once an op; NumPy's values."""

import copy
import pickle
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import frazil as fz
import frazil.tensor as ft
from frazil import _core
from frazil.scalar import TABLE, Elementary

MODES = ("py", "c", "cranelift", "numba")
ALL = np.arange(1 << 16, dtype="uint16").view("float16")
INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]


def half(name="x", *, ndim=1):
    return ft.tensor(name, dtype="float16", shape=(None,) * ndim)


def between():
    """Numbers that lie on, and beside, the ties of all numbers of 16 bits."""
    finite = np.sort(ALL[np.isfinite(ALL)].astype("float64"))
    ties = (finite[1:] + finite[:-1]) / 2
    beside = [np.nextafter(ties, -np.inf), np.nextafter(ties, np.inf)]
    wide = [65519.999, 65520, 65520.001, 1e10, 1e300, 2.0**-25, 2.0**-26, 1e-300, 5e-324]
    special = [*wide, np.inf, np.nan, 0.0]
    return np.concatenate([finite, ties, *beside, special, np.negative(special)])


def same(found, expected):
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    zeros = expected == 0
    np.testing.assert_array_equal(np.signbit(found[zeros]), np.signbit(expected[zeros]))


def test_all_numbers_become_wider_and_come_back(mode):
    x = half()
    outputs = [x.astype("float64"), x.astype("float32"), x.astype("bool")]
    f = fz.function([x], [*outputs, *(y.astype("float16") for y in outputs)], mode=mode)
    with np.errstate(all="ignore"):
        wide = [ALL.astype(y.dtype) for y in outputs]
        for found, expected in zip(
            f(ALL), [*wide, *(a.astype("float16") for a in wide)], strict=True
        ):
            same(found, expected)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_numbers_between_are_rounded_once(mode, dtype):
    x = ft.vector("x", dtype=dtype)
    with np.errstate(all="ignore"):
        values = between().astype(dtype)
        found = fz.function([x], x.astype("float16"), mode=mode)(values)
        same(found, values.astype("float16"))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(mode, dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    values = [*range(-3000, 3000), *(2**k + d for k in range(64) for d in (-1, 0, 1)), low, high]
    array = np.array([value for value in values if low <= value <= high], dtype)
    x = ft.vector("x", dtype=dtype)
    with np.errstate(all="ignore"):
        expected = array.astype("float16")
        same(fz.function([x], x.astype("float16"), mode=mode)(array), expected)
        h = half()
        kept = expected[np.abs(expected) <= min(high, 60000)]
        kept = kept[kept >= low]
        same(fz.function([h], h.astype(dtype), mode=mode)(kept), kept.astype(dtype))


ARITHMETIC = ("add", "sub", "mul", "truediv", "minimum", "maximum", "sqrt", "abs", "neg", "rint")
ARITHMETIC += ("floor", "ceil", "trunc", "sign", "lt", "eq", "isnan", "copysign", "nextafter")


@given(hnp.arrays("uint16", (2, 50), elements=st.integers(0, 2**16 - 1)))
@settings(max_examples=10)
def test_single_ops_have_numpys_bits(bits):
    arrays = [*bits.view("float16")]
    with np.errstate(all="ignore"):
        expected = [TABLE[name].ufunc(*arrays[: TABLE[name].nin]) for name in ARITHMETIC]
    for mode in MODES:
        for found, wanted in zip(arithmetic(mode)(*arrays), expected, strict=True):
            same(found, wanted)


@cache
def arithmetic(mode):
    """The function of all these ops."""
    x, y = half("x"), half("y")
    outputs = [_core.elemwise(Elementary(name), *[x, y][: TABLE[name].nin]) for name in ARITHMETIC]
    return fz.function([x, y], outputs, mode=mode)


OF_FLOATS = [
    name
    for name in sorted(TABLE.keys() - {"cast"})
    if TABLE[name].rule not in ("bitwise", "shift", "complex") and name != "nextafter"
]


def test_all_ops_have_the_bits_of_float32_rounded(mode):
    rng = np.random.default_rng(1)
    values = [rng.uniform(0.1, 0.9, 40).astype("float16") for _ in range(4)]
    made = {}
    for dtype in ("float16", "float32"):
        inputs = [ft.tensor(f"x{at}", dtype=dtype, shape=(None,)) for at in range(4)]
        outputs = []
        for name in OF_FLOATS:
            op = Elementary(name)
            given = inputs[: op.nin]
            if name == "where":
                given[0] = given[0] < 0.5
            outputs.append(_core.elemwise(op, *given))
        made[dtype] = fz.function(inputs, outputs, mode=mode)(*[a.astype(dtype) for a in values])
    assert len(OF_FLOATS) > 90
    for name, found, wide in zip(OF_FLOATS, *made.values(), strict=True):
        expected = wide.astype("float16") if wide.dtype == "float32" else wide
        assert found.dtype == expected.dtype, name
        np.testing.assert_array_equal(found, expected, err_msg=name)


NAMES = ("add", "subtract", "multiply", "maximum", "negative", "where")


@st.composite
def chains(draw):
    """Steps on three vectors, as functions that work for variables and for arrays alike."""
    steps = []
    for _ in range(draw(st.integers(1, 6))):
        name = draw(st.sampled_from(NAMES))
        steps.append((name, draw(st.lists(st.integers(0, 20), min_size=3, max_size=3))))
    return steps


def follow(steps, values, module):
    values = list(values)
    for name, at in steps:
        a, b, c = (values[k % len(values)] for k in at)
        if name == "where":
            values.append(module.where(a < b, b, c))
        elif name == "negative":
            values.append(-a)
        else:
            values.append(getattr(module, name)(a, b))
    return values[3:]


@given(
    chains(),
    st.sampled_from(["float16", "float32", "int8", "int16", "bool"]),
    hnp.arrays("uint16", (2, 33), elements=st.integers(0, 2**16 - 1)),
)
@settings(max_examples=20)
def test_fused_steps_are_rounded_one_by_one(steps, dtype, bits):
    rng = np.random.default_rng(len(steps))
    x, y = bits.view("float16")
    z = rng.integers(0, 2, 33).astype(dtype)
    inputs = [half("x"), half("y"), ft.tensor("z", dtype=dtype, shape=(None,))]
    with np.errstate(all="ignore"):
        try:
            expected = follow(steps, (x, y, z), np)
        except TypeError:
            return  # NumPy has no difference of bools
        for mode in MODES:
            outputs = follow(steps, inputs, ft)
            f = fz.function(inputs, outputs, mode=mode, on_unused_input="ignore")
            found = f(x, y, z)
            for one, wanted in zip(found, expected, strict=True):
                assert one.dtype == wanted.dtype
                np.testing.assert_array_equal(one, wanted)


def test_sums_are_rounded_once(mode):
    x = half(ndim=2)
    array = np.random.default_rng(2).uniform(-1, 3, (70, 300)).astype("float16")
    names = ("sum", "prod", "max", "min", "mean", "var", "std", "cumsum", "cumprod")
    outputs = [getattr(ft, name)(x, axis=1) for name in names]
    for name, found in zip(names, fz.function([x], outputs, mode=mode)(array), strict=True):
        with np.errstate(all="ignore"):
            exact = getattr(np, name)(array.astype("float32"), axis=1).astype("float16")
        assert found.dtype == "float16"
        np.testing.assert_allclose(found, exact, rtol=1e-3, atol=1e-6)
    large = np.full((2, 3000), 60000, "float16")
    y = half(ndim=2)
    f = fz.function([y], [ft.mean(y, axis=1), ft.sum(y, axis=1), ft.std(y)], mode=mode)
    mean, total, spread = f(large)
    np.testing.assert_array_equal(mean, [60000, 60000])
    np.testing.assert_array_equal(total, [np.inf, np.inf])
    assert spread == 0
    assert fz.function([y], ft.sum(y * 0 + 1, axis=1), mode=mode)(large)[0] == 3000


def test_what_moves_elements(mode):
    x, i = half(ndim=2), ft.lvector("i")
    array = ALL[15000:15024].reshape(4, 6).copy()
    at = np.array([3, 0, 0, -1])

    def apply(x, i, module):
        yield x[1:, ::-2]
        yield x.T
        yield x.reshape((-1,))
        yield module.concatenate([x, x[:2]], axis=0)
        yield module.stack([x, x], axis=1)
        yield x[i]
        yield x[i, i]
        yield module.where(x > 1, x, -x)
        yield module.broadcast_to(x[0], (3, 6))
        yield module.diagonal(x)
        yield module.sort(x, axis=0)
        yield module.argsort(x, axis=1)
        yield module.argmax(x, axis=1)
        yield module.repeat(x, 2, axis=0)
        yield module.tril(x)
        yield module.nonzero(x > 0)[1]
        yield module.nonzero(x[0])[0]
        yield module.full((2, 3), x[0, 0])
        yield module.roll(x, 1, axis=1)
        yield module.equal(x, x[0, 1])
        yield x @ x.T

    found = fz.function([x, i], list(apply(x, i, ft)), mode=mode)(array, at)
    for one, wanted in zip(found, apply(array, at, np), strict=True):
        assert one.dtype == wanted.dtype
        np.testing.assert_array_equal(one, wanted)


def test_what_changes_elements(mode):
    x, i = half(), ft.lvector("i")
    array, at = np.linspace(0, 9, 10).astype("float16"), np.array([1, 1, 7])
    outputs = [x[2:4].set(x[:2]), x[2:4].inc(0.1), x[i].set(5.0), x[i].inc(x[:3] + 0.1)]
    put, more, chosen, added = fz.function([x, i], outputs, mode=mode)(array, at)
    expected = array.copy()
    expected[2:4] = array[:2]
    np.testing.assert_array_equal(put, expected)
    expected = array.copy()
    expected[2:4] += np.float16(0.1)
    np.testing.assert_array_equal(more, expected)
    expected = array.copy()
    expected[at] = 5
    np.testing.assert_array_equal(chosen, expected)
    wide = array.astype("float32")
    np.add.at(wide, at, (array[:3] + np.float16(0.1)).astype("float32"))
    np.testing.assert_array_equal(added, wide.astype("float16"))
    assert {one.dtype.name for one in (put, more, chosen, added)} == {"float16"}


def test_gradients(mode):
    x, y = half("x", ndim=2), half("y")
    cost = ft.sum(ft.tanh(x * y) + x[1:].sum(axis=0)) + ft.dot(x, y).sum() + x[[0, 0]].sum()
    gradients = fz.grad(cost, [x, y])
    assert [g.dtype for g in gradients] == ["float16", "float16"]
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(3, 5)).astype("float16"), rng.normal(size=5).astype("float16")
    found = fz.function([x, y], gradients, mode=mode)(a, b)
    wide_x, wide_y = ft.matrix("x"), ft.vector("y")
    wide = fz.graph_replace([cost], {x: wide_x.astype("float16"), y: wide_y.astype("float16")})[0]
    expected = fz.function([wide_x, wide_y], fz.grad(wide, [wide_x, wide_y]), mode=mode)(a, b)
    for one, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-2, atol=1e-2)


def test_shared_variables_updates_and_scans(mode):
    total = fz.shared(np.zeros(3, "float16"), "total")
    x = half()
    f = fz.function([x], total * 2, updates={total: total + x}, mode=mode)
    for _ in range(3):
        last = f(np.array([1, 0.1, 60000], "float16"))
    assert last.dtype == total.get_value().dtype == "float16"
    np.testing.assert_array_equal(last, np.float16([4, 4 * np.float16(0.1), np.inf]))
    tenth = np.float16(0.1)
    np.testing.assert_array_equal(total.get_value(), [3, tenth + tenth + tenth, np.inf])
    states, _ = fz.scan(lambda v, s: s * 0.5 + v, sequences=x, outputs_info=np.float16(1))
    found = fz.function([x], states, mode=mode)(np.float16([1, 0.1, 3]))
    wanted, state = [], np.float16(1)
    for v in np.float16([1, 0.1, 3]):
        state = state * np.float16(0.5) + v
        wanted.append(state)
    same(found, np.array(wanted))


def test_functions_of_the_standard_dtypes_beside_it():
    x = half()
    assert (x + 1.5).dtype == (x * 2).dtype == (x + np.int8(1)).dtype == "float16"
    assert (x + ft.vector(dtype="int16")).dtype == (x + ft.fvector()).dtype == "float32"
    assert (x + ft.vector(dtype="int32")).dtype == "float64"
    assert (x + 1j).dtype == "complex64"
    assert ft.exp(ft.vector(dtype="int8")).dtype == "float32"
    assert ft.arctan2(x, ft.vector(dtype="uint8")).dtype == "float16"
    assert ft.float16 == np.dtype("float16")
    assert ft.arange(0, 5000, 1, dtype="float16").eval()[-1] == 5000
    assert ft.fft.fft(x).dtype == "complex64"


def test_linear_algebra_refuses_it():
    m = half(ndim=2)
    for apply in (ft.linalg.inv, ft.linalg.det, ft.linalg.cholesky, ft.linalg.svd, ft.linalg.eigh):
        with pytest.raises(TypeError, match=r"float16 is unsupported in linalg; cast it"):
            apply(m)
    with pytest.raises(TypeError, match="float16"):
        ft.linalg.solve(m, ft.vector())
    with pytest.raises(TypeError, match="float16"):
        fz.random.default_rng(1).random(3, dtype="float16")


@given(hnp.arrays("uint16", st.integers(0, 8), elements=st.integers(0, 2**16 - 1)))
def test_constants_as_text_pickles_and_digests(bits):
    array = bits.view("float16")
    constant = ft.constant(array)
    np.testing.assert_array_equal(constant.data.view("uint16"), bits)
    x = half()
    graph = fz.FunctionGraph([x], [x + constant, x * 0.1]).freeze()
    again = pickle.loads(pickle.dumps(graph))
    assert again is graph
    assert fz.FrozenFunctionGraph.parse(str(graph)) is graph
    assert copy.deepcopy(constant) is constant


def test_jit_and_lazy_calls():
    @fz.jit
    def f(x, y):
        return np.exp(x) * y + x.sum()

    x, y = np.float16([0.5, 1, 2]), np.float16([1, 2, 3])
    found = f(x, y)
    assert found.dtype == "float16"
    np.testing.assert_allclose(found, np.exp(x) * y + x.sum(), rtol=2e-3)


def test_lists_and_other_dtypes_are_taken_as_arguments():
    x = half()
    f = fz.function([x], x + 1)
    same(f(np.float16([1, 2])), np.float16([2, 3]))
    assert f([1, 2]).dtype == "float16"
    with pytest.raises(TypeError, match="float16"):
        f(np.array([0.1]))
