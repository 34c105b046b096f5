"""Workloads written once, for all peers: a value by way of names that each of them has.

A workload of this kind has a function ``value(xp, *arguments)``. ``xp`` has the names that NumPy,
frazil, PyTensor and JAX share, and these:

- ``xp.scan(step, states, rows, fixed, n_steps)``: ``step(*rows, *states, *fixed)`` returns the next
  states and a tuple of what is stacked; the scan returns the last states and the stacks;
- ``xp.logsumexp(x, axis)`` and ``xp.take(x, rows)``.

The work is the value and its gradients by some of the arguments. NumPy's are those of autograd.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

Value = Callable[..., Any]
Step = Callable[..., tuple[tuple[Any, ...], tuple[Any, ...]]]

NAMES = ["arange", "concatenate", "exp", "eye", "expm1", "log", "log1p", "maximum", "ones", "sqrt"]
NAMES += ["stack", "sum", "tanh", "where", "zeros", "zeros_like"]


def _named(module: Any, **others: Any) -> SimpleNamespace:
    return SimpleNamespace(**{name: getattr(module, name) for name in NAMES}, **others)


def _numpy() -> SimpleNamespace:
    import autograd.numpy as np
    from autograd.scipy.special import logsumexp

    def scan(step: Step, states: Any, rows: Any = (), fixed: Any = (), n_steps: Any = None) -> Any:
        stacks: list[tuple[Any, ...]] = []
        for at in range(len(rows[0]) if n_steps is None else n_steps):
            states, made = step(*(row[at] for row in rows), *states, *fixed)
            stacks.append(made)
        return states, tuple(np.stack(column) for column in zip(*stacks, strict=True))

    return _named(np, scan=scan, logsumexp=logsumexp, take=lambda x, rows: x[rows])


def _symbolic(module: Any, build: Any, constant: Any) -> SimpleNamespace:
    def scan(step: Step, states: Any, rows: Any = (), fixed: Any = (), n_steps: Any = None) -> Any:
        stacked = [0]

        def flat(*given: Any) -> list[Any]:
            new, made = step(*given)
            stacked[0] = len(made)
            return [*new, *made]

        first = [x if hasattr(x, "owner") else constant(x) for x in states]
        probe = [x[0] for x in rows]
        _, made = step(*probe, *first, *fixed)
        outputs = build(
            flat,
            sequences=list(rows),
            outputs_info=[*first, *(None for _ in made)],
            non_sequences=list(fixed),
            n_steps=n_steps,
        )
        outputs = outputs if isinstance(outputs, list | tuple) else [outputs]
        count = len(first)
        return tuple(y[-1] for y in outputs[:count]), tuple(outputs[count:])

    return _named(
        module,
        scan=scan,
        logsumexp=lambda x, axis: module.logsumexp(x, axis=axis),
        take=lambda x, rows: x[rows],
    )


def _jax() -> SimpleNamespace:
    import jax
    import jax.numpy as jnp

    def scan(step: Step, states: Any, rows: Any = (), fixed: Any = (), n_steps: Any = None) -> Any:
        def one(carried: Any, given: Any) -> Any:
            return step(*given, *carried, *fixed)

        first = tuple(map(jnp.asarray, states))
        return jax.lax.scan(one, first, tuple(rows), n_steps)

    return _named(
        jnp, scan=scan, logsumexp=jax.scipy.special.logsumexp, take=lambda x, rows: x[rows]
    )


def peers_of(
    value: Value, arguments: Callable[[], Sequence[Any]], wrt: Sequence[int]
) -> tuple[Callable[..., Any], ...]:
    """Return ``numpy, frazil, pytensor, jax`` of a value and its gradients by ``wrt``."""

    def numpy(*given: Any) -> Any:
        from autograd import value_and_grad

        def of(chosen: Any) -> Any:
            replaced = dict(zip(wrt, chosen, strict=True))
            return value(_numpy(), *(replaced.get(at, x) for at, x in enumerate(given)))

        found, gradients = value_and_grad(of)(tuple(given[at] for at in wrt))
        return found, *gradients

    def symbolic(inputs: list[Any], xp: SimpleNamespace, grad: Any) -> Any:
        found = value(xp, *inputs)
        return inputs, [found, *grad(found, [inputs[at] for at in wrt])]

    def frazil() -> Any:
        import frazil as fz
        import frazil.tensor as ft

        def build(*args: Any, **kwargs: Any) -> Any:
            return fz.scan(*args, **kwargs)[0]

        inputs = [ft.tensor(dtype=str(x.dtype), shape=(None,) * x.ndim) for x in arguments()]
        return symbolic(inputs, _symbolic(ft, build, ft.constant), fz.grad)

    def pytensor() -> Any:
        import pytensor
        import pytensor.tensor as pt

        def build(*args: Any, **kwargs: Any) -> Any:
            return pytensor.scan(*args, **kwargs, return_updates=False)

        inputs = [pt.tensor(dtype=str(x.dtype), shape=(None,) * x.ndim) for x in arguments()]
        return symbolic(inputs, _symbolic(pt, build, pt.constant), pytensor.grad)

    def jax() -> Any:
        import jax

        def work(*given: Any) -> Any:
            def of(*chosen: Any) -> Any:
                replaced = dict(zip(wrt, chosen, strict=True))
                return value(_jax(), *(replaced.get(at, x) for at, x in enumerate(given)))

            found, gradients = jax.value_and_grad(of, argnums=tuple(range(len(wrt))))(
                *(given[at] for at in wrt)
            )
            return found, *gradients

        return work

    return numpy, frazil, pytensor, jax
