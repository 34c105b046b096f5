"""The compilers that are compared, each behind the same three steps.

``build(workload, arguments)`` writes the expression, ``compile()`` gets a first result out of it,
and ``calls`` are the ways in which a user may call what was compiled: the fastest one is what
counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from types import ModuleType
from typing import Any

import numpy as np

Arguments = Sequence[np.ndarray[Any, Any]]
Call = Callable[[], Sequence[Any]]


class Frazil:
    """Frazil through one of its linkers; None: as it chooses, with C taking over where it may."""

    def __init__(self, mode: str | None) -> None:
        import frazil

        if mode == "numba":
            import numba  # noqa: F401  # part of the start, as it is for PyTensor
        self.mode = mode
        self.version = frazil.__version__

    def build(self, workload: ModuleType, arguments: Arguments) -> None:
        self.arguments = arguments
        self.inputs, self.outputs = workload.frazil()

    def compile(self) -> Sequence[Any]:
        import frazil

        self.function = frazil.function(self.inputs, self.outputs, mode=self.mode)
        return self.function(*self.arguments)

    def calls(self) -> list[Call]:
        function, arguments = self.function, self.arguments
        return [lambda: function(*arguments)]


class PyTensor:
    """PyTensor through one of its backends, with ``trust_input`` as PyMC sets it."""

    def __init__(self, mode: str) -> None:
        import pytensor

        if mode == "NUMBA":
            import pytensor.link.numba.dispatch  # imported at the first use otherwise
        else:
            # Compiled once per cache directory, whatever the work is: no part of a cold compile.
            import pytensor.link.c.lazylinker_c
            from pytensor.link.c.cutils import run_cthunk  # noqa: F401
        self.mode = mode
        self.version = pytensor.__version__

    def build(self, workload: ModuleType, arguments: Arguments) -> None:
        self.arguments = arguments
        self.inputs, self.outputs = workload.pytensor()

    def compile(self) -> Sequence[Any]:
        import pytensor

        self.function = pytensor.function(self.inputs, self.outputs, mode=self.mode)
        self.function.trust_input = True
        return self.function(*self.arguments)

    def calls(self) -> list[Call]:
        function, arguments = self.function, self.arguments
        return [lambda: function(*arguments)]


class Jax:
    """JAX in double precision, called with device arrays or NumPy arrays, whichever is faster."""

    def __init__(self) -> None:
        import jax

        jax.config.update("jax_enable_x64", True)
        jax.devices()
        self.version = jax.__version__

    def build(self, workload: ModuleType, arguments: Arguments) -> None:
        import jax

        self.arguments = arguments
        self.function = jax.jit(workload.jax())
        self.function.trace(*self.arguments)  # the call below finds this trace again

    def compile(self) -> Sequence[Any]:
        import jax

        return jax.block_until_ready(self.function(*self.arguments))

    def calls(self) -> list[Call]:
        import jax

        function, arguments = self.function, self.arguments
        on_device = [jax.device_put(argument) for argument in arguments]
        return [
            lambda: jax.block_until_ready(function(*on_device)),
            lambda: jax.block_until_ready(function(*arguments)),
        ]


class NumPy:
    """The same work by hand, nothing compiled: the floor for ease, not for speed."""

    def __init__(self) -> None:
        self.version = version("numpy")

    def build(self, workload: ModuleType, arguments: Arguments) -> None:
        self.arguments = arguments
        self.function = workload.numpy

    def compile(self) -> Sequence[Any]:
        return self.function(*self.arguments)

    def calls(self) -> list[Call]:
        function, arguments = self.function, self.arguments
        return [lambda: function(*arguments)]


class Limit:
    """What no compiler can do without: the workload's ``limit``."""

    def __init__(self) -> None:
        self.version = version("numpy")

    def build(self, workload: ModuleType, arguments: Arguments) -> None:
        self.work = workload.limit()

    def compile(self) -> Sequence[Any]:
        self.work()
        return ()

    def calls(self) -> list[Call]:
        return [self.work]


PEERS: dict[str, Callable[[], Any]] = {
    "frazil": lambda: Frazil(None),
    "frazil-c": lambda: Frazil("c"),
    "frazil-cranelift": lambda: Frazil("cranelift"),
    "frazil-numba": lambda: Frazil("numba"),
    "pytensor-c": lambda: PyTensor("CVM"),
    "pytensor-numba": lambda: PyTensor("NUMBA"),
    "jax": Jax,
    "numpy": NumPy,
    "limit": Limit,
}
