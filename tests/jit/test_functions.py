"""Compiled Python functions give what the functions give."""

import gc
import sys
import weakref
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest
from agreement import MODES
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import frazil as fz
import frazil.tensor as ft

Pair = namedtuple("Pair", "a b")


@dataclass
class State:
    position: object
    name: str


class Line:
    def __init__(self, slope, offset):
        self.slope, self.offset = slope, offset

    def __eq__(self, other):
        return vars(self) == vars(other)


fz.register_pytree(Line, lambda x: ((x.slope, x.offset), None), lambda _, parts: Line(*parts))

x0, m0 = np.array([1.5, -2.0, 0.5]), np.arange(6.0).reshape(2, 3) / 4

FUNCTIONS = {
    "operators": lambda x: (x + 1) * 2 - x / 3 + x**2 - (-x) % 2 + abs(x) // 2,
    "reflected": lambda x: 1 - x + 2 / (x + 5) + 2.0**x + (7 // (abs(x) + 1)),
    "arrays": lambda x: np.arange(3.0) * x + x @ np.ones(3) + (np.ones((2, 3)) @ x).sum(),
    "comparisons": lambda x: np.where((x > 0) & ~(x == 1.5) | (x != x), x, -x),
    "ufuncs": lambda x: np.exp(x) + np.maximum(x, 0) + np.add.reduce(x) + np.hypot(x, 1),
    "functions": lambda x: np.stack([x, x * 2], axis=1).sum(axis=0) + np.concatenate([x, x])[:2],
    "linear algebra": lambda x: np.linalg.norm(x) + np.linalg.cholesky(np.eye(3) + np.outer(x, x)),
    "methods": lambda x: x.sum() + x.mean() - x.reshape(3, 1).T.max(axis=1) + x.clip(0, 1).std(),
    "parts": lambda x: [x[0], x[1:], x[::-1], x[x.shape[0] - 1], x[None, :], x[[0, 2]], x[-1:] + x],
    "at": lambda x: x.at[0].set(5.0).at[1:].add(x[:2]),
    "augmented": lambda x: plus_in_place(x * 2, x),
    "unpacked": lambda x: sum([row * 2 for row in x]),
    "lengths": lambda x: (x.shape, len(x), x.size, x.ndim, x.sum() / x.shape[0], np.shape(x)[0]),
    "zeros": lambda x: np.zeros(x.shape[0]) + np.zeros_like(x) + np.linspace(0, 1, len(x)),
    "dtypes": lambda x: (x.astype(np.float32) / x.shape[0], x.astype(int) * 2, x > 0),
    "results": lambda x: {"x": x, "t": (x * 2, None), "s": "text", "p": Pair(x.sum(), 1.5)},
    "classes": lambda x: [State(x * 2, "a"), Line(x + 1, 2.0)],
    "length one": lambda x: x[:1] + x + x[:, None],
    "constants": lambda x: (1, 2.5, np.float64(3.0)),
    "isinstance": lambda x: (isinstance(x, np.ndarray), isinstance(x.shape[0], int)),
}


def plus_in_place(a, b):
    other = a
    a += b
    return other * 1


def same(got, wanted):
    assert type(got) is type(wanted)
    if isinstance(wanted, dict):
        assert list(got) == list(wanted)
        got, wanted = list(got.values()), list(wanted.values())
    if isinstance(wanted, State | Line):
        got, wanted = list(vars(got).values()), list(vars(wanted).values())
    if isinstance(wanted, list | tuple):
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            same(one, other)
    elif isinstance(wanted, np.ndarray | np.generic):
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got, wanted, rtol=1e-6)
    else:
        assert got == wanted


class WithAt(np.ndarray):
    """Arrays of NumPy, with the one method that they lack."""

    @property
    def at(self):
        return self

    def set(self, value):
        raise AssertionError


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "at"])
def test_gives_what_the_function_gives(name):
    fn = FUNCTIONS[name]
    compiled = fz.jit(fn, mode="py")
    for x in (x0, x0 + 1, np.array([0.5, 3.0, 2.0]), x0.astype(np.float32)):
        same(compiled(x), fn(x))


def test_replaces_parts_by_at():
    assert fz.jit(FUNCTIONS["at"], mode="py")(x0).tolist() == [5.0, -0.5, -1.5]


@settings(deadline=None, max_examples=20)
@given(
    hnp.arrays(
        st.sampled_from([np.float64, np.float32, np.int32, np.bool_]),
        hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=3),
        elements=st.integers(0, 1),
    )
)
def test_knows_lengths_of_one_as_numpy_does(x):
    def fn(x):
        return (x + x.T, x * x[:1], x.sum(axis=0, keepdims=True) + x)

    try:
        wanted = fn(x)
    except ValueError:
        with pytest.raises((ValueError, TypeError)):
            KNOWS_ONES(x)
    else:
        same(KNOWS_ONES(x), wanted)


