"""Shapes changed, parts taken and put, arrays joined and repeated."""

import numpy as np
from drawn_operands import Operand, chosen, finite, whole
from op_case import NUMBERS, case, same

import frazil.tensor as ft

SOME = (2, 1, 3, 4, 9, 17, 40)
LENGTH = Operand("", whole(-1, 5), "int64")
PLACE = Operand("", whole(-5, 5), "int64")
ROW = Operand("", whole(-2, 1), "int64")
PLACES = Operand("k", whole(-3, 3), "int64")
INSIDE = Operand("k", whole(-2, 1), "int64")
LONG = (2, 3, 4, 9, 17, 40)
SAME_PLACES = Operand("p", whole(-3, 3), "int64")
LINES = Operand("mk", whole(-4, 3), "int64")
FAR = Operand("k", whole(-30, 30), "int64")
ROW_MASK = Operand("m", dtype="bool")
COLUMN_MASK = Operand("n", dtype="bool")
# Of two errors, which NumPy raises depends on the dtype.
ITEMS = (PLACES, PLACES, Operand("k", free=False))
SQUARE_PLACES = Operand("jk", whole(-4, 4), "int64")
FEW = Operand("m", whole(0, 3), "int64")
WRONG = Operand("m", whole(-1, 30), "int64")
TURNED = (slice(None), slice(None, None, -1))
ODD = (slice(None), slice(None, None, 2))
OTHER = Operand("k", dtype="float32")
LIKE_IT = Operand("mn", free=False)
BOOL = Operand("mn", dtype="bool")
FINITE = Operand("mn", finite)


def _set(n, x, index, value):
    if n is ft:
        return x[index].set(value)
    made = x.copy()
    made[index] = value
    return made


def _add(n, x, index, value):
    if n is ft:
        return x[index].inc(value)
    made = x.copy()
    np.add.at(made, index, value)
    return made


def _put_along(n, x, index, values):
    if n is ft:
        return n.put_along_axis(x, index, values, 1)
    made = x.copy()
    np.put_along_axis(made, index, values, 1)
    return made


SHAPES = [
    same("transpose", lambda n, x: n.transpose(x, (2, 0, 1)), "kmn"),
    same("transposed sum", lambda n, x: n.transpose(x) + 1, "mn"),
    same("expand_dims", lambda n, x: n.expand_dims(x, (0, 2)), "mn"),
    same("squeeze", lambda n, x: n.squeeze(x, 1), "m1n"),
    case(
        "squeeze of what may be 1",
        lambda x: ft.squeeze(x, 0),
        lambda x: np.squeeze(x, 0),
        "mn",
        static=False,
    ),
    same("reshape", lambda n, x: n.reshape(x, (-1, x.shape[0])), "mn"),
    same("reshape to pairs", lambda n, x: n.reshape(x, (2, -1)), "mn", static=False),
    same("reshape to fours", lambda n, x: n.reshape(x, (x.shape[1], 4)), "mn", static=False),
    same("ravel", lambda n, x: n.ravel(x), "kmn"),
    same("broadcast_to", lambda n, x: n.broadcast_to(x, (3, x.shape[0], 4)), "m1"),
    same("broadcast to lengths", lambda n, x, k: n.broadcast_to(x, (k, x.shape[0])), "m", LENGTH),
    same("broadcast to others", lambda n, x, y: n.broadcast_to(x, y.shape), "mn", "kmn"),
    same("row and column", lambda n, x, y: x * y + x, "m1", "1n"),
    same("row and matrix", lambda n, x, y: n.maximum(x - y, y), "mn", "n", has_bool=False),
    same("product of columns", lambda n, x, y: (x * y).sum(1), "mn", "mn"),
    same("flip", lambda n, x: n.flip(x), "mn"),
    same("rolled", lambda n, x: n.roll(x, 2, 1), "mn"),
    same("rolled by", lambda n, x, k: n.roll(x, k), "mn", PLACE),
    same("lengths", lambda n, x: x.shape[0] * 10 + n.sum(x > 0) * 0, "mn", dtypes=("int64",)),
]

