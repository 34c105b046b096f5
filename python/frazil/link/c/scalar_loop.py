"""The C functions of scalar loops, which kernels call.

For one element there is a function that returns a struct of all results. For a block of elements
there are two forms. If the whole step can be vectorised, the elements of a block go through the
steps together, and those that have ended keep their values; else each element goes by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from frazil.graph.dataclass import dataclass
from frazil.link.c import syntax as c
from frazil.link.c.definitions import Definitions
from frazil.link.c.functions import C_TYPES
from frazil.link.kernel.loop_kernel import Status
from frazil.link.kernel.scalar_loop import PATIENCE, ScalarLoopBody

_MASKS = {64: "i1", 32: "i2", 16: "i4", 8: "i8"}
"""The type of a mask by the lanes of a block: it is as wide as the values that it chooses."""

_STATUS = c.Declare("i4", "status", "0")
_REPORT = c.If("status", [c.Assign("*failed", "status")])


@dataclass(frozen=True, slots=True)
class Count:
    """The number of steps that the elements of a block do."""

    name: str
    operand: str
    of_element: str
    most: c.Statement
    find_most: str  # the pragma of a loop that finds the most steps of an element
    track_most: tuple[c.Statement, ...]


SAME = Count(
    name="same",
    operand="i8 n",
    of_element="n",
    most=c.Const("i8", "most", "n"),
    find_most=c.SIMD,
    track_most=(),
)
"""All elements do the same number of steps."""

OWN = Count(
    name="each",
    operand="const i8 *restrict n",
    of_element="n[l]",
    most=c.Declare("i8", "most", "0"),
    find_most=f"{c.SIMD} reduction(max:most)",
    track_most=(c.Assign("most", "n[l] > most ? n[l] : most"),),
)
"""Each element has its own number of steps."""


class LoopFunctions:
    """The functions of one loop; each is defined when it is first called.

    ``literals`` and ``statements`` are the expressions of the loop's literals and statements, the
    latter on operands ``{0}``, ``{1}``, ...; ``vector``: whether all can be vectorised.
    """

    def __init__(
        self,
        definitions: Definitions,
        body: ScalarLoopBody,
        name: str,
        literals: Sequence[str],
        statements: Sequence[str],
        *,
        vector: bool,
    ) -> None:
        self._definitions = definitions
        self._name = name
        self._vector = vector
        self._step = _Step(body, literals, statements)
        definitions.native("loop_stops", "i4", "void")

    @property
    def struct(self) -> str:
        """The type of :meth:`call`."""
        return f"{self._name}_results"

    def call(self, operands: Sequence[str]) -> str:
        """The expression that runs the loop for one element: a struct, of results r0, r1, ..."""
        results = enumerate(self._step.body.results)
        fields = "".join(f"{C_TYPES[dtype]} r{k}; " for k, dtype in results)
        struct = f"typedef struct {{ {fields}}} {self.struct};\n"
        self._definitions.define(struct + c.text_of((self._of_element(),)))
        return f"{self._name}({', '.join(operands)}, &status)"

    def block(self, lanes: int, results: Sequence[int], count: Count) -> str:
        """The name of the function for a block.

        It takes the number of steps, an array for each other operand, and an array to write to for
        each of ``results``.
        """
        name = f"{self._name}_{lanes}_{count.name}_{'_'.join(map(str, results))}"
        known = self._definitions.definitions
        if name not in known:
            known[name] = c.text_of((self._of_block(name, lanes, results, count),))
        return name

    def _of_element(self) -> c.Function:
        """The function for one element."""
        step, body = self._step, self._step.body
        operands = [f"{C_TYPES[dtype]} v{k}" for k, dtype in enumerate(step.operands)]
        states = range(len(body.states))
        results = [f"v{k}" for k in states]
        ends: list[c.Statement] = []
        stop: list[c.Statement] = []
        if body.condition is not None:
            results.append("ends")
            ends, stop = [c.Declare("u1", "ends", "0")], [c.If("ends", [c.Break()])]
        step_body = [*step.statements(), *(c.Assign(f"v{k}", f"n{k}") for k in states), *stop]
        return c.Function(
            f"static {self.struct}",
            self._name,
            ["i8 n", *operands, "i4 *failed"],
            [
                _STATUS,
                *step.constants(),
                *ends,
                _many_steps("n", step_body, stop),
                _REPORT,
                c.Return(f"({self.struct}){{{', '.join(results)}}}"),
            ],
        )

    def _of_block(self, name: str, lanes: int, results: Sequence[int], count: Count) -> c.Function:
        """The function for a block of elements."""
        step = self._step
        operands = [
            f"const {C_TYPES[dtype]} *restrict x{k}" for k, dtype in enumerate(step.operands)
        ]
        written = [f"{C_TYPES[step.body.results[k]]} *restrict r{k}" for k in results]
        if self._vector:
            inside = _Together(step, lanes, count).statements(results)
        else:
            inside = self._one_by_one(lanes, results, count)
        return c.Function(
            "static void", name, [count.operand, *operands, *written, "i4 *failed"], [*inside]
        )

    def _one_by_one(
        self, lanes: int, results: Sequence[int], count: Count
    ) -> Iterator[c.Statement]:
        """Each element of a block goes through its own steps."""
        operands = [count.of_element, *(f"x{k}[l]" for k in range(len(self._step.operands)))]
        yield _STATUS
        made = c.Const(self.struct, "made", self.call(operands))
        yield c.lanes_loop(lanes, [made, *(c.Assign(f"r{k}[l]", f"made.r{k}") for k in results)])
        yield _REPORT


class _Step:
    """The step of a loop for one element, whose states and constants are v0, v1, ..."""

    def __init__(
        self, body: ScalarLoopBody, literals: Sequence[str], statements: Sequence[str]
    ) -> None:
        self.body = body
        self.operands = (*body.states, *body.constants)
        self._texts = [f"v{k}" for k in range(len(body.dtypes))]
        self._texts[body.first_literal : body.first_statement] = literals
        self._expressions = [
            form.format(*(self._texts[a] for a in own.args))
            for form, own in zip(statements, body.statements, strict=True)
        ]

    def type(self, k: int) -> str:
        """The C type of a value."""
        return C_TYPES[self.body.dtypes[k]]

    @property
    def can_fail(self) -> bool:
        """Whether a step may set a status other than OK."""
        return any("status" in expression for expression in self._expressions)

    def constants(self) -> Iterator[c.Statement]:
        """The statements that are the same in all steps."""
        return self._made(constant=True)

    def statements(self) -> Iterator[c.Statement]:
        """The statements of a step: from v0, v1, ... it makes n0, n1, ..., and ``ends``."""
        body = self.body
        yield from self._made(constant=False)
        for k, value in enumerate(body.nexts):
            yield c.Const(self.type(k), f"n{k}", self._texts[value])
        if body.condition is not None:
            yield c.Assign("ends", self._texts[body.condition])

    def hoisted(self) -> list[int]:
        """The values that are computed before the steps and used in them."""
        body = self.body
        used = {*body.nexts, body.condition}
        for k, own in enumerate(body.statements, body.first_statement):
            if not body.constant[k]:
                used.update(own.args)
        made = range(body.first_statement, len(body.dtypes))
        return [k for k in made if body.constant[k] and k in used]

    def _made(self, *, constant: bool) -> Iterator[c.Statement]:
        body = self.body
        for k, expression in enumerate(self._expressions, body.first_statement):
            if body.constant[k] is constant:
                yield c.Const(self.type(k), f"v{k}", expression)


class _Together:
    """The elements of a block go through the steps together."""

    def __init__(self, step: _Step, lanes: int, count: Count) -> None:
        self.step = step
        self.body = step.body
        self.lanes = lanes
        self.count = count
        self.hoisted = step.hoisted()
        self.states = range(len(step.body.states))
        steps_alike = count is SAME and step.body.condition is None
        self.masking = _Masking() if steps_alike else _by_mask(step.body, lanes, count)

    def statements(self, results: Sequence[int]) -> Iterator[c.Statement]:
        """The body of the function."""
        lanes, masking = self.lanes, self.masking
        yield _STATUS
        for k in self.states:
            yield c.Array(self.step.type(k), f"s{k}", lanes)
        for k in self.hoisted:
            yield c.Array(self.step.type(k), f"c{k}", lanes)
        yield from masking.declare
        yield self.count.most
        yield c.lanes_loop(lanes, [*self._start()], pragma=self.count.find_most)
        yield from masking.before_steps
        step_body = [
            *masking.before_step,
            c.lanes_loop(lanes, [*self._one_step(results)], pragma=masking.pragma),
            *masking.stop,
        ]
        yield _many_steps("most", step_body, masking.stop)
        yield _REPORT
        results_of = [c.Assign(f"r{k}[l]", self._result(k)) for k in results]
        yield c.lanes_loop(lanes, results_of, pragma=c.SIMD)

    def _start(self) -> Iterator[c.Statement]:
        """The work on an element before all steps."""
        for k in self.states:
            yield c.Assign(f"s{k}[l]", f"x{k}[l]")
        yield from self._constants()
        yield from self.step.constants()
        for k in self.hoisted:
            yield c.Assign(f"c{k}[l]", f"v{k}")
        yield from self.masking.start

    def _one_step(self, results: Sequence[int]) -> Iterator[c.Statement]:
        """A step of one element.

        Where an element has ended, only its results stay: holding the other states, too, would let
        each step wait for the condition of the one before.
        """
        for k in self.states:
            yield c.Const(self.step.type(k), f"v{k}", f"s{k}[l]")
        yield from self._constants()
        for k in self.hoisted:
            yield c.Const(self.step.type(k), f"v{k}", f"c{k}[l]")
        if self.body.condition is not None:
            yield c.Declare("u1", "ends")
        yield from self.step.statements()
        yield from self.masking.enter
        for k in self.states:
            is_held = k in results or self.step.can_fail
            next_state = self.masking.next_state if is_held else "n{k}"
            yield c.Assign(f"s{k}[l]", next_state.format(k=k))
        yield from self.masking.leave

    def _constants(self) -> Iterator[c.Statement]:
        for k in range(len(self.states), self.body.first_literal):
            yield c.Const(self.step.type(k), f"v{k}", f"x{k}[l]")

    def _result(self, k: int) -> str:
        return f"s{k}[l]" if k < len(self.states) else "ended[l] != 0"


@dataclass(frozen=True, slots=True)
class _Masking:
    """The statements of :class:`_Together` that leave alone the elements which have ended.

    ``next_state`` is the expression of a state after a step, and ``pragma`` that of the loop over
    the elements. By default no element ends before the last step.
    """

    declare: Sequence[c.Statement] = ()
    start: Sequence[c.Statement] = ()
    before_steps: Sequence[c.Statement] = ()
    before_step: Sequence[c.Statement] = ()
    pragma: str = c.SIMD
    enter: Sequence[c.Statement] = ()
    next_state: str = "n{k}"
    leave: Sequence[c.Statement] = ()
    stop: Sequence[c.Statement] = ()


def _by_mask(body: ScalarLoopBody, lanes: int, count: Count) -> _Masking:
    """Elements end on their own: the mask ``live`` holds for those that go on."""
    mask = _MASKS.get(lanes, "i4")
    declare: list[c.Statement] = [c.Array(mask, "live", lanes)]
    start: list[c.Statement] = [c.Assign("live[l]", f"{count.of_element} > 0"), *count.track_most]
    stays: list[c.Statement] = []
    stay = "goes"
    if body.condition is not None:
        declare.insert(0, c.Array(mask, "ended", lanes))
        start.insert(0, c.Assign("ended[l]", "0"))
        stays += [
            c.Const(mask, "stops", "ends ? 1 : 0"),
            c.Assign("ended[l]", "goes & stops", "|="),
        ]
        stay += " & (stops ^ 1)"
    if count is OWN:
        stays.append(c.Const(mask, "more", "step + 1 < n[l] ? 1 : 0"))
        stay += " & more"
    stays += [
        c.Const(mask, "stay", stay),
        c.Assign("live[l]", "stay"),
        c.Assign("any", "stay", "|="),
    ]
    return _Masking(
        declare=declare,
        start=start,
        before_steps=(c.Declare(mask, "any", "0"),),
        before_step=(c.Assign("any", "0"),),
        pragma=f"{c.SIMD} reduction(|:any)",
        enter=(c.Const(mask, "goes", "live[l]"),),
        next_state="goes ? n{k} : v{k}",
        leave=stays,
        stop=(c.If("!any", [c.Break()]),),
    )


def _many_steps(
    count: str, step_body: Sequence[c.Statement], stop: Sequence[c.Statement]
) -> c.Statement:
    """The loop over all steps, which asks every so often whether to stop; ``stop`` ends it, too.

    The steps in between are a loop without calls, so that states stay in registers.
    """
    asked = f"step < {count} && loop_stops()"
    return c.For(
        "i8 step = 0",
        f"step < {count}",
        "",
        [
            c.Const("i8", "pause", f"{count} - step > {PATIENCE} ? step + {PATIENCE} : {count}"),
            c.For("", "step < pause", "++step", step_body),
            *stop,
            c.If(asked, [c.Assign("status", f"{Status.STOPPED:d}"), c.Break()]),
        ],
    )