KNOWS_ONES = fz.jit(lambda x: (x + x.T, x * x[:1], x.sum(axis=0, keepdims=True) + x), mode="py")


def test_another_length_is_not_traced_again():
    traced = []

    def fn(x):
        traced.append(1)
        return x * 2 + x.shape[0]

    compiled = fz.jit(fn, mode="py")
    for n in (2, 3, 4):
        assert compiled(np.ones(n)).tolist() == [2.0 + n] * n
    before = len(traced)
    assert compiled(np.ones(1)).tolist() == [3.0]
    assert len(traced) == before + 1


def test_static_shapes_are_compiled_each_by_itself():
    def fn(x, y):
        return x * 2 + y[:, None]

    compiled = fz.jit(fn, mode="py", static_shapes=True)
    for n in (2, 3, 1, 2, 3, 1):
        x, y = np.ones((n, 3)), np.arange(float(n))
        same(compiled(x, y), fn(x, y))
        assert compiled.graph(x, y).inputs[0].type.shape == (n, 3)
    assert compiled.cache_info()[:2] == (3, 3)
    assert "only for x: float64[?, ?], axis 0: 2" in str(compiled.explain())


def test_arguments_are_trees_and_other_values_are_static():
    def fn(params, x, *, power, flags=None):
        scaled = params["w"] * x + params["rest"][0]
        return {"y": scaled**power, "flags": flags, "pair": Pair(scaled.sum(), power)}

    compiled = fz.jit(fn, mode="py")
    for power in (2, 3, 2.0, True):
        params = {"w": x0, "rest": [np.float64(2.0), None]}
        same(compiled(params, x0, power=power), fn(params, x0, power=power))
    x = State(x0, "here")
    same(fz.jit(lambda s: State(s.position * 2, s.name))(x), State(x0 * 2, "here"))


def test_arguments_are_returned_themselves():
    x, other = np.ones(3), object()
    got = fz.jit(lambda x, o: (x, o, [x]), mode="py")(x, other)
    assert got[0] is x
    assert got[1] is other
    assert got[2][0] is x


def test_containers_are_fresh_at_each_call():
    compiled = fz.jit(lambda x: [x * 2, [1]], mode="py")
    first = compiled(x0)
    first[1].append(2)
    assert compiled(x0)[1] == [1]


def test_static_arguments_are_python_values():
    def fn(x, n, scale):
        return x * scale if n > 2 else x + scale

    compiled = fz.jit(fn, static_argnames="n", mode="py")
    for n in (1, 3):
        same(compiled(x0, np.int64(n), 2.0), fn(x0, n, 2.0))
        same(compiled(x0, n=np.array(n), scale=2.0), fn(x0, n, 2.0))
    same(fz.jit(fn, static_argnums=(1,), mode="py")(x0, np.array(3), 2.0), fn(x0, 3, 2.0))
    with pytest.raises(ValueError, match="no parameter 'm'"):
        fz.jit(fn, static_argnames="m")


def test_a_function_within_another_joins_its_trace():
    inner = fz.jit(lambda x: np.exp(x) * 2)
    outer = fz.jit(lambda x: inner(x) + inner(x + 1), mode="py")
    np.testing.assert_allclose(outer(x0), 2 * np.exp(x0) + 2 * np.exp(x0 + 1))


def test_methods_can_be_compiled():
    class Model:
        scale = 3.0

        @fz.jit
        def run(self, x):
            return x * self.scale

    assert Model().run(x0).tolist() == (x0 * 3).tolist()


@pytest.mark.parametrize(
    ("fn", "says"),
    [
        (lambda x: 1 if x.sum() > 0 else 2, "the truth of a traced array"),
        (lambda x: float(x[0]), "float"),
        (lambda x: [0] * int(x[0]), "int"),
        (lambda x: x.sum().item(), "item"),
        (lambda x: range(x.sum().astype(int)), "in the place of an int"),
    ],
)
def test_code_that_asks_for_values_is_told_what_to_write(fn, says):
    with pytest.raises(fz.TracedValueError) as raised:
        fz.jit(fn)(x0)
    message = str(raised.value)
    assert says in message
    assert f"test_functions.py:{fn.__code__.co_firstlineno} in <lambda>" in message
    assert "np.where" in message
    assert "fz.cond" in message
    assert "static_argnames" in message


def test_arguments_do_not_change_in_place():
    def fn(x):
        x += 1
        return x

    with pytest.raises(TypeError, match="changes an argument in place"):
        fz.jit(fn)(np.ones(2))

    def other(x):
        x[0] = 1
        return x

    with pytest.raises(TypeError, match=r"x\.at\[index\]\.set"):
        fz.jit(other)(np.ones(2))


