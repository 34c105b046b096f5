"""The graph and the runtime, in Rust."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import CodeType
from typing import (
    Any,
    Literal,
    NoReturn,
    Protocol,
    Self,
    TypeAlias,
    TypeVar,
    TypeVarTuple,
    final,
    overload,
)

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

__all__ = [
    "LEVELS",
    "SETS",
    "TILE",
    "TURNS",
    "CFunction",
    "CallCache",
    "Constant",
    "Container",
    "ContainerStats",
    "DebugModeError",
    "FrozenApply",
    "FrozenFunctionGraph",
    "Function",
    "FunctionGraph",
    "Guards",
    "InconsistencyError",
    "LoopBody",
    "MissingInputError",
    "NativeCode",
    "NominalVariable",
    "OpBase",
    "Program",
    "ProgramBuilder",
    "Reach",
    "ReachedFiles",
    "Refusal",
    "RewriteRule",
    "RuleCycleError",
    "RuleSet",
    "Schedule",
    "SharedVariable",
    "TensorType",
    "Traced",
    "Transaction",
    "Variable",
    "__version__",
    "allocated_bytes",
    "apply",
    "at_lines_of_others",
    "at_one_line",
    "check_inner_lengths",
    "compile_kernels",
    "constant",
    "cut_graph",
    "digest_of",
    "distribution_form",
    "distributions",
    "elemwise",
    "elemwise_type",
    "explain",
    "first_alike",
    "gradient_carriers",
    "graph_replace",
    "has_quick_functions",
    "is_continuous",
    "kernel_function",
    "kernel_listing",
    "kernels_hold",
    "load_graph",
    "load_input",
    "load_variable",
    "made_code_fault",
    "memory_plan",
    "native_code_fault",
    "nominal",
    "plan",
    "promote",
    "register_bits",
    "register_elemwise",
    "register_operator",
    "replace_held",
    "root_inputs",
    "set_bit_generator",
    "set_heat_handler",
    "set_internal_path",
    "set_routines",
    "set_sampler",
    "set_sorter",
    "set_trace",
    "set_traced",
    "shared",
    "take_peak_bytes",
    "toposort",
    "vector_bits",
]

__version__: str
"""The version of this frazil; reading it from the installed package's metadata would import parsers
of mail and of zip archives."""

LEVELS: int
"""Levels of partial sums."""

SETS: int
"""Sets of partial results that blocks of elements take in turn."""

TILE: int
"""Rows that a kernel takes together."""

TURNS: int
"""Turns of the sets after which the sums of a level are added to the next."""

# ---------------------------------------------------------------- types

@final
class TensorType:
    """Data type and static shape of a tensor; ``None`` marks a length that is not known."""

    def __new__(cls, dtype: Any, shape: Sequence[int | None]) -> Self: ...
    @property
    def dtype(self) -> str: ...
    @property
    def numpy_dtype(self) -> np.dtype[Any]: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def shape(self) -> tuple[int | None, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def broadcastable(self) -> tuple[bool, ...]: ...
    @property
    def digest(self) -> str: ...
    def accepts(self, other: TensorType) -> bool:
        """Whether a value of type ``other`` may stand wherever one of this type is expected."""

    def __call__(self, name: str | None = None) -> Variable: ...

# ---------------------------------------------------------------- variables

_Args = TypeVarTuple("_Args")
_Result = TypeVar("_Result")
_Axis: TypeAlias = int | Sequence[int] | None
_DTypeLike: TypeAlias = npt.DTypeLike
_LengthLike: TypeAlias = int | np.integer[Any] | Variable
_TensorLike: TypeAlias = Variable | npt.ArrayLike

@disjoint_base
class Variable:
    """One tensor-valued place in a graph; equality is identity."""

    __array_priority__: float
    def __new__(cls, type: TensorType, name: str | None = None) -> Self: ...
    @property
    def type(self) -> TensorType: ...
    @property
    def dtype(self) -> str: ...
    @property
    def ndim(self) -> int: ...
    @property
    def broadcastable(self) -> tuple[bool, ...]: ...
    @property
    def owner(self) -> FrozenApply | None: ...
    @property
    def index(self) -> int: ...
    @property
    def container(self) -> Container: ...
    @property
    def name(self) -> str | None: ...
    @name.setter
    def name(self, name: str | None, /) -> None: ...
    @property
    def digest(self) -> str: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Variable: ...
    def __reduce__(self) -> tuple[object, ...]: ...
    def __add__(self, other: Any, /) -> Variable: ...
    def __radd__(self, other: Any, /) -> Variable: ...
    def __sub__(self, other: Any, /) -> Variable: ...
    def __rsub__(self, other: Any, /) -> Variable: ...
    def __mul__(self, other: Any, /) -> Variable: ...
    def __rmul__(self, other: Any, /) -> Variable: ...
    def __truediv__(self, other: Any, /) -> Variable: ...
    def __rtruediv__(self, other: Any, /) -> Variable: ...
    def __floordiv__(self, other: Any, /) -> Variable: ...
    def __rfloordiv__(self, other: Any, /) -> Variable: ...
    def __mod__(self, other: Any, /) -> Variable: ...
    def __rmod__(self, other: Any, /) -> Variable: ...
    def __pow__(self, other: Any, mod: None = None, /) -> Variable: ...
    def __rpow__(self, other: Any, mod: None = None, /) -> Variable: ...
    def __and__(self, other: Any, /) -> Variable: ...
    def __rand__(self, other: Any, /) -> Variable: ...
    def __or__(self, other: Any, /) -> Variable: ...
    def __ror__(self, other: Any, /) -> Variable: ...
    def __xor__(self, other: Any, /) -> Variable: ...
    def __rxor__(self, other: Any, /) -> Variable: ...
    def __lshift__(self, other: Any, /) -> Variable: ...
    def __rlshift__(self, other: Any, /) -> Variable: ...
    def __rshift__(self, other: Any, /) -> Variable: ...
    def __rrshift__(self, other: Any, /) -> Variable: ...
    def __lt__(self, other: Any, /) -> Variable: ...
    def __le__(self, other: Any, /) -> Variable: ...
    def __gt__(self, other: Any, /) -> Variable: ...
    def __ge__(self, other: Any, /) -> Variable: ...
    def __neg__(self) -> Variable: ...
    def __pos__(self) -> Variable: ...
    def __abs__(self) -> Variable: ...
    def __invert__(self) -> Variable: ...
    def __bool__(self) -> NoReturn: ...
    # set by frazil.tensor.refusals
    __pandas_priority__: int
    @property
    def get_value(self) -> NoReturn: ...
    @property
    def set_value(self) -> NoReturn: ...
    @property
    def numpy(self) -> NoReturn: ...
    @property
    def item(self) -> NoReturn: ...
    @property
    def tolist(self) -> NoReturn: ...
    @property
    def tag(self) -> NoReturn: ...
    @property
    def backward(self) -> NoReturn: ...
    @property
    def detach(self) -> NoReturn: ...
    @property
    def view(self) -> NoReturn: ...
    def __setitem__(self, index: Any, value: Any) -> NoReturn: ...
    def __delitem__(self, index: Any) -> NoReturn: ...
    def __contains__(self, value: Any) -> NoReturn: ...
    def __index__(self) -> NoReturn: ...
    def __int__(self) -> NoReturn: ...
    def __float__(self) -> NoReturn: ...
    def __complex__(self) -> NoReturn: ...
    def __format__(self, form: str) -> str: ...
    # set by frazil.tensor.dispatch
    def __array_ufunc__(
        self, function: np.ufunc, method: str, *inputs: Any, **kwargs: Any
    ) -> Any: ...
    def __array_function__(
        self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any
    ) -> Any: ...
    # set by frazil.tensor.methods
    @property
    def shape(self) -> tuple[Variable, ...]: ...
    @property
    def size(self) -> Variable: ...
    @property
    def T(self) -> Variable: ...
    @property
    def mT(self) -> Variable: ...
    def sum(
        self,
        axis: _Axis = None,
        dtype: _DTypeLike | None = None,
        keepdims: bool = False,
        *,
        initial: _TensorLike | None = None,
        where: _TensorLike | None = None,
    ) -> Variable: ...
    def prod(
        self,
        axis: _Axis = None,
        dtype: _DTypeLike | None = None,
        keepdims: bool = False,
        *,
        initial: _TensorLike | None = None,
        where: _TensorLike | None = None,
    ) -> Variable: ...
    def mean(
        self,
        axis: _Axis = None,
        dtype: _DTypeLike | None = None,
        keepdims: bool = False,
        *,
        where: _TensorLike | None = None,
    ) -> Variable: ...
    def var(
        self,
        axis: _Axis = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        correction: float | None = None,
        dtype: _DTypeLike | None = None,
        where: _TensorLike | None = None,
        mean: _TensorLike | None = None,
    ) -> Variable: ...
    def std(
        self,
        axis: _Axis = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        correction: float | None = None,
        dtype: _DTypeLike | None = None,
        where: _TensorLike | None = None,
        mean: _TensorLike | None = None,
    ) -> Variable: ...
    def max(
        self,
        axis: _Axis = None,
        keepdims: bool = False,
        *,
        initial: _TensorLike | None = None,
        where: _TensorLike | None = None,
    ) -> Variable: ...
    def min(
        self,
        axis: _Axis = None,
        keepdims: bool = False,
        *,
        initial: _TensorLike | None = None,
        where: _TensorLike | None = None,
    ) -> Variable: ...
    def all(
        self, axis: _Axis = None, keepdims: bool = False, *, where: _TensorLike | None = None
    ) -> Variable: ...
    def any(
        self, axis: _Axis = None, keepdims: bool = False, *, where: _TensorLike | None = None
    ) -> Variable: ...
    def argmax(self, axis: int | None = None, keepdims: bool = False) -> Variable: ...
    def argmin(self, axis: int | None = None, keepdims: bool = False) -> Variable: ...
    def argsort(
        self, axis: int | None = -1, *, descending: bool = False, stable: bool = True
    ) -> Variable: ...
    def nonzero(self) -> tuple[Variable, ...]: ...
    def cumsum(self, axis: int | None = None, dtype: _DTypeLike | None = None) -> Variable: ...
    def cumprod(self, axis: int | None = None, dtype: _DTypeLike | None = None) -> Variable: ...
    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Variable: ...
    def trace(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: _DTypeLike | None = None
    ) -> Variable: ...
    def take(
        self, indices: _TensorLike, axis: int | None = None, mode: str = "raise"
    ) -> Variable: ...
    def repeat(self, repeats: _TensorLike, axis: int | None = None) -> Variable: ...
    def dot(self, other: _TensorLike) -> Variable: ...
    def __matmul__(self, other: _TensorLike, /) -> Variable: ...
    def __rmatmul__(self, other: _TensorLike, /) -> Variable: ...
    def reshape(
        self,
        *shape: _LengthLike | Sequence[_LengthLike],
        ndim: int | None = None,
        order: Literal["C", "F"] = "C",
    ) -> Variable: ...
    def ravel(self, order: Literal["C", "F"] = "C") -> Variable: ...
    def flatten(self, ndim: int = 1) -> Variable: ...
    def squeeze(self, axis: _Axis = None) -> Variable: ...
    def transpose(self, *axes: int | Sequence[int]) -> Variable: ...
    def swapaxes(self, axis1: int, axis2: int) -> Variable: ...
    def dimshuffle(self, *pattern: int | str) -> Variable: ...
    def astype(self, dtype: _DTypeLike) -> Variable: ...
    def clip(self, min: _TensorLike | None = None, max: _TensorLike | None = None) -> Variable: ...
    def round(self, decimals: int = 0) -> Variable: ...
    def copy(self) -> Variable: ...
    def set(self, y: _TensorLike) -> Variable: ...
    def inc(self, y: _TensorLike) -> Variable: ...
    def arccos(self) -> Variable: ...
    def arccosh(self) -> Variable: ...
    def arcsin(self) -> Variable: ...
    def arcsinh(self) -> Variable: ...
    def arctan(self) -> Variable: ...
    def arctanh(self) -> Variable: ...
    def ceil(self) -> Variable: ...
    def cos(self) -> Variable: ...
    def cosh(self) -> Variable: ...
    def deg2rad(self) -> Variable: ...
    def exp(self) -> Variable: ...
    def exp2(self) -> Variable: ...
    def expm1(self) -> Variable: ...
    def floor(self) -> Variable: ...
    def log(self) -> Variable: ...
    def log10(self) -> Variable: ...
    def log1p(self) -> Variable: ...
    def log2(self) -> Variable: ...
    def rad2deg(self) -> Variable: ...
    def sin(self) -> Variable: ...
    def sinh(self) -> Variable: ...
    def sqrt(self) -> Variable: ...
    def tan(self) -> Variable: ...
    def tanh(self) -> Variable: ...
    def trunc(self) -> Variable: ...
    def conj(self) -> Variable: ...
    def conjugate(self) -> Variable: ...
    def zeros_like(
        self,
        dtype: _DTypeLike | None = None,
        *,
        shape: _LengthLike | Iterable[_LengthLike] | None = None,
    ) -> Variable: ...
    def ones_like(
        self,
        dtype: _DTypeLike | None = None,
        *,
        shape: _LengthLike | Iterable[_LengthLike] | None = None,
    ) -> Variable: ...
    @property
    def real(self) -> Variable: ...
    @property
    def imag(self) -> Variable: ...
    @property
    def at(self) -> Any: ...
    def sort(
        self, axis: int | None = -1, *, descending: bool = False, stable: bool = True
    ) -> Variable: ...
    def searchsorted(
        self, v: _TensorLike, side: str = "left", sorter: _TensorLike | None = None
    ) -> Variable: ...
    def ptp(self, axis: _Axis = None, keepdims: bool = False) -> Variable: ...
    def norm(
        self, ord: float | str | None = None, axis: _Axis = None, keepdims: bool = False
    ) -> Variable: ...
    def __divmod__(self, other: _TensorLike, /) -> tuple[Variable, Variable]: ...
    def __rdivmod__(self, other: _TensorLike, /) -> tuple[Variable, Variable]: ...
    def __getitem__(self, index: Any, /) -> Variable: ...
    def __iter__(self) -> Iterator[Variable]: ...
    def __len__(self) -> int: ...
    def __array__(self, *args: Any, **kwargs: Any) -> npt.NDArray[Any]: ...
    def eval(self, inputs_to_values: Mapping[Variable, npt.ArrayLike] | None = None) -> Any: ...

@final
class Constant(Variable):
    @property
    def data(self) -> np.ndarray[Any, Any]: ...
    @property
    def number(self) -> bool | int | float | complex | None:
        """The value as a Python number; None of a constant with dimensions."""

@final
class SharedVariable(Variable):
    def get_value(  # type: ignore[override]
        self, borrow: bool = False
    ) -> np.ndarray[Any, Any]: ...
    def set_value(  # type: ignore[override]
        self, value: Any, borrow: bool = False
    ) -> None: ...

@final
class NominalVariable(Variable):
    @property
    def position(self) -> int: ...

class InconsistencyError(ValueError):
    """A graph whose nodes cannot run in any order, because they destroy inputs of each other."""

    destroyer: FrozenApply
    reader: FrozenApply | None  # the other node of the conflict, if it is between two
    path: tuple[
        list[Variable], list[Variable]
    ]  # from the destroyed variable, and from the one that must stay, to one root

# ---------------------------------------------------------------- ops and nodes

@disjoint_base
class OpBase:
    """The base of ops: an interned key in the core. Equality and hash never run Python code."""

    def __new__(cls, *_args: Any, **_kwargs: Any) -> Self: ...
    def _intern(
        self,
        kind: str,
        names: tuple[str, ...],
        arguments: tuple[Any, ...],
        props: dict[str, Any],
        rule: str | None,
    ) -> Self: ...
    @property
    def _is_interned(self) -> bool: ...
    @property
    def digest(self) -> str: ...

@final
class FrozenApply:
    """An op applied to inputs: interned, so equal applications are one object."""

    def __new__(
        cls, op: OpBase, inputs: Sequence[Variable], output_types: Sequence[TensorType]
    ) -> Self: ...
    @property
    def op(self) -> Any: ...
    @property
    def inputs(self) -> tuple[Variable, ...]: ...
    @property
    def outputs(self) -> tuple[Variable, ...]: ...
    @property
    def output_types(self) -> tuple[TensorType, ...]: ...
    @property
    def distinct(self) -> int | None: ...
    @property
    def digest(self) -> str: ...
    @property
    def source(self) -> tuple[str, int, str] | None:
        """File, line and function of the user's code that first built this node."""

    @property
    def lengths(self) -> tuple[tuple[Variable, ...] | None, ...] | None:
        """The lengths of each output, if they were found before; see :meth:`remember_lengths`."""

    def remember_lengths(self, lengths: Sequence[Sequence[Variable] | None]) -> bool:
        """Keeps the lengths of each output for as long as the node lives; returns whether it does.

        They are 0-d int64 variables of the node's container; None for an output whose shape only
        its value tells. Those that came first stay, and those that are computed from the node
        itself are not kept.
        """

    def clone_with_new_inputs(self, inputs: Sequence[Variable], strict: bool = True) -> FrozenApply:
        """The node with the same op and output types over other inputs."""

