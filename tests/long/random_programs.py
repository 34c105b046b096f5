"""Random programs: four linkers and NumPy agree, and gradients agree with differences.

What a value may be off by is measured: NumPy computes each program also with every result of a
step off by a few units of its last place. Where that moves a value much, much is allowed.

Each program runs on extreme arguments, too: NaN, infinities, zeros of both signs, the largest and
the least numbers. As it is written all that is special must come out as in NumPy; with rules what
is finite must stay so.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from drawn_programs import Program, draw
from search import main

import frazil as fz


def case(seed: int) -> None:
    """One program, in one or more linkers, and its gradient."""
    rng = random.Random(seed)
    program = draw(seed, rng.choice([2, 4, 8, 8, 16, 24]))
    modes = (
        ["py", "c", "cranelift", "numba"]
        if rng.random() < 0.1
        else ["c", rng.choice(["py", "c", "cranelift"])]
    )
    check_values(program, rng, dict.fromkeys(modes))
    check_gradient(program, rng, dict.fromkeys(modes))
    check_extremes(program, rng, dict.fromkeys(modes))
    check_batch(program, rng, modes[0])


def wanted(program: Program, rng: random.Random) -> list[int]:
    """Some values of the program, the last among them."""
    last = len(program.inputs) + len(program.steps) - 1
    first = len(program.inputs)
    return sorted({last, *(rng.randint(first, last) for _ in range(rng.randint(0, 2)))})


def check_values(program: Program, rng: random.Random, modes: dict[str, None]) -> None:
    """Compare values with NumPy's: dtypes, shapes, elements."""
    chosen = wanted(program, rng)
    exact = program.on_numpy(program.inputs, None)
    noisy = [program.on_numpy(program.inputs, np.random.default_rng(k)) for k in range(3)]
    units = program.units(exact)
    inputs = program.variables()
    values = program.on_frazil(inputs)
    for mode in modes:
        f = fz.function(inputs, [values[k] for k in chosen], mode=mode, on_unused_input="ignore")
        for _ in range(2):  # the second call is bound already
            kept = [x.copy() for x in program.inputs]
            found = f(*program.inputs)
            for before, after in zip(kept, program.inputs, strict=True):
                np.testing.assert_array_equal(before, after, err_msg="an argument was changed")
            for k, value in zip(chosen, found, strict=True):
                where = f"{mode}: {[step.name for step in program.steps]}, value {k}"
                compare(value, exact[k], [worlds[k] for worlds in noisy], units[k], where)


def compare(
    found: np.ndarray, exact: np.ndarray, noisy: list[np.ndarray], unit: float, where: str
) -> None:
    """Raise unless a value is NumPy's as far as rounding, to units of so much, lets it be known."""
    assert found.dtype == exact.dtype, (where, found.dtype, exact.dtype)
    if any(other.shape != exact.shape for other in noisy):
        return  # rounding decides the shape
    assert found.shape == exact.shape, (where, found.shape, exact.shape)
    if exact.dtype.kind != "f":
        settled = np.all([other == exact for other in noisy], axis=0)
        wrong = settled & (found != exact)
    else:
        with np.errstate(all="ignore"):
            spread = np.max([np.abs(other - exact) for other in noisy], axis=0)
            settled = np.isfinite(exact) & np.isfinite(spread)
            allowed = 50 * spread + 64 * unit * (np.abs(exact) + np.finfo(exact.dtype).tiny)
            allowed = np.maximum(allowed, 1e-12 if unit <= np.finfo(np.float64).eps else 1e-5)
            wrong = settled & ~(np.abs(found - exact) <= allowed)
    assert not wrong.any(), (where, found[wrong][:3], exact[wrong][:3])


EXTREMES = {
    "float64": [0.0, -0.0, 1e300, -1e300, 1e-300, -1e-300, 1e155, 1e-160, 710.0, -720.0, 5e-324],
    "float32": [0.0, -0.0, 1e37, -1e37, 1e-37, -1e-37, 1e19, 1e-20, 89.0, -95.0, 1e-45],
}
IN_AN_ORDER = {"reduction", "along", "product", "scan", "over_batch"}
"""Steps that add or multiply many: what overflows on the way depends on the order."""


