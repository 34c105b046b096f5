"""Traces: the computation of a Python function as a graph over its array arguments."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import local
from types import FrameType
from typing import Any, NoReturn

import numpy as np

import frazil._core as _core
from frazil._core import Constant, SharedVariable, TensorType, Variable
from frazil.graph.answers import listed_values
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array
from frazil.jit.errors import TracedValueError
from frazil.jit.progress import make
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.broadcasting import with_lengths
from frazil.tensor.lengths import Shape_i
from frazil.tensor.shapes import Shapes

DTYPES = {
    np.dtype(name): name
    for name in (
        *("bool", "int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"),
        *("complex64", "complex128"),
    )
}
"""The dtypes that graphs have, with their names, which NumPy makes anew whenever asked."""

_FOREIGN = ("numpy.", "scipy.", "frazil.", "functools.", "contextlib.")


class _Active(local):
    trace: Trace | None = None


_active = _Active()


def current_trace() -> Trace | None:
    """Return the trace that runs in this thread."""
    return _active.trace


def is_array(value: object) -> bool:
    """Whether a leaf is an array that a graph can compute with: of NumPy's own classes."""
    kind = type(value)
    return (kind is np.ndarray or issubclass(kind, np.generic)) and value.dtype in DTYPES  # type: ignore[attr-defined]


def type_of(array: Array | np.generic, static_shape: bool = False) -> TensorType:
    """Return the type of an input for such arrays: the lengths that are 1 are static, or all."""
    shape = tuple([n if static_shape or n == 1 else None for n in array.shape])
    return TensorType(DTYPES[array.dtype], shape)


@dataclass(frozen=True, slots=True)
class Input:
    """An array that a graph reads: its variable, its value in this call, how one writes it."""

    variable: Variable
    array: Array
    path: str


