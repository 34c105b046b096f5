"""Reductions, cumulations, orders and searches."""

from drawn_operands import Operand, finite
from op_case import same

SOME = (2, 1, 3, 9, 40)
AXES = {"all": None, "rows": 0, "columns": -1}
_of_nothing = ("sum", "prod", "any", "all")
_of_something = ("max", "min", "argmax", "argmin")

REDUCTIONS = [
    same(f"{name} of {along}", lambda n, x, name=name, axis=axis: getattr(n, name)(x, axis), dims)
    for name in (*_of_nothing, *_of_something)
    for dims in ("mn",)
    for along, axis in AXES.items()
]
REDUCTIONS += [
    same(f"{name} in the middle", lambda n, x, name=name: getattr(n, name)(x, 1), "kmn")
    for name in ("sum", "prod", "any", "max", "argmin")
]
REDUCTIONS += [
    same(f"{name} of two axes", lambda n, x, name=name: getattr(n, name)(x, (0, 2)), "kmn")
    for name in ("sum", "max", "all")
]
REDUCTIONS += [
    same(f"{name} of five", lambda n, x, name=name: getattr(n, name)(x, 1), "m5")
    for name in ("sum", "prod", "min", "argmax")
]

MOMENTS = [
    same(
        f"{name} of {along}",
        lambda n, x, name=name, axis=axis: getattr(n, name)(x, axis),
        "mn",
        has_bool=name != "ptp",
    )
    for name in ("mean", "var", "std", "ptp", "nansum", "nanmax", "nanmean")
    for along, axis in AXES.items()
]

ORDERS = [
    same("sort", lambda n, x: n.sort(x), "mn"),
    same("sort of rows", lambda n, x: n.sort(x, 0), "mn"),
    same("sort of all", lambda n, x: n.sort(x, None), "mn"),
    same("sort of six", lambda n, x: n.sort(x), "m6"),
    same("argsort", lambda n, x: n.argsort(x, stable=True), "mn"),
    same("argsort of rows", lambda n, x: n.argsort(x, 0, stable=True), "mn"),
    same("nonzero", lambda n, x: n.nonzero(x), "mn"),
    same("flatnonzero", lambda n, x: n.flatnonzero(x > 0), "mn"),
    same("argwhere", lambda n, x: n.argwhere(x > 1), "mn"),
    same("searchsorted", lambda n, x, y: n.searchsorted(n.sort(x), y), "m", "kn"),
    same("unique", lambda n, x: n.unique(x), "mn", dtypes=("int64",)),
    same("median", lambda n, x: n.median(x, 0), Operand("mn", finite)),
    same("nanmedian", lambda n, x: n.nanmedian(x, 1), "mn"),
    same(
        "quantile",
        lambda n, x: n.quantile(x, 0.3, 1),
        Operand("mn", finite),
        lengths=SOME,
        has_bool=False,
    ),
    same(
        "nanpercentile",
        lambda n, x: n.nanpercentile(x, 60, 1),
        Operand("mn", finite),
        has_bool=False,
    ),
]

CUMULATIONS = [
    same(f"{name} of {along}", lambda n, x, name=name, axis=axis: getattr(n, name)(x, axis), "mn")
    for name in ("cumsum", "cumprod")
    for along, axis in AXES.items()
]
CUMULATIONS += [same("cumsum in the middle", lambda n, x: n.cumsum(x, 1), "kmn")]