def test_forms_that_rust_finds_are_those_that_python_finds():
    # Dicts, lists, tuples and arrays are looked up in Rust, other containers in Python.
    def fn(tree, n, *, scale):
        x = tree["x"] if isinstance(tree, dict) else tree.position
        return {"y": [x * n * scale, x.sum(), x.shape[0]], "x": (x, "text", n)}

    compiled = fz.jit(fn, mode="py", max_entries=200)
    calls = [
        ({"x": x}, n, scale)
        for x in (x0, x0.astype(np.float32), x0[:1], x0[::-1], x0[:2], m0)
        for n, scale in ((2, 0.5), (2.0, 0.5), (True, np.float64(0.5)), (2, None), (2, "text"))
    ]
    for tree, n, scale in calls * 2:
        try:
            wanted = fn(tree, n, scale=scale)
        except TypeError:
            with pytest.raises(TypeError):
                compiled(tree, n, scale=scale)
        else:
            same(compiled(tree, n, scale=scale), wanted)
    state = State(x0, "a")
    for _ in range(2):
        same(compiled(state, 2, scale=1.0), fn(state, 2, scale=1.0))
    assert compiled.cache_info().hits > len(calls) / 2


def test_graphs_and_text_of_a_form():
    compiled = fz.jit(lambda x: np.exp(x) * 2)
    assert fz.pp(compiled.graph(x0)) == "exp(*0) * 2.0"
    assert "kernel_0" in compiled.lower(x0)
    assert compiled.cache_info().misses == 1
    with pytest.raises(ValueError, match="computes nothing"):
        fz.jit(lambda: 1).graph()
    with pytest.raises(ValueError, match="id is called"):
        fz.jit(lambda x: x * id(x)).graph(x0)


def test_dicts_are_told_apart_without_code_of_users():
    class Key:
        def __hash__(self):
            return 1

        def __eq__(self, other):
            return self is other

    key, entered = Key(), []
    compiled = fz.jit(lambda tree: next(iter(tree.values())) * 2, mode="py")
    state = State({key: x0}, "looked up in Python")
    tree = fz.jit(lambda state: next(iter(state.position.values())) * 2, mode="py")
    compiled({key: x0}), tree(state)
    given = {key: x0}
    sys.setprofile(lambda frame, event, _: entered.append(frame.f_code))
    try:
        compiled(given), tree(state)
    finally:
        sys.setprofile(None)
    assert not {Key.__hash__.__code__, Key.__eq__.__code__} & set(entered)
    assert compiled.cache_info().hits == tree.cache_info().hits == 1


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: caught(lambda: float(x[0])),
        lambda x: caught(lambda: 1 if x.sum() > 0 else 2),
        lambda x: caught(lambda: np.asarray(x)),
        lambda x: getattr(x, "strides", 0),
        lambda x: hasattr(x, "flat"),
        lambda x: written(np.zeros(3), x),
    ],
)
def test_code_that_catches_the_error_does_not_hide_it(fn):
    with pytest.raises(fz.TracedValueError, match=r"test_functions\.py:"):
        fz.jit(fn, mode="py")(x0)


def caught(asks):
    try:
        return asks()
    except Exception:
        return -1.0


def written(out, x):
    out[0] = x[0]
    return out