class Trace:
    """One run of a Python function on traced arrays.

    It knows the real arrays too: what the function returned can be computed node by node, and the
    lengths that Python code reads are the lengths of this call.
    """

    def __init__(self) -> None:
        self.inputs: list[Input] = []
        self.reasons: list[str] = []
        """Why the graph does not stand for the function."""
        self.pins: dict[tuple[Variable, int], int] = {}
        """Lengths of inputs that Python code has asked for: the graph holds for these only."""
        self.effects: list[Variable] = []
        """Outputs of nodes that do something, each an input of the next: they run in order."""
        self.mapped: list[tuple[Callable[[Sequence[Array]], None], list[Variable]]] | None = None
        """Callbacks of a function that is mapped over a batch, with what each takes."""
        self.depth = 0
        """The number of loops and branches around the code that runs."""
        self.open = True
        self.left: list[str] = []
        """Why the function must run as plain Python, without traced arrays."""
        self.refused: TracedValueError | None = None
        """The error that code got when it asked for a value, and may have caught."""
        self.symbolic = False
        """Whether functions on variables were called, which give variables in plain Python."""
        self._values: dict[Variable, Array] = {}
        self._stands: dict[Variable, Variable] = {}
        self._shapes = Shapes(())
        self._measured: set[Variable] = set()
        self.shapes_now: dict[Variable, tuple[int, ...] | None] = {}
        """The lengths of variables in this call, as far as known; see :meth:`shape_now`."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Make it the trace of this thread."""
        _active.trace = self
        _core.set_trace(self)
        try:
            yield
        finally:
            self.close()

    def close(self) -> None:
        """End the trace: from now on its arrays have the values of this call."""
        if self.open:
            _core.set_trace(None)
            _active.trace = None
            self.open = False

    def make_outside(
        self, call: Callable[[Sequence[Array]], None], variables: Sequence[Variable]
    ) -> None:
        """Make a callback with the values of this call, as code outside of the trace."""
        values = [self.value(x) for x in variables]
        _core.set_trace(None)
        _active.trace = None
        try:
            self._make(lambda: call(values))
        finally:
            _active.trace = self
            _core.set_trace(self)

    def _make(self, call: Callable[[], None]) -> None:
        make(call)

    def is_captured(self, value: object) -> bool:
        """Whether a value was found outside of the function: a callback is given that itself."""
        return False

    def note_callback(self, function: object, values: Sequence[object]) -> None:
        """Note that a callback is about to be made, which may change what the function reads."""

    @contextmanager
    def inner(self) -> Iterator[None]:
        """Run code that a loop repeats, or that a branch may leave out."""
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def add_input(
        self, array: Array | np.generic, path: str, static_shape: bool = False
    ) -> Variable:
        """Return a new input for an array; the graph may hold for its lengths only."""
        variable = type_of(array, static_shape)(path)
        if static_shape:
            self.pins.update(((variable, axis), n) for axis, n in enumerate(array.shape))
        value = np.asarray(array)
        self.inputs.append(Input(variable, value, path))
        self._values[variable] = value
        self.shapes_now[variable] = value.shape
        return variable

    def stand_for(self, actual: Variable) -> Variable:
        """Return a new variable that is ``actual`` by another name, to differentiate by."""
        stand = actual.type(actual.name)
        self._stands[stand] = actual
        return stand

    def stand_as(self, variable: Variable, actual: Variable) -> None:
        """Let a variable of an inner graph have the value and lengths of ``actual`` in this run."""
        self._stands[variable] = actual

    def settled(
        self, outputs: Sequence[Variable], stands: Sequence[Variable] | None = None
    ) -> list[Variable]:
        """Return ``outputs`` with what ``stands`` stand for in their place; by default all."""
        for stand in reversed(self._stands if stands is None else stands):
            outputs = _core.graph_replace(outputs, {stand: self._stands[stand]})
        return list(outputs)

    def lift(self, array: Array) -> Variable | Array:
        """Return what stands for an array that meets a traced one: itself, as a constant."""
        return array

    def read_plainly(self, args: object) -> bool:
        """Make captured arrays among arguments constants; whether any was none before."""
        return False

    def changed_here(self) -> str | None:
        """The captured array that the user's code is about to change."""
        return None

    def value(self, variable: Variable) -> Array:
        """Return the value of a variable in this call, computed node by node."""
        for node in _core.toposort([variable], list(self._values)):
            inputs = [self._leaf(x) for x in node.inputs]
            values = listed_values(node, node.op.perform(node, inputs))
            self._values.update(zip(node.outputs, values, strict=True))
        return self._leaf(variable)

    def known(self, variable: Variable) -> Array | None:
        """The value of a variable; None in a step of a scan, which this run does not compute."""
        try:
            return self.value(variable)
        except KeyError:
            return None

    def _leaf(self, x: Variable) -> Array:
        if isinstance(x, Constant):
            return x.data
        if isinstance(x, SharedVariable):
            return x.get_value(borrow=True)
        if x in self._stands and x not in self._values:
            self._values[x] = self.value(self._stands[x])
        return self._values[x]

    def length(self, x: Variable, axis: int) -> Variable:
        """Return the length of a dimension, in terms of the shapes of inputs where they tell it."""
        pending = [x]
        while pending:
            node = pending[-1].owner
            if node is None or pending[-1] in self._measured:
                pending.pop()
                continue
            further = [y for y in node.inputs if y.owner is not None and y not in self._measured]
            if further:
                pending += further
                continue
            self._shapes.infer(node)
            self._measured.update(node.outputs)
        return self._shapes.lengths(x)[axis]

    def shape_now(self, x: Variable) -> tuple[int, ...] | None:
        """The lengths of a variable in this call; None in a step of a scan."""
        if x in self.shapes_now:
            return self.shapes_now[x]
        pending = [x]
        while pending:
            y = pending[-1]
            if not y.ndim or y in self.shapes_now:
                pending.pop()
                continue
            operands = self._sharing_shape(y)
            further = [z for z in operands if z.ndim and z not in self.shapes_now]
            if further:
                pending += further
                continue
            self.shapes_now[y] = self._measure(y, operands)
        return self.shapes_now[x] if x.ndim else ()

    def _sharing_shape(self, x: Variable) -> Sequence[Variable]:
        """The variables from whose shapes the shape of ``x`` follows."""
        if x in self._values:
            return ()
        if x in self._stands:
            return (self._stands[x],)
        return x.owner.inputs if x.owner is not None and isinstance(x.owner.op, Elemwise) else ()

    def _measure(self, x: Variable, operands: Sequence[Variable]) -> tuple[int, ...] | None:
        if operands:
            shapes = {self.shapes_now[y] for y in operands if y.ndim}
            known = [own for own in shapes if own is not None]
            if len(known) < len(shapes):
                return None
            return known[0] if len(known) == 1 else np.broadcast_shapes(*known)
        if x in self._values or isinstance(x, Constant):
            shape: tuple[int, ...] = self._leaf(x).shape
            return shape
        lengths = [self.known(self.length(x, axis)) for axis in range(x.ndim)]
        found = [int(own) for own in lengths if own is not None]
        return tuple(found) if len(found) == len(lengths) else None

    def concrete(self, variable: Variable) -> Any:
        """Return the value of a number that only shapes of inputs tell; None for other numbers.

        The lengths that it depends on are pinned: the graph holds for these only.
        """
        pins = self._shapes_read(variable)
        if pins is None:
            return None
        for x, axis in pins:
            self.pins[x, axis] = self._values[x].shape[axis]
        return self.value(variable)[()]

    def _shapes_read(self, variable: Variable) -> set[tuple[Variable, int]] | None:
        """The inputs and axes whose lengths tell a number; None if other values do too."""
        found: set[tuple[Variable, int]] = set()
        seen = {variable}
        pending = [variable]
        while pending:
            x = pending.pop()
            node = x.owner
            if isinstance(x, Constant):
                continue
            if node is None:
                if x not in self._stands:
                    return None
                further: Iterable[Variable] = [self._stands[x]]
            elif isinstance(node.op, Shape_i):
                (of,), axis = node.inputs, node.op.axis
                of = self._stands.get(of, of)
                if any(own.variable is of for own in self.inputs):
                    found.add((of, axis))
                    continue
                further = [self.length(of, axis)]
                if further[0] is x:
                    return None
            else:
                further = node.inputs
            pending += [own for own in further if own not in seen]
            seen.update(further)
        return found

    def aligned(self, operands: Sequence[object]) -> list[Any]:
        """Return operands of an elementwise function, with the lengths declared that are 1 now."""
        ranked = dict.fromkeys(x for x in operands if isinstance(x, Variable) and x.ndim)
        fixed = [x.shape for x in operands if isinstance(x, np.ndarray) and x.ndim]
        if len(ranked) + len(fixed) < 2:
            return list(operands)
        made = {x: self._with_ones(x, ranked, fixed) for x in ranked}
        return [made.get(x, x) if isinstance(x, Variable) else x for x in operands]

    def _with_ones(
        self, x: Variable, others: Iterable[Variable], fixed: Iterable[tuple[int, ...]]
    ) -> Variable:
        """Declare lengths that are 1 now, but where all others have the same length in any call."""

        def is_repeated(axis: int) -> bool:
            back = axis - x.ndim
            if any(len(shape) >= -back and shape[back] != 1 for shape in fixed):
                return True
            facing = [y for y in others if y.ndim >= -back and y.type.shape[back] != 1]
            own = self.length(x, axis)
            return not all(self.length(y, y.ndim + back) is own for y in facing)

        return self.declared(x, is_repeated)

    def declared(self, x: Variable, where: Callable[[int], bool] = lambda axis: True) -> Variable:
        """Return ``x`` with lengths declared that are 1 now and that its type does not know."""
        now = self.shape_now(x)
        if now is None or 1 not in now:
            return x
        shape = list(x.type.shape)
        for axis, static in enumerate(shape):
            if static is None and now[axis] == 1 and where(axis):
                self.concrete(self.length(x, axis))
                shape[axis] = 1
        return with_lengths(x, TensorType(x.dtype, tuple(shape)))

    def settled_ones(self, x: Variable) -> Variable:
        """Return ``x`` with all lengths declared that are 1; the graph holds where these are."""
        shape = list(x.type.shape)
        for axis, static in enumerate(shape):
            own = None if static is not None else self.length(x, axis)
            if own is None or self._is_of_input(own):
                continue
            now = self.concrete(own)
            if now is None:
                leave("np.squeeze of a traced array whose lengths depend on values. Name the axis")
            if now == 1:
                shape[axis] = 1
        return with_lengths(x, TensorType(x.dtype, tuple(shape)))

    def _is_of_input(self, length: Variable) -> bool:
        """Whether it is the length of an input, whose type says where that is 1."""
        node = length.owner
        return (
            node is not None
            and isinstance(node.op, Shape_i)
            and any(own.variable is node.inputs[0] for own in self.inputs)
        )

    def consume(self, what: str) -> None:
        """Note that plain code has read the value of a traced array."""
        self.reasons.append(f"{what}, {users_line()}")