CREATION = [
    same("full", lambda n, x, k: n.full((k, 3), x), "", LENGTH),
    same("full of a row", lambda n, x, k: n.full((k, x.shape[0]), x), "m", LENGTH),
    same("zeros_like", lambda n, x: n.zeros_like(x) + n.ones_like(x), "mn"),
    same("eye", lambda n, x: n.eye(x.shape[0], x.shape[1], 1) + x, "mn"),
    same("eye of lengths", lambda n, x, k: n.eye(k, 4, -1) + x, "", LENGTH),
    same("diag", lambda n, x: n.diag(x), "m"),
    same("diag above", lambda n, x: n.diag(x, 2), "m"),
    same("diagonal", lambda n, x: n.diagonal(x), "mn"),
    same("diagonal below", lambda n, x: n.diagonal(x, -1), "mn"),
    same("diagonal of stacks", lambda n, x: n.diagonal(x, 1, 0, 2), "kmn"),
    same("trace", lambda n, x: n.trace(x), "mn"),
    same("tril", lambda n, x: n.tril(x, 1), "mn"),
    same("triu", lambda n, x: n.triu(x), "mn"),
    same("arange", lambda n, x, k: n.arange(k) * x, "", Operand("", whole(-2, 40), "int64")),
    same(
        "arange of steps",
        lambda n, a, b, c: n.arange(a, b, c),
        *(Operand("", whole(-9, 9), "int64") for _ in range(2)),
        Operand("", chosen(-3, -2, -1, 1, 2, 3), "int64"),
        dtypes=("int64",),
    ),
    same(
        "arange of fractions",
        lambda n, a, b, c: n.arange(a, b, c),
        *(Operand("", chosen(-2.5, 0.0, 0.25, 3.75)) for _ in range(2)),
        Operand("", chosen(-0.75, 0.1, 0.5)),
        dtypes=("float64",),
    ),
    same(
        "linspace",
        lambda n, a, b: n.linspace(a, b, 5),
        *(Operand("m", finite) for _ in range(2)),
    ),
    case("distinct", ft.distinct, np.copy, "mn"),
    case(
        "copied and changed",
        lambda x: ft.distinct(x)[1:].inc(x[:-1]),
        lambda x: np.concatenate([x[:1], x[1:] + x[:-1]]),
        "mn",
    ),
]

PARTS = [
    same("every second row", lambda n, x: x[::2] + 1, "mn"),
    same("backwards", lambda n, x: x[::-1, 1:-1], "mn"),
    same("an item", lambda n, x: x[1, -2], "mn"),
    same("a row and a column", lambda n, x: (x[-1], x[:, 0]), "mn"),
    same("a row at", lambda n, x, k: x[k] * 2, "mn", PLACE),
    same("a part from to", lambda n, x, a, b: x[a:b], "mn", PLACE, PLACE),
    same("a part backwards", lambda n, x, a: x[a::-2], "mn", PLACE),
    same("set rows", lambda n, x, y: _set(n, x, slice(1, None), y[1:]), LIKE_IT, LIKE_IT),
    same("set an item", lambda n, x, k, y: _set(n, x, k, y), "m", PLACE, ""),
    same("set backwards", lambda n, x, y: _set(n, x, TURNED, y), "mn", "mn"),
    same("add to columns", lambda n, x, y: _add(n, x, ODD, y), "mn", ""),
    # Of two errors, which NumPy raises depends on the dtype.
    same("add to a row", lambda n, x, k, y: _add(n, x, k, y), "mn", ROW, "n", lengths=LONG),
]  # fmt: skip

