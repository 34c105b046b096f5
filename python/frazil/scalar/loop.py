"""ScalarLoop: a loop over steps for each element, as one scalar op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from frazil._core import Constant, FrozenApply, FrozenFunctionGraph, MissingInputError, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.scalar.graph import ScalarGraphOp, steps_of
from frazil.scalar.op import ScalarOp, ScalarOpMeta


class ScalarLoopMeta(ScalarOpMeta):
    """Makes a ScalarLoop of variables, or of the frozen graph that one holds."""

    def __call__(cls, init: Any = None, *args: Any, **kwargs: Any) -> Any:
        if init is None or isinstance(init, FrozenFunctionGraph):
            return super().__call__(*(() if init is None else (init,)), *args, **kwargs)
        return _build(init, *args, **kwargs)


@dataclass(frozen=True, eq=False)
class ScalarLoop(ScalarGraphOp, metaclass=ScalarLoopMeta):
    """A loop for each element: ``ScalarLoop(init, update, constant, until)``.

    Applied to ``(n_steps, *init, *constant)``, which broadcast against each other, it gives the
    states after the last step, and with ``until`` also whether ``until`` ended the loop. Like other
    scalar ops it shares native loops with its neighbours. Loops that are built alike are one op.

    Parameters
    ----------
    init : sequence of Variable
        Variables without dimensions that stand for the states before a step.
    update : sequence of Variable
        The states after a step, each of the dtype that it has before.
    constant : sequence of Variable
        Variables that stand for values which are the same in all steps.
    until : Variable, optional
        A bool. The first step in which it is true is the last one; its updates count.
    name : str, optional
        A name for messages.

    Raises
    ------
    TypeError
        If an update has not the dtype of its state, ``until`` is no bool, something has dimensions,
        or a node of the updates is not elementwise.
    ValueError
        If there are not as many updates as states.
    MissingInputError
        If an update needs a variable that is neither a state nor constant.

    Notes
    -----
    A negative number of steps counts as zero: the states keep their initial values, and ``until``
    has not ended the loop. The number of steps is always given, so no loop is endless.

    Gradients are found in forward mode, in the same steps: the loop of a gradient also carries the
    derivative of each state by each input whose gradient is wanted. The number of steps that the
    loop took counts as a constant, and has no gradient.

    Examples
    --------
    Heron's square root, with as many steps as each number takes:

    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> from frazil.scalar import ScalarLoop
    >>> root, square = ft.scalar("root"), ft.scalar("square")
    >>> better = (root + square / root) / 2
    >>> heron = ScalarLoop([root], [better], [square], until=ft.abs(better - root) < 1e-12)
    >>> x = ft.vector("x")
    >>> y, done = heron(100, x, x)
    >>> fz.function([x], [y, fz.grad(y.sum(), x), done])([1.0, 4.0])
    [array([1., 2.]), array([0.5 , 0.25]), array([ True,  True])]
    """

    fgraph: FrozenFunctionGraph
    is_while: bool = False
    """Whether the last output of the graph is the condition that ends the loop."""
    name: str | None = None

    if TYPE_CHECKING:

        def __init__(self, init: object, *args: object, **kwargs: object) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        graph = self.fgraph
        if not 0 < self.n_states <= len(graph.inputs):
            raise ValueError(
                f"a ScalarLoop needs a state, and an input of its graph for each: given a graph of "
                f"{len(graph.inputs)} inputs and {len(graph.outputs)} outputs, the last of which "
                f"is {'the condition' if self.is_while else 'a state'}"
            )
        _check_dtypes(self.states, self.updates, self.condition)

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.fgraph.outputs) - self.is_while

    @property
    def states(self) -> tuple[Variable, ...]:
        """The inner inputs that are states."""
        return self.fgraph.inputs[: self.n_states]

    @property
    def constants(self) -> tuple[Variable, ...]:
        """The inner inputs that are the same in each step."""
        return self.fgraph.inputs[self.n_states :]

    @property
    def updates(self) -> tuple[Variable, ...]:
        """The inner outputs that are the states after a step."""
        return self.fgraph.outputs[: self.n_states]

    @property
    def condition(self) -> Variable | None:
        """The inner output that ends the loop, if there is one."""
        return self.fgraph.outputs[-1] if self.is_while else None

    @property
    def nin(self) -> int:
        return 1 + len(self.fgraph.inputs)

    def __str__(self) -> str:
        return f"ScalarLoop{{{self.name or self.fgraph.digest[:8]}}}"

    def operand_dtypes(self, dtypes: Sequence[str], result: str) -> tuple[str, ...]:
        return ("int64", *(nominal.dtype for nominal in self.fgraph.inputs))

    def make_node(self, *inputs: Any) -> FrozenApply:
        if len(inputs) != self.nin:
            raise TypeError(
                f"{self} takes {self.nin} arguments: the number of steps, {self.n_states} initial "
                f"states and {len(self.constants)} constants; given {len(inputs)}"
            )
        n_steps = _as_count(self, inputs[0])
        operands = [
            _as_element(self, at, x, nominal)
            for at, (x, nominal) in enumerate(zip(inputs[1:], self.fgraph.inputs, strict=True))
        ]
        return super().make_node(n_steps, *operands)

    def impl(self, *operands: Any) -> Any:
        steps = steps_of(self.fgraph)
        n_steps, states = int(operands[0]), operands[1 : 1 + self.n_states]
        constants = operands[1 + self.n_states :]
        ended = False
        for _ in range(n_steps):
            results = steps.run((*states, *constants))
            states = results[: self.n_states]
            if self.is_while and results[-1]:
                ended = True
                break
        values = (*states, ended) if self.is_while else states
        return values[0] if self.nout == 1 else values

    def on_arrays(self, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """The steps of all elements at once; elements whose loop has ended are put aside."""
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
        left, *operands = (np.broadcast_to(array, shape).reshape(-1) for array in arrays)
        states, constants = operands[: self.n_states], operands[self.n_states :]
        results = [state.copy() for state in states]
        ended = np.zeros(left.shape, np.bool_)
        steps, at, goes_on = steps_of(self.fgraph), np.arange(left.size), left > 0
        while True:
            if not goes_on.all():
                for result, state in zip(results, states, strict=True):
                    result[at] = state
                at, left = at[goes_on], left[goes_on]
                states = [state[goes_on] for state in states]
                constants = [constant[goes_on] for constant in constants]
            if not at.size:
                break
            made = steps.run_arrays([*states, *constants])
            states = list(made[: self.n_states])
            left = left - 1
            goes_on = left > 0
            if self.is_while:
                ended[at] = made[-1]
                goes_on &= ~made[-1]
        whole = [*results, ended] if self.is_while else results
        return tuple(result.reshape(shape) for result in whole)


@dataclass(frozen=True, eq=False)
class LoopResult(ScalarOp):
    """One result of a ScalarLoop; a native loop computes several results of one loop together."""

    loop: ScalarLoop
    index: int

    @property
    def nin(self) -> int:
        return self.loop.nin

    @property
    def rule(self) -> str:
        return f"cast:{self.loop.fgraph.outputs[self.index].dtype}"

    def __str__(self) -> str:
        return f"{self.loop}[{self.index}]"

    def operand_dtypes(self, dtypes: Sequence[str], result: str) -> tuple[str, ...]:
        return self.loop.operand_dtypes(dtypes, result)

    def impl(self, *operands: object) -> Any:
        return self.loop.impl(*operands)[self.index]

    def on_arrays(self, arrays: Sequence[Array]) -> tuple[Array, ...]:
        return (self.loop.on_arrays(arrays)[self.index],)


def loop_result(op: ScalarOp) -> tuple[ScalarLoop, int] | None:
    """The loop of an op with one result, and the index of that result; None for other ops.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.scalar import ScalarLoop, exp
    >>> from frazil.scalar.loop import loop_result
    >>> a = ft.scalar()
    >>> loop = ScalarLoop([a], [a + 1])
    >>> loop_result(loop) == (loop, 0), loop_result(exp)
    (True, None)
    """
    if op.table_name is not None:
        return None  # quicker than to ask for classes
    if isinstance(op, LoopResult):
        return op.loop, op.index
    return (op, 0) if isinstance(op, ScalarLoop) else None


def _build(
    init: Sequence[Variable],
    update: Sequence[TensorLike],
    constant: Sequence[Variable] | None = None,
    until: TensorLike | None = None,
    name: str | None = None,
) -> ScalarLoop:
    states, others = list(init), list(constant or ())
    if len(states) != len(update):
        raise ValueError(
            f"a ScalarLoop needs an update for each state: given {len(states)} states and "
            f"{len(update)} updates"
        )
    for x in (*states, *others):
        if not isinstance(x, Variable) or isinstance(x, Constant):
            raise TypeError(
                f"init and constant of a ScalarLoop are variables that its updates are written in, "
                f"given {x!r}; use ft.scalar(), and pass values when the loop is applied"
            )
    if len({*states, *others}) < len(states) + len(others):
        raise ValueError("the variables in init and constant of a ScalarLoop must differ")
    updates = [
        y if isinstance(y, Variable) else as_tensor(y, x.dtype)
        for x, y in zip(states, update, strict=True)
    ]
    condition = None if until is None else as_tensor(until)
    # By their names, which the frozen graph does not keep.
    _check_dtypes(states, updates, condition)
    outputs = updates if condition is None else [*updates, condition]
    try:
        graph = FrozenFunctionGraph([*states, *others], outputs)
    except MissingInputError as error:
        raise MissingInputError(
            f"a ScalarLoop uses only variables in init or constant: {error}"
        ) from error
    made: ScalarLoop = ScalarLoop(graph, condition is not None, name)
    return made


def _check_dtypes(
    states: Sequence[Variable], updates: Sequence[Variable], condition: Variable | None
) -> None:
    for at, (state, update) in enumerate(zip(states, updates, strict=True)):
        if state.type != update.type:
            called = f" ({state.name})" if state.name else ""
            raise TypeError(
                f"state {at}{called} of a ScalarLoop has type {state.type}, and after a step "
                f"{update.type}; both must be the same: cast the update, as in "
                f"ft.cast(update, {state.dtype!r}), or declare the state otherwise"
            )
    if condition is not None and (condition.dtype, condition.ndim) != ("bool", 0):
        raise TypeError(
            f"until of a ScalarLoop is a bool without dimensions, given {condition.type}"
        )


def _as_count(op: ScalarLoop, x: TensorLike) -> Variable:
    """The number of steps as a variable."""
    made = as_tensor(x)
    if not made.dtype.startswith(("int", "uint")) or made.dtype == "uint64":
        raise TypeError(
            f"the first argument of {op} is the number of steps, an integer that int64 holds; "
            f"given {made} of type {made.type}"
        )
    return made


def _as_element(op: ScalarLoop, at: int, x: TensorLike, nominal: Variable) -> Variable:
    """An initial state or constant as a variable."""
    is_number = isinstance(x, bool | int | float)
    made = as_tensor(x)
    if not np.can_cast(made.dtype, nominal.dtype, "same_kind" if is_number else "safe"):
        at_state = at < op.n_states
        what = f"initial state {at}" if at_state else f"constant {at - op.n_states}"
        raise TypeError(
            f"{what} of {op} has dtype {nominal.dtype}, given {made} of type {made.type}, which "
            f"loses by conversion; cast it to {nominal.dtype!r}, or build the loop for "
            f"{made.dtype}"
        )
    return as_tensor(x, nominal.dtype) if is_number else made
