"""Modes: the linker that compiles a function, and the rules that rewrite its graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Protocol, TypeAlias, TypeVar

from frazil._core import FrozenFunctionGraph, Program, Variable
from frazil.compile.phases import PHASES, SCAN, check_names
from frazil.graph.dataclass import dataclass
from frazil.inner.rebuild import Improve
from frazil.link.c import CCompiler
from frazil.link.c.search import refused_compilers
from frazil.link.cranelift import CraneliftCompiler
from frazil.link.kernel.compiler import NativeKernel
from frazil.link.kernel.image import Image, Symbol
from frazil.link.linkers.debug import DebugLinker, debug_compiler
from frazil.link.linkers.native import CLinker, CraneliftLinker, NumbaLinker
from frazil.link.linkers.py import PyLinker
from frazil.link.linkers.tiered import TieredCompiler, TieredLinker
from frazil.link.numba import NumbaCompiler
from frazil.rewrite.definition import Rule
from frazil.tensor.docstrings import described
from frazil.tensor.linalg.failure import OnError


@dataclass(frozen=True, slots=True)
class Mode:
    """How :func:`frazil.function` compiles; a string stands for the mode of that linker.

    Attributes
    ----------
    linker : {"c", "cranelift", "tiered", "numba", "py", "debug"} or None
        The linker, or a name given to :func:`register_linker`; None: the best one available.
    excluded : frozenset of str
        The phases and rules that are left out.
    on_error : {"raise", "nan"} or None
        For matrices without factors and systems without solutions: raise
        numpy.linalg.LinAlgError, or return NaN, whatever their ops say. None: as each op says.
    tiered : bool
        For ``linker=None``: whether a function may begin with code that frazil makes itself, in a
        millisecond a loop, and go on with a C compiler's, of the same bits, once its calls have
        taken longer than that compiler would. If not, C compiles first.
    included : tuple of Rule
        Rules of your own, which apply in every phase, before those of frazil.

    Examples
    --------
    >>> import frazil as fz, frazil.tensor as ft
    >>> x = ft.vector("x")
    >>> careless = fz.function([x], ft.log(1 + ft.exp(x)), mode=fz.Mode().excluding("stabilize"))
    >>> careless([1000.0]), fz.function([x], ft.log(1 + ft.exp(x)))([1000.0])
    (array([inf]), array([1000.]))
    """

    linker: str | None = None
    excluded: frozenset[str] = frozenset()
    on_error: OnError | None = None
    tiered: bool = True
    included: tuple[Rule, ...] = ()

    def __post_init__(self) -> None:
        if self.on_error not in ("raise", "nan", None):
            raise ValueError(f"on_error must be 'raise', 'nan' or None; given {self.on_error!r}")
        if not isinstance(self.tiered, bool):
            raise TypeError(f"tiered must be True or False, given {self.tiered!r}")

    def excluding(self, *names: str) -> Mode:
        """Return this mode without some phases or rules.

        Parameters
        ----------
        *names : str
            Phases (``canonicalize``, ``stabilize``, ``specialize``, ``blas``, ``scan``) or rules;
            ``all`` stands for every phase. ``checks`` leaves out the conditions of
            :func:`frazil.tensor.assert_` and :func:`frazil.tensor.check_parameters`.

        Examples
        --------
        >>> import frazil as fz
        >>> sorted(fz.Mode("c").excluding("all").excluded)
        ['blas', 'canonicalize', 'scan', 'specialize', 'stabilize']
        """
        every = (*PHASES, SCAN)
        left_out = {one for name in names for one in (every if name == "all" else (name,))}
        check_names(left_out)
        return replace(self, excluded=self.excluded | left_out)

    def including(self, *rules: Rule | str) -> Mode:
        """Return this mode with rules of your own, or with what it left out.

        Parameters
        ----------
        *rules : Rule or str
            What :func:`frazil.rewrite.rule` made: it applies in every phase, before the rules of
            frazil. Or a name, as :meth:`excluding` takes it.

        Raises
        ------
        TypeError
            If one is neither.

        Examples
        --------
        >>> import frazil as fz, frazil.tensor as ft
        >>> from frazil.rewrite import Float, rule
        >>> @rule
        ... def log_of_exp2(x: Float):
        ...     '''log2(exp2(x)) == x, where exp2 does not overflow.'''
        ...     return ft.log2(ft.exp2(x)), x
        >>> x = ft.vector("x")
        >>> f = fz.function([x], ft.log2(ft.exp2(x)) + 1, mode=fz.Mode().including(log_of_exp2))
        >>> print(fz.pp(f))
        x + 1.0
        """
        for one in rules:
            if not isinstance(one, Rule | str):
                raise TypeError(
                    f"a rule is what frazil.rewrite.rule makes of a function, given {one!r}"
                )
        again = Mode().excluding(*(one for one in rules if isinstance(one, str))).excluded
        own = (*self.included, *(one for one in rules if isinstance(one, Rule)))
        return replace(self, excluded=self.excluded - again, included=tuple(dict.fromkeys(own)))


ModeLike: TypeAlias = Mode | str | None


def as_mode(mode: ModeLike) -> Mode:
    """Return the mode that a linker's name, None, or a mode stands for."""
    if isinstance(mode, Mode):
        return mode
    if mode is None or isinstance(mode, str):
        return Mode(mode)
    raise TypeError(f"mode must be a linker's name, a fz.Mode or None, given {mode!r}")