def test_numbers_of_shapes_are_pythons():
    # Python's floats take the dtype of their company, NumPy's do not.
    def fn(x):
        half, share = x.shape[0] / 2, 1 / len(x)
        kinds = [type(v).__name__ for v in (half, share, half * 3, -half, len(x) ** 0.5)]
        numbers = (half, share, round(half), x.nbytes, x.size // 2, len(x) * 1.5 > 2)
        return x * half + share, x * np.float64(2), x * np.sqrt(len(x)), numbers, len(kinds)

    compiled = fz.jit(fn, mode="py")
    for x in (x0, x0.astype(np.float32), np.ones(4, np.float32), np.arange(3)):
        same(compiled(x), fn(x))


def test_parts_that_complex_arrays_have():
    fn = lambda x: (x.real * 2, x.imag, x.conj() + 1, x.conjugate() + 1, x.compress([1, 0, 1]))  # noqa: E731
    same(fz.jit(fn, mode="py")(x0), fn(x0))
    found = fz.jit(lambda x: (np.sort(x).searchsorted(0.6), x.dtype), mode="py")
    same(found(x0), (np.sort(x0).searchsorted(0.6), x0.dtype))
    assert found.cache_info().entries == 1


SYMBOLIC = {
    "scan": lambda x: fz.scan(lambda e, s: s * e, x, np.float64(1.0), return_updates=False),
    "closure": lambda x: fz.scan(
        lambda e, s: np.sin(s) * e + x.sum(), [x], [x.sum()], return_updates=False
    ),
    "steps": lambda x: fz.scan(
        lambda s: s * x, outputs_info=np.ones(3), n_steps=3, return_updates=False
    )[-1],
    "map": lambda x: fz.map(lambda e: e * 2, x, return_updates=False),
    "ifelse": lambda x: fz.ifelse(x.sum() > 0, x, -x),
    "functions": lambda x: ft.exp(x) + x * ft.stack([x[0], 1.0, x.sum()]),
}
WANTED = {
    "scan": np.cumprod,
    "closure": lambda x: scanned(x),
    "steps": lambda x: x**3,
    "map": lambda x: x * 2,
    "ifelse": lambda x: x if x.sum() > 0 else -x,
    "functions": lambda x: np.exp(x) + x * np.stack([x[0], 1.0, x.sum()]),
}


def scanned(x):
    state, found = x.sum(), []
    for e in x:
        state = np.sin(state) * e + x.sum()
        found.append(state)
    return np.array(found)


@pytest.mark.parametrize("name", SYMBOLIC)
def test_functions_on_variables_take_traced_arrays(name):
    compiled = fz.jit(SYMBOLIC[name], mode="py")
    printing = fz.jit(lambda x: (print(end=""), SYMBOLIC[name](x))[1], mode="py")
    for x in (x0, x0 - 1, x0 - 2):
        for own in (compiled, printing):
            found = own(x)
            assert type(found) is np.ndarray
            np.testing.assert_allclose(found, WANTED[name](x))
    assert compiled.cache_info().hits == 2


def test_the_first_arguments_are_not_kept():
    compiled = fz.jit(lambda x: x * 2 + x.sum(), mode="py")
    x = x0.copy()
    alive = weakref.ref(x)
    compiled(x), compiled(x)
    del x
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("mode", MODES)
def test_text_is_that_of_the_mode(mode):
    says = {"c": "kernel_0", "cranelift": "mul", "numba": "def kernel", "py": "mul"}
    assert says[mode] in fz.jit(lambda x: np.exp(x) * x, mode=mode).lower(x0)


def test_what_fails_again_is_not_compiled_again():
    compiled = fz.jit(np.linalg.cholesky, mode="py")
    added = fz.jit(lambda x, y: x + y, mode="py")
    for _ in range(3):
        assert compiled(np.eye(2)).tolist() == np.eye(2).tolist()
        with pytest.raises(np.linalg.LinAlgError):
            compiled(-np.eye(2))
        assert added(np.ones(2), np.ones(2)).tolist() == [2.0, 2.0]
        with pytest.raises(ValueError, match="lengths"):
            added(np.ones(3), np.ones(2))
    assert compiled.cache_info().entries == added.cache_info().entries == 1


asked = []


class Refusing(fz.Op):
    """An op of the user's that refuses some values, and notes that it was asked."""

    def __init__(self, error):
        self.error = error

    __props__ = ("error",)

    def make_node(self, x):
        x = ft.as_tensor(x)
        return fz.FrozenApply(self, [x], [x.type])

    def perform(self, node, inputs):
        asked.append(node)
        if inputs[0][0] < 0:
            raise {"value": ValueError, "singular": np.linalg.LinAlgError}[self.error]("refused")
        return (inputs[0] + 1,)


@pytest.mark.parametrize("error", ["value", "singular"])
def test_a_call_that_a_compiled_form_refuses_runs_once(error):
    refusing = Refusing(error)
    fn = fz.jit(lambda x: refusing(x))
    for _ in range(4):
        assert fn(np.zeros(2)).tolist() == [1.0, 1.0]
    assert fn.cache_info().hits > 0
    asked.clear()
    with pytest.raises(ValueError, match="refused"):
        fn(-np.ones(2))
    assert len(asked) == 1


def test_results_are_of_the_classes_that_numpy_gives():
    def fn(x):
        matrix = np.eye(3) + np.outer(x, x)
        pieces = (np.linalg.slogdet(matrix), np.linalg.eigh(matrix), np.linalg.qr(matrix))
        truths = (np.allclose(x, x), np.array_equal(x, x + 1))
        return pieces, truths, np.broadcast_arrays(x, 1), np.linalg.slogdet(matrix).logabsdet

    compiled = fz.jit(fn, mode="py")
    for x in (x0, x0 + 1):
        same(compiled(x), fn(x))
    with pytest.raises(fz.TracedValueError, match="truth"):
        fz.jit(lambda x: 1 if np.allclose(x, 0) else 2)(x0)
