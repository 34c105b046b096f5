"""Powers and products of several matrices, and matrices of blocks."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

import numpy as np

from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.creation import zeros
from frazil.tensor.docstrings import described
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import length, lengths
from frazil.tensor.linalg.general import inv
from frazil.tensor.linalg.matrices import identity_beside
from frazil.tensor.products import dot, matmul


@described
def matrix_power(a: TensorLike, n: int) -> Variable:
    """Return a whole power of square matrices.

    a (tensor_like): Square matrices of shape ``(..., m, m)``.
    n (int): The exponent; a negative one is of the inverse.
    returns: Of the shape of ``a``, by the fewest products that squaring leaves, as
        :func:`numpy.linalg.matrix_power` gives.

    >>> ft.linalg.matrix_power([[1.0, 1.0], [0.0, 1.0]], 5).eval()
    array([[1., 5.],
           [0., 1.]])
    """
    if isinstance(n, bool | np.bool_) or not isinstance(n, int | np.integer):
        raise TypeError(f"the exponent of a matrix must be an integer; given {n!r}")
    matrix = as_tensor(a)
    shape = matrix.type.shape[-2:]
    if len(shape) < 2 or (None not in shape and shape[0] != shape[1]):
        raise np.linalg.LinAlgError(f"matrix_power takes square matrices; given {matrix.type}")
    if n == 0:
        return broadcast_to(identity_beside(matrix), lengths(matrix))
    if n < 0:
        matrix, n = inv(matrix), -n
    result: Variable | None = None
    while True:
        if n % 2:
            result = matrix if result is None else matmul(result, matrix)
        n //= 2
        if n == 0 and result is not None:
            return result
        matrix = matmul(matrix, matrix)


@described
def matrix_dot(*args: TensorLike) -> Variable:
    """Return the product of several matrices.

    args (tensor_like): One matrix or more, as for :func:`multi_dot`.
    returns: The product.

    >>> ft.linalg.matrix_dot([[1.0, 2.0], [0.0, 1.0]], [[2.0, 0.0], [0.0, 3.0]]).eval()
    array([[2., 6.],
           [0., 3.]])
    """
    return as_tensor(args[0]) if len(args) == 1 else multi_dot(args)


@described
def multi_dot(arrays: Sequence[TensorLike]) -> Variable:
    """Return the product of several matrices, in the order of the fewest multiplications.

    arrays (sequence of tensor_like): Two matrices or more; the first and the last may be vectors.
        If the types do not tell all lengths, those are taken for equal.
    returns: As :func:`numpy.linalg.multi_dot` gives.
    example: [[1.0, 2.0], [[1.0, 0.0], [0.0, 3.0]], [1.0, 1.0]] -> 7.
    """
    factors = [as_tensor(x) for x in arrays]
    if len(factors) < 2:
        raise ValueError(f"multi_dot takes two matrices or more; given {len(factors)}")
    for at, x in enumerate(factors):
        if x.ndim != 2 and not (x.ndim == 1 and at in (0, len(factors) - 1)):
            raise np.linalg.LinAlgError(
                f"multi_dot takes matrices, and vectors at the ends; operand {at} is {x.type}"
            )
    first, last = factors[0], factors[-1]
    sizes = [1 if first.ndim == 1 else _known(first, 0)]
    sizes += [_known(x, 0) for x in factors[1:]]
    sizes.append(1 if last.ndim == 1 else _known(last, 1))
    cuts = _cheapest(sizes)

    def product(start: int, end: int) -> Variable:
        if start == end:
            return factors[start]
        cut = cuts[start, end]
        return dot(product(start, cut), product(cut + 1, end))

    return product(0, len(factors) - 1)


def _known(x: Variable, axis: int) -> int:
    """Return a length, or where the type does not tell it a number that stands for all such."""
    static = x.type.shape[axis]
    return 1000 if static is None else static


def _cheapest(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """Return behind which factor each product of neighbours is cut.

    Factor ``k`` has ``sizes[k]`` rows and ``sizes[k + 1]`` columns.
    """
    count = len(sizes) - 1
    costs = {(at, at): 0 for at in range(count)}
    cuts = {}
    for span in range(1, count):
        for start in range(count - span):
            end = start + span
            choices = [
                (
                    costs[start, cut]
                    + costs[cut + 1, end]
                    + sizes[start] * sizes[cut + 1] * sizes[end + 1],
                    cut,
                )
                for cut in range(start, end)
            ]
            costs[start, end], cuts[start, end] = builtins.min(choices)
    return cuts


@described
def block_diag(*arrays: TensorLike) -> Variable:
    """Return a matrix with matrices along its diagonal, and zeros elsewhere.

    arrays (tensor_like): Matrices of shape ``(..., m, n)``, of equal lengths in front; a vector is
        one row, a number a matrix of one element.
    returns: Of the dtype that all promote to, as :func:`scipy.linalg.block_diag` gives.

    >>> ft.linalg.block_diag([[1, 2]], 3).eval()
    array([[1, 2, 0],
           [0, 0, 3]])
    """
    if not arrays:
        return zeros((1, 0))
    variables = [as_tensor(x) for x in arrays]
    blocks = [x if x.ndim >= 2 else x.reshape((1, -1)) for x in variables]
    if len({x.ndim for x in blocks}) > 1:
        raise ValueError(
            "block_diag takes matrices with as many dimensions in front; given "
            + ", ".join(str(x.type) for x in blocks)
        )
    rows = []
    for at, block in enumerate(blocks):
        front = lengths(block)[:-1]
        row = [
            block if where == at else zeros((*front, length(other, other.ndim - 1)), "bool")
            for where, other in enumerate(blocks)
        ]
        rows.append(concatenate(row, -1))
    return concatenate(rows, -2)
