"""Ops: what a node computes, as an immutable value.

An op is a frozen dataclass over :class:`Op`. Making one interns its key in the core, so equal ops
are one object, and comparing or hashing them never runs Python code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import FrozenInstanceError
from functools import lru_cache
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from frazil._core import FrozenApply, FrozenFunctionGraph, OpBase, Variable
from frazil.graph.parameters import (
    AS_MADE,
    OpClass,
    are_plain,
    check_arguments,
    is_of_import,
    made_with,
    parameters_of,
    plain_attributes,
    refuse_other_attributes,
    remade,
    settled,
)

Array: TypeAlias = np.ndarray[Any, Any]

Variables: TypeAlias = Sequence[Variable]
"""The inputs of a node, its outputs, or the gradients of these."""

Gradients: TypeAlias = list[Variable | None]
"""One gradient an input; None where an input has none."""


class OpMeta(type):
    """Makes equal ops one object."""

    def __call__(cls, *args: object, **kwargs: object) -> Any:
        if not kwargs and are_plain(args) and is_of_import(cls):
            return _made(cls, *args)
        return cls._make(args, kwargs)

    def _make(cls, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        check_arguments(cls, args, kwargs)
        made = super().__call__(*args, **kwargs)
        taken = made._interned()
        if taken is not made and (known := OpClass.of(cls)).has_props:
            refuse_other_attributes(made, known, taken)
        return taken


@lru_cache(maxsize=512, typed=True)
def _made(cls: OpMeta, *args: object) -> object:
    """The op of a class that an import finds: graphs use few of them, again and again."""
    return cls._make(args, {})


def _shown(value: object) -> str:
    return f"graph {value.digest[:8]}" if isinstance(value, FrozenFunctionGraph) else str(value)


class Op(OpBase, metaclass=OpMeta):
    """The computation of a node. Subclasses are frozen dataclasses, whose fields are parameters.

    Parameters may be None, bools, numbers, strings, bytes, types, ops, frozen graphs, or tuples of
    these. A frozen graph is compared as the one object that it is, however large; the op keeps the
    equal graph of the default container, so it is the same op wherever the graph was built. An op
    whose class is defined in a function or in ``__main__`` works, but its digest means nothing to
    another process.

    A class may have ``__props__`` and an ``__init__`` of its own instead of fields: the attributes
    that ``__props__`` names are the parameters, and plain values of others must follow from those.
    Without ``__props__``, an op with an attribute that is no field is refused. Arrays are no
    parameters: pass them as inputs.

    Attributes
    ----------
    view_map, destroy_map : mapping of int to sequence of int
        For each output that views (or is written over) inputs, the positions of those inputs.
    destroy_tolerates_same, destroy_tolerates_aliased : sequence of pairs of int
        Pairs of inputs. The first is destroyed; the second may nevertheless be the same variable
        (or share memory with it).
    commutative : bool
        Swapping the operands gives the same value.
    pure : bool
        The outputs depend on the inputs alone. Each application of an op that is not pure is a node
        of its own and runs once: nothing merges, folds, moves or drops it.
    distinct : bool
        Every application is a buffer of its own, never merged with an equal one.
    takes_complex : bool
        Inputs and outputs may be complex. Nodes of other ops refuse those with a TypeError, so that
        no imaginary part is lost.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> @dataclass(frozen=True, eq=False)
    ... class Roll(fz.Op):
    ...     shift: int
    ...
    ...     def make_node(self, x):
    ...         return fz.FrozenApply(self, [x], [x.type])
    ...
    ...     def perform(self, node, inputs):
    ...         return (np.roll(inputs[0], self.shift),)
    >>> Roll(1) is Roll(1)
    True
    >>> x = ft.vector("x")
    >>> fz.function([x], Roll(1)(x) * 10)([1.0, 2.0, 3.0])
    array([30., 10., 20.])
    """

    view_map: ClassVar[Mapping[int, Sequence[int]]] = {}
    destroy_map: ClassVar[Mapping[int, Sequence[int]]] = {}
    destroy_tolerates_same: ClassVar[Sequence[tuple[int, int]]] = ()
    destroy_tolerates_aliased: ClassVar[Sequence[tuple[int, int]]] = ()
    commutative: bool = False
    pure: ClassVar[bool] = True
    distinct: ClassVar[bool] = False
    takes_complex: bool = False

    def _interned(self) -> Self:
        """The one op that is equal to this new one."""
        known = OpClass.of(type(self))
        given = parameters_of(self, known)
        params = settled(given)
        if params is not given:
            for name, value in zip(known.parameters, params, strict=True):
                object.__setattr__(self, name, value)
        try:
            interned = self._intern(
                known.kind, known.parameters, params, self._properties(), self._rule()
            )
        except UnicodeEncodeError as error:
            raise ValueError(
                f"op {known.kind!a} has a lone surrogate at position {error.start} of "
                f"{error.object!a}: names and parameters of ops are text that UTF-8 can hold"
            ) from error
        if interned is self:
            if known.has_props and AS_MADE not in vars(self):
                object.__setattr__(self, AS_MADE, plain_attributes(self, known))
            self._on_intern()
        return interned

    @classmethod
    def _made_with(cls, params: tuple[object, ...]) -> Op:
        """The op with these parameters, for graphs that are loaded."""
        return made_with(cls, params)

    def _params(self) -> tuple[object, ...]:
        return tuple([getattr(self, name) for name in OpClass.of(type(self)).parameters])

    def _properties(self) -> dict[str, object]:
        return {
            "label": str(self),
            "identity": OpClass.of(type(self)).token,
            "arity": self._arity(),
            "view_map": {out: list(inputs) for out, inputs in self.view_map.items()},
            "destroy_map": {out: list(inputs) for out, inputs in self.destroy_map.items()},
            "destroy_tolerates_same": list(self.destroy_tolerates_same),
            "destroy_tolerates_aliased": list(self.destroy_tolerates_aliased),
            "commutative": self.commutative,
            "pure": self.pure,
            "distinct": self.distinct,
            "takes_complex": self.takes_complex,
        }

    def _rule(self) -> str | None:
        """The type rule by which the core types nodes of this op; None: `make_node` does."""
        return None

    def _arity(self) -> int | None:
        """The number of operands that the core checks; None: `make_node` does."""
        return None

    def _on_intern(self) -> None:
        """Called once for each op, when it becomes the one object for its key."""

    def make_node(self, *inputs: Any) -> FrozenApply:
        """The application of this op to ``inputs``: checks them and works out the output types."""
        raise NotImplementedError(f"{type(self).__qualname__} does not define make_node")

    def __call__(self, *inputs: object) -> Any:
        """The output of the op applied to ``inputs``; a list where there are several."""
        node = self.make_node(*inputs)
        if type(node) is not FrozenApply:
            raise TypeError(
                f"make_node of {self} must return a node, fz.FrozenApply(self, inputs, types of "
                f"the outputs); it returned {node} of type {type(node).__name__}"
            )
        outputs = node.outputs
        return outputs[0] if len(outputs) == 1 else list(outputs)

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """The outputs' values: the reference for every linker.

        They are new arrays, which the op does not keep: who gets them may write to them, and they
        must stay as they are when ``perform`` is called again. Inputs are only read.
        """
        raise NotImplementedError(f"{type(self).__qualname__} does not define perform")

    def infer_shape(
        self, node: FrozenApply, input_shapes: Sequence[tuple[Variable, ...]]
    ) -> tuple[tuple[Variable, ...] | None, ...]:
        """The outputs' lengths, 0-d int64 variables; None for a shape that depends on values."""
        return (None,) * len(node.output_types)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        """The gradients of the inputs, given those of the outputs; None where an input has none."""
        theirs = " in place of grad" if callable(getattr(self, "grad", None)) else ""
        raise NotImplementedError(
            f"{type(self).__qualname__} has no gradient: define L_op(self, inputs, outputs, "
            f"output_gradients){theirs}"
        )

    def __setattr__(self, name: str, value: object) -> None:
        self._check_change(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        self._check_change(name)
        object.__delattr__(self, name)

    def _check_change(self, name: str) -> None:
        known = OpClass.of(type(self))
        if self._is_interned and (name in known.parameters or not known.has_props):
            raise FrozenInstanceError(
                f"{name!r} of {self} cannot change: all equal ops are this one object. Make "
                f"another {type(self).__qualname__} instead"
            )

    def __str__(self) -> str:
        params = self._params()
        name = type(self).__name__
        return f"{name}{{{', '.join(map(_shown, params))}}}" if params else name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._params()))})"

    def __reduce__(self) -> tuple[object, ...]:
        known = OpClass.of(type(self))
        if known.has_props:
            # Arguments of __init__ may be anything, and other attributes belong to the op, too.
            own = dict(zip(known.parameters, self._params(), strict=True))
            others = {name: value for name, value in vars(self).items() if name != AS_MADE}
            return (remade, (type(self), others | own))
        return (made_with, (type(self), self._params()))
