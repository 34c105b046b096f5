"""Phases: what is compiled is the rewritten graph, and nothing of the given one is lost."""

import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil import _core
from frazil.compile.phases import PHASES, optimize
from frazil.inner.rebuild import rewrite_inner_graphs
from frazil.rewrite import CANONICALIZE, SPECIALIZE, STABILIZE, Float, rewrite, rule


def test_a_function_has_both_graphs():
    x = ft.vector("x")
    f = fz.function([x], ft.log(1 + ft.exp(x)), mode="py")
    assert fz.pp(f.fgraph) == "log(1.0 + exp(*0))"
    assert fz.pp(f.optimized) == "softplus(*0)"
    assert fz.pp(f) == "softplus(x)"
    assert fz.dprint(f, file="str").startswith("softplus")


def test_what_is_excluded_is_not_applied():
    x = ft.vector("x")
    y = ft.log(1 + ft.exp(ft.neg(-x)))
    graph = fz.FrozenFunctionGraph([x], [y])

    def text(*names):
        return fz.pp(fz.function([x], y, mode=fz.Mode("py").excluding(*names)).optimized)

    assert text("all") == fz.pp(graph)
    assert text("stabilize") == "log(1.0 + exp(*0))"
    assert text("log_of_one_plus") == "log(1.0 + exp(*0))"
    assert text("log1p_of_exp") == "log1p(exp(*0))"
    assert text("neg_neg", "specialize") == "softplus(--*0)"
    assert fz.Mode("py").excluding("all") == fz.Mode("py").excluding(*PHASES, "scan")


def test_modes_are_checked():
    with pytest.raises(ValueError, match=r"no phase or rule is named 'stabilise'.*canonicalize"):
        fz.Mode().excluding("stabilise")
    with pytest.raises(
        ValueError, match="mode must be one of 'c', 'cranelift', 'tiered', 'numba', 'py', 'debug'"
    ):
        fz.function([], ft.constant(1.0), mode=fz.Mode("fortran"))
    with pytest.raises(TypeError, match=r"a linker's name, a fz.Mode or None, given 3"):
        fz.function([], ft.constant(1.0), mode=3)


def test_graphs_that_become_equal_share_a_program():
    @dataclass(frozen=True, eq=False)
    class Local(fz.Op):
        def make_node(self, x):
            return fz.FrozenApply(self, [x], [x.type])

    x, y = ft.vector("x"), ft.vector("y")
    local = Local()  # what means nothing to another process is not looked for on disk
    f = fz.function([x], ft.neg(-local(x)) * 2, mode="py")
    g = fz.function([y], local(y) * 2, mode="py")
    assert f.fgraph is not g.fgraph
    assert f.optimized is g.optimized
    assert f.program is g.program


def test_errors_name_the_line_that_was_rewritten(mode):
    """By a template, by a function, and by folding of what is beside."""
    # Of types that are no other test's: a node keeps the line that first built it.
    x, y = (ft.tensor(name, shape=(None, 1783)) for name in "xy")
    a = ft.log(1 + ft.exp(x + y))  # this line
    b = (x * y) ** 3.0  # and this one
    line = test_errors_name_the_line_that_was_rewritten.__code__.co_firstlineno
    for output, at in ((a, line + 4), (b, line + 5)):
        f = fz.function([x, y], output, mode=mode)
        assert f.optimized is not f.fgraph
        with pytest.raises(ValueError, match=rf"test_phases.py:{at}"):
            f(np.ones((2, 1783)), np.ones((3, 1783)))


def test_nodes_that_a_rule_makes_are_of_the_line_of_what_they_replace():
    # Of a type that is no other test's: a node keeps the line that first built it.
    m = ft.tensor("m", shape=(None, 1789))
    naive = ft.log(ft.sum(ft.exp(m), axis=1))
    line = test_nodes_that_a_rule_makes_are_of_the_line_of_what_they_replace.__code__
    graph = optimize(fz.FrozenFunctionGraph([m], [naive]), frozenset()).graph
    for node in graph.toposort():
        assert node.source is not None
        assert node.source[0].endswith("test_phases.py")
        assert node.source[1] == line.co_firstlineno + 3


def test_names_of_rules_are_theirs_alone():
    names = [rule.name for rules in PHASES.values() for rule in rules]
    assert len(set(names)) == len(names) > 180