class DebugModeError(RuntimeError):
    """A fault that a function compiled with ``mode="debug"`` has found in one of its nodes."""

class MissingInputError(ValueError):
    """A graph needs an input that it was not given."""

def elemwise(op: OpBase, *operands: Any) -> Variable:
    """``op`` applied element by element, as the operators of variables do.

    Operands: variables, arrays, NumPy scalars, and Python numbers, which take the
    dtype of the others.
    """

def elemwise_type(op: OpBase, *types: TensorType) -> TensorType:
    """The type that :func:`elemwise` would give."""

def register_elemwise(scalar_op: OpBase, op: OpBase) -> None:
    """Says which op applies a scalar op element by element."""

def register_operator(name: str, op: OpBase) -> None:
    """Says which op an operator of variables applies."""

def apply(op: OpBase, *inputs: Variable) -> Variable:
    """An op that is not elementwise, applied to variables; the core types the node by its rule."""

def check_inner_lengths(a: Variable, b: Variable) -> None:
    """Raises ValueError unless the lengths may be equal that meet in a product of matrices.

    The operands may be vectors or stacks of matrices, too.
    """

def set_internal_path(prefix: str) -> None:
    """Frames of files below ``prefix`` are never the user's."""

def at_one_line(function: Callable[[*_Args], _Result], *arguments: *_Args) -> _Result:
    """What ``function`` returns; all nodes that it builds have the line of the user's code.

    The line is found once. The function runs no code of users but by :func:`at_lines_of_others`.
    """

