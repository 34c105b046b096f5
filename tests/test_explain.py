"""What a function tells of its calls."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.compile.explanation import Explanation

MODES = ["c", "cranelift", "numba", "py", "debug"]


def steps(n, x):
    """A graph of about ``n`` loops with sums between them."""
    y = x
    for _ in range(n):
        y = ft.tanh(y) / (1.0 + ft.exp(y).sum())
    return y


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("n", [1, 4, 40])
def test_sizes_are_bound_once_for_any_number_of_segments(mode, n):
    x = ft.dvector("x")
    f = fz.function([x], steps(n, x), mode=mode)
    assert (f.explain().bindings, f.explain().hits) == (0, 0)
    f(np.ones(5))
    told = f.explain()
    assert len(told.segments) >= n
    assert (told.bindings, told.hits) == (1, 0)
    for _ in range(3):
        f(np.zeros(5))
    assert (f.explain().bindings, f.explain().hits) == (1, 3)
    f(np.zeros(6))
    assert (f.explain().bindings, f.explain().hits) == (2, 3)


@pytest.mark.parametrize("mode", ["c", "cranelift"])
def test_the_programs_of_scans_are_told_once_and_whole(mode):
    x, s, w = ft.dmatrix("x"), ft.dvector("s"), ft.dmatrix("w")
    states, _ = fz.scan(lambda e, s: ft.tanh(w @ s) + e, sequences=[x], outputs_info=[s])
    f = fz.function([x, s, w], [states[-1].sum(), fz.grad(states[-1].sum(), w)], mode=mode)
    told = f.explain()
    assert all(line.startswith(("%", "n")) for line in told.definitions)
    own = {line for part in told.segments for line in part.instructions}
    assert not own.intersection(told.definitions)
    assert len(told.outputs.split(",")) == 2
    names = [line[:-1] for line in told.programs if not line.startswith(" ")]
    assert names == ["p0", "p1"]
    assert all(any(f"scan {name}(" in line for line in own) for name in names)
    ends = [line for line in told.programs if line.startswith("    return")]
    assert len(ends) == 2
    assert str(told).splitlines()[-len(told.programs) - 1 :] == [told.outputs, *told.programs]


@settings(max_examples=20)
@given(lengths=st.lists(st.integers(0, 3), max_size=20), mode=st.sampled_from(["c", "py"]))
def test_shapes_that_take_turns_are_found_again(lengths, mode):
    x = ft.dvector("x")
    f = fz.function([x], steps(2, x) - 0.125, mode=mode)
    before = f.explain()
    for n in lengths:
        f(np.ones(n))
    after = f.explain()
    assert after.bindings + after.hits - before.bindings - before.hits == len(lengths)
    assert after.bindings - before.bindings <= len(set(lengths))
    for n in set(lengths):
        f(np.ones(n))
    assert f.explain().bindings == after.bindings


@pytest.mark.parametrize("mode", MODES)
def test_calls_that_fail_are_told_as_well(mode):
    x, y = ft.dvector("x"), ft.dvector("y")
    f = fz.function([x, y], x + y, mode=mode)
    with pytest.raises(ValueError, match="length"):
        f(np.ones(2), np.ones(3))
    told = f.explain()
    assert (told.bindings, told.hits) == (1, 0)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=6)
@given(rows=st.integers(0, 5), columns=st.integers(1, 5))
def test_sizes_are_those_of_a_call(mode, rows, columns):
    x, y = ft.dmatrix("x"), ft.dvector("y")
    outputs = [ft.softmax(x + y, axis=1), (x @ y).sum(), ft.exp(x).T[:, :1]]
    f = fz.function([x, y], outputs, mode=mode)
    results = f(np.ones((rows, columns)), np.ones(columns))
    told = f.explain((rows, columns), y=(columns,))
    shapes = [shape for part in told.segments for shape in part.shapes]
    if mode != "py":  # whose nodes tell the shapes of what they made
        assert {result.shape for result in results} <= set(shapes)
        assert told == f.explain(np.ones((rows, columns)), np.ones(columns))
    assert told.segments[0].instructions == f.explain().segments[0].instructions
    assert not any(part.sizes or part.shapes for part in f.explain().segments)


def test_what_only_a_call_can_tell_is_not_told():
    n, x = ft.lscalar("n"), ft.dvector("x")
    f = fz.function([n, x], [ft.exp(ft.zeros(n)), ft.exp(x)], mode="c")
    f(3, np.ones(2))
    shapes = [shape for part in f.explain((), (2,)).segments for shape in part.shapes]
    assert None in shapes
    assert (2,) in shapes
    assert "?" in str(f.explain((), (2,)))


def test_known_shapes_need_not_be_given():
    x = ft.tensor("x", shape=(2, 3))
    f = fz.function([x], ft.exp(x), mode="c")
    assert f.explain().segments[0].sizes == (2, 3)
    total = fz.shared(np.zeros(4), name="total")
    g = fz.function([], total.sum() + 0.5, mode="c")
    assert g.explain().segments[0].sizes in [(), (4,)]


def test_shapes_that_cannot_be_are_refused():
    x, y = ft.dvector("x"), ft.dvector("y")
    f = fz.function([x, y], x + y, mode="c")
    with pytest.raises(TypeError, match="the shape of y is missing"):
        f.explain((3,))
    with pytest.raises(TypeError, match="takes 2 arguments, given 3"):
        f.explain((3,), (3,), (3,))
    with pytest.raises(ValueError, match="which shape"):
        f.explain((3, 4), (3,))
    with pytest.raises(ValueError, match=r"does not broadcast|length"):
        f.explain((3,), (4,))


@pytest.mark.parametrize("mode", MODES)
def test_a_program_from_disk_tells_the_same(mode, tmp_path, monkeypatch):
    monkeypatch.setenv("FRAZIL_CACHE_DIR", str(tmp_path))
    told = []
    for _ in range(2):
        x = ft.dvector("x")
        f = fz.function([x], steps(3, x), mode=mode)
        told.append((f.compiled.found, str(f.explain((4,)))))
        del f
    assert told[0][1] == told[1][1]
    assert [found for found, _ in told] == ["made", "made" if mode == "debug" else "disk"]


def test_functions_of_equal_graphs_share_what_is_counted():
    x, y = ft.dvector("x"), ft.dvector("y")
    f, g = (fz.function([v], ft.exp(v) * 0.375, mode="c") for v in (x, y))
    f(np.ones(3))
    g(np.ones(3))
    assert f.explain() == g.explain()
    assert isinstance(f.explain(), Explanation)
    assert (f.explain().bindings, f.explain().hits) == (1, 1)