class Linker(Protocol):
    """Compiles frozen graphs to programs."""

    @property
    def name(self) -> str: ...

    @property
    def identity(self) -> str | None:
        """A text for all that programs depend on besides the graph and frazil; None: not cached."""
        ...

    def prepare(self, graph: FrozenFunctionGraph, inner: Improve) -> FrozenFunctionGraph:
        """The equal graph that :meth:`compile` takes, with ``inner`` of the graphs of its ops."""
        ...

    def compile(self, graph: FrozenFunctionGraph, donated: Sequence[Variable] = ()) -> Program:
        """The program that computes ``graph``, which :meth:`prepare` gave.

        It may use up the memory of ``donated`` inputs.
        """
        ...

    def symbol(self, keepalive: object) -> Symbol | None:
        """The place of a kernel in an image; None if the kernel cannot be cached."""
        ...

    def load(self, image: Image, names: Sequence[str]) -> list[NativeKernel]:
        """The kernels of these names in an image."""
        ...


C = TypeVar("C", covariant=True)


class _Compilers(Protocol[C]):
    """A class of compilers, which says whether there is one here."""

    def find(self) -> C | None: ...


def _finder(compilers: _Compilers[C], linker: Callable[[C], Linker]) -> Callable[[], Linker | None]:
    """The function that finds a linker by its compiler, if that is here."""

    def find() -> Linker | None:
        compiler = compilers.find()
        return None if compiler is None else linker(compiler)

    return find


def _debug() -> Linker:
    return DebugLinker(debug_compiler())


_FINDERS: dict[str, Callable[[], Linker | None]] = {
    "c": _finder(CCompiler, CLinker),
    "cranelift": _finder(CraneliftCompiler, CraneliftLinker),
    "tiered": _finder(TieredCompiler, TieredLinker),
    "numba": _finder(NumbaCompiler, NumbaLinker),
    "py": PyLinker,
    "debug": _debug,
}

_WAYS_OUT = {
    "c": "install a C compiler (gcc or clang), or set CC to one",
    "cranelift": "it needs a system that lets processes run code which they make",
    "tiered": "it needs what mode 'cranelift' needs, and a C compiler (gcc or clang)",
    "numba": "install numba: pip install 'frazil[numba]'",
}


_PYTENSOR = {
    **dict.fromkeys(("FAST_RUN", "CVM"), "mode=None, or 'c'"),
    "FAST_COMPILE": "mode='py'",
    "NUMBA": "mode='numba'",
    "DebugMode": "mode='debug'",
    "JAX": "not there: mode=None compiles by C, or without a compiler",
}
"""Modes of PyTensor, and what to write instead."""

MakerT = TypeVar("MakerT", bound=Callable[[], "Linker | None"])


@described
def register_linker(name: str) -> Callable[[MakerT], MakerT]:
    """Make ``mode=name`` use a linker of your own; decorates a function that makes the linker.

    The function is called once, when the mode is first used. It returns None if this machine lacks
    something that the linker needs. :func:`frazil.link.register_fusion` registers what the linker
    fuses, under the same name.

    name (str): The mode's name.
    returns (callable): The decorator.
    raises ValueError: If there is a linker of this name already.

    >>> import frazil as fz, frazil.tensor as ft
    >>> from frazil.compile import register_linker
    >>> from frazil.link.linkers.py import PyLinker
    >>> @register_linker("plain")
    ... class Plain(PyLinker):
    ...     name = "plain"
    >>> x = ft.vector("x")
    >>> fz.function([x], x + 1, mode="plain")([1.0])
    array([2.])
    """

    def register(maker: MakerT) -> MakerT:
        if name in _FINDERS:
            known = ", ".join(map(repr, _FINDERS))
            raise ValueError(f"there is a linker {name!r} already; those there are: {known}")
        _FINDERS[name] = maker
        return maker

    return register


def usable_linkers() -> Iterator[Linker]:
    """The linkers that ``mode=None`` may use on this machine, the best first.

    Each is looked for when it is asked for: to find a C compiler is to start it.
    """
    found = (_made(name) for name in ("tiered", "c", "cranelift", "numba", "py"))
    return (linker for linker in found if linker is not None)


@cache
def _made(name: str) -> Linker | None:
    return _FINDERS[name]()


def find_linker(mode: str | None) -> Linker:
    """Return the linker of that name; for None the best one that compiles once and for all.

    Raises
    ------
    ValueError
        If no mode has this name.
    RuntimeError
        If this machine lacks a compiler that the mode needs.
    """
    if mode is None:
        return next(linker for linker in usable_linkers() if linker.name != "tiered")
    if mode not in _FINDERS:
        known = ", ".join(map(repr, _FINDERS))
        same = f". PyTensor's {mode} is {_PYTENSOR[mode]}" if mode in _PYTENSOR else ""
        raise ValueError(f"mode must be one of {known} or None, given {mode!r}{same}")
    linker = _made(mode)
    if linker is None:
        way_out = _WAYS_OUT.get(
            mode, "the function that makes it returned None: something is missing"
        )
        reasons = "".join(f"; {reason}" for reason in refused_compilers() if mode == "c")
        raise RuntimeError(f"mode {mode!r} is not available here{reasons}; {way_out}")
    return linker
