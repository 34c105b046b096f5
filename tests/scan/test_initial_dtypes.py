"""What a state starts from has the dtype that steps keep, or the message says what to change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

MODES = ("py", "c", "cranelift", "numba")
DTYPES = ("bool", "int8", "uint8", "int32", "int64", "float16", "float32", "float64")


def expected_dtype(number: float, dtype: str) -> np.dtype[Any]:
    """Of a number beside an array, as in NumPy; a whole number does not wrap around early."""
    own = (np.zeros(1, dtype) + type(number)(0)).dtype
    return np.dtype("int64") if own.kind in "iu" else own


@settings(max_examples=settings.default.max_examples // 4)
@given(
    number=st.one_of(st.booleans(), st.integers(-3, 3), st.sampled_from([0.0, 0.5, -2.0])),
    dtype=st.sampled_from(DTYPES),
    many=st.booleans(),
    scaled=st.booleans(),
)
def test_a_python_number_has_the_dtype_of_the_steps(
    number: float, dtype: str, many: bool, scaled: bool
) -> None:
    x = ft.tensor("x", dtype=dtype, shape=(None,))
    values = np.array([1, 0, 1, 1], dtype)
    factor = 0.5 if scaled else 1
    given_start: Any = [number] if many else number
    sums, _ = fz.scan(lambda x, s: s * factor + x, x, given_start)
    wanted = expected_dtype(number * factor, dtype)
    if wanted.kind == "b":
        # A sum of bools is not what it started as, unless one multiplies by an int.
        wanted = np.dtype("int64")
    assert sums.dtype == wanted
    rows, total = [], number
    for value in values.tolist():
        total = total * factor + value
        rows.append(total)
    for mode in MODES:
        found = fz.function([x], sums, mode=mode)(values)
        assert found.dtype == wanted
        np.testing.assert_allclose(found, np.array(rows, wanted), rtol=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_numbers_in_all_places(mode: str) -> None:
    x, y = ft.tensor("x", dtype="float32", shape=(None,)), ft.dvector("y")
    own: dict[str, Any] = {"return_updates": False}
    single = fz.scan(lambda x, s: s + x, x, [{"initial": 0}], **own)
    both = fz.scan(lambda x, a, b: (a + x, b + a), x, [0.0, 0], **own)
    apart = fz.scan(lambda x, a, b: (a + x, b / 2), x, [0.0, 1], **own)
    wide = fz.scan(lambda x, y, a: a + x * y, [x, y], 0.0, **own)
    folded = fz.reduce(lambda x, s: s + x, y, 0, **own)
    kept = fz.scan_checkpoints(lambda y, s: s + y, y, [0], save_every_N=2, **own)
    counted = fz.scan(lambda n: n + 1, None, 0, n_steps=3, **own)
    chosen = fz.scan(lambda x, s: ft.where(x > 0, s * 0.5, s), x, 1.0, **own)
    cast = fz.scan(lambda n: ft.cast(n + 1, "int8"), None, 0, n_steps=3, **own)
    outputs = [single, *both, *apart, wide, folded, kept, counted, chosen, cast]
    dtypes = ["float32"] * 4 + ["float64"] * 4 + ["int64", "float64", "int8"]
    assert [y.dtype for y in outputs] == dtypes
    f = fz.function([x, y], outputs, mode=mode)
    found = [a.tolist() for a in f(np.array([1, 2], "float32"), [1.0, 2.0])]
    assert found == [
        [1, 3],
        [1, 3],
        [0, 1],
        [1, 3],
        [0.5, 0.25],
        [1, 5],
        3,
        [3],
        [1, 2, 3],
        [0.5, 0.25],
        [1, 2, 3],
    ]
    assert fz.function([y], fz.grad(folded, y), mode=mode)([3.0, 4.0]).tolist() == [1, 1]


starts = st.sampled_from(["bool", "int32", "int64", "float32", "float64"])


@given(dtype=starts, later=starts, name=st.sampled_from(["h", None]))
def test_drift_of_a_dtype(dtype: str, later: str, name: str | None) -> None:
    h = ft.tensor(name, dtype=dtype, shape=(None,))

    def scan() -> fz.Variable:
        return fz.scan(lambda s: ft.cast(s, later), None, [h], n_steps=2)[0]

    if dtype == later:
        assert scan().type == fz.TensorType(dtype, (2, None))
        return
    with pytest.raises(TypeError) as caught:
        scan()
    assert str(caught.value) == (
        f"{name or 'output 0'} starts with type {dtype}[?] and has type {later}[?] after a step; a "
        f"state keeps its dtype: cast the initial value in outputs_info to {later}, or what the "
        f"step returns to {dtype}"
    )


def test_drift_of_a_rank_and_of_a_shape() -> None:
    h, three = ft.dvector("h"), ft.tensor("three", shape=(3,))
    with pytest.raises(
        TypeError,
        match=r"h starts with type float64\[\?\] and has type float64\[\] after a step; a state "
        "keeps its rank: give the initial value in outputs_info 0 dimensions, or what the step "
        "returns 1 dimension",
    ):
        fz.scan(lambda x, s: s.sum(), h, [h])
    with pytest.raises(
        TypeError,
        match=r"three starts with type float64\[3\] and has type float64\[6\] after a step; a "
        "state keeps its shape",
    ):
        fz.scan(lambda s: ft.concatenate([s, s]), None, [three], n_steps=2)
    total = fz.shared(np.array(1), name="total")
    with pytest.raises(TypeError, match=r"total starts with type int64\[\] .*cast it to float64"):
        fz.scan(lambda: {total: total * 0.5}, n_steps=2)
    with pytest.raises(TypeError, match="output 1 starts with type bool"):
        fz.scan(lambda a, b: (a, b + 0.5), None, [1.0, np.array(True)], n_steps=2)


@pytest.mark.parametrize("start", [0.5, 1])
def test_a_number_is_not_what_it_cannot_be(start: float) -> None:
    """A number with a part behind the point is no int, and no number that is not one a bool."""
    with pytest.raises(TypeError, match=r"output 0 starts with type .*a state keeps its dtype"):
        fz.scan(lambda s: s > 0, None, [start], n_steps=2)
    with pytest.raises(TypeError, match="output 0 starts with type float64"):
        fz.scan(lambda s: ft.cast(s, "int64"), None, [0.5], n_steps=2)
    with pytest.raises(TypeError, match="output 0 starts with type int64"):
        fz.scan(lambda s: ft.cast(s, "int8"), None, [300], n_steps=2)
