"""Elements of an array: in another order, or some of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frazil._core import Constant, FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array
from frazil.random.docstrings import drawing
from frazil.random.draw import Drawing, Drawn, Size, as_parameter, check_state, draw
from frazil.random.integers import integers
from frazil.random.standard import random
from frazil.random.states import generator_of, state_of
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axis
from frazil.tensor.checks import check_parameters
from frazil.tensor.cumulation import cumsum
from frazil.tensor.elementwise.table import eq
from frazil.tensor.lengths import Lengths, as_lengths, length, lengths, static_shape
from frazil.tensor.positions import searchsorted
from frazil.tensor.reshaping import ravel, reshape
from frazil.tensor.taking import take, take_along_axis
from frazil.tensor.transposition import moveaxis


@drawing
def permutation(rng: TensorLike, x: TensorLike, axis: int = 0) -> Drawn:
    """Draw an order of the elements of an array along an axis, or of the numbers below an integer.

    x (tensor_like): The array, or a 0-d integer.
    axis (int): The axis.
    returns: ``x`` in that order, a new array.
    example: 5
    """
    x = as_tensor(x)
    if x.ndim == 0:
        return draw("permutation", rng, [], (), "int64", row=_number(x, "permutation"))
    axis = normalize_axis(axis, x.ndim)
    state, order = draw("permutation", rng, [], (), "int64", row=length(x, axis))
    return state, take(x, order, axis)


@drawing
def shuffle(rng: TensorLike, x: TensorLike, axis: int = 0) -> Drawn:
    """Draw an order of the elements of an array along an axis.

    Unlike NumPy's function, this leaves the array as it is.

    x (tensor_like): An array with dimensions.
    axis (int): The axis.
    returns: ``x`` in that order, a new array.
    example: [3, 1, 4, 1, 5] -> rng.permutation([3, 1, 4, 1, 5])
    """
    x = as_tensor(x)
    if x.ndim == 0:
        raise ValueError(f"shuffle takes an array with dimensions, given one of type {x.type}")
    return permutation(rng, x, axis)


@drawing
def permuted(rng: TensorLike, x: TensorLike, axis: int | None = None) -> Drawn:
    """Draw an order of its own for each line of an array along an axis.

    x (tensor_like): The array.
    axis (int or None): The axis. Default: all elements change places, as in C order.
    returns: ``x`` in that order, a new array.
    example: [[1, 2, 3], [4, 5, 6]], axis=1
    """
    x = as_tensor(x)
    if axis is None:
        state, flat = permutation(rng, ravel(x))
        return state, reshape(flat, lengths(x))
    axis = normalize_axis(axis, x.ndim)
    others = (*lengths(x)[:axis], *lengths(x)[axis + 1 :])
    state, orders = draw("permutation", rng, [], others, "int64", row=length(x, axis))
    return state, take_along_axis(x, moveaxis(orders, -1, axis), axis)


@drawing
def choice(
    rng: TensorLike,
    a: TensorLike,
    size: Size = None,
    replace: bool = True,
    p: TensorLike | None = None,
    axis: int = 0,
    shuffle: bool = True,
) -> Drawn:
    """Draw some of the elements of an array along an axis, or of the numbers below an integer.

    a (tensor_like): The array, or a 0-d integer.
    size (int, 0-d integer variable, or a sequence of them): How many, and in which shape.
    replace (bool): Whether an element may be drawn again.
    p (tensor_like): The probability of each. Default: the same for all.
    axis (int): The axis.
    shuffle (bool): Whether the order of what is drawn without replacement is drawn, too.
    returns: Elements of ``a``, or int64.
    example: [3, 1, 4, 1, 5], 3
    """
    a = as_tensor(a)
    axis = 0 if a.ndim == 0 else normalize_axis(axis, a.ndim)
    population = _number(a, "choice") if a.ndim == 0 else length(a, axis)
    shape: Lengths = () if size is None else as_lengths(size)
    if p is not None:
        state, places = _weighted(rng, _shares(p, population), shape, replace)
    elif replace:
        state, places = integers(rng, 0, population, shape)
    else:
        state, places = draw("sample", rng, [population, int(shuffle)], shape, "int64")
    return state, places if a.ndim == 0 else take(a, places, axis)


def _number(x: Variable, name: str) -> Variable:
    if x.type.numpy_dtype.kind not in "iu":
        raise ValueError(f"{name} takes an array or an integer, given one of type {x.type}")
    return as_tensor(x, "int64")


def _shares(p: TensorLike, population: Variable) -> Variable:
    """Return probabilities, checked as NumPy checks them."""
    shares = as_parameter("choice", p, "float64")
    if shares.ndim != 1:
        raise ValueError(f"p must be 1-dimensional, given one of type {shares.type}")
    own, given = shares.type.shape[0], population
    if isinstance(given, Constant) and own is not None and own != int(given.data):
        raise ValueError(f"a and p must have same size, given {int(given.data)} and {own}")
    near = float(np.sqrt(np.finfo("float64").eps))  # as far from 1 as NumPy lets them be
    shares = check_parameters(
        shares, eq(length(shares, 0), population), msg="a and p must have same size"
    )
    shares = check_parameters(shares, shares >= 0, msg="probabilities are not 0 or more")
    off = abs(shares.sum() - 1.0)
    return check_parameters(shares, off <= near, msg="probabilities do not sum to 1")


def _weighted(rng: TensorLike, shares: Variable, shape: Lengths, replace: bool) -> Drawn:
    if not replace:
        state, places = WeightedSample()(as_tensor(rng), shares, *shape)
        return state, places
    state, numbers = random(rng, shape)
    sums = cumsum(shares)
    return state, searchsorted(sums / sums[-1], numbers, side="right")


@dataclass(frozen=True, eq=False)
class WeightedSample(Drawing):
    """Different positions of a vector of probabilities, and the state after them.

    NumPy draws them itself: how many numbers that takes, only the numbers tell.
    """

    by_python = "how often a weighted sample without replacement draws, only the numbers tell"

    def make_node(self, state: Variable, shares: Variable, *shape: Variable) -> FrozenApply:
        check_state(state)
        made = TensorType("int64", static_shape(shape))
        return FrozenApply(self, [state, shares, *shape], [state.type, made])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        state, shares, *lengths = inputs
        generator = generator_of(state)
        shape = tuple(int(n) for n in lengths)
        drawn = generator.choice(len(shares), size=shape, replace=False, p=shares)
        return state_of(generator), np.asarray(drawn, dtype="int64")

    def infer_shape(
        self, node: FrozenApply, input_shapes: Sequence[Lengths]
    ) -> tuple[Lengths, Lengths]:
        return input_shapes[0], tuple(node.inputs[2:])