def at_lines_of_others(function: Callable[[*_Args], _Result], *arguments: *_Args) -> _Result:
    """What ``function``, a user's, returns; nodes that it builds have lines of their own."""

def constant(value: Any, dtype: Any = None) -> Constant:
    """The constant with the content of ``value``."""

def nominal(position: int, type: TensorType) -> NominalVariable:
    """The input of a frozen graph at ``position``."""

def shared(
    value: np.ndarray[Any, Any], name: str | None = None, shape: Sequence[int | None] | None = None
) -> SharedVariable:
    """A shared variable that holds the array ``value`` itself."""

def toposort(
    outputs: Sequence[Variable], blockers: Sequence[Variable] | None = None
) -> list[FrozenApply]:
    """The applications that ``outputs`` need, operands before users, not past ``blockers``."""

@final
class LoopBody:
    """The steps of a loop, and what they read.

    ``kinds`` has the position of each step's kind, and ``operands`` what it reads: other steps, or
    -1, -3, ... for ``reads``, and -2, -4, ... for ``literals``. ``own`` are the steps of the loop's
    nodes; others compute nodes ``again`` that are in no loop. ``stored`` are the steps whose
    results are in memory. Variables have an axis for each dimension of the loop that has not
    length 1.
    """

    @property
    def kinds(self) -> list[int]: ...
    @property
    def operands(self) -> list[tuple[int, ...]]: ...
    @property
    def own(self) -> list[int]: ...
    @property
    def reads(self) -> tuple[tuple[Variable, tuple[int, ...]], ...]: ...
    @property
    def literals(self) -> list[tuple[str, bool | int | float]]: ...
    @property
    def again(self) -> tuple[FrozenApply, ...]: ...
    @property
    def stored(self) -> list[tuple[int, Variable, tuple[int, ...]]]: ...

class _Spaces(Protocol):
    """What answers for lengths; one length stands for all that must be equal."""

    def lengths(self, x: Variable, /) -> tuple[Variable, ...]: ...
    def representatives(self, lengths: tuple[Variable, ...], /) -> tuple[Variable, ...]: ...
    def leaves_of(self, lengths: tuple[Variable, ...], /) -> Sequence[Variable]: ...
    def leaves_around(self, node: FrozenApply, /) -> Sequence[Variable]: ...

_Rows: TypeAlias = tuple[frozenset[FrozenApply], frozenset[Variable], LoopBody]
_Segment: TypeAlias = tuple[
    tuple[FrozenApply, ...], _Rows | None, tuple[Variable, ...], tuple[Variable, ...]
]

def cut_graph(
    order: Sequence[FrozenApply],
    kinds: Sequence[object],
    kind_of: Sequence[int],
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    given: Sequence[tuple[int, Variable, bool]],
    written: Iterable[Variable],
    before: Sequence[tuple[FrozenApply, Sequence[FrozenApply]]],
    limit: int,
    costs: tuple[int, int],
    known: dict[Variable, tuple[Variable, ...]],
    spaces: _Spaces,
) -> list[_Segment]:
    """The segments of a graph.

    A segment is its nodes, of a loop the nodes that run once for each row, the values that it has
    for each row and its steps, and what it reads and leaves in memory. ``kinds`` are those of
    :mod:`frazil.link.fusion.kinds`.
    """