@settings(max_examples=80)
@given(data=st.data())
def test_phases_end_and_keep_values(data):
    """Any graph has a last form, in which no rule applies, and ordinary values stay."""
    x, y, c = ft.vector("x"), ft.vector("y"), ft.scalar("c")
    made = [x, y, c, *(ft.constant(v) for v in (0.0, 1.0, 2.0, -1.0, 0.5, 3.0))]
    unary = [ft.exp, ft.log, ft.log1p, ft.expm1, ft.neg, ft.sqr, ft.sqrt, ft.sigmoid, ft.softplus]
    unary += [ft.reciprocal, ft.abs, ft.sum, lambda v: ft.sum(v, keepdims=True), ft.max, ft.prod]
    binary = [ft.add, ft.sub, ft.mul, ft.true_div, ft.maximum, ft.logaddexp, ft.pow]
    for op in data.draw(st.lists(st.sampled_from(unary + binary), min_size=4, max_size=24)):
        count = 1 if op in unary else 2
        made.append(op(*(made[data.draw(st.integers(0, len(made) - 1))] for _ in range(count))))
    outputs = made[-3:]
    inputs = [x, y, c]
    graph = fz.FrozenFunctionGraph(inputs, outputs)
    last = optimize(graph, frozenset()).graph
    known = ()
    for rules in PHASES.values():
        known = (*known, *rules)
    assert rewrite(last, known).graph is last
    f = fz.function(inputs, outputs, mode="py", on_unused_input="ignore")
    unrewritten = fz.Mode("py").excluding("all")
    g = fz.function(inputs, outputs, mode=unrewritten, on_unused_input="ignore")
    rng = np.random.default_rng(data.draw(st.integers(0, 100)))
    values = rng.uniform(0.2, 1.2, 3), rng.uniform(0.2, 1.2, 3), rng.uniform(0.2, 1.2)
    with np.errstate(all="ignore"):
        for found, wanted in zip(f(*values), g(*values), strict=True):
            assert found.shape == wanted.shape
            assert found.dtype == wanted.dtype
            # What is not finite, or lost its digits, may have become so by overflow on the way.
            sound = np.isfinite(wanted) & (np.abs(wanted) < 1e6) & (np.abs(wanted) > 1e-6)
            assert np.isfinite(found[sound]).all()
            np.testing.assert_allclose(found[sound], wanted[sound], rtol=1e-3)


def test_shared_updates_and_dicts_are_rewritten_too(mode):
    x, total = ft.scalar("x"), fz.shared(0.0)
    f = fz.function(
        [x], {"a": ft.log(1 + ft.exp(x))}, updates={total: total + 0 * 1.0 + x}, mode=mode
    )
    assert f(1000.0)["a"] == 1000
    assert total.get_value() == 1000


def test_distinct_buffers_stay(mode):
    z = ft.zeros(5)
    one, two = ft.distinct(z), ft.distinct(z)
    f = fz.function([], [ft.set_subtensor(one[1:], 1.0), ft.set_subtensor(two[2:], 2.0)], mode=mode)
    first, second = f()
    np.testing.assert_array_equal(first, [0, 1, 1, 1, 1])
    np.testing.assert_array_equal(second, [0, 0, 2, 2, 2])
    nodes = [node for node in f.optimized.toposort() if str(node.op) == "Distinct"]
    assert len(nodes) == 2


def test_no_phase_undoes_another():
    """Sets of rules apply together with those before them, so what leads back would be found."""
    graph = -(ft.vector("x") * 3.0)
    once = rewrite(graph, (*CANONICALIZE, *STABILIZE, *SPECIALIZE)).graph
    assert rewrite(once, CANONICALIZE).graph is once
    assert _core.toposort([once])


def test_a_graph_that_many_ops_hold_goes_through_phases_and_preparation_once():
    x = ft.vector("x")
    inner = fz.OpFromGraph([x], [ft.log(1 + ft.exp(x))])
    outer = fz.OpFromGraph([x], [inner(x) + inner(2 * x)])
    summed, _ = fz.scan(lambda row, s: s + ft.sum(outer(row)), ft.outer(x, x), ft.constant(0.0))
    graph = fz.FrozenFunctionGraph([x], [outer(x), inner(outer(x)), summed])
    prepared = []

    def prepare(graph, inner):
        prepared.append(fz.pp(graph))
        return rewrite_inner_graphs(graph, inner)

    made = optimize(graph, frozenset(), prepare).graph
    assert len(prepared) == 4  # the whole, the step, and the two ops
    assert "softplus(*0)" in prepared
    assert made is optimize(graph, frozenset()).graph


def test_no_rule_or_gradient_runs_once_a_linker_is_at_work(mode):
    x, w = ft.dvector("x"), ft.dmatrix("w")
    states = fz.scan(lambda s: ft.tanh(w @ s), (), x, n_steps=5, return_updates=False)
    cost = fz.ifelse(ft.sum(x) > 0, ft.sum(ft.log(1 + ft.exp(states))), ft.sum(x) / 0.8125)
    outputs = [cost, fz.grad(cost, w)]
    stages = []

    def note(frame, event, arg):
        module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_name
        if event == "call" and module.startswith(("frazil.rewrite", "frazil.compile.phases")):
            stages.append("rewrite")
        elif event == "call" and module.startswith("frazil.gradient"):
            stages.append("differentiate")
        elif event == "call" and module.startswith("frazil.link.linkers") and name == "compile":
            stages.append("link")

    former = sys.getprofile()
    sys.setprofile(note)
    try:
        fz.function([x, w], outputs, mode=mode)
    finally:
        sys.setprofile(former)
    begun = stages.index("link")
    assert set(stages[:begun]) == {"rewrite"}
    assert set(stages[begun:]) == {"link"}