INDICES = [
    same("rows at", lambda n, x, k: x[k], "mn", PLACES),
    same("columns at", lambda n, x, k: x[:, k] + 1, "mn", PLACES),
    same("items at", lambda n, x, i, j: x[i, j], "mn", PLACES, PLACES),
    same("items at pairs", lambda n, x, i, j: x[i, :, j].sum(0), "kmn", SAME_PLACES, SAME_PLACES),
    same("a matrix of places", lambda n, x, k: x[k], "m", SQUARE_PLACES),
    same("places of int8", lambda n, x, k: x[k], "m", Operand("k", whole(-3, 3), "int8")),
    same("places of uint64", lambda n, x, k: x[k], "m", Operand("k", whole(0, 3), "uint64")),
    same("sum of rows at", lambda n, x, k: x[k].sum(0), "mn", PLACES),
    same("set rows at", lambda n, x, k, y: _set(n, x, k, y), "mn", PLACES, "n"),
    same("add to rows at", lambda n, x, k, y: _add(n, x, k, y), "mn", INSIDE, "kn", lengths=LONG),
    same("add to items at", lambda n, x, i, j, y: _add(n, x, (i, j), y), "mn", *ITEMS),
    same("add to columns at", lambda n, x, k, y: _add(n, x, (slice(None), k), y), "mn", PLACES, ""),
    same("items along rows", lambda n, x, k: n.take_along_axis(x, k, 1), "mn", LINES),
    same("put along rows", lambda n, x, k, y: _put_along(n, x, k, y), "mn", LINES, ""),
    # NumPy looks at no place in rows that are not there.
    same("taken", lambda n, x, k: n.take(x, k, 1), "mn", PLACES, lengths=SOME),
    same("taken from all", lambda n, x, k: n.take(x, k), "mn", PLACES),
    # NumPy never ends where there are neither rows nor columns.
    same("taken around", lambda n, x, k: n.take(x, k, 0, mode="wrap"), "mn", FAR, lengths=SOME),
    same("taken within", lambda n, x, k: n.take(x, k, 1, mode="clip"), "mn", FAR, lengths=SOME),
    # NumPy lets a mask of length 0 pass for one of any length.
    same("rows where", lambda n, x, m: x[m], "mn", ROW_MASK, lengths=SOME),
    same(
        "rows where and places",
        lambda n, x, m, k: x[m, k],
        *("mn", ROW_MASK, Operand("", whole(-2, 2), "int64")),
        lengths=LONG,
    ),
    same("set at places", lambda n, x, i, k, y: _set(n, x, (i, k), y), "mn", PLACES, PLACE, ""),
    same("columns where", lambda n, x, m: x[:, m] * 2, "mn", COLUMN_MASK, lengths=SOME),
    same("items where", lambda n, x, m: x[m], "mn", BOOL, lengths=SOME),
    same("sum where", lambda n, x, m: x[m].sum(), "mn", BOOL, lengths=SOME),
    same("items above", lambda n, x: x[x > 0], "mn"),
    same("set where", lambda n, x, m, y: _set(n, x, m, y), "mn", BOOL, "", lengths=SOME),
    same("set rows where", lambda n, x, m, y: _set(n, x, m, y), "mn", ROW_MASK, "n", lengths=SOME),
    same("add where", lambda n, x, m, y: _add(n, x, m, y), "mn", ROW_MASK, "n", lengths=SOME),
    same("counts", lambda n, x: n.bincount(x), Operand("m", whole(0, 6)), dtypes=("int64",)),
]  # fmt: skip

JOINED = [
    same("concatenate", lambda n, x, y: n.concatenate([x, y]), "mn", "kn"),
    same("concatenate columns", lambda n, x, y: n.concatenate([x + 1, y, x], 1), "mn", "mk"),
    same("concatenate dtypes", lambda n, x, y: n.concatenate([x, y]), "m", OTHER),
    same("stack", lambda n, x, y: n.stack([x, y * 2], 1), "mn", "mn"),
    same("repeat", lambda n, x: n.repeat(x, 3, 1), "mn"),
    same("repeat by counts", lambda n, x, k: n.repeat(x, k), "m", FEW),
    same("repeat rows", lambda n, x, k: n.repeat(x, k, 0), "mn", FEW),
    same("repeat by wrong counts", lambda n, x, k: n.repeat(x, k), "m", WRONG, lengths=(0, 1, 2)),
    same("tile", lambda n, x: n.tile(x, (2, 3)), "mn"),
    same("split", lambda n, x: n.array_split(x, 3), "mn"),
    same("pad", lambda n, x: n.pad(x, 1), "mn"),
    *(
        same(f"pad by {mode}", lambda n, x, mode=mode: n.pad(x, ((2, 1), (0, 3)), mode), "mn")
        for mode in (
            *("constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum"),
            *("reflect", "symmetric", "wrap"),
        )
    ),
    same("pad by odd", lambda n, x: n.pad(x, 2, "reflect", reflect_type="odd"), FINITE),
    same("diff", lambda n, x: n.diff(x, axis=0), "mn", dtypes=NUMBERS),
]  # fmt: skip