def first_alike(nodes: Sequence[FrozenApply]) -> list[int]:
    """For each node, the position of the first one with the same op and the same types.

    They are the types of operands and results.
    """

def gradient_carriers(
    nodes: Sequence[tuple[FrozenApply, FrozenApply]],
    targets: Iterable[Variable],
    constants: Iterable[Variable],
) -> list[tuple[FrozenApply, tuple[Variable, ...], tuple[Variable, ...], list[bool]]]:
    """The nodes through which something depends on ``targets``, but not through ``constants``.

    Each node is given as a pair: one whose outputs others read, and one that has its inputs. For
    each that counts: the second of the pair, the inputs, the outputs, and for each input whether it
    depends on ``targets``.
    """

def is_continuous(x: Variable) -> bool:
    """Whether ``x`` can have a gradient: its elements are real or complex numbers."""

def root_inputs(outputs: Sequence[Variable]) -> list[Variable]:
    """The root inputs that ``outputs`` need, in the order in which a walk meets them."""

def graph_replace(outputs: Iterable[Variable], replacements: _Replacements) -> list[Variable]:
    """``outputs`` with every key of ``replacements`` replaced by its value, all at once."""

def promote(*dtypes: str) -> str:
    """The dtype that holds every value of all ``dtypes``, as :func:`numpy.result_type`."""