@rule
def log_of_exp2(x: Float):
    """log2(exp2(x)) == x, where exp2 does not overflow."""
    return ft.log2(ft.exp2(x)), x


def test_rules_of_users_apply_in_functions():
    x = ft.vector("x")
    naive = ft.log2(ft.exp2(x)) + 1
    mode = fz.Mode("py").including(log_of_exp2)
    f = fz.function([x], naive, mode=mode)
    assert fz.pp(f) == "x + 1.0"
    assert f([3.0]) == [4.0]
    # Another program than that of a function without the rule, in memory and in copies.
    assert fz.pp(fz.function([x], naive, mode="py")) != fz.pp(f)
    assert fz.pp(pickle.loads(pickle.dumps(f))) == "x + 1.0"
    assert fz.pp(fz.function([x], naive, mode=mode.excluding("all"))) == "x + 1.0"
    steps, _ = fz.scan(lambda s: ft.log2(ft.exp2(s)) + 1, outputs_info=x, n_steps=3)
    inner = fz.function([x], steps, mode=mode.excluding("scan"))
    assert "log2" not in fz.dprint(inner, file="str")


def test_what_a_mode_includes():
    mode = fz.Mode("c").excluding("all", "neg_neg")
    assert mode.including("all").excluded == {"neg_neg"}
    assert mode.including(log_of_exp2, log_of_exp2).included == (log_of_exp2,)
    assert pickle.loads(pickle.dumps(mode.including(log_of_exp2))) == mode.including(log_of_exp2)
    with pytest.raises(TypeError, match=r"what frazil\.rewrite\.rule makes"):
        mode.including(log_of_exp2.function)
    with pytest.raises(ValueError, match="no phase or rule"):
        mode.including("stabilise")


def printed_by(text: str, folder: Path) -> str:
    """The output of a module in a process of its own, whose cache is in the folder."""
    module = folder / "own.py"
    module.write_text(text)
    done = subprocess.run(
        [sys.executable, str(module)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "FRAZIL_CACHE_DIR": str(folder / "cache")},
    )
    return done.stdout.strip()


def test_the_cache_knows_the_rules_of_users(tmp_path):
    text = (
        "import frazil as fz, frazil.tensor as ft\n"
        "from frazil.rewrite import Float, rule\n"
        "@rule\n"
        "def own(x: Float):\n"
        "    'A law.'\n"
        "    return ft.log2(ft.exp2(x)), x * {factor}\n"
        "x = ft.vector('x')\n"
        "f = fz.function([x], ft.log2(ft.exp2(x)) + 1, mode=fz.Mode('c').including(own))\n"
        "print(f.compiled.found, float(f([3.0])[0]))"
    )
    found = []
    for factor in ("1", "1", "2"):
        found.append(printed_by(text.format(factor=factor), tmp_path))
    assert found == ["made 4.0", "disk 4.0", "made 7.0"]


def test_each_function_and_each_process_tells_once_of_rules_that_do_not_end(tmp_path):
    text = (
        "import warnings\n"
        "import frazil as fz, frazil.tensor as ft\n"
        "from frazil.rewrite import Float, rule\n"
        "@rule\n"
        "def there(x: Float):\n"
        "    'A law.'\n"
        "    return ft.tan(ft.cos(x)), ft.sin(ft.sinh(x))\n"
        "@rule\n"
        "def back(x: Float):\n"
        "    'A law.'\n"
        "    return ft.sin(ft.sinh(x)), ft.tan(ft.cos(x))\n"
        "x, y = ft.vector('x'), ft.vector('y')\n"
        "mode = fz.Mode('cranelift').including(there, back)\n"
        "told = []\n"
        "warnings.showwarning = lambda text, of, file, line, *_: told.append((of.__name__, line))\n"
        "warnings.simplefilter('always')\n"
        "for output in (ft.exp(ft.tan(ft.cos(x))) + ft.tan(ft.cos(-x)), ft.tan(ft.cos(x))):\n"
        "    f = fz.function([x], output, mode=mode)\n"
        "f = fz.function([x], output, mode=mode)\n"
        "fz.function([x], ft.log2(ft.exp(x)), mode=mode)\n"
        "print(told)"
    )
    for _ in range(2):
        told = [("RuleCycleWarning", at) for at in (18, 18, 19)]
        assert printed_by(text, tmp_path) == str(told)
