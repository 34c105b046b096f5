"""The graph as Python sees it: one object a node, promotion by NumPy's rules, frozen graphs."""

import copy
import gc
import operator
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil import _core
from frazil.scalar import Elementary, add

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)
OPERATORS = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "and_": operator.and_,
    "or_": operator.or_,
    "xor": operator.xor,
}
PYTHON_NUMBERS = st.sampled_from([True, 1, 2, 100, 0.5, 2.0])


def test_equal_applications_are_one_object() -> None:
    x, y = ft.vector("x"), ft.vector("y")
    assert x + y is x + y
    assert (x + y).owner is (x + y).owner
    assert x + y is not y + x
    assert (x + y).owner.inputs == (x, y)
    assert (x + y).owner.outputs[0] is x + y


def test_inputs_are_unique_by_identity() -> None:
    assert ft.vector("x") is not ft.vector("x")
    assert ft.vector("x") != ft.vector("x")


def test_a_node_dies_with_its_last_user() -> None:
    x = ft.vector("x")
    gc.collect()
    before = x.container.stats().nodes
    chain = x
    for _ in range(100_000):
        chain = chain + x
    assert x.container.stats().nodes == before + 100_000
    del chain
    assert x.container.stats().nodes == before


def test_digests_are_the_same_in_every_process() -> None:
    script = (
        "import frazil as fz, frazil.tensor as ft\n"
        "x = ft.matrix('x')\n"
        "g = fz.FrozenFunctionGraph([x], [ft.exp(x * 2).sum(axis=0) + 1])\n"
        "print(g.digest)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    name = "another name"
    x = ft.matrix(name)
    unrelated = ft.sin(x)
    graph = fz.FrozenFunctionGraph([x], [ft.exp(x * 2).sum(axis=0) + 1])
    assert graph.digest == run.stdout.strip()
    assert unrelated.digest != graph.digest


@given(
    name=st.sampled_from(sorted(OPERATORS)), a=st.sampled_from(DTYPES), b=st.sampled_from(DTYPES)
)
def test_operators_promote_as_numpy_does(name: str, a: str, b: str) -> None:
    apply = OPERATORS[name]
    left, right = np.ones(2, a), np.ones(2, b)
    try:
        expected = apply(left, right).dtype.name
    except TypeError:
        with pytest.raises(TypeError):
            apply(ft.vector(dtype=a), ft.vector(dtype=b))
        return
    if expected == "float16" and "float16" not in (a, b):
        expected = "float32"
    assert apply(ft.vector(dtype=a), ft.vector(dtype=b)).dtype == expected


@given(
    name=st.sampled_from(sorted(OPERATORS)),
    dtype=st.sampled_from(DTYPES),
    number=PYTHON_NUMBERS,
    reflected=st.booleans(),
)
def test_python_numbers_promote_as_numpy_does(
    name: str, dtype: str, number: float, reflected: bool
) -> None:
    def apply(tensor: object) -> object:
        return OPERATORS[name](number, tensor) if reflected else OPERATORS[name](tensor, number)

    try:
        expected = apply(np.ones(2, dtype)).dtype.name
    except TypeError:
        with pytest.raises(TypeError):
            apply(ft.vector(dtype=dtype))
        return
    if expected == "float16" and dtype != "float16":
        expected = "float32"
    assert apply(ft.vector(dtype=dtype)).dtype == expected


def test_python_integers_must_fit_except_in_comparisons() -> None:
    x = ft.vector(dtype="int8")
    with pytest.raises(OverflowError, match="300 out of bounds for int8"):
        x + 300
    assert (x < 300).dtype == "bool"


def test_numpy_scalars_keep_their_dtype() -> None:
    x = ft.vector(dtype="float32")
    assert (x * np.float64(2)).dtype == "float64"
    assert (np.float64(2) * x).dtype == "float64"
    assert (np.arange(3) + x).dtype == "float64"
    assert (x * 2.0).dtype == "float32"


def make_node() -> fz.Variable:
    """A function of the user's that is named as a method of ops is."""
    return ft.exp(ft.vector("x"))


def test_source_is_in_a_function_named_as_a_method_of_ops() -> None:
    _, line, function = make_node().owner.source
    assert line == make_node.__code__.co_firstlineno + 2
    assert function == "make_node"


def test_source_is_the_users_line() -> None:
    def build() -> fz.Variable:
        return ft.exp(ft.vector("x"))

    node = build().owner
    file, line, function = node.source
    assert file == __file__
    assert line == build.__code__.co_firstlineno + 1
    assert function.endswith("build")


def test_source_is_found_where_a_node_is_built_again() -> None:
    x = ft.vector("x")
    frozen = pickle.dumps(fz.FunctionGraph([x], [ft.exp(x) * 3.25]).freeze())
    gc.collect()
    [read] = pickle.loads(frozen).bind([x])
    assert read.owner.source is None
    built = ft.exp(x) * 3.25
    line = sys._getframe().f_lineno - 1
    assert built is read
    assert read.owner.source[:2] == (__file__, line)
    # The first line stays.
    again = ft.exp(x) * 3.25
    assert again.owner.source[1] == line


def test_constant_data_is_read_only_and_outlives_its_variable() -> None:
    value = np.arange(6.0).reshape(2, 3)
    data = fz.tensor.constant(value).data
    value[:] = 0
    gc.collect()
    np.testing.assert_array_equal(data, np.arange(6.0).reshape(2, 3))
    with pytest.raises(ValueError, match="read-only"):
        data[0, 0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        data.flags.writeable = True


def test_constants_are_one_by_content() -> None:
    assert _core.constant(1.5) is _core.constant(1.5)
    assert _core.constant(1.5) is not _core.constant(np.float32(1.5))
    assert _core.constant(0.0) is not _core.constant(-0.0)
    assert _core.constant(np.nan) is _core.constant(np.nan)
    fortran = np.asfortranarray(np.arange(6).reshape(2, 3))
    assert _core.constant(fortran) is _core.constant(fortran.copy("C"))
    swapped = np.arange(3, dtype=">i4")
    assert _core.constant(swapped) is _core.constant(swapped.astype("<i4"))


def test_truth_and_iteration_say_what_to_do_instead() -> None:
    x = ft.vector("x")
    with pytest.raises(TypeError, match=r"ft\.where"):
        bool(x > 0)
    with pytest.raises(TypeError):
        iter(x)


def test_comparison_of_handles() -> None:
    x, y = ft.vector("x"), ft.vector("y")
    assert x == x
    assert x != y
    assert len({x, y, x}) == 2
    assert (x < y).dtype == "bool"


def test_clone_with_new_inputs_checks_types() -> None:
    x, y, narrow = ft.vector("x"), ft.vector("y"), ft.vector("n", dtype="float32")
    node = (x + 1).owner
    one = node.inputs[1]
    assert node.clone_with_new_inputs([x, one]) is node
    assert node.clone_with_new_inputs([y, one]) is (y + 1).owner
    with pytest.raises(TypeError, match="input 0 of the new node has type float32"):
        node.clone_with_new_inputs([narrow, one])
    loose = node.clone_with_new_inputs([narrow, one], strict=False)
    assert loose.outputs[0].dtype == "float64"
    with pytest.raises(TypeError, match="takes 2 operands, 1 given"):
        node.clone_with_new_inputs([y])


def test_nodes_and_variables_cannot_be_edited() -> None:
    x = ft.vector("x")
    for thing in (x + 1, (x + 1).owner, (x + 1).owner.op, x.type):
        with pytest.raises(AttributeError):
            thing.anything = 1


def test_graph_replace_is_simultaneous() -> None:
    x, y = ft.vector("x"), ft.vector("y")
    assert _core.graph_replace([x - y], {x: y, y: x}) == [y - x]
    assert _core.graph_replace([x - y], {}) == [x - y]
    with pytest.raises(TypeError, match="does not fit"):
        _core.graph_replace([x - y], {x: ft.scalar()})


def test_frozen_graphs_are_equal_whatever_their_inputs_were() -> None:
    def build() -> fz.FrozenFunctionGraph:
        x, y = ft.vector(), ft.vector()
        return fz.FrozenFunctionGraph([x, y], [ft.exp(x) * y])

    one, other = build(), build()
    assert one == other
    assert hash(one) == hash(other)
    assert copy.copy(one) is one
    assert copy.deepcopy(one) is one
    x, y = ft.vector(), ft.vector()
    assert fz.FrozenFunctionGraph([y, x], [ft.exp(x) * y]) != one


def test_frozen_graph_names_what_is_missing() -> None:
    x, y = ft.vector("x"), ft.vector("y")
    with pytest.raises(fz.MissingInputError, match="needs input y of type"):
        fz.FrozenFunctionGraph([x], [x + y])
    with pytest.raises(ValueError, match="x is listed twice"):
        fz.FrozenFunctionGraph([x, x], [x])


def test_ops_are_one_object_by_their_parameters() -> None:
    assert Elementary("add") is add
    assert ft.vector().type == fz.TensorType("float64", (None,))
    restored = pickle.loads(pickle.dumps(add))
    assert restored is add
    assert pickle.loads(pickle.dumps(fz.TensorType("int8", (2, None)))) == fz.TensorType(
        "int8", (2, None)
    )


@pytest.mark.parametrize("shape", [(-1,), ("a",), (1.5,)])
def test_static_lengths_are_checked(shape: tuple[object, ...]) -> None:
    with pytest.raises((TypeError, ValueError), match="static length"):
        fz.TensorType("float64", shape)


def test_unknown_dtypes_are_named() -> None:
    with pytest.raises(TypeError, match="float128"):
        fz.TensorType("float128", ())


def test_threads_build_the_same_objects() -> None:
    x = ft.vector("x")
    results: list[list[fz.Variable]] = [[] for _ in range(8)]
    barrier = threading.Barrier(8)

    def work(mine: list[fz.Variable]) -> None:
        barrier.wait()
        h = x
        for i in range(200):
            h = h * (i % 7) + x
            mine.append(h)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for mine in results[1:]:
        assert all(a is b for a, b in zip(mine, results[0], strict=True))
