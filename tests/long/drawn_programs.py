"""Programs over arrays, drawn at random, that NumPy and frazil both can run.

A program is a list of steps. A step applies a function to values made before; the function takes
the namespace to compute in (:class:`NumPy` or ``frazil.tensor``) as its first argument. What steps
are drawn depends on the values that NumPy computes meanwhile, so that every program is valid.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import mathematical_steps
import numpy as np
import scipy.special

import frazil as fz
import frazil.tensor as ft


class NumPy:
    """NumPy under the names of ``frazil.tensor``."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name, None) or getattr(scipy.special, name)

    erf = staticmethod(scipy.special.erf)
    gammaln = staticmethod(scipy.special.gammaln)
    digamma = staticmethod(scipy.special.digamma)

    @staticmethod
    def sigmoid(x: Any) -> Any:
        # SciPy's expit gives 0 where the result is subnormal.
        return np.where(x < 0, np.exp(np.minimum(x, -x)), 1) / (1 + np.exp(-np.abs(x)))

    expit = sigmoid

    @staticmethod
    def softplus(x: Any) -> Any:
        return np.logaddexp(x, np.zeros((), x.dtype))

    @staticmethod
    def softmax(x: Any, axis: int) -> Any:
        return scipy.special.softmax(x, axis).astype(x.dtype)

    @staticmethod
    def log_softmax(x: Any, axis: int) -> Any:
        return scipy.special.log_softmax(x, axis).astype(x.dtype)

    @staticmethod
    def logsumexp(x: Any, axis: int) -> Any:
        return np.asarray(scipy.special.logsumexp(x, axis)).astype(x.dtype)

    @staticmethod
    def cast(x: Any, dtype: str) -> Any:
        return np.asarray(x).astype(dtype)

    @staticmethod
    def constant(x: Any) -> Any:
        return np.asarray(x)

    @staticmethod
    def ifelse(condition: Any, one: Any, other: Any) -> Any:
        return one if condition else other

    @staticmethod
    def put(x: Any, index: Any, value: Any) -> Any:
        made = x.copy()
        made[index] = value
        return made

    @staticmethod
    def increase(x: Any, index: Any, value: Any) -> Any:
        made = x.copy()
        np.add.at(made, index, value)
        return made

    @staticmethod
    def recur(start: Any, rows: Any, step: Callable[[Any, Any], Any]) -> Any:
        made = []
        for row in rows:
            made.append(start := step(start, row))
        return np.array(made).reshape(len(rows), *start.shape).astype(start.dtype)

    @staticmethod
    def over_batch(function: Callable[[Any], Any], x: Any) -> Any:
        return np.stack([function(row) for row in x])

    @staticmethod
    def inlined(function: Callable[..., Any], *args: Any) -> Any:
        return function(*args)


