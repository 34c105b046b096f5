"""Root inputs are of the types that they are declared with."""

import pytest

import frazil.tensor as ft


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (ft.scalar, ()),
        (ft.vector, (None,)),
        (ft.matrix, (None, None)),
        (ft.tensor3, (None, None, None)),
        (ft.row, (1, None)),
        (ft.col, (None, 1)),
    ],
)
def test_shortcuts(make, shape):
    x = make("x", dtype="float32")
    assert (x.name, x.dtype, x.type.shape) == ("x", "float32", shape)
    assert make().dtype == "float64"


@pytest.mark.parametrize(
    ("shortcut", "dtype", "ndim"),
    [(ft.dscalar, "float64", 0), (ft.fvector, "float32", 1), (ft.lmatrix, "int64", 2)],
)
def test_typed_shortcuts(shortcut, dtype, ndim):
    assert (shortcut("x").dtype, shortcut("x").ndim) == (dtype, ndim)


def test_inputs_are_told_apart_by_identity():
    assert ft.vector("x") is not ft.vector("x")


def test_shape_must_have_the_rank():
    with pytest.raises(ValueError, match="must have 2 lengths"):
        ft.matrix("x", shape=(3,))
    with pytest.raises(ValueError, match=r"a row has shape \(1, n\)"):
        ft.row("x", shape=(2, 3))
    with pytest.raises(ValueError, match=r"a col has shape \(n, 1\)"):
        ft.col("x", shape=(3, 2))


def test_dtype_as_the_first_argument_is_refused():
    with pytest.raises(TypeError, match="name as its only positional"):
        ft.tensor(("float64",), shape=())


@pytest.mark.parametrize(
    ("many", "one"), [("scalars", "scalar"), ("vectors", "vector"), ("matrices", "matrix")]
)
def test_several_inputs_at_once(many, one):
    inputs = getattr(ft, many)("a", "b", dtype="int32")
    assert [x.name for x in inputs] == ["a", "b"]
    assert all(x.type == getattr(ft, one)(dtype="int32").type for x in inputs)
    assert inputs[0] is not inputs[1]


def test_four_dimensions():
    x = ft.tensor4("x", dtype="float32", shape=(None, 1, 2, None))
    assert (x.ndim, x.dtype, x.type.shape) == (4, "float32", (None, 1, 2, None))
    with pytest.raises(ValueError, match="4 lengths"):
        ft.tensor4(shape=(2,))
