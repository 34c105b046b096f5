"""Scans that hypothesis draws, and what they give, by a loop in Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft


@dataclass(frozen=True)
class Body:
    """What a step does to numbers, written so that NumPy and frazil both can do it."""

    weights: tuple[tuple[float, ...], ...]
    kinds: tuple[str, ...]
    limit: float | None

    def __call__(self, xp: Any, arguments: list[Any]) -> tuple[list[Any], Any]:
        outputs = []
        for kind, row in zip(self.kinds, self.weights, strict=True):
            total = sum((w * x for w, x in zip(row, arguments, strict=True)), start=0.1)
            match kind:
                case "tanh":
                    value = xp.tanh(total)
                case "sin":
                    value = xp.sin(total)
                case "product":
                    value = xp.tanh(total * (arguments[0] + arguments[-1]))
                case _:
                    value = total / 4
            outputs.append(value)
        if self.limit is None:
            return outputs, None
        end = outputs[0] if np.ndim(outputs[0]) == 0 and xp is np else outputs[0].sum()
        return outputs, end > self.limit


@dataclass(frozen=True)
class Case:
    """A scan: its sequences and outputs with their taps, and the values of all that it takes."""

    body: Body
    sequences: tuple[tuple[np.ndarray, tuple[int, ...]], ...]
    outputs: tuple[tuple[np.ndarray, tuple[int, ...]] | None, ...]
    others: tuple[np.ndarray, ...]
    n_steps: int | None
    backwards: bool
    static: bool

    def expected(self) -> list[list[np.ndarray]]:
        """The outputs of all steps, by a loop in Python."""
        rows = []
        for values, taps in self.sequences:
            least, most = min(0, *taps), max(0, *taps)
            for tap in taps:
                part = values[tap - least : len(values) - most + tap]
                rows.append(part[::-1] if self.backwards else part)
        steps = self.n_steps if self.n_steps is not None else min(map(len, rows))
        made: list[list[np.ndarray]] = [
            [] if one is None else [one[0]] if one[1] == (-1,) else list(one[0])[: -min(one[1])]
            for one in self.outputs
        ]
        before = [len(own) for own in made]
        for step in range(steps):
            arguments = [row[step] for row in rows]
            for own, one in zip(made, self.outputs, strict=True):
                if one is not None:
                    arguments += [own[tap] for tap in one[1]]
            new, end = self.body(np, [*arguments, *self.others])
            for own, value in zip(made, new, strict=True):
                own.append(value)
            if end is not None and end:
                break
        return [own[start:] for own, start in zip(made, before, strict=True)]

    def values(self) -> list[np.ndarray]:
        """The arrays that the scan depends on."""
        starts = [one[0] for one in self.outputs if one is not None]
        return [*(values for values, _ in self.sequences), *starts, *self.others]

    def variables(self) -> list[fz.Variable]:
        """A variable for each of them."""
        return [
            ft.tensor(dtype="float64", shape=x.shape if self.static else (None,) * x.ndim)
            for x in self.values()
        ]

    def scan(self, given: list[fz.Variable]) -> list[fz.Variable]:
        """The scan over variables."""
        left = list(given)
        sequences = [{"input": left.pop(0), "taps": list(taps)} for _, taps in self.sequences]
        info = [
            None if one is None else {"initial": left.pop(0), "taps": list(one[1])}
            for one in self.outputs
        ]

        def step(*arguments: fz.Variable) -> Any:
            outputs, end = self.body(ft, list(arguments))
            return outputs if end is None else (outputs, fz.until(end))

        outputs, updates = fz.scan(
            step,
            sequences,
            info,
            left,
            n_steps=self.n_steps,
            go_backwards=self.backwards,
            return_list=True,
        )
        assert updates == {}
        return outputs


numbers = st.integers(-8, 8).map(lambda k: k / 4)


@st.composite
def cases(draw: st.DrawFn, *, until: bool = True) -> Case:
    shape = draw(st.sampled_from([(), (), (2,), (2, 3)]))

    def array(*dims: int) -> np.ndarray:
        count = int(np.prod((*dims, *shape)))
        drawn = draw(st.lists(numbers, min_size=count, max_size=count))
        return np.array(drawn, float).reshape((*dims, *shape))

    taps = st.lists(st.integers(-1, 1), min_size=1, max_size=2, unique=True).map(tuple)
    lags = st.one_of(
        st.just((-1,)),
        st.lists(st.integers(-3, -1), min_size=1, max_size=2, unique=True).map(tuple),
    )
    steps = draw(st.integers(0, 5))
    sequences = []
    for own in draw(st.lists(taps, max_size=2)):
        extra = max(0, *own) - min(0, *own) + draw(st.integers(0, 1))
        sequences.append((array(steps + extra), own))
    outputs: list[Any] = []
    for own in draw(st.lists(st.one_of(st.none(), lags), min_size=1, max_size=3)):
        if own is None:
            outputs.append(None)
        else:
            outputs.append((array() if own == (-1,) else array(-min(own)), own))
    others = [array() for _ in range(draw(st.integers(0, 1)))]
    arity = len(others) + sum(len(own) for _, own in sequences)
    arity += sum(len(one[1]) for one in outputs if one is not None)
    if not arity:
        others.append(array())
        arity = 1
    row = st.lists(numbers, min_size=arity, max_size=arity).map(tuple)
    kinds = st.sampled_from(["tanh", "sin", "product", "sum"])
    body = Body(
        weights=tuple(draw(row) for _ in outputs),
        kinds=tuple(draw(kinds) for _ in outputs),
        limit=draw(st.one_of(st.none(), numbers)) if until else None,
    )
    return Case(
        body=body,
        sequences=tuple(sequences),
        outputs=tuple(outputs),
        others=tuple(others),
        n_steps=steps if not sequences or draw(st.booleans()) else None,
        backwards=draw(st.booleans()),
        static=draw(st.booleans()),
    )