@final
class FrozenFunctionGraph:
    """A graph over nominal inputs: one object for all isomorphic graphs of a container."""

    def __new__(cls, inputs: Iterable[Variable], outputs: Iterable[Variable]) -> Self: ...
    @staticmethod
    def from_structural_inputs(
        inputs: Iterable[Variable], outputs: Iterable[Variable]
    ) -> FrozenFunctionGraph: ...  # inputs may be expressions and constants too
    @staticmethod
    def parse(text: str) -> FrozenFunctionGraph:
        """The text that str() gives."""

    @staticmethod
    def from_bytes(bytes: bytes) -> FrozenFunctionGraph: ...
    def to_bytes(self) -> bytes: ...
    @property
    def inputs(self) -> tuple[NominalVariable, ...]: ...
    @property
    def outputs(self) -> tuple[Variable, ...]: ...
    @property
    def container(self) -> Container: ...
    @property
    def digest(self) -> str: ...
    def toposort(self) -> list[FrozenApply]:
        """An order that runs, destroyers after readers."""

    def ops(self) -> list[Any]:
        """The ops of the nodes, each once, in the order of its first node."""

    def kinds(self) -> list[str]:
        """The qualified names of the classes of all ops, also of those that ops and graphs hold."""

    def unfreeze(self) -> FunctionGraph: ...
    # set by frazil.link.fusion.segments
    def segment(self, linker: str) -> tuple[FunctionGraph, ...]: ...
    def bind(
        self, values: Iterable[Variable] | Mapping[NominalVariable, Variable]
    ) -> list[Variable]: ...
    def _in_default(self) -> FrozenFunctionGraph:
        """The equal graph of the default container, where the graphs that ops hold live."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: object) -> Self: ...

def load_graph(bytes: bytes) -> FrozenFunctionGraph:
    """The function that pickles call."""

def load_input(token: bytes, type: TensorType, name: str | None) -> Variable:
    """The function that pickles call."""

def load_variable(
    graph: FrozenFunctionGraph, leaves: tuple[Variable, ...], token: bytes | None, name: str | None
) -> Variable:
    """The function that pickles call."""

_Replacements: TypeAlias = Mapping[Variable, Variable] | Iterable[tuple[Variable, Variable]]

@final
class FunctionGraph:
    """An editable graph over immutable nodes."""

    def __new__(
        cls,
        inputs: Iterable[Variable] | None = None,  # None: the root inputs that the outputs need
        outputs: Iterable[Variable] | None = None,
    ) -> Self: ...
    @property
    def inputs(self) -> tuple[Variable, ...]: ...
    @property
    def outputs(self) -> tuple[Variable, ...]: ...
    @property
    def container(self) -> Container: ...
    def variables(self) -> list[Variable]:
        """Inputs first, then operands before users."""

    def nodes(self) -> list[FrozenApply]: ...
    def toposort(self) -> list[FrozenApply]:
        """An order that runs, destroyers after readers."""

    def orderings(
        self, protected: Iterable[Variable] | None = None
    ) -> dict[FrozenApply, list[FrozenApply]]: ...
    def clients(self, variable: Variable) -> list[tuple[FrozenApply | Literal["output"], int]]: ...
    def name_of(self, variable: Variable) -> str: ...
    def set_name(self, variable: Variable, name: str) -> None: ...
    def verify(self, protected: Iterable[Variable] | None = None) -> None: ...
    @overload
    def replace(
        self, var: Variable, new_var: Variable, *, import_missing: bool = False
    ) -> None: ...
    @overload
    def replace(
        self, var: _Replacements, new_var: None = None, *, import_missing: bool = False
    ) -> None: ...
    def set_outputs(self, outputs: Iterable[Variable]) -> None: ...
    def clone(self) -> FunctionGraph: ...
    def clear(self) -> None: ...
    def take(self) -> FunctionGraph: ...
    def freeze(self, dedup_nodes: bool = False) -> FrozenFunctionGraph: ...
    def transaction(self) -> Transaction: ...
    # set by frazil.link.fusion.segments
    def segment(self, linker: str) -> tuple[FunctionGraph, ...]: ...
    def __contains__(self, variable: object, /) -> bool: ...
    def __copy__(self) -> FunctionGraph: ...
    def __deepcopy__(self, _memo: object) -> FunctionGraph: ...

@final
class Transaction:
    """Puts a graph back as it was if an exception leaves the ``with`` statement."""

    def __enter__(self) -> FunctionGraph: ...
    def __exit__(self, kind: object, _error: object, _traceback: object) -> None: ...

@final
class ContainerStats:
    @property
    def nodes(self) -> int:
        """Live applications, inputs and constants."""

    @property
    def bytes(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Container:
    """Shared storage of graphs. Entered with ``with``, it is where new inputs and constants go."""

    def __new__(cls) -> Self: ...
    @staticmethod
    def default() -> Container: ...
    @staticmethod
    def current() -> Container: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, _kind: object, _error: object, _traceback: object) -> None: ...
    def input(self, type: TensorType, name: str | None = None) -> Variable: ...
    def constant(self, value: Any, dtype: Any = None) -> Constant: ...
    def graphs(self) -> list[FunctionGraph | FrozenFunctionGraph]: ...
    def owners(self, variable: Variable) -> list[FunctionGraph | FrozenFunctionGraph]: ...
    def stats(self) -> ContainerStats: ...
    def __contains__(self, variable: object, /) -> bool: ...

# ---------------------------------------------------------------- rewriting

class RuleCycleError(ValueError):
    """Rewrite rules that never come to an end."""

@final
class RewriteRule:
    """A law, read from left to right; ``frazil.rewrite.rule`` makes one."""

    def __new__(
        cls,
        name: str,
        lefts: Sequence[Variable],  # outputs of one application
        rights: Sequence[Variable] | None,  # one for each; None: `function` gives them
        unknowns: Sequence[tuple[Variable, Sequence[str], bool, bool]],
        # variable, dtypes, only constants, any number of operands
        wildcards: Sequence[tuple[OpBase, tuple[OpBase, ...] | str | None]],
        # op of the pattern; the ops that match it: these ops, a kind, any pure op
        checks: Sequence[tuple[str, Sequence[int]]],  # guard, positions of unknowns
        # "same_dtype" "same_type" "one_ring" "not_constant"
        guard: Callable[..., bool] | None,  # takes the matches of the unknowns
        function: Callable[..., Any] | None,  # takes the matched node, then these
        # it gives right sides, too, in which an op works out its types by itself
        every_output: bool,  # the function gives something for all outputs of any node
    ) -> Self: ...
    @property
    def name(self) -> str: ...

@final
class RuleSet:
    """Rules applied together, earlier first; remembers their results for living nodes.

    With ``base``, they come after its rules, which are not tried again on what it left as it is.
    """

    def __new__(cls, rules: Sequence[RewriteRule], base: RuleSet | None = None) -> Self: ...
    @property
    def rules(self) -> tuple[RewriteRule, ...]: ...
    @property
    def remembered(self) -> int: ...
    def rewrite(self, outputs: Sequence[Variable]) -> list[Variable]: ...
    def rewrite_leaving_cycles(
        self, outputs: Sequence[Variable]
    ) -> tuple[list[Variable], list[tuple[Variable, str]]]: ...
    def trace(
        self, outputs: Sequence[Variable]
    ) -> list[tuple[RewriteRule, tuple[str, int, str] | None, Variable, Variable]]: ...

# ---------------------------------------------------------------- in-place planning

_Candidate: TypeAlias = tuple[FrozenApply, int, int]  # node, output, input

@final
class Refusal:
    """A candidate that does not fit; ``str`` says why."""

    @property
    def candidate(self) -> _Candidate: ...
    @property
    def reader(
        self,
    ) -> FrozenApply | None: ...  # the other node of the conflict, if it is between two
    @property
    def path(
        self,
    ) -> tuple[list[Variable], list[Variable]] | None: ...  # as InconsistencyError.path

@final
class Schedule:
    """A schedule that runs a graph in place; a buffer is named by its first variable."""

    @property
    def order(self) -> tuple[FrozenApply, ...]: ...
    @property
    def reuses(self) -> tuple[_Candidate, ...]: ...
    @property
    def refusals(self) -> tuple[Refusal, ...]: ...
    @property
    def orderings(self) -> dict[FrozenApply, list[FrozenApply]]:
        """For each node that writes over an input, the readers that must run before it."""

    @property
    def destroyed(self) -> tuple[Variable, ...]:
        """The variables whose memory is written over, those that view it included."""

    @property
    def releases(
        self,
    ) -> tuple[tuple[Variable, ...], ...]: ...  # buffers to give back after each node
    @property
    def kept(self) -> tuple[Variable, ...]:
        """Buffers that belong to the caller, or go there."""

    @property
    def unread(self) -> tuple[Variable, ...]:
        """Donated inputs that nothing reads."""

def plan(
    graph: FunctionGraph | FrozenFunctionGraph,
    candidates: Sequence[_Candidate],
    *,
    donated: Iterable[Variable] | None = None,
    protected: Iterable[Variable] | None = None,
) -> Schedule: ...

# ---------------------------------------------------------------- programs

@final
class ProgramBuilder:
    """Assembles a program. Slots (arrays) and sizes (integers) are numbered.

    An instruction is blamed on the last origin said before it.
    """

    def __new__(cls) -> Self: ...
    def input(self, type: TensorType) -> int:
        """The slot of the next argument."""

    def donate(self, slot: int) -> None:
        """Lets calls use up the memory of an input."""

    def watch(self) -> None:
        """Makes a program whose runs look for faults: see :exc:`DebugModeError`."""

    def constant(self, value: np.ndarray[Any, Any]) -> int:
        """The slot of an array that is borrowed, kept alive and never written."""

    def size_literal(self, value: int) -> int: ...
    def size_of(self, slot: int, axis: int) -> int:
        """The size that is the length of an axis."""

    def size_binary(self, op: str, a: int, b: int) -> int:
        """``op``: add, sub, mul, floordiv, mod, minimum, maximum, lt, le or eq."""

    def size_where(self, condition: int, a: int, b: int) -> int: ...
    def size_value(self, slot: int) -> int:
        """The size that is the value of a 0-d integer slot."""

    def origin(self, what: object) -> None:
        """Set the origin of later instructions, which is made text only for an error."""

    def loop(
        self,
        address: int,
        keepalive: object,
        dims: Sequence[int],
        reads: Sequence[tuple[int, Sequence[int]]],
        writes: Sequence[tuple[Any, Sequence[int], tuple[Any, str] | None]],
        rows: Sequence[Any] | None = None,
        sources: Sequence[tuple[int, Sequence[int], Sequence[int]]] = ...,
        targets: Sequence[tuple[int, Sequence[int], Sequence[int], bool]] = ...,
        short: tuple[int, object, int] | None = None,
    ) -> list[int]:
        """Runs a kernel over ``dims`` (sizes, outermost first; none: once).

        ``reads``: slots, each with its axis for every dimension, -1 where it does not move.
        ``writes``: dtypes, each with the axis of the new array for every dimension, -1 where the
        kernel reduces; and for a reduction the identity that it starts from and the name of its
        scalar op: add, mul, maximum, minimum, and_ or or_. ``rows``: the kernel takes whole rows,
        along the last dimension, and after its operands a buffer for a row of each of these dtypes;
        what it makes of a row it writes without an identity. ``sources`` are read where indices
        say, of ``targets`` copies are written to where indices say: slots, each with its axes as
        for reads, and with those that indices move along; a target also with whether the kernel
        only adds to it. ``short``: a kernel for the same loop with its last two dimensions swapped,
        what keeps it loaded, and a limit: it runs instead where the last dimension is not longer
        than that, and shorter than the one before. Gives the slots of writes, then of targets.
        """

    def scan_kernel(
        self,
        address: int,
        keepalive: object,
        steps: int,
        reads: Sequence[tuple[int, bool, Sequence[int]]],
        writes: Sequence[tuple[Any, bool, Sequence[int]]],
        carries: Sequence[tuple[int, int]],
        backwards: bool = False,
        counts: bool = False,
    ) -> list[int]:
        """Runs a kernel over ``steps`` (a size) rows, the last one first if ``backwards``.

        ``reads``: slots, each with whether it has a row for each step along its first axis, and the
        lengths of a row, which the kernel gets without gaps. ``writes``: dtypes, with the same.
        ``carries``: the read that each state starts from and the write that tells it in the end,
        by their positions: after many rows the kernel is called again, and goes on from there.
        With ``counts`` the last write is the number of steps done, by a kernel that may end early.
        """

    def transpose(self, slot: int, axes: Sequence[int]) -> int: ...
    def expand_dims(self, slot: int, axes: Sequence[int]) -> int:
        """``axes``: the positions of the new dimensions in the result."""

    def drop_dims(self, slot: int, axes: Sequence[int]) -> int:
        """Each of the dropped dimensions must have length 1."""

    def broadcast_to(self, slot: int, dims: Sequence[int]) -> int: ...
    def slice(self, slot: int, index: Sequence[int | tuple[int | None, int | None, int]]) -> int:
        """``index``, an entry for each axis: a size, or (start, stop, step) in sizes or None."""

    def diagonal(self, slot: int, axes: tuple[int, int], offset: int) -> int:
        """A view: the elements on a diagonal of two axes, as a last axis."""

    def reshape(self, slot: int, dims: Sequence[int]) -> int:
        """A view where the strides allow one, else a copy; one size may be -1."""

    def copy(self, slot: int) -> int: ...
    def update(
        self,
        slot: int,
        view: Sequence[int | tuple[int | None, int | None, int]],
        value: int,
        accumulate: bool,
    ) -> int:
        """``slot`` with a part set to, or increased by, ``value``: in place where the memory is the
        program's own and nothing reads it afterwards, else a copy.
        """

    def dot(self, a: int, b: int) -> int:
        """The product of 1-d and 2-d arrays of one dtype: by BLAS where it is a float.

        Arrays of one higher rank are stacks of matrices of one length, multiplied pair by pair.
        """

    def gemm(self, z: int, alpha: int, a: int, b: int, beta: int) -> int:
        """``beta * z + alpha * dot(a, b)``, one of them a matrix; ``alpha`` and ``beta`` are 0-d.

        All are float32 or float64. Where ``beta`` is 0, ``z`` is not read.
        """

    def cholesky(self, slot: int, lower: bool, on_error: str = "raise") -> int:
        """The lower or upper factor of a matrix; only that triangle of the matrix is read.

        A matrix without one stops the call, or with ``on_error="nan"`` has one of NaN.
        """

    def cholesky_gradient(self, factor: int, gradient: int) -> int:
        """The gradient of a lower triangle that was factored, zeros above it."""

    def solve_triangular(
        self, a: int, b: int, lower: bool, transposed: bool, unit: bool, on_error: str = "raise"
    ) -> int:
        """The solution of a system of equations; only a triangle of ``a`` is read.

        A system without one stops the call, or with ``on_error="nan"`` has one of NaN.
        """

    def lu(self, slot: int) -> tuple[int, int]:
        """The factors of a matrix in one matrix, and with which ones its rows changed places."""

    def lu_of_any(self, slot: int) -> tuple[int, int, int]:
        """As ``lu``, of a matrix of any shape; and the place of each row in the product."""

    def lu_solve(
        self, factors: int, pivots: int, b: int, transposed: bool, on_error: str = "raise"
    ) -> int:
        """The solution of a system of equations, given what ``lu`` makes of its matrix.

        A system without one stops the call, or with ``on_error="nan"`` has one of NaN.
        """

    def band_solve(
        self,
        a: int,
        b: int,
        bands: tuple[int, int] | None,
        packed: bool,
        transposed: bool,
        on_error: str = "raise",
    ) -> int:
        """The solution of a system of equations whose matrix has elements in a few diagonals.

        ``bands`` says in how many below and above the main one; None: a run finds out. The rows of
        ``a`` are these, if it is ``packed``, the highest first. A system without a solution stops
        the call, or with ``on_error="nan"`` has one of NaN.
        """

    def decompose(self, slot: int, what: str, on_error: str = "raise") -> list[int]:
        """The decomposition of matrices; ``what`` is "qr", "svd", "lower eigh" and the like.

        A matrix without singular values or eigenvalues stops the call, or with ``on_error="nan"``
        has ones of NaN.
        """

    def range(self, start: int, step: int, count: int) -> int:
        """The int64 vector of ``count`` integers from ``start`` on, in sizes."""

    def count_terms(self, start: int, stop: int, step: int) -> int:
        """The number of terms of a progression of 0-d slots that stops before ``stop``, as a 0-d
        int64; a step of zero, or an end that is not finite, stops the call.
        """

    def terms(self, start: int, step: int, count: int) -> int:
        """The first ``count`` terms of a progression, a size, as :func:`numpy.arange` has them."""

    def draw(
        self,
        distribution: str,
        dtype: npt.DTypeLike,
        state: int,
        parameters: Sequence[int],
        dims: Sequence[int],
    ) -> tuple[int, int]:
        """Random numbers in an array of ``dims``, to which parameters broadcast.

        Gives the state of the generator after them, and them.
        """

    def join(self, parts: Sequence[int], axis: int) -> int:
        """The arrays one after the other along an axis."""

    def sort(self, slot: int, axis: int) -> int:
        """The elements sorted along an axis, NaN last; equal ones keep their order."""

    def argsort(self, slot: int, axis: int) -> int:
        """The int64 positions that do so."""

    def argmax(self, slot: int, axis: int) -> int:
        """The position of the largest element along an axis, the first one, or of the first NaN; 0
        where there is no element."""

    def argmin(self, slot: int, axis: int) -> int:
        """The same of the smallest element."""

    def count_nonzero(self, slot: int) -> int:
        """The number of elements that are not zero, as a 0-d int64."""

    def nonzero(self, slot: int, count: int) -> list[int]:
        """The positions of the first so many of them: an int64 vector for each axis."""

    def count_repeated(self, slot: int) -> int:
        """The number of positions if each is repeated as often as its element says; the first
        negative element, if there is one."""

    def repeated(self, slot: int, count: int) -> int:
        """The first so many of these positions."""

    def size_scalar(self, size: int) -> int:
        """A 0-d int64 array."""

    def full(self, dtype: Any, value: int, dims: Sequence[int]) -> int: ...
    def require_equal(self, a: int, b: int, message: str) -> None:
        """Fails with ``message`` where two sizes differ; these stand for ``{a}`` and ``{b}``."""

    def require_indices(self, a: int, b: int, message: str) -> None:
        """Fails as :meth:`require_equal` does, by IndexError."""

    def check(self, holds: int, message: str, asserted: bool) -> None:
        """Fails with ``message`` where a size is 0: by AssertionError, or by ValueError."""

    def call(
        self,
        function: Callable[..., Any],
        inputs: Sequence[int],
        output_types: Sequence[TensorType],
    ) -> list[int]:
        """Calls ``function(*arrays)``, which returns an array or a tuple of these types."""

    def call_program(
        self, program: Program, inputs: Sequence[int], instead: Program | None = None
    ) -> list[int]:
        """Runs a program once, or the program ``instead`` where inputs have other lengths."""

    def branch(
        self,
        condition: int,
        then: Program,
        otherwise: Program,
        inputs_then: Sequence[int],
        inputs_else: Sequence[int],
        lengths: Sequence[Sequence[int] | None],
    ) -> list[int]:
        """Runs the first program if the 0-d condition is not zero, else the second.

        Their outputs have the same dtypes and ranks; ``lengths`` are the sizes of each, None where
        only a run tells.
        """

    def scan(
        self,
        program: Program,
        n_steps: int,
        sequences: Sequence[int],
        states: Sequence[tuple[int, Literal["output", "input"], int]],
        others: Sequence[int],
        stacked: Sequence[int],
        until: int | None = None,
    ) -> tuple[list[int], list[int], int]:
        """Runs a program step after step, ``n_steps`` (a size) times.

        Its inputs are an element of each sequence, the states, then the others. ``states`` has for
        each its initial value, whether its next value is an output or an input of the program, and
        the number of that. ``stacked`` has the outputs whose values are all kept, along a first
        axis. ``until`` is a 0-d boolean output; the scan ends after the step in which it is true.
        Donated inputs of the program must be states that each step computes anew, that are not
        stacked, and that no other state takes over.

        Gives the slots of the states after the last step, of the stacked outputs, and of the
        number of steps done.
        """

    def finish(self, outputs: Sequence[int]) -> Program: ...

@final
class Program:
    """A compiled program, shared by the functions that call it."""

    @property
    def instructions(self) -> list[str]:
        """Definitions, instructions, results and the programs that it runs, as lines of text."""

    @property
    def surroundings(self) -> tuple[list[str], str, list[str]]:
        """The lines of :attr:`instructions` that are none: definitions of inputs, constants and
        sizes; the results; the programs that it runs.
        """

    @property
    def library(self) -> Literal["blas", "lapack"] | None:
        """The routines of :func:`set_routines` that calls need."""

    @property
    def draws(self) -> bool:
        """Whether calls draw random numbers, by what :func:`set_sampler` and
        :func:`set_bit_generator` give.
        """

    @property
    def sorts(self) -> bool:
        """Whether calls sort elements, which they may do by what :func:`set_sorter` gives."""

    @property
    def bindings(self) -> tuple[int, int]:
        """The number of calls that evaluated all sizes, and of calls that found them evaluated."""

    def await_heat(self, seconds: float) -> None:
        """Let the function that :func:`set_heat_handler` has got be called once, with the program,
        when calls have taken so many seconds from now on.
        """

    @property
    def origins(self) -> Sequence[object]:
        """The origins of instructions."""

    @property
    def functions(self) -> tuple[Callable[..., Any], ...]:
        """The Python functions that are called, in the order of the calls: its own, then those of
        each program that it runs.
        """

    @property
    def kernels(self) -> list[tuple[object, bytes]]:
        """What keeps each kernel loaded, and what its operands are: its own, then those of each
        program that it runs.
        """

    def to_bytes(self) -> bytes:
        """The program; numbers stand for its kernels, functions and origins."""

    @staticmethod
    def from_bytes(
        bytes: bytes,
        kernels: Sequence[tuple[int, object, bytes]],
        functions: Sequence[Callable[..., Any]],
        origins: Sequence[object],
    ) -> Program:
        """What :meth:`to_bytes` was called on; every reference is checked again.

        ``kernels``: addresses, what keeps each loaded, and its operands as ``kernels`` gave them.
        """

_Buffer: TypeAlias = tuple[  # name, bytes, where, what makes it, what it is over, until, origin
    str, int | None, str, str, str | None, str | None, object
]

_Totals: TypeAlias = tuple[int, int, int | None, int | None, list[int | None]]
_Branch: TypeAlias = tuple[str, int, int, object]  # instruction, bytes of either program, node

def memory_plan(
    function: Function, dims: Sequence[Sequence[int]]
) -> tuple[_Totals, bool, list[_Branch], list[_Buffer]]:
    """Bytes of temporaries, of scratch, of branches, of what is found beside outputs, of outputs.

    Then whether each call takes as much, the branches, and the buffers.
    """

_Explained: TypeAlias = tuple[  # text, origin, kernel, sizes, shapes of results
    str, int | None, int | None, list[int | None], list[list[int] | None]
]

def explain(program: Program, dims: Sequence[Sequence[int]] | None = None) -> list[_Explained]:
    """Report a program, instruction by instruction; origin and kernel are numbers."""

def allocated_bytes() -> int:
    """The bytes in all buffers of the runtime, idle ones included."""

def take_peak_bytes() -> int:
    """The most bytes in buffers of the runtime since the last call of this function."""

@disjoint_base
class Function:
    """A compiled program ready to be called.

    ``shared`` are the program's last inputs. ``updates`` pair a cell with the position of the
    output that it stores, which is not returned. ``form``: None for a list, "single", or a dict's
    keys. ``convert`` makes an array of an argument that is not yet one of the right type.
    ``threads``: how many a call uses at most; None: ``OMP_NUM_THREADS``, or as many as the process
    may run at once.
    """

    def __new__(
        cls,
        program: Program,
        inputs: Sequence[tuple[str | None, TensorType]],
        shared: Sequence[SharedVariable],
        updates: Sequence[tuple[SharedVariable, int]],
        form: object,
        convert: Callable[[Any, TensorType, str | None], np.ndarray[Any, Any]],
        threads: int | None = None,
        defaults: Sequence[Any] | None = None,  # taken for arguments that a call leaves out
        lent: Sequence[int] | None = None,  # parameters in whose memory borrowing outputs may lie
        borrowing: Sequence[int] | None = None,
    ) -> Self: ...
    @property
    def threads(self) -> int: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def _c_function(self, *args: Any) -> CFunction: ...

@final
class CFunction:
    """A function that C code calls, for arrays of lengths that are known."""

    @property
    def address(self) -> int:
        """The function's address."""

    @property
    def context(self) -> int:
        """Its first argument; valid as long as this object lives."""

    @property
    def input_shapes(self) -> list[list[int]]: ...
    @property
    def output_shapes(self) -> list[list[int]]: ...

