"""Nodes that PyTensor computes: an op that runs the ``perform`` of one of PyTensor's ops."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Sequence
from functools import lru_cache
from secrets import token_bytes, token_hex
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.random.type import RandomGeneratorType
from pytensor.tensor.type_other import NoneConst, NoneTypeT

from frazil._core import FrozenApply, Variable
from frazil.cache.content import digest
from frazil.cache.modules import Unknowable
from frazil.graph.call_site import users_level
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Op
from frazil.interop.pytensor.translation import NoRule, Results, Translation, own_type, rule
from frazil.random import generator_of, state_of

_UNPICKLED: dict[bytes, Any] = {}
"""Nodes that cannot be pickled, by a token that no other process has."""

_named: set[str] = set()
"""Ops that a warning has named."""


@dataclass(frozen=True, eq=False)
class Foreign(Op):
    """A node of PyTensor's, run by its op's ``perform``.

    Parameters
    ----------
    payload : bytes
        The node, pickled: its op, the type or the constant that each input is, and the types of its
        outputs. Or a token of one that cannot be pickled.
    name : str
        PyTensor's name of the op.
    content : str
        A digest of the code of the op's class: what was computed with other code is not its result.
    """

    payload: bytes
    name: str
    content: str

    takes_complex = True

    def make_node(self, *inputs: Variable) -> FrozenApply:
        """The application of the op to what is no constant among the node's inputs."""
        types = [own_type(out.type) for out in _theirs(self.payload).outputs]
        return FrozenApply(self, list(inputs), [one for one in types if one is not None])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """The values that PyTensor's op computes."""
        theirs = _theirs(self.payload)
        destroyed = {at for places in theirs.op.destroy_map.values() for at in places}
        given = iter(inputs)
        values = [
            x.data if isinstance(x, Constant) else _value(next(given), x.type, at in destroyed)
            for at, x in enumerate(theirs.inputs)
        ]
        storage: list[list[Any]] = [[None] for _ in theirs.outputs]
        theirs.op.perform(theirs, values, storage)
        return tuple(
            _array(cell[0], out.type, inputs)
            for cell, out in zip(storage, theirs.outputs, strict=True)
        )

    def __str__(self) -> str:
        return f"PyTensor's {self.name}"


def _value(array: Array, kind: Any, destroyed: bool) -> object:
    """An array as the value that PyTensor's type has."""
    if isinstance(kind, RandomGeneratorType):
        return generator_of(array)
    if isinstance(kind, ScalarType):
        return array[()]
    return array.copy() if destroyed else array


def _array(value: Any, kind: Any, inputs: Sequence[Array]) -> Array:
    if isinstance(kind, RandomGeneratorType):
        return state_of(value)
    given = np.asarray(value)
    if given.dtype.kind == "c" and not kind.dtype.startswith("complex"):
        raise TypeError(f"PyTensor's op gives {given.dtype}, and its node says {kind.dtype}")
    array = given.astype(kind.dtype, copy=False)
    return array.copy() if any(np.may_share_memory(array, x) for x in inputs) else array


@rule(object)
def _without_rule(op: object, node: object, t: Translation) -> Results:
    return performed(node, t)


def performed(node: Apply, t: Translation, warn: bool = True) -> list[Variable]:
    """The outputs of a node that PyTensor computes.

    Raises
    ------
    NoRule
        If a variable of its has a type that frazil lacks.
    """
    name = _name(node.op)
    inputs = [x for x in node.inputs if not _is_kept(x)]
    for x in (*inputs, *node.outputs):
        if own_type(x.type) is None:
            raise NoRule(
                f"PyTensor's {name} takes or gives {x} of type {x.type}, which has no counterpart "
                "in frazil; compile the function in another mode, or give the op a rule by "
                "frazil.interop.pytensor.register"
            )
    t.performed.append(name)
    if warn and name not in _named:
        _named.add(name)
        warnings.warn(
            f"frazil has no rule for PyTensor's op {name}: it runs as Python code, by its own "
            "perform. frazil.interop.pytensor.register gives it one",
            stacklevel=users_level(),
        )
    kind: Any = type(node.op)
    made = Foreign(_payload(node), name, _content(kind))(*(t[x] for x in inputs))
    return made if isinstance(made, list) else [made]


@lru_cache(maxsize=1024)
def _content(cls: object) -> str:
    try:
        return digest([cls])
    except Unknowable:
        return token_hex(16)  # no other process has it


def _is_kept(x: Any) -> bool:
    """Whether a node holds an input itself: a constant, or what can only be None."""
    return isinstance(x, Constant) or isinstance(x.type, NoneTypeT)


def _name(op: object) -> str:
    """The name of an op for users: for ``Elemwise`` and ``Blockwise``, the inner op's name."""
    inner = getattr(op, "scalar_op", None) or getattr(op, "core_op", None)
    return type(op if inner is None else inner).__name__


def _kept(x: Any) -> object:
    if isinstance(x, Constant):
        return x
    return NoneConst if isinstance(x.type, NoneTypeT) else x.type


def _payload(node: Apply) -> bytes:
    kept = (
        node.op,
        [_kept(x) for x in node.inputs],
        [x.type for x in node.outputs],
    )
    try:
        return pickle.dumps(kept)
    except (pickle.PicklingError, TypeError, AttributeError):
        # A class within a function, or an op that holds something of this process alone.
        token = b"here" + token_bytes(16)
        _UNPICKLED[token] = kept
        return token


@lru_cache(maxsize=4096)
def _theirs(payload: bytes) -> Any:
    """PyTensor's node."""
    if payload.startswith(b"here"):
        if payload not in _UNPICKLED:
            raise RuntimeError(
                "a function runs an op of PyTensor's that cannot be pickled, and was taken to "
                "another process: define the op's class in a module"
            )
        op, inputs, outputs = _UNPICKLED[payload]
    else:
        op, inputs, outputs = pickle.loads(payload)
    made = [x if isinstance(x, Constant) else x() for x in inputs]
    node = Apply(op, made, [kind() for kind in outputs])
    op.prepare_node(node, None, None, "py")
    return node
