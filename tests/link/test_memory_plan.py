"""What a call needs of memory is known before, and little."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from updated_graphs import N, draw_graph

import frazil as fz
import frazil.tensor as ft

MATRIX = 100 * 100 * 8


def plan(outputs, *shapes, inputs=None):
    inputs = inputs if inputs is not None else [X]
    return fz.function(inputs, outputs, mode="c").memory_plan(*shapes or [(100, 100)])


X = ft.dmatrix("x")


def test_what_is_planned_is_what_is_taken():
    script = Path(__file__).with_name("measured_peak.py")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) == 40
    for mode, name, complete, planned, taken in lines:
        assert complete == "True", (mode, name)
        assert planned == taken, (mode, name)


def test_a_loop_writes_over_an_operand_that_dies_in_it():
    made = plan(ft.dot(ft.sin(ft.dot(X, X)), X))
    assert made.peak == 2 * MATRIX  # the sine takes over the product, the result is given out
    assert [buffer.over for buffer in made.buffers] == [None, made.buffers[0].name, None]


def test_loops_keep_what_lies_otherwise_or_is_read_elsewhere():
    product = ft.dot(X, X)
    for reader in (product.T + product, product + product[0], ft.cast(product, "float32")):
        made = plan(ft.dot(reader, ft.cast(X, reader.dtype)).sum())
        assert not any(buffer.over for buffer in made.buffers[:2]), reader
        f = fz.function([X], reader, mode="c")
        g = fz.function([X], reader, mode="py")
        value = np.random.default_rng(0).normal(size=(5, 5))
        np.testing.assert_allclose(f(value), g(value), rtol=1e-6)


def test_a_thousand_updates_take_one_buffer():
    updated = ft.exp(X)
    for step in range(1000):
        updated = ft.set_subtensor(updated[step % 100], float(step))
    made = plan(updated)
    assert made.peak == MATRIX
    assert len(made.buffers) == 1001
    assert {buffer.location for buffer in made.buffers} == {"output 0"}


def test_releases_are_given_out_again():
    chain = X
    for _ in range(10):
        chain = ft.dot(chain, X)
    assert plan(chain).temporaries == 2 * MATRIX


def test_what_only_values_tell_is_said_to_be_open():
    n = ft.lscalar("n")
    made = plan(ft.set_subtensor(ft.zeros(n)[1:], 1.0), (), inputs=[n])
    assert not made.complete
    assert made.outputs == (None,)
    assert "found during the call" in str(made)


@pytest.mark.parametrize("kind", ["branch", "early end", "open step"])
def test_what_only_the_values_in_a_nested_program_tell_is_said_to_be_open(kind):
    match kind:
        case "branch":
            y = fz.ifelse(X.sum() > 0.0, ft.dot(X, X), X)
        case "early end":
            y, _ = fz.scan(
                lambda v, s: (ft.dot(X, s) + v, fz.until(v.sum() > 1.0)),
                sequences=[X],
                outputs_info=[X],
            )
        case _:
            k = ft.lscalar("k")
            op = fz.OpFromGraph([X, k], [X + ft.exp(ft.dot(ft.ones((k, 100)), X)).sum(axis=0)])
            y = op(X, ft.cast(X[0, 0], "int64"))
    made = plan(y)
    assert not made.complete
    assert "found during the call" in str(made)


def test_shapes_come_from_arguments_names_types_and_shared_variables():
    x, y = ft.dvector("x"), ft.tensor("y", shape=(3,))
    state = fz.shared(np.zeros(3))
    f = fz.function([x, y], x + y + state, mode="c")
    for made in (f.memory_plan((3,)), f.memory_plan(np.ones(3)), f.memory_plan(x=3, y=(3,))):
        assert made.peak == 24
    with pytest.raises(TypeError, match="shape of x is missing"):
        f.memory_plan()
    with pytest.raises(TypeError, match="no argument is called 'z'"):
        f.memory_plan(3, z=4)
    with pytest.raises(TypeError, match="takes 2 arguments"):
        f.memory_plan(3, 3, 3)
    with pytest.raises(ValueError, match="does not fit"):
        f.memory_plan(3, (4,))
    with pytest.raises(ValueError, match="length"):
        f.memory_plan(4)


@given(st.data())
def test_no_two_live_buffers_share_memory(data):
    inputs, outputs = draw_graph(data)
    f = fz.function(inputs, outputs, mode="c", on_unused_input="ignore")
    made = f.memory_plan(N, (2, N // 2))
    program = f.program.instructions
    held = []  # the range of each live temporary, and the instruction that ends it
    for buffer in made.buffers:
        now = program.index(buffer.instruction)
        held = [other for other in held if other[2] is None or other[2] >= now]
        if buffer.over is not None:
            held = [other for other in held if other[3] != buffer.over]
        if not buffer.location.startswith("temporary") or not buffer.bytes:
            continue
        start = int(buffer.location.split()[-1])
        stop = start + buffer.bytes
        assert stop <= made.temporaries
        assert all(stop <= low or high <= start for low, high, _, _ in held)
        end = None if buffer.until is None else program.index(buffer.until)
        held.append((start, stop, end, buffer.name))