def digest_of(bytes: bytes) -> bytes:
    """The 16 bytes of the digest of ``bytes``, the same in every process."""

class _AtAddress(Protocol):
    """Something whose address is valid while it is alive."""

    @property
    def address(self) -> int: ...

@final
class NativeCode:
    """The machine code of some kernels, which lives as long as this."""

    def addresses(self) -> list[int]:
        """The address of each kernel, in order."""

    def replace(self, at: int, successor: _AtAddress) -> None:
        """Let calls of kernel number ``at`` be calls of ``successor``, which must do the same.

        The successor lives as long as this. Calls that have begun go on as they are.
        """

def compile_kernels(
    descriptions: Sequence[str],
    functions: Mapping[str, int],
    dump: str | os.PathLike[str] | None = None,
) -> NativeCode:
    """The machine code of the kernels that these texts describe.

    ``functions`` has the addresses of functions that the runtime does not have. In the folder
    ``dump``, profilers are told the kernels' names.

    Raises
    ------
    ValueError
        If a text describes no kernel, or a function has no address.
    RuntimeError
        If a kernel is more than the code generator takes.
    OSError
        If no memory may hold the code, or the folder no file.
    """

def vector_bits() -> int:
    """The bits of the registers that functions of vectors use: 512 (AVX-512), 256 (AVX2), or 0.

    ``FRAZIL_REGISTERS`` may limit them.
    """

