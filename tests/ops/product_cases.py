"""Products of arrays, and sums of products."""

import numpy as np
from drawn_operands import Operand, finite, values
from op_case import same


def _fill(rng, shape, dtype):
    kind = finite if np.dtype(dtype).kind == "f" else values
    return kind(rng, shape, dtype)


def _blas(name, function, *operands):
    """A case without NaN and infinities: some BLAS leave out what a zero is multiplied with."""
    return same(name, function, *(Operand(one, _fill) for one in operands))


PRODUCTS = [
    _blas("matrices", lambda n, x, y: n.dot(x, y), "mk", "kn"),
    _blas("matrices times vector", lambda n, x, y: n.dot(x, y), "mk", "k"),
    _blas("vector times matrix", lambda n, x, y: n.dot(x, y), "k", "kn"),
    _blas("vectors", lambda n, x, y: n.dot(x, y), "k", "k"),
    _blas("transposed", lambda n, x, y: n.dot(x.T, y.T), "km", "nk"),
    _blas("gram", lambda n, x: n.dot(x.T, x), "mn"),
    same("outer", lambda n, x, y: n.outer(x, y), "m", "n"),
    _blas("matmul of stacks", lambda n, x, y: n.matmul(x, y), "bmk", "bkn"),
    _blas("matmul of a stack and a matrix", lambda n, x, y: n.matmul(x, y), "bmk", "kn"),
    _blas("small matrices", lambda n, x, y: n.dot(x, y), "33", "33"),
    _blas("small stacks", lambda n, x, y: n.matmul(x, y), "b23", "b32"),
    _blas("thin", lambda n, x, y: n.dot(x, y), "m2", "2n"),
    _blas("tensordot", lambda n, x, y: n.tensordot(x, y, [[1], [0]]), "mkp", "kn"),
    _blas("inner", lambda n, x, y: n.inner(x, y), "mk", "nk"),
    same("einsum", lambda n, x, y: n.einsum("ijk,ik->j", x, y), "bmk", "bk"),
    _blas("a product and more", lambda n, x, y, z: n.dot(x, y) + z * 2, "mk", "kn", "mn"),
    _blas("a product and a row", lambda n, x, y, z: n.maximum(n.dot(x, y) + z, 0), "mk", "k", "m"),
    same("kron", lambda n, x, y: n.kron(x, y), "mk", "23"),
    same("convolve", lambda n, x, y: n.convolve(x, y, "full"), "m", "3"),
]