class RoundedOtherwise(NumPy):
    """NumPy that adds and multiplies in any order, and rounds what bounds an argument."""

    def __init__(self, noise: np.random.Generator) -> None:
        self._noise = noise

    def tanh(self, x: Any) -> Any:
        """Steps that have more than one function bound their arguments by this one."""
        return disturbed(np.tanh(x), self._noise, "tanh")

    def _shuffled(self, x: np.ndarray, axis: Any) -> np.ndarray:
        x = np.asarray(x)
        axes = range(x.ndim) if axis is None else np.atleast_1d(axis)
        for one in axes:
            x = self._noise.permutation(x, int(one))
        return x

    def sum(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return np.sum(self._shuffled(x, axis), axis=axis, keepdims=keepdims)

    def prod(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return np.prod(self._shuffled(x, axis), axis=axis, keepdims=keepdims)

    def mean(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return np.mean(self._shuffled(x, axis), axis=axis, keepdims=keepdims)

    def matmul(self, x: Any, y: Any) -> Any:
        order = self._noise.permutation(x.shape[-1])
        return np.matmul(x[..., order], np.take(y, order, axis=max(y.ndim - 2, 0)))

    dot = matmul


class Frazil:
    """``frazil.tensor`` with the few things that :class:`NumPy` names otherwise."""

    def __getattr__(self, name: str) -> Any:
        return getattr(ft, name)

    ifelse = staticmethod(fz.ifelse)

    @staticmethod
    def put(x: Any, index: Any, value: Any) -> Any:
        return ft.set_subtensor(x[index], value)

    @staticmethod
    def increase(x: Any, index: Any, value: Any) -> Any:
        return ft.inc_subtensor(x[index], value)

    @staticmethod
    def recur(start: Any, rows: Any, step: Callable[[Any, Any], Any]) -> Any:
        return fz.scan(lambda row, state: step(state, row), [rows], [start])[0]

    @staticmethod
    def over_batch(function: Callable[[Any], Any], x: Any) -> Any:
        row = fz.TensorType(x.dtype, x.type.shape[1:])(None)
        return fz.vectorize(function(row), {row: x})

    @staticmethod
    def inlined(function: Callable[..., Any], *args: Any) -> Any:
        inputs = [x.type() for x in args]
        return fz.OpFromGraph(inputs, [function(*inputs)])(*args)


numpy, frazil = NumPy(), Frazil()


@dataclass(frozen=True)
class Step:
    """A function of values made before, which are told by their positions."""

    name: str
    apply: Callable[..., Any]
    arguments: tuple[int, ...]


@dataclass
class Program:
    """Inputs, and steps that each make one value more."""

    inputs: list[np.ndarray]
    static: list[tuple[int | None, ...]]
    steps: list[Step] = field(default_factory=list)
    has_ties: bool = False
    """Whether a step chooses among equal values, where differences tell no gradient."""

    def on_numpy(self, inputs: list[np.ndarray], noise: np.random.Generator | None) -> list[Any]:
        """All values by NumPy.

        With noise, each float is off by a few units of its last place, and what is added or
        multiplied is so in any order.
        """
        values: list[Any] = list(inputs)
        namespace = numpy if noise is None else RoundedOtherwise(noise)
        for step in self.steps:
            with np.errstate(all="ignore"):
                value = np.asarray(step.apply(namespace, *(values[k] for k in step.arguments)))
            values.append(value if noise is None else disturbed(value, noise, step.name))
        return values

    def units(self, values: list[np.ndarray]) -> list[float]:
        """The coarsest last place of all that each value is computed from, itself included."""
        own = [np.finfo(x.dtype).eps if x.dtype.kind == "f" else 0.0 for x in values]
        units = [float(unit) for unit in own[: len(self.inputs)]]
        for step in self.steps:
            units.append(max([float(own[len(units)]), *(units[k] for k in step.arguments)]))
        return units

    def on_frazil(self, inputs: list[Any]) -> list[Any]:
        """All values as variables."""
        values = list(inputs)
        for step in self.steps:
            values.append(step.apply(frazil, *(values[k] for k in step.arguments)))
        return values

    def variables(self) -> list[Any]:
        """A new input variable for each array."""
        return [
            ft.tensor(f"x{k}", dtype=str(x.dtype), shape=shape)
            for k, (x, shape) in enumerate(zip(self.inputs, self.static, strict=True))
        ]


def disturbed(value: np.ndarray, noise: np.random.Generator, of: str) -> np.ndarray:
    """The value of a step, rounded otherwise.

    An element of a factor or a solution is also off by a few units of the largest one: it may
    vanish or have the other sign where it is small.
    """
    if value.dtype.kind != "f":
        return value
    unit = np.finfo(value.dtype).eps
    with np.errstate(all="ignore"):
        off = value * (1 + 4 * unit * noise.uniform(-1, 1, value.shape))
        if of == "matrix":
            size = np.abs(value)
            largest = size.max(initial=0, where=np.isfinite(size))
            off += 16 * unit * largest * noise.uniform(-1, 1, value.shape)
        return np.asarray(off, dtype=value.dtype)


SMOOTH = ("exp", "sin", "cos", "tanh", "square", "neg", "expm1", "arctan", "sigmoid", "softplus")
EVEN = ("erf", "sinh", "cosh", "abs", "sign", "floor", "ceil", "negative", "square")
POSITIVE = ("log", "sqrt", "gammaln", "digamma", "log1p", "log2", "reciprocal")
NAMES = {"neg": "negative"}
DTYPES = ("float64", "float64", "float64", "float32", "int64", "int32", "int8", "uint8", "bool")


class Drawing:
    """Draws a program, computing it by NumPy on the way."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.values: list[np.ndarray] = []
        self.symbols: list[Any] = []
        inputs, static = [], []
        for _ in range(self.rng.randint(1, 4)):
            array = self._array(self._shape(), self.rng.choice(DTYPES))
            inputs.append(array)
            declared = self.rng.random() < 0.3
            static.append(tuple(n if n == 1 or declared else None for n in array.shape))
        self.program = Program(inputs, static)
        self.values += inputs
        self.symbols += self.program.variables()

    def program_of(self, steps: int) -> Program:
        """Draw so many steps."""
        while len(self.program.steps) < steps:
            name = self.rng.choice(list(DRAWN))
            drawn = DRAWN[name](self)
            if drawn is not None:
                self._take(Step(name, *drawn))
        return self.program

    def _take(self, step: Step) -> None:
        with np.errstate(all="ignore"):
            value = np.asarray(step.apply(numpy, *(self.values[k] for k in step.arguments)))
        if value.size > 20_000 or value.ndim > 5:
            return
        if value.dtype.kind == "f" and self.rng.random() < 0.95:
            with np.errstate(all="ignore"):
                if not np.all(np.abs(value) < 1e6):
                    return
        if step.name in ("binary", "reduction", "along") and self._has_ties(step, value):
            self.program.has_ties = True
        self.symbols.append(step.apply(frazil, *(self.symbols[k] for k in step.arguments)))
        self.values.append(value)
        self.program.steps.append(step)

    def _has_ties(self, step: Step, value: np.ndarray) -> bool:
        """Whether operands are equal, some elements of one are, or a spread is 0."""
        first, *others = (self.values[k] for k in step.arguments)
        if others:
            return bool(np.any(first == others[0]))
        return np.unique(first).size < first.size or bool(np.any(value == 0))

    def _shape(self) -> tuple[int, ...]:
        lengths = [0, 1, 1, 2, 3, 3, 4, 5, 8, 17, 33]
        return tuple(self.rng.choice(lengths) for _ in range(self.rng.choice([0, 1, 1, 2, 2, 3])))

    def _array(self, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        numbers = np.random.default_rng(self.rng.getrandbits(32))
        kind = np.dtype(dtype).kind
        if kind == "f":
            array = numbers.normal(size=shape).astype(dtype)
        else:
            array = numbers.integers(0 if kind in "ub" else -5, 6, size=shape).astype(dtype)
        layout = self.rng.randrange(4)
        if layout == 1:
            return np.asfortranarray(array)
        if layout == 2 and array.ndim:
            return np.ascontiguousarray(array[::-1])[::-1]
        if layout == 3 and array.ndim:
            wide = np.repeat(array, 2, axis=-1)
            return wide[..., ::2]
        return array

    def pick(self, fits: Callable[[np.ndarray], bool] = lambda x: True) -> int | None:
        """The position of a value, those made last more often."""
        found = [k for k, x in enumerate(self.values) if fits(x)]
        if not found:
            return None
        return found[max(self.rng.randrange(len(found)) for _ in range(2))]

    def meets(self, one: int) -> int | None:
        """The position of a value that broadcasts with another as far as its type says so."""
        mine = self.symbols[one].type.shape, self.values[one].shape

        def fits(k: int) -> bool:
            other = self.symbols[k].type.shape, self.values[k].shape
            pairs = zip(reversed(mine[0]), reversed(mine[1]), strict=True)
            others = zip(reversed(other[0]), reversed(other[1]), strict=True)
            return all(
                n == m or s == 1 or t == 1 for (s, n), (t, m) in zip(pairs, others, strict=False)
            )

        found = [k for k in range(len(self.values)) if fits(k)]
        return self.rng.choice(found)

    def index(self, shape: tuple[int, ...], *, arrays: bool) -> tuple[Any, ...]:
        """A valid index, basic, or also with arrays of integers."""
        parts: list[Any] = []
        for n in shape[: self.rng.randint(0, len(shape))]:
            kind = self.rng.randrange(6)
            if kind == 0 and n:
                parts.append(self.rng.randrange(-n, n))
            elif kind == 1 and n and arrays:
                count = self.rng.choice([1, 2, 5])
                parts.append([self.rng.randrange(-n, n) for _ in range(count)])
            else:
                ends = [None, *range(-n - 1, n + 2)]
                step = self.rng.choice([None, 1, 1, 2, -1, -2])
                parts.append(slice(self.rng.choice(ends), self.rng.choice(ends), step))
        lists = [part for part in parts if isinstance(part, list)]
        if lists:  # those together must broadcast
            length = len(lists[0])
            parts = [(p * length)[:length] if isinstance(p, list) else p for p in parts]
        return tuple(parts)


def is_float(x: np.ndarray) -> bool:
    return x.dtype.kind == "f"


def is_number(x: np.ndarray) -> bool:
    return x.dtype.kind != "b"


Drawn = tuple[Callable[..., Any], tuple[int, ...]] | None


def smooth(d: Drawing) -> Drawn:
    k = d.pick(is_float)
    name = d.rng.choice(SMOOTH + EVEN)
    if k is None:
        return None
    return lambda m, x: getattr(m, NAMES.get(name, name))(x), (k,)


def positive(d: Drawing) -> Drawn:
    k = d.pick(is_float)
    name = d.rng.choice(POSITIVE)
    if k is None:
        return None
    half = np.asarray(0.5, d.values[k].dtype)
    return lambda m, x: getattr(m, name)(m.abs(x) + half), (k,)


def binary(d: Drawing) -> Drawn:
    name = d.rng.choice(["add", "subtract", "multiply", "maximum", "minimum", "where"])
    one = d.pick(is_number)
    other = None if one is None else d.meets(one)
    if one is None or other is None or not is_number(d.values[other]):
        return None
    if name == "where":
        return lambda m, x, y: m.where(x > y, x, y), (one, other)
    return lambda m, x, y: getattr(m, name)(x, y), (one, other)


def with_number(d: Drawing) -> Drawn:
    number = d.rng.choice([0, 1, 2, 3, 0.5, 2.0, -1.0, 1.5])
    name = d.rng.choice(["add", "subtract", "multiply", "divide", "maximum"])
    k = d.pick(is_float if isinstance(number, float) or name == "divide" else is_number)
    if k is None or (name == "divide" and not number):
        return None
    if np.dtype(d.values[k].dtype).kind == "u" and number < 0:
        return None
    if d.rng.random() < 0.3:
        return lambda m, x: getattr(m, name)(number, x) if name != "divide" else x / number, (k,)
    return lambda m, x: getattr(m, name)(x, number), (k,)


def quotient(d: Drawing) -> Drawn:
    one = d.pick(is_float)
    other = None if one is None else d.meets(one)
    if one is None or other is None or not is_float(d.values[other]):
        return None
    name = d.rng.choice(["divide", "power", "arctan2", "logaddexp"])
    if name == "power":
        return lambda m, x, y: m.power(m.abs(x) + np.float32(0.1), m.tanh(y)), (one, other)
    if name == "divide":
        return lambda m, x, y: x / (1 + m.square(y)), (one, other)
    return lambda m, x, y: getattr(m, name)(x, y), (one, other)


def compare(d: Drawing) -> Drawn:
    name = d.rng.choice(["less", "less_equal", "greater", "equal", "not_equal"])
    one = d.pick(is_number)
    other = None if one is None else d.meets(one)
    if one is None or other is None or not is_number(d.values[other]):
        return None
    return lambda m, x, y: getattr(m, name)(x, y), (one, other)


def cast(d: Drawing) -> Drawn:
    k = d.pick()
    dtype = d.rng.choice(DTYPES)
    if k is None:
        return None
    if d.values[k].dtype.kind in "fi" and np.dtype(dtype).kind in "iu":
        low = 0 if dtype.startswith("u") else -100
        bounds = np.asarray([low, 100]).astype(d.values[k].dtype)
        return lambda m, x: m.cast(m.clip(x, bounds[0], bounds[1]), dtype), (k,)
    return lambda m, x: m.cast(x, dtype), (k,)


def reduction(d: Drawing) -> Drawn:
    k = d.pick(lambda x: x.ndim > 0)
    if k is None:
        return None
    shape = d.values[k].shape
    axis = d.rng.choice([None, *range(len(shape)), *([(0, len(shape) - 1)] * (len(shape) > 1))])
    length = math.prod(shape) if axis is None else math.prod(np.take(shape, axis, 0).ravel())
    names = ["sum", "all", "any", "prod"]
    if length and is_number(d.values[k]):
        names += ["max", "min", "sum", "max"]
    if length and is_float(d.values[k]):
        names += ["mean", "var", "std"]
    name, keep = d.rng.choice(names), d.rng.random() < 0.4
    return lambda m, x: getattr(m, name)(x, axis=axis, keepdims=keep), (k,)


def along(d: Drawing) -> Drawn:
    k = d.pick(lambda x: x.ndim > 0 and is_number(x) and min(x.shape) > 0)
    if k is None:
        return None
    axis = d.rng.randrange(-d.values[k].ndim, d.values[k].ndim)
    names = ["cumsum", "sort", "argmax", "argmin"]
    if is_float(d.values[k]):
        names += ["cumprod", "softmax", "log_softmax", "logsumexp"]
    name = d.rng.choice(names)
    return lambda m, x: getattr(m, name)(x, axis=axis), (k,)


def by_rank(d: Drawing) -> Drawn:
    k = d.pick(lambda x: x.ndim > 0 and is_number(x))
    if k is None:
        return None
    axis = d.rng.randrange(d.values[k].ndim)
    return lambda m, x: m.take_along_axis(x, m.argsort(x, axis=axis, stable=True), axis), (k,)


def reshape(d: Drawing) -> Drawn:
    k = d.pick(lambda x: x.size > 0)
    if k is None:
        return None
    left, shape = d.values[k].size, []
    while left > 1 and len(shape) < 3:
        factor = d.rng.choice([n for n in range(1, left + 1) if left % n == 0][:6])
        shape.append(factor)
        left //= factor
    shape.append(left if d.rng.random() < 0.5 else -1)
    return lambda m, x: m.reshape(x, tuple(shape)), (k,)


def arrange(d: Drawing) -> Drawn:
    k = d.pick(lambda x: x.ndim > 0)
    if k is None:
        return None
    n = d.values[k].ndim
    order, axis = tuple(d.rng.sample(range(n), n)), d.rng.randrange(n)
    shift, count = d.rng.randint(-3, 3), d.rng.randint(0, 3)
    forms: list[Callable[..., Any]] = [
        lambda m, x: m.transpose(x, order),
        lambda m, x: m.expand_dims(x, axis),
        lambda m, x: m.flip(x, axis),
        lambda m, x: m.roll(x, shift, axis),
        lambda m, x: m.repeat(x, count, axis),
        lambda m, x: m.concatenate([x, x[:1], x], axis=0),
        lambda m, x: m.stack([x, x], axis=axis),
        lambda m, x: m.ravel(x),
        lambda m, x: m.moveaxis(x, 0, axis),
    ]
    return d.rng.choice(forms), (k,)


def item(d: Drawing) -> Drawn:
    k = d.pick()
    if k is None:
        return None
    index = d.index(d.values[k].shape, arrays=True)
    return lambda m, x: x[index], (k,)


def written(d: Drawing) -> Drawn:
    k = d.pick(lambda x: x.dtype.kind in "fi")
    if k is None:
        return None
    name = d.rng.choice(["put", "increase"])
    index = d.index(d.values[k].shape, arrays=name == "increase")
    if d.symbols[k][index] is d.symbols[k]:
        return None  # the whole of an array is no part of it
    value = np.asarray(d.rng.choice([0, 1, 2]), d.values[k].dtype)
    if d.rng.random() < 0.5 and 0 not in d.values[k][index].shape:
        return lambda m, x: getattr(m, name)(x, index, x[index] * value), (k,)
    return lambda m, x: getattr(m, name)(x, index, value), (k,)


def product(d: Drawing) -> Drawn:
    k = d.pick(lambda x: x.ndim in (1, 2) and is_float(x))
    if k is None:
        return None
    if d.values[k].ndim == 1:
        return d.rng.choice([lambda m, x: m.dot(x, x), lambda m, x: m.outer(x, x)]), (k,)
    forms: list[Callable[..., Any]] = [
        lambda m, x: m.matmul(x, x.T),
        lambda m, x: m.matmul(x.T, x),
        lambda m, x: m.dot(x, x[:1].T),
        lambda m, x: x @ x[0] if 0 not in d.values[k].shape else m.matmul(x, x.T),
    ]
    return d.rng.choice(forms), (k,)


def scan(d: Drawing) -> Drawn:
    k = d.pick(lambda x: x.ndim in (1, 2, 3) and is_float(x) and x.size < 400)
    if k is None or not d.values[k].shape[0]:
        return None
    half = np.asarray(0.5, d.values[k].dtype)
    steps: list[Callable[[Any, Any, Any], Any]] = [
        lambda m, s, row: m.tanh(s * half + row),
        lambda m, s, row: s * half + m.sin(row),
        lambda m, s, row: m.where(row > s, s, row * half),
        lambda m, s, row: half * s + m.sum(row),
    ]
    step = d.rng.choice(steps)
    return lambda m, x: m.recur(x[0], x, lambda s, row: step(m, s, row)), (k,)


def choice(d: Drawing) -> Drawn:
    k = d.pick(lambda x: is_float(x) and x.size > 0)
    if k is None:
        return None
    half = np.asarray(0.5, d.values[k].dtype)
    return lambda m, x: m.ifelse(m.sum(x) > half, m.sin(x), x * half), (k,)


def inlined(d: Drawing) -> Drawn:
    one = d.pick(is_float)
    other = None if one is None else d.meets(one)
    if one is None or other is None or not is_float(d.values[other]):
        return None
    return lambda m, x, y: m.inlined(lambda a, b: m.tanh(a) * b + a, x, y), (one, other)


DRAWN: dict[str, Callable[[Drawing], Drawn]] = {
    f.__name__: f
    for f in (
        *(smooth, positive, binary, with_number, quotient, compare, cast, reduction, along),
        *(by_rank, reshape, arrange, item, written, product, scan, choice, inlined),
        *mathematical_steps.DRAWN,
    )
}


def draw(seed: int, steps: int) -> Program:
    """A program of so many steps, the same for each seed."""
    return Drawing(seed).program_of(steps)


def floats(values: list[Any]) -> Iterator[int]:
    """The positions of values that have gradients."""
    return (k for k, x in enumerate(values) if x.dtype == np.float64)