def has_quick_functions() -> bool:
    """Whether the extension's functions, such as ``exp``, are quick: on aarch64, and with AVX2.

    They multiply and add with one rounding, which other processors have no instruction for.
    """

def register_bits() -> int:
    """The most bits that registers of elements may have, as ``FRAZIL_REGISTERS`` says.

    Raises
    ------
    ValueError
        If it says neither 128 nor 256 nor 512.
    """

def kernel_listing(description: str) -> tuple[str, list[str]]:
    """The instructions of the kernel that a text describes, and the functions that it calls.

    Raises
    ------
    ValueError
        If the text describes no kernel.
    """

def kernels_hold(op: str, operands: Sequence[str], result: str) -> bool:
    """Whether kernels may hold the scalar op of that name, for operands of these dtypes."""

def set_heat_handler(handler: Callable[[Program], object]) -> None:
    """Let ``handler`` be called with each program whose calls have taken the time it awaits.

    It is set once in a process.
    """

def made_code_fault() -> str | None:
    """Why this process may not run code that it makes; None if it may."""

def native_code_fault() -> str | None:
    """Why this machine runs no code that :func:`compile_kernels` makes; None if it does."""

def kernel_function(name: str) -> int:
    """The address of a function that native kernels call; KeyError if there is none."""

def distributions() -> list[tuple[str, str, str]]:
    """The distributions that programs draw from: the name, the dtype of the numbers, and NumPy's
    function that does it.
    """

