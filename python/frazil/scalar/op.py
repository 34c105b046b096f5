"""Scalar ops: the computation of one element, defined once for every linker."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from inspect import isfunction
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from frazil._core import FrozenApply, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.declarations import check_method
from frazil.graph.op import Array, Op, OpMeta, Variables
from frazil.scalar.evaluation import evaluate

NativeText: TypeAlias = str | Mapping[str, str]
"""An expression in which ``{0}``, ``{1}``, ... are the operands, ``{T}`` is the type that they are
computed in and ``{name}`` is a function of the target language. A mapping gives one for each NumPy
kind of that type: ``{"iu": "{0} * {1}", "f": "{pow}({0}, {1})"}``. In C all other braces are C's
own: ``({ double t = {0}; t * t; })`` is an expression, too, and ``{ 0 }`` an initializer."""

Partial: TypeAlias = Variable | Callable[[], Variable] | None
"""The gradient of one input, a function that builds it if it is wanted, or None: it has none,
as a change of the input changes nothing; :class:`UnknownPartial` if one does, and it is not known.

A gradient has the output's shape, or broadcasts to it; the differentiator sums over the dimensions
that were broadcast."""

RULES = (
    *("arithmetic", "arithmetic_no_bool", "floor", "float", "division", "part", "complex"),
    *("comparison", "bitwise", "shift", "predicate", "select"),
)
"""How the core may find the dtype of a result; and there is ``cast:`` with a dtype."""

GradientFunction: TypeAlias = Callable[[Variables, Variable, Variable], Sequence[Partial]]
"""``(inputs, output, output_gradient)`` to one gradient an input."""


@dataclass(frozen=True, slots=True)
class UnknownPartial:
    """The gradient of an input that the output depends on, where no rule gives it."""

    why: str

    def __call__(self) -> Variable:
        """Say so to whom it is wanted by."""
        raise NotImplementedError(self.why)


class ScalarOpMeta(OpMeta, ABCMeta):
    """Makes equal ops one object, and refuses classes that do not define what they compute."""

    # Nothing is a scalar op but by its bases, and each node is asked several times what it is.
    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__

    def __call__(cls, *args: object, **kwargs: object) -> Any:
        if cls.__abstractmethods__:
            raise TypeError(f"{cls.__qualname__} is abstract: it must define impl")
        if not getattr(cls, "pure", True):
            raise TypeError(
                f"{cls.__qualname__} is a scalar op, which must be pure: loops may compute an "
                "element more than once. Derive from fz.Op where each call counts"
            )
        made = super().__call__(*args, **kwargs)
        for name in ("nin", "rule"):
            if not hasattr(made, name):
                raise TypeError(f"{cls.__qualname__} must define {name}")
        if made.rule not in RULES and not str(made.rule).startswith("cast:"):
            known = ", ".join(map(repr, RULES))
            raise ValueError(
                f"{cls.__qualname__}.rule is {made.rule!r}; the rules of types are {known}, and "
                "'cast:' with a dtype"
            )
        return made


@dataclass(frozen=True, eq=False)
class ScalarOp(Op, metaclass=ScalarOpMeta):
    """An op on single elements; applied to variables, it acts on every element of them.

    A subclass defines what it computes (``impl``), how many operands it takes (``nin``) and how it
    is typed (``rule``). All else is for speed: with ``ufunc`` it runs as fast as NumPy does, with
    ``c`` and ``numba`` it joins native loops; without these, native loops call ``impl``. In mode
    ``numba`` an op with neither ``numba`` nor ``ufunc`` joins them, too, if Numba can compile its
    ``impl`` and that cannot raise: on float64 and int64, where division by zero and functions
    outside their domain give infinity, NaN or 0 instead of an exception of Python's.

    Attributes
    ----------
    nin, nout : int
        The numbers of operands and of results.
    rule : str
        How the core finds the result's dtype: "arithmetic", "arithmetic_no_bool", "floor", "float",
        "division", "part", "complex", "comparison", "bitwise", "shift", "predicate", "select", or
        "cast:" and a dtype.
    ufunc : callable, optional
        A function that does the same to whole arrays, as NumPy's ufuncs do.
    c, numba : str or mapping, optional
        Expressions in C and in what Numba compiles, as in ``"{0} * {0}"``.
    gradient : callable, optional
        ``(inputs, output, output_gradient)`` to one gradient an input.
    on_arrays : callable, optional
        A function of the list of all operands as arrays, of the dtypes that the op computes in,
        which broadcast against each other. It returns the tuple of results: ``impl`` for many.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> from frazil.scalar import ScalarOp
    >>> @dataclass(frozen=True, eq=False)
    ... class Cube(ScalarOp):
    ...     nin = 1
    ...     rule = "arithmetic"
    ...     c = "{0} * {0} * {0}"
    ...
    ...     def impl(self, x):
    ...         return x * x * x
    >>> x = ft.vector("x")
    >>> fz.function([x], Cube()(x) + 1)([1.0, 2.0])
    array([2., 9.])
    """

    elementwise: ClassVar[type[Op]]
    """The op that applies a scalar op to every element; :mod:`frazil.scalar.elemwise` sets it."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        for name in ("ufunc", "gradient", "on_arrays"):
            given = vars(cls).get(name)
            written_here = getattr(given, "__qualname__", "").startswith(f"{cls.__qualname__}.")
            bound = hasattr(given, "__get__") and not isinstance(given, staticmethod)
            if bound and callable(given) and not written_here:
                raise TypeError(
                    f"{cls.__qualname__}.{name} would be called as a method, with the op before "
                    f"its operands; write {name} = staticmethod({given.__name__})"
                )
        for name in ("c", "numba"):
            if isfunction(given := vars(cls).get(name)):
                raise TypeError(
                    f"{cls.__qualname__}.{name} must be a text, as in {name} = '{{0}} * {{0}}', or "
                    "a property that returns one; given a method"
                )

    def _on_intern(self) -> None:
        check_method(type(self), "impl", self.nin, f"self and nin = {self.nin} operands")

    if TYPE_CHECKING:

        @property
        def nin(self) -> int: ...
        @property
        def rule(self) -> str: ...
        @property
        def nout(self) -> int: ...
        @property
        def ufunc(self) -> Callable[..., Any] | None: ...
        @property
        def c(self) -> NativeText | None: ...
        @property
        def numba(self) -> NativeText | None: ...
        @property
        def gradient(self) -> GradientFunction | None: ...
        @property
        def on_arrays(self) -> Callable[[Sequence[Any]], tuple[Any, ...]] | None: ...

    else:
        # Plain values, which a subclass may replace by fields, properties or values of its own.
        nout = 1
        ufunc = c = numba = gradient = on_arrays = None

    @abstractmethod
    def impl(self, *operands: object) -> Any:
        """The result for single elements: Python or NumPy scalars; a tuple if there are several."""

    @property
    def table_name(self) -> str | None:
        """The name of an elementary op; None for every other op."""
        return None

    @property
    def converts_to(self) -> str | None:
        """The dtype that a cast converts its operand to; None for every other op."""
        return None

    def result_dtypes(self, first: str) -> tuple[str, ...]:
        """The dtypes of all results, given that of the first, which ``rule`` finds."""
        return (first,) * self.nout

    def make_node(self, *inputs: Any) -> FrozenApply:
        node: FrozenApply = self.elementwise(self).make_node(*inputs)
        return node

    def operand_dtypes(self, dtypes: Sequence[str], result: str) -> tuple[str, ...]:
        """The dtypes that operands are converted to before the op computes ``result``.

        Comparisons convert to the operands' common type, except that an int64 and a uint64 have
        none: these two stay as they are and are compared exactly.

        Examples
        --------
        >>> from frazil.scalar import lt, mul
        >>> mul.operand_dtypes(("int8", "float32"), "float32")
        ('float32', 'float32')
        >>> lt.operand_dtypes(("int8", "uint64"), "bool")
        ('int64', 'uint64')
        """
        match self.rule.partition(":")[0]:
            case "cast" | "predicate":
                return tuple(dtypes)
            case "part":
                return (np.result_type(*dtypes).name,) * len(dtypes)
            case "complex":
                part = "float32" if result == "complex64" else "float64"
                return (part,) * len(dtypes)
            case "select":
                return ("bool", *[result] * (len(dtypes) - 1))
            case "comparison":
                if "uint64" in dtypes and any(np.dtype(d).kind == "i" for d in dtypes):
                    return tuple(d if d == "uint64" or d[0] == "f" else "int64" for d in dtypes)
                return (np.result_type(*dtypes).name,) * len(dtypes)
            case _:
                return (result,) * len(dtypes)

    def compute(self, result: str, *operands: object) -> Array:
        """The result, of dtype ``result``, for whole arrays, computed by NumPy.

        Examples
        --------
        >>> import numpy as np
        >>> from frazil.scalar import sigmoid
        >>> sigmoid.compute("float64", np.array([0.0, np.inf]))
        array([0.5, 1. ])
        """
        return evaluate(self, [result], operands)[0]


def lowering_for(lowering: NativeText | None, dtype: str) -> str | None:
    """The expression for operands of ``dtype``; None if the op has none for it.

    Examples
    --------
    >>> from frazil.scalar.op import lowering_for
    >>> lowering_for({"iu": "{0} % {1}", "f": "{fmod}({0}, {1})"}, "uint8")
    '{0} % {1}'
    """
    if lowering is None or isinstance(lowering, str):
        return lowering
    kind = np.dtype(dtype).kind
    return next((text for kinds, text in lowering.items() if kind in kinds), None)
