"""Distributions of vectors: counts of outcomes, shares, samples of colours, normal vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array
from frazil.random.docstrings import drawing
from frazil.random.draw import Drawing, Drawn, Size, as_parameter, check_state, draw
from frazil.random.states import generator_of, state_of
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.lengths import Lengths, as_lengths, length, static_shape


@drawing
def multinomial(rng: TensorLike, n: TensorLike, pvals: TensorLike, size: Size = None) -> Drawn:
    """Draw from multinomial distributions: how often each outcome comes up in ``n`` trials.

    n (tensor_like): How many trials: integers, not negative.
    pvals (tensor_like): The probability of each outcome, along the last dimension; what the others
        leave is that of the last.
    size (int, 0-d integer variable, or a sequence of them): Shape of the result without its last
        dimension.
    returns: int64, with the outcomes along the last dimension.
    example: [10, 20], [0.2, 0.3, 0.5]
    """
    return draw("multinomial", rng, [n, pvals], size, "int64")


@drawing
def dirichlet(rng: TensorLike, alpha: TensorLike, size: Size = None) -> Drawn:
    """Draw from Dirichlet distributions: shares that sum to one.

    alpha (tensor_like): The concentration of each share, along the last dimension, not negative.
        Unlike NumPy's it may have further dimensions, drawn one after the other.
    size (int, 0-d integer variable, or a sequence of them): Shape of the result without its last
        dimension.
    returns: float64, with the shares along the last dimension.
    example: [2.0, 3.0, 0.5], 2
    """
    return draw("dirichlet", rng, [alpha], size)


@drawing
def multivariate_hypergeometric(
    rng: TensorLike,
    colors: TensorLike,
    nsample: TensorLike,
    size: Size = None,
    method: Literal["marginals", "count"] = "marginals",
) -> Drawn:
    """Draw from multivariate hypergeometric distributions: how many of each colour are in a sample.

    colors (tensor_like): How many there are of each colour, along the last dimension: integers.
    nsample (tensor_like): How many are taken: integers.
    size (int, 0-d integer variable, or a sequence of them): Shape of the result without its last
        dimension.
    method ({"marginals", "count"}): How, as in NumPy; the numbers are others.
    returns: int64, with the colours along the last dimension.
    example: [5, 6, 7], 8, 2
    """
    if method not in ("marginals", "count"):
        raise ValueError(f"method must be 'marginals' or 'count', given {method!r}")
    name = "multivariate_hypergeometric" + ("_count" if method == "count" else "")
    return draw(name, rng, [colors, nsample], size, "int64")


@dataclass(frozen=True, eq=False)
class MultivariateNormal(Drawing):
    """Normal vectors, and the state after them; the operands are state, mean, covariance, lengths.

    NumPy draws them itself: which bits they have depends on its factors of the covariance.
    """

    method: str
    check_valid: str
    tol: float
    by_python = "the bits of normal vectors follow NumPy's own factors of the covariance"

    def make_node(
        self, state: Variable, mean: Variable, cov: Variable, *batch: Variable
    ) -> FrozenApply:
        check_state(state)
        if mean.ndim != 1 or cov.ndim != 2:
            raise ValueError(
                "multivariate_normal takes a vector and a matrix, given a mean of type "
                f"{mean.type} and a covariance of type {cov.type}"
            )
        known = {n for n in (*mean.type.shape, *cov.type.shape) if n is not None}
        if len(known) > 1:
            raise ValueError(
                "multivariate_normal takes a square matrix of the length of the mean, given a mean "
                f"of type {mean.type} and a covariance of type {cov.type}"
            )
        static = (*static_shape(batch), known.pop() if known else None)
        made = TensorType("float64", static)
        return FrozenApply(self, [state, mean, cov, *batch], [state.type, made])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        state, mean, cov, *batch = inputs
        generator = generator_of(state)
        check_valid: Any = self.check_valid
        method: Any = self.method
        size = tuple(int(n) for n in batch)
        drawn = generator.multivariate_normal(
            mean, cov, size, check_valid=check_valid, tol=self.tol, method=method
        )
        return state_of(generator), np.asarray(drawn)

    def infer_shape(
        self, node: FrozenApply, input_shapes: Sequence[Lengths]
    ) -> tuple[Lengths, Lengths]:
        return input_shapes[0], (*node.inputs[3:], length(node.inputs[1], 0))


@drawing
def multivariate_normal(
    rng: TensorLike,
    mean: TensorLike,
    cov: TensorLike,
    size: Size = None,
    check_valid: Literal["warn", "raise", "ignore"] = "warn",
    tol: float = 1e-8,
    *,
    method: Literal["svd", "eigh", "cholesky"] = "svd",
) -> Drawn:
    """Draw vectors from a normal distribution.

    mean (tensor_like): The mean, a vector.
    cov (tensor_like): The covariance, a positive semidefinite matrix.
    size (int, 0-d integer variable, or a sequence of them): Shape of the result without its last
        dimension.
    check_valid ({"warn", "raise", "ignore"}): What to do about a covariance that is not such.
    tol (float): How far from it is near enough.
    method ({"svd", "eigh", "cholesky"}): By which factor of the covariance.
    returns: float64, with the vectors along the last dimension.
    example: [1.0, 2.0], [[2.0, 0.5], [0.5, 1.0]], 3
    """
    if method not in ("svd", "eigh", "cholesky"):
        raise ValueError(f"method must be 'svd', 'eigh' or 'cholesky', given {method!r}")
    if check_valid not in ("warn", "raise", "ignore"):
        raise ValueError(f"check_valid must be 'warn', 'raise' or 'ignore', given {check_valid!r}")
    operands = [as_parameter("multivariate_normal", x, "float64") for x in (mean, cov)]
    batch: Lengths = () if size is None else as_lengths(size)
    op = MultivariateNormal(method, check_valid, float(tol))
    state, drawn = op(as_tensor(rng), *operands, *batch)
    return state, drawn