def extreme(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """``x`` with a third of its elements extreme."""
    if x.dtype.kind != "f":
        return x
    numbers = np.array([np.nan, np.inf, -np.inf, *EXTREMES[x.dtype.name]], x.dtype)
    return np.where(rng.random(x.shape) < 0.3, rng.choice(numbers, x.shape), x)


def check_extremes(program: Program, rng: random.Random, modes: dict[str, None]) -> None:
    """Compare values at extreme arguments, as they are written and as rules make them."""
    names = [step.name for step in program.steps]
    if {"cast", "matrix"} & set(names):
        return  # which integer NaN becomes is not said, nor what a matrix that holds it gives
    numbers = np.random.default_rng(rng.getrandbits(32))
    arguments = [extreme(x, numbers) for x in program.inputs]
    exact = program.on_numpy(arguments, None)
    ordered = bool(IN_AN_ORDER & set(names))
    tried = range(16 if ordered else 3)
    noisy = [program.on_numpy(arguments, np.random.default_rng(k)) for k in tried]
    single = any(x.dtype == np.float32 for x in exact)
    chosen, inputs = wanted(program, rng), program.variables()
    outputs = [program.on_frazil(inputs)[k] for k in chosen]
    for linker in modes:
        for mode in (fz.Mode(linker), fz.Mode(linker).excluding("all")):
            values = fz.function(inputs, outputs, mode=mode, on_unused_input="ignore")(*arguments)
            for k, found in zip(chosen, values, strict=True):
                where = f"{mode}: {names}, value {k}, of {arguments}"
                worlds = [values[k] for values in noisy]
                strict = bool(mode.excluded) and not ordered
                eps = float(np.finfo(np.float32 if single else np.float64).eps)
                compare_extremes(found, exact[k], worlds, where, strict, ordered, eps)


def compare_extremes(
    found: np.ndarray,
    exact: np.ndarray,
    noisy: list[np.ndarray],
    where: str,
    strict: bool,
    ordered: bool,
    eps: float,
) -> None:
    """Raise unless what is finite is NumPy's; if ``strict``, what is not finite, too."""
    assert (found.dtype, found.shape) == (exact.dtype, exact.shape), where
    if exact.dtype.kind != "f":
        return  # comparisons of what rules have changed
    same = np.all([kind(other) == kind(exact) for other in noisy], axis=0)
    if strict:
        wrong = same & (kind(found) != kind(exact))
        assert not wrong.any(), (where, found[wrong][:3], exact[wrong][:3])
    with np.errstate(all="ignore"):
        spread = np.max([np.abs(other - exact) for other in noisy], axis=0)
        settled = same & np.isfinite(exact) & np.isfinite(spread)
        if ordered:
            settled &= np.isfinite(found)
        allowed = np.maximum(200 * spread + 1e4 * eps * np.abs(exact), 1e4 * eps)
        wrong = settled & ~(np.abs(found - exact) <= allowed)
    assert not wrong.any(), (where, found[wrong][:3], exact[wrong][:3])


def kind(x: np.ndarray) -> np.ndarray:
    """Whether elements are numbers (0), infinite (with the sign) or NaN (2)."""
    with np.errstate(all="ignore"):
        return np.where(np.isnan(x), 2, np.where(np.isinf(x), np.sign(x), 0))


def check_gradient(program: Program, rng: random.Random, modes: dict[str, None]) -> None:
    """Compare the derivative along a direction with a difference quotient by NumPy."""
    last = program.on_numpy(program.inputs, None)
    costs = [
        k
        for k in range(len(program.inputs), len(last))
        if last[k].dtype.kind == "f" and last[k].size
    ]
    wrt = [k for k, x in enumerate(program.inputs) if x.dtype == np.float64]
    if program.has_ties or not costs or not wrt:
        return
    cost = rng.choice(costs[-3:])
    inputs = program.variables()
    values = program.on_frazil(inputs)
    weights = np.random.default_rng(rng.getrandbits(32)).normal(size=last[cost].shape)
    total = (values[cost] * weights).sum()
    gradients = fz.grad(total, [inputs[k] for k in wrt], disconnected_inputs="ignore")
    direction = [np.random.default_rng(k).normal(size=program.inputs[k].shape) for k in wrt]
    derivatives = {}
    for mode in modes:
        f = fz.function(inputs, gradients, mode=mode, on_unused_input="ignore")
        found = f(*program.inputs)
        for k, value in zip(wrt, found, strict=True):
            assert value.shape == program.inputs[k].shape, (mode, value.shape)
        derivatives[mode] = sum(
            float((value * along).sum()) for value, along in zip(found, direction, strict=True)
        )
    quotients = [
        quotient(program, cost, weights, wrt, direction, h) for h in (1e-5, 2e-5, -1e-5, 5e-6)
    ]
    if not np.all(np.isfinite(quotients)):
        return
    spread = max(quotients) - min(quotients)
    scale = 1 + max(map(abs, quotients))
    if spread > 1e-3 * scale:
        return  # not smooth here, or rounding is all that one sees
    for mode, value in derivatives.items():
        names = [step.name for step in program.steps]
        assert abs(value - quotients[0]) <= 10 * spread + 1e-3 * scale, (
            f"gradient in {mode} of value {cost} of {names}: {value}, by differences {quotients}"
        )


SIZE = 3


def check_batch(program: Program, rng: random.Random, mode: str) -> None:
    """Compare the program over a batch of some inputs with a loop over the elements."""
    inputs = program.variables()
    outputs = program.on_frazil(inputs)[len(inputs) :]
    over = {at for at in range(len(inputs)) if rng.random() < 0.6} or {0}
    batches = {
        at: np.stack([program.inputs[at], *(shuffled(program.inputs[at], rng) for _ in range(2))])
        for at in over
    }
    arguments = [
        [batches[at][k] if at in over else x for at, x in enumerate(program.inputs)]
        for k in range(SIZE)
    ]
    one = fz.function(inputs, outputs, mode="py", on_unused_input="ignore")
    try:
        elements = [one(*x) for x in arguments]
    except (ArithmeticError, IndexError, ValueError):
        return  # a drawn program runs for what is drawn with it, and may run for nothing else
    if any(len({element[at].shape for element in elements}) > 1 for at in range(len(outputs))):
        return
    types = {at: (None, *inputs[at].type.shape) for at in over}
    stand = {at: fz.TensorType(inputs[at].dtype, shape)(None) for at, shape in types.items()}
    whole = fz.vectorize(outputs, {inputs[at]: x for at, x in stand.items()})
    f = fz.function(
        [stand.get(at, x) for at, x in enumerate(inputs)],
        whole,
        mode=mode,
        on_unused_input="ignore",
    )
    found = f(*(batches.get(at, x) for at, x in enumerate(program.inputs)))
    single = any(x.dtype == "float32" for x in (*inputs, *outputs))
    near = 1e-3 if single else 1e-7
    worlds = [
        [program.on_numpy(x, np.random.default_rng(seed))[len(inputs) :] for x in arguments]
        for seed in range(8)
    ]
    for at, (y, made) in enumerate(zip(outputs, whole, strict=True)):
        rows = found[at] if made.ndim > y.ndim else np.stack([found[at]] * SIZE)
        wanted = np.stack([element[at] for element in elements])
        assert rows.dtype == wanted.dtype
        noisy = [np.stack([element[at] for element in world]) for world in worlds]
        if wanted.dtype.kind != "f":
            decided = np.all([x == wanted for x in noisy], axis=0)
            np.testing.assert_array_equal(rows[decided], wanted[decided], err_msg=mode)
            continue
        near_all = near * (1 + float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0)))
        with np.errstate(invalid="ignore"):
            spread = np.max([np.abs(x - wanted) for x in noisy], axis=0)
        decided = ~(spread > near_all)
        np.testing.assert_allclose(
            rows[decided], wanted[decided], rtol=near, atol=near_all, err_msg=mode
        )


def shuffled(x: np.ndarray, rng: random.Random) -> np.ndarray:
    """The elements of an array in another order."""
    return np.random.default_rng(rng.getrandbits(32)).permutation(x.ravel()).reshape(x.shape)


def quotient(
    program: Program,
    cost: int,
    weights: np.ndarray,
    wrt: list[int],
    direction: list[np.ndarray],
    h: float,
) -> float:
    """The central difference quotient of a weighted sum of a value, along a direction."""
    ends: list[Any] = []
    for sign in (1, -1):
        moved = list(program.inputs)
        for k, along in zip(wrt, direction, strict=True):
            moved[k] = moved[k] + sign * h * along
        ends.append(float((program.on_numpy(moved, None)[cost] * weights).sum()))
    return (ends[0] - ends[1]) / (2 * h)


if __name__ == "__main__":
    main("random programs", case)