def leave(what: str) -> NoReturn:
    """End the run: what traced arrays would do is not what NumPy's do, which plain Python shows."""
    trace = _active.trace
    reason = f"{what}, {users_line()}"
    if trace is not None:
        trace.left.append(reason)
    raise TracedValueError(reason)


def refuse(message: str) -> NoReturn:
    """Raise, and remember it: code that catches the error goes another way than plain Python.

    A function that writes to a captured array runs as plain Python.
    """
    error = TracedValueError(message)
    trace = _active.trace
    leave_if_changed(trace)
    if trace is not None and trace.refused is None:
        trace.refused = error
    raise error


def leave_if_changed(trace: Trace | None) -> None:
    """End the run if the user's code is about to change a captured array."""
    changed = None if trace is None else trace.changed_here()
    if trace is not None and changed is not None:
        trace.left.append(changed)
        raise TracedValueError(changed)


def refuse_value(what: str, variable: Variable) -> NoReturn:
    """Raise: Python code needs the value of a traced array."""
    name = variable.name or "an array"
    refuse(
        f"{what}, {users_line()}: the value of {name} ({variable.type}) differs from call to call, "
        "and the compiled function is one for all of them. To choose between values write "
        "np.where(condition, a, b), or fz.cond(condition, true_fun, false_fun) to compute only one "
        "of them; for a loop write fz.while_loop or fz.fori_loop. If an argument is to be a plain "
        "Python value, name it in static_argnames"
    )


def users_line() -> str:
    """Return where the user's code is, as ``file.py:3 in function``."""
    frame = users_frame()
    if frame is None:
        return "outside of Python code"
    name = frame.f_code.co_filename.replace("\\", "/").rpartition("/")[2]
    return f"{name}:{frame.f_lineno} in {frame.f_code.co_name}"


def users_frame() -> FrameType | None:
    """Return the frame of the user's code that runs now."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = f"{frame.f_globals.get('__name__', '')}."
        if not module.startswith(_FOREIGN):
            return frame
        frame = frame.f_back
    return None
