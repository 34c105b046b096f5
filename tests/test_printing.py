"""Graphs as text: what stands here is what users see."""

import io
from textwrap import dedent

import pytest

import frazil as fz
import frazil.tensor as ft
from frazil import dprint, pp


def tree(graph_like, **options):
    return dprint(graph_like, file="str", **options)


def text(expected):
    return dedent(expected).lstrip("\n")


@pytest.fixture
def graph():
    x, y = ft.matrix("x"), ft.vector("y")
    z = x @ y
    return ft.sum(ft.exp(z) - z * 2), z


def test_tree(graph):
    assert tree(graph[0]) == text(
        """
        Sum{(0,)} [id A]
         └─ sub [id B]
            ├─ exp [id C]
            │  └─ Dot [id D]
            │     ├─ x [id E]
            │     └─ y [id F]
            └─ mul [id G]
               ├─ Dot [id D]
               │  └─ ···
               └─ 2.0 [id H]
        """
    )


def test_several_roots_share_ids(graph):
    assert tree([graph[1], graph[1]], id_type="int", print_type=True) == text(
        """
        Dot [id 0] <float64[?]>
         ├─ x [id 1] <float64[?, ?]>
         └─ y [id 2] <float64[?]>
        Dot [id 0] <float64[?]>
         └─ ···
        """
    )


def test_every_sort_of_graph(graph):
    x, y = ft.vector("x"), ft.vector("y")
    editable = fz.FunctionGraph([x, y], [x - y, ft.exp(x)])
    assert pp(editable) == "x - y\nexp(x)"
    assert tree(editable) == tree(list(editable.outputs))
    assert pp(editable.freeze()) == "*0 - *1\nexp(*0)"
    assert pp((x - y).owner) == "x - y"


def test_depth(graph):
    assert tree(graph[0], depth=1, id_type="") == "Sum{(0,)}\n └─ sub\n"


def test_frozen_graphs_print_their_inputs_by_position():
    x = ft.vector("x")
    graph = fz.FrozenFunctionGraph([x], [x + 1])
    assert tree(graph, id_type="") == "add\n ├─ *0\n └─ 1.0\n"


def test_files(capsys):
    x = ft.scalar("x")
    out = io.StringIO()
    assert dprint(x, file=out) is out
    assert dprint(x) is None
    assert out.getvalue() == capsys.readouterr().out == "x [id A]\n"


def test_letters_go_on_after_z():
    assert tree(ft.scalar("x") + sum(ft.scalar(f"y{i}") for i in range(20))).count("[id BA]") == 1


def test_deep_graphs_do_not_recurse():
    x = ft.scalar("x")
    for _ in range(3000):
        x = ft.sin(x)
    assert tree(x, depth=2).count("\n") == 3
    assert "sin(sin(" in pp(x)


Y = ft.vector("y")


def chain(n, y):
    for k in range(n // 2):
        y = ft.sin(y) * (k % 7 + 0.5)
    return y


def test_formulas_of_long_graphs_are_named_parts_that_make_the_graph():
    y = chain(3_000, Y)
    lines = pp(y).splitlines()
    assert max(map(len, lines)) < 2_000
    known = {"sin": ft.sin, "y": Y}
    for line in lines[:-1]:
        exec(line, known)
    assert eval(lines[-1], known) is y


def test_trees_of_long_graphs_are_several_trees_that_show_each_node():
    y = chain(3_000, Y)
    lines = tree(y, limit=-1).splitlines()
    assert max(map(len, lines)) < 500
    numbers = {line.split("[id ")[1].split("]")[0] for line in lines if "[id " in line}
    assert len(numbers) == 3_000 + 7 + 1  # nodes, numbers, the vector
    begun = [line for line in lines if line.startswith(("sin", "mul"))]
    assert len(begun) == 1 + sum("further down" in line for line in lines)


def test_what_is_left_out_is_told():
    y = chain(3_000, Y)
    lines = tree(y, limit=50).splitlines()
    assert len(lines) == 51
    assert lines[-1] == (
        "··· 2,950 of 3,000 nodes are left out after 50 lines: print a part with depth=..., or all "
        "with limit=-1"
    )
    whole = pp(y).splitlines()
    few = pp(y, limit=2).splitlines()
    assert few == [
        f"··· {len(whole) - 2:,} lines are left out: pp(..., limit=-1) has all",
        *whole[-2:],
    ]
    assert pp(y, limit=-1).splitlines() == whole


def test_unnamed_inputs_and_arrays():
    total = ft.add(ft.vector(), [1.0, 2.0])
    assert tree(total, id_type="") == "add\n ├─ <float64[?]>\n └─ [1. 2.]\n"


def test_what_is_no_graph():
    with pytest.raises(TypeError, match="expected a variable"):
        dprint(1)
    with pytest.raises(ValueError, match="id_type"):
        dprint(ft.scalar(), id_type="roman")


x, y, A, i = ft.vector("x"), ft.vector("y"), ft.matrix("A"), ft.lscalar("i")


@pytest.mark.parametrize(
    ("variable", "formula"),
    [
        (x - (y - x), "x - (y - x)"),
        (x - y - x, "x - y - x"),
        (-(x + y) * 2, "-(x + y) * 2.0"),
        ((x**y) ** 2, "(x ** y) ** 2.0"),
        (x ** (y**2), "x ** y ** 2.0"),
        (-(x**2), "-x ** 2.0"),
        ((-x) ** 2, "(-x) ** 2.0"),
        (x / (y * x), "x / (y * x)"),
        ((x < y) & (y <= x), "(x < y) & (y <= x)"),
        (~(x < y) | (x > y), "~(x < y) | (x > y)"),
        (A.T @ (A @ x), "A.T @ (A @ x)"),
        ((A + 1).T, "(A + 1.0).T"),
        (ft.sum(A, axis=1), "sum(A, axis=(1,))"),
        (ft.max(A), "max(A)"),
        (x[1:][i], "x[1:][i]"),
        (A[::-1, i:3], "A[::-1, i:3]"),
        ((A[:, None] * 2).squeeze(1), "squeeze(expand_dims(A, axis=(1,)) * 2.0, axis=(1,))"),
        (ft.set_subtensor(x[:2], 0.0), "set_subtensor(x[:2], 0.0)"),
        (x.shape[0] * 2, "x.shape[0] * 2"),
        (ft.eq(x, y), "x == y"),
        (x.astype("float32"), "cast{float32}(x)"),
    ],
)
def test_formulas(variable, formula):
    assert pp(variable) == formula


def test_what_is_shared_is_named():
    s = ft.sin(x)
    t = ft.cos(s * s)
    assert pp([t + t, s]) == text(
        """
        t0 = sin(x)
        t1 = cos(t0 * t0)
        t1 + t1
        t0"""
    )