def distribution_form(name: str, dtype: npt.DTypeLike) -> tuple[list[tuple[str, bool]], bool]:
    """The parameters of a distribution: the dtype of each, and whether rows of numbers take rows of
    it; and whether the distribution draws rows, the numbers along the last axis together.
    """

def set_sampler(name: str, address: int) -> None:
    """Says where one of NumPy's functions for distributions lies.

    The first setting holds as long as the process lives.
    """

def set_sorter(dtype: npt.DTypeLike, address: int) -> None:
    """Says where NumPy's function lies that sorts numbers of a dtype, NaN last: it takes their
    address, how many they are, and a null pointer, and returns zero.
    """

def set_bit_generator(
    name: str, functions: Sequence[int], state: Sequence[int], expected: Sequence[int]
) -> bool:
    """Says where the functions lie that make the bits of one of NumPy's bit generators, if they
    make of a state the ``expected`` 64-bit numbers. Returns whether they do.
    """

def set_routines(addresses: Mapping[str, int], bits: int = 32) -> None:
    """Says where routines of BLAS and LAPACK lie: Fortran's conventions, integers of ``bits``.

    The first setting of a routine holds as long as the process lives.
    """

# ---------------------------------------------------------------- compiled Python functions

@disjoint_base
class CallCache:
    """Finds the compiled form of a call and runs it; asks the method ``_call`` if there is none.

    ``_call`` gets the arguments, and the guards and error of a form that raised a ValueError.
    """

    def __new__(cls, *_args: Any, **_kwargs: Any) -> Self: ...
    def _set_forms(
        self,
        forms: Sequence[
            tuple[
                Sequence[tuple[Any, ...]],
                Sequence[tuple[str, tuple[Any, ...]]],
                Guards,
                Function | None,
                tuple[Any, ...],
                Sequence[Any] | None,
            ]
        ],
    ) -> None: ...
    @property
    def _hits(self) -> int: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

def set_trace(trace: object) -> None:
    """Says which trace of a Python function runs in this thread; None if none does."""

def set_traced(
    array: type[Traced],
    apply: Callable[..., Any],
    op_of: Callable[[np.ufunc], OpBase | None],
    ufuncs: dict[str, np.ufunc],
) -> None:
    """Say what the class of traced arrays is, what computes with them, which op a ufunc applies,
    and which ufunc each operator of Python's stands for. Once in a process.
    """

@disjoint_base
class Traced:
    """The base of traced arrays: a variable of a trace, with the operators of NumPy's arrays.

    An elementwise function makes a node at once; others go to the function of ``set_traced``.
    """

    def __new__(
        cls, trace: Any = None, variable: Variable | None = None, shared: bool = False
    ) -> Self: ...
    @property
    def _trace(self) -> Any: ...
    @property
    def _variable(self) -> Variable: ...
    _shared: bool
    """Whether a change in place would be seen elsewhere."""
    def _become(self, variable: Variable, like: Traced) -> None:
        """Stand for ``variable`` from now on, which has the lengths of ``like``."""
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any: ...
    def __add__(self, other: Any, /) -> Any: ...
    def __radd__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __rsub__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __truediv__(self, other: Any, /) -> Any: ...
    def __rtruediv__(self, other: Any, /) -> Any: ...
    def __floordiv__(self, other: Any, /) -> Any: ...
    def __rfloordiv__(self, other: Any, /) -> Any: ...
    def __mod__(self, other: Any, /) -> Any: ...
    def __rmod__(self, other: Any, /) -> Any: ...
    def __matmul__(self, other: Any, /) -> Any: ...
    def __rmatmul__(self, other: Any, /) -> Any: ...
    def __divmod__(self, other: Any, /) -> Any: ...
    def __rdivmod__(self, other: Any, /) -> Any: ...
    def __and__(self, other: Any, /) -> Any: ...
    def __rand__(self, other: Any, /) -> Any: ...
    def __or__(self, other: Any, /) -> Any: ...
    def __ror__(self, other: Any, /) -> Any: ...
    def __xor__(self, other: Any, /) -> Any: ...
    def __rxor__(self, other: Any, /) -> Any: ...
    def __pow__(self, other: Any, modulo: None = None, /) -> Any: ...
    def __rpow__(self, other: Any, modulo: None = None, /) -> Any: ...
    def __neg__(self) -> Any: ...
    def __pos__(self) -> Any: ...
    def __abs__(self) -> Any: ...
    def __invert__(self) -> Any: ...
    def __eq__(self, other: object, /) -> Any: ...
    def __ne__(self, other: object, /) -> Any: ...
    def __lt__(self, other: Any, /) -> Any: ...
    def __le__(self, other: Any, /) -> Any: ...
    def __gt__(self, other: Any, /) -> Any: ...
    def __ge__(self, other: Any, /) -> Any: ...

@final
class Guards:
    """Checks of what a compiled Python function captured; none runs code of users.

    A check is a place, an object, a key, and what must be there: nothing, a value, or a dtype,
    which lengths are 1, and maybe the one array that there may be.
    """

    def __new__(cls, checks: Sequence[tuple[str, Any, Any, tuple[Any, ...]]]) -> Self: ...
    def first_failure(self) -> int | None:
        """The number of the first check that fails."""

    def arrays(self) -> list[Any] | None:
        """The arrays that checks of arrays read, in their order; None if any check fails."""

    def read(self, at: int) -> tuple[Any, ...]:
        """The value that a check reads now; an empty tuple if nothing is there."""

    def __len__(self) -> int: ...

def replace_held(olds: Sequence[object], news: Sequence[object], likely: Sequence[object]) -> None:
    """Put each of ``news`` where its counterpart in ``olds`` is held, while no other thread runs.

    It looks in lists, dicts, deques, cells, attributes, defaults of functions and partial
    functions. A tuple that holds one is replaced by a new tuple. ``likely`` are objects
    that may hold one and that the garbage collector does not show after ``gc.freeze()``.
    """

@final
class ReachedFiles:
    """Files whose code is not the user's.

    Files whose paths begin with one of ``quiet`` are passed over, with all that they call. Files
    of ``inheriting`` count if their callers do.
    """

    def __new__(cls, quiet: Sequence[str], inheriting: Sequence[str]) -> Self: ...

@final
class Reach:
    """A profiler of a thread: what code it enters, and what functions of C it calls."""

    def __new__(
        cls, files: ReachedFiles, asked: Sequence[tuple[Any, str]], traced: tuple[type, type]
    ) -> Self: ...
    def start(self) -> None:
        """Begin to note the calls of this thread."""
    def stop(self) -> None:
        """End it."""
    def entries(self, code: CodeType) -> int:
        """The number of entries of frames of a code object; a generator enters at each step."""
    def was_interrupted(self) -> bool:
        """Whether a handler of a signal ran; what that entered and called was not noted."""
    def take_asked(self) -> list[int]:
        """The arguments in ``asked``, of code objects, that were traced: their numbers."""
    def take(self) -> list[tuple[Any, dict[str, Any] | None]]:
        """Code objects with their globals, and functions of C, which come without."""
