"""Kernels that are equal up to constants become one kernel, which reads these constants."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

import frazil._core as _core
from frazil._core import Constant
from frazil.link.fusion.views import REPEATED
from frazil.link.kernel.folded import AnyStatement, folded_values
from frazil.link.kernel.loop_kernel import Literal, LoopKernel, Put, Read, RowFold, Statement
from frazil.link.lowering.loop_kernels import KernelCall

Number = Callable[[int], int]
Key = TypeVar("Key")


def share_kernels(calls: Mapping[Key, KernelCall]) -> dict[Key, KernelCall]:
    """The calls, with one kernel for those whose kernels differ only in constants.

    It takes long to compile a kernel, and no time to read a constant once a row.
    """
    shared = dict(calls)
    for keys in _alike(calls):
        rows = [calls[key].kernel.literals for key in keys]
        differ = [at for at, column in enumerate(zip(*rows, strict=True)) if len({*column}) > 1]
        if differ:
            # Their kernels are the same but for these reads.
            kernel = _with_reads(calls[keys[0]].kernel, differ)
            shared.update((key, _reading(calls[key], kernel, differ)) for key in keys)
    return shared


def _alike(calls: Mapping[Key, KernelCall]) -> Iterable[Sequence[Key]]:
    """The calls in groups of several whose kernels have one form."""
    sizes: dict[Hashable, list[Key]] = {}
    for key, call in calls.items():
        if call.short is None:
            own = call.kernel
            size = len(own.reads), len(own.literals), len(own.statements), len(own.writes)
            sizes.setdefault(size, []).append(key)
    for keys in sizes.values():
        if len(keys) > 1:  # else its form, which takes long to find, is no other's
            alike: dict[Hashable, list[Key]] = {}
            for key in keys:
                alike.setdefault(_form(calls[key].kernel), []).append(key)
            yield from (group for group in alike.values() if len(group) > 1)


def _form(kernel: LoopKernel) -> Hashable:
    """The common part of kernels that differ only in constants which they may read."""
    kept = folded_values(kernel.statements)
    literals = tuple(
        literal if at in kept else literal.dtype
        for at, literal in enumerate(kernel.literals, len(kernel.reads))
    )
    rest = kernel.statements, kernel.writes, kernel.sources, kernel.puts
    return kernel.reads, literals, *rest


def _with_reads(kernel: LoopKernel, positions: Sequence[int]) -> LoopKernel:
    """The kernel that reads the literals at ``positions`` as its last operands."""
    n_reads, n_literals = len(kernel.reads), len(kernel.literals)
    stay = [at for at in range(n_literals) if at not in positions]
    # Values are numbered from reads to literals to statements.
    numbers = [*range(n_reads + n_literals + len(kernel.statements))]
    for k, at in enumerate([*positions, *stay], n_reads):
        numbers[n_reads + at] = k
    number = numbers.__getitem__
    read = [kernel.literals[at] for at in positions]
    return LoopKernel(
        (*kernel.reads, *(Read(literal.dtype, inner=False) for literal in read)),
        tuple(kernel.literals[at] for at in stay),
        tuple(_renumbered(own, number) for own in kernel.statements),
        tuple(write._replace(value=number(write.value)) for write in kernel.writes),
        kernel.sources,
        tuple(_renumbered_put(put, number) for put in kernel.puts),
    )


def _reading(call: KernelCall, kernel: LoopKernel, positions: Sequence[int]) -> KernelCall:
    """The call of ``kernel``, which reads the literals at ``positions`` of the call's kernel."""
    read = [call.kernel.literals[at] for at in positions]
    still = (REPEATED,) * _rank(call)
    return replace(
        call,
        kernel=kernel,
        reads=(*call.reads, *((_constant(literal), still) for literal in read)),
    )


def _renumbered(own: AnyStatement, number: Number) -> AnyStatement:
    if isinstance(own, RowFold):
        return own._replace(start=number(own.start), arg=number(own.arg))
    args = tuple(map(number, own.args))
    # Most of them, in a third of the time that a copy takes.
    return (
        Statement(own.op, args, own.dtype)
        if isinstance(own, Statement)
        else own._replace(args=args)
    )


def _renumbered_put(put: Put, number: Number) -> Put:
    return put._replace(value=number(put.value), args=tuple(map(number, put.args)))


def _constant(literal: Literal) -> Constant:
    return _core.constant(np.asarray(literal.value, literal.dtype))


def _rank(call: KernelCall) -> int:
    """The number of dimensions of the call's loop."""
    return len([n for n in call.loop.domain.type.shape if n != 1])
