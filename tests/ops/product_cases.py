"""Products of arrays, and sums of products."""

from op_case import same

PRODUCTS = [
    same("matrices", lambda n, x, y: n.dot(x, y), "mk", "kn"),
    same("matrices times vector", lambda n, x, y: n.dot(x, y), "mk", "k"),
    same("vector times matrix", lambda n, x, y: n.dot(x, y), "k", "kn"),
    same("vectors", lambda n, x, y: n.dot(x, y), "k", "k"),
    same("transposed", lambda n, x, y: n.dot(x.T, y.T), "km", "nk"),
    same("gram", lambda n, x: n.dot(x.T, x), "mn"),
    same("outer", lambda n, x, y: n.outer(x, y), "m", "n"),
    same("matmul of stacks", lambda n, x, y: n.matmul(x, y), "bmk", "bkn"),
    same("matmul of a stack and a matrix", lambda n, x, y: n.matmul(x, y), "bmk", "kn"),
    same("small matrices", lambda n, x, y: n.dot(x, y), "33", "33"),
    same("small stacks", lambda n, x, y: n.matmul(x, y), "b23", "b32"),
    same("thin", lambda n, x, y: n.dot(x, y), "m2", "2n"),
    same("tensordot", lambda n, x, y: n.tensordot(x, y, [[1], [0]]), "mkp", "kn"),
    same("inner", lambda n, x, y: n.inner(x, y), "mk", "nk"),
    same("einsum", lambda n, x, y: n.einsum("ijk,ik->j", x, y), "bmk", "bk"),
    same("a product and more", lambda n, x, y, z: n.dot(x, y) + z * 2, "mk", "kn", "mn"),
    same("a product and a row", lambda n, x, y, z: n.maximum(n.dot(x, y) + z, 0), "mk", "k", "m"),
    same("kron", lambda n, x, y: n.kron(x, y), "mk", "23"),
    same("convolve", lambda n, x, y: n.convolve(x, y, "full"), "m", "3"),
]
