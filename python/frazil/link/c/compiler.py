"""The system's C compiler, and the libraries it makes."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import frazil._core as _core
from frazil.cache import identity
from frazil.cache.store import find_store
from frazil.graph.cached_property import cached_property
from frazil.link.c.functions import vector_functions
from frazil.link.c.library import Library, load
from frazil.link.c.translation import translate
from frazil.link.c.unit import Unit
from frazil.link.kernel.compiler import (
    BrokenCompilerError,
    KernelCompileError,
    NativeKernel,
    texts_of,
)
from frazil.link.kernel.image import Image, LoadedKernel, Symbol, loaded_kernels, symbol_of
from frazil.link.kernel.loop_kernel import LoweringError
from frazil.link.kernel.scan_kernel import AnyKernel
from frazil.link.toolchain.count import count_compiled
from frazil.link.toolchain.once import SingleFlight
from frazil.link.toolchain.pool import compile_all, thread_count
from frazil.link.toolchain.scratch import scratch_path
from frazil.scalar.op import ScalarOp

# The flags promise the compiler only that no code looks at errno and floating-point exceptions.
# Nothing is reassociated, and no multiplication is fused with an addition: results are NumPy's.
_FLAGS = (
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-fopenmp-simd",
    "-fno-strict-aliasing",
    "-fwrapv",
    "-fPIC",
    "-shared",
    "-w",
)
# Kernels are straight blocks of code: at -O2 gcc takes half as long again, and they run no faster.
# Other compilers vectorise only from -O2 on.
# The passes that are left out take a sixth of the time and gain nothing, as the source repeats
# nothing and has its constants in place. The alias analysis stays: without it, partial results go
# through the stack.
_GCC_FLAGS = (
    "-O1",
    "-ftree-loop-vectorize",
    # Kernels clean the upper halves of vector registers before they return or call: else each SSE
    # instruction that runs next waits for them on processors by Intel. The pass that does so comes
    # with the expensive ones. One of these, jump threading, is of no use here.
    "-fexpensive-optimizations",
    "-fno-thread-jumps",
    # If a loop asks every so often whether to stop, its values stay in registers.
    "-fcaller-saves",
    # Allocating registers loop by loop takes a twentieth of the time, and loops run no faster.
    "-fira-region=one",
    "-fno-tree-ccp",
    "-fno-tree-bit-ccp",
    "-fno-tree-dominator-opts",
    "-fno-tree-copy-prop",
    "-fno-tree-loop-ivcanon",
    "-fno-dse",
    "-fno-split-wide-types",
    # No exception passes through a kernel, and nothing is optimised at link time: this saves a
    # twentieth of the time for a small kernel.
    "-fno-asynchronous-unwind-tables",
    "-fno-use-linker-plugin",
    "-pipe",
)
# If a block is one vector, a loop has one counter: there are no induction variables to choose.
_WIDE_FLAGS = ("-fno-ivopts",)
# Scheduled by gcc, long functions of blocks take a twentieth less time; gcc takes a twentieth more.
_BLOCK_FUNCTION_FLAGS = ("-fschedule-insns",)
_OTHER_FLAGS = ("-O2",)
_X86 = ("x86_64", "AMD64")
# Processors whose registers have no more bits.
_LEVELS = {128: "x86-64-v2", 256: "x86-64-v3"}
_LEAST_SOURCE = "int frazil_least(void) { return 0; }\n"


@dataclass(frozen=True)
class Toolchain:
    """A C compiler on this machine."""

    command: tuple[str, ...]
    version: str

    @cached_property
    def is_gcc(self) -> bool:
        return "Free Software Foundation" in self.version

    @cached_property
    def vector_functions(self) -> frozenset[str]:
        """The math functions that loops made by this compiler can call on vectors."""
        return vector_functions() if self.is_gcc else frozenset()

    @cached_property
    def has_wide_registers(self) -> bool:
        """Whether the processor's registers hold a block, as those of AVX-512 do."""
        return _core.has_wide_registers()

    @cached_property
    def flags(self) -> tuple[str, ...]:
        if not self.is_gcc:
            return (*_FLAGS, *_OTHER_FLAGS, *self._processor_flags)
        wide = _WIDE_FLAGS if self.has_wide_registers else ()
        return (*_FLAGS, *_GCC_FLAGS, *wide, *self._processor_flags)

    def flags_for(self, unit: Unit) -> tuple[str, ...]:
        """The flags for a unit, which depend on what it calls."""
        more = self.is_gcc and self.has_wide_registers and unit.has_block_functions
        return (*self.flags, *_BLOCK_FUNCTION_FLAGS) if more else self.flags

    @cached_property
    def _processor_flags(self) -> tuple[str, ...]:
        machine = platform.machine()
        if machine in _X86:
            if (level := _LEVELS.get(_core.register_bits())) is not None:
                return (f"-march={level}",)
            # Compilers shun the widest vectors of some processors; blocks are made for them.
            return ("-march=native", "-mprefer-vector-width=512")
        return ("-mcpu=native",) if machine in ("aarch64", "arm64", "ppc64le") else ()

    @cached_property
    def link_flags(self) -> tuple[str, ...]:
        # On Linux the kernels find the C library's functions in the process, where `load_math`
        # put them. Linking against libraries would take longer than compiling a small kernel.
        return ("-nostdlib",) if sys.platform == "linux" else ("-lm",)


@dataclass(frozen=True)
class _Search:
    """The compiler that was found, and why others were refused."""

    found: Toolchain | None
    refused: tuple[str, ...]


def find_toolchain() -> Toolchain | None:
    """The compiler that $CC names, or the first of cc, gcc and clang; None if there is none."""
    return _search().found


def refused_compilers() -> tuple[str, ...]:
    """Why each compiler of this machine was refused; empty if one was found."""
    search = _search()
    return () if search.found is not None else search.refused


def may_have_toolchain() -> bool:
    """Whether there is a program that may be a compiler; it is not started."""
    try:
        commands = _commands()
    except ValueError:
        return False
    return any(shutil.which(command[0]) is not None for command in commands)


def _commands() -> list[list[str]]:
    """The compilers to look for, the best first.

    Raises
    ------
    ValueError
        If $CC is no command.
    """
    named = shlex.split(os.environ.get("CC", ""))
    return [named] if named else [["cc"], ["gcc"], ["clang"]]


@cache
def _search() -> _Search:
    refused: list[str] = []
    given = os.environ.get("CC", "")
    try:
        commands = _commands()
    except ValueError as error:
        return _Search(None, (f"$CC, {given!r}, is no command: {error}",))
    named = bool(given.strip())
    for command in commands:
        path = shutil.which(command[0])
        if path is None:
            if named:
                refused.append(f"$CC names {command[0]}, which is no program on $PATH")
            continue
        try:
            version = _version((path, *command[1:]))
        except KernelCompileError as error:
            refused.append(str(error))
        else:
            return _Search(Toolchain((path, *command[1:]), version), ())
    return _Search(None, tuple(refused))


def _version(command: tuple[str, ...]) -> str:
    """The version that the compiler prints.

    It is cached as long as the program is the same file. Scripts, which may start another program,
    are asked each time.

    Raises
    ------
    KernelCompileError
        If the compiler does not run.
    """
    path = os.path.realpath(command[0])
    store = find_store() if _is_compiler(path) else None
    key = _core.digest_of(f"compiler {command} {identity.file(path)}".encode()).hex()
    known = None if store is None else store.read(key)
    if known is not None:
        return known.decode(errors="replace")
    asked = [*command, "--version"]
    try:
        run = subprocess.run(asked, capture_output=True, close_fds=False, check=False, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        raise KernelCompileError(f"{command[0]} could not be run: {error}") from error
    if run.returncode != 0:
        said = (run.stderr or run.stdout).decode(errors="replace").strip()
        raise KernelCompileError(f"{shlex.join(asked)} {_end(run)}: {said}".rstrip(": "))
    if store is not None:
        store.write(key, run.stdout)
    return run.stdout.decode(errors="replace")


def _is_compiler(path: str) -> bool:
    """Whether a file is a compiler, as its name says, and not a script."""
    name = os.path.basename(path)
    if "gcc" not in name and "clang" not in name:
        return False
    try:
        with open(path, "rb", buffering=0) as program:
            return program.read(2) != b"#!"
    except OSError:
        return False


_PLACED: weakref.WeakValueDictionary[tuple[Toolchain, AnyKernel], LoadedKernel] = (
    weakref.WeakValueDictionary()
)
"""The kernels that are alive."""

_COMPILING: SingleFlight[tuple[Toolchain, AnyKernel], LoadedKernel] = SingleFlight()


class CCompiler:
    """Compiles loop kernels with the system's C compiler.

    Raises
    ------
    BrokenCompilerError
        If this machine has no C compiler; :meth:`find` gives None instead.

    Examples
    --------
    >>> from frazil.link.c import CCompiler
    >>> from frazil.link.kernel.loop_kernel import LoopKernel, Read, Statement, Write
    >>> from frazil.scalar import exp
    >>> vector = Read("float64", inner=True)
    >>> kernel = LoopKernel(
    ...     reads=(vector,),
    ...     literals=(),
    ...     statements=(Statement(exp, (0,), "float64"),),
    ...     writes=(Write(1, "float64", inner=True, reduce=None),),
    ... )
    >>> [native] = CCompiler().compile([kernel])
    >>> native.address > 0
    True
    """

    name = "c"

    step_limit = 4000
    _unit_statements = 150  # compiling so many takes as long as starting a process

    def __init__(self, toolchain: Toolchain | None = None) -> None:
        toolchain = toolchain or find_toolchain()
        if toolchain is None:
            raise BrokenCompilerError(
                "no C compiler was found: install gcc or clang, or let $CC name one"
            )
        self.toolchain = toolchain

    @classmethod
    def find(cls) -> CCompiler | None:
        """The compiler of this machine; None if it has none."""
        toolchain = find_toolchain()
        return None if toolchain is None else cls(toolchain)

    @staticmethod
    def lowers(op: ScalarOp, operands: Sequence[str], result: str) -> bool:
        """Whether the op can be a statement, with operands and a result of these dtypes."""
        return CCompiler.refusal(op, operands, result) is None

    @staticmethod
    def refusal(op: ScalarOp, operands: Sequence[str], result: str) -> str | None:
        """Why the op cannot be a statement; None if it can."""
        unit = Unit(vector_functions=frozenset())
        try:
            unit.expression(op, tuple(operands), result)
        except LoweringError as error:
            return str(error)
        return None

    def compile(self, kernels: Sequence[AnyKernel]) -> list[NativeKernel]:
        """The native kernels, in order; equal kernels are compiled once as long as one is alive."""
        found = _COMPILING.make(
            ((self.toolchain, kernel) for kernel in kernels), _PLACED.get, self._compile_missing
        )
        places = [found[self.toolchain, kernel] for kernel in kernels]
        return [NativeKernel(place.address, place) for place in places]

    @property
    def identity(self) -> str:
        """The dependencies of the machine code besides the kernel: compiler, flags, processor."""
        return self._identity()

    @cache  # noqa: B019  (compilers live as long as the process)
    def _identity(self) -> str:
        toolchain = self.toolchain
        told = (toolchain.command, toolchain.version, toolchain.flags, toolchain.link_flags)
        return f"{told}\n{sorted(toolchain.vector_functions)}\n{identity.processor()}"

    def symbol(self, keepalive: object) -> Symbol | None:
        """The place in an image of a kernel that ``keepalive`` keeps."""
        return symbol_of(keepalive)

    def load(self, image: Image, names: Sequence[str]) -> list[NativeKernel]:
        """The kernels of these names in an image."""
        try:
            placed = loaded_kernels(load(image), names)
        except (OSError, ValueError, KeyError) as error:
            raise KernelCompileError(f"an image could not be loaded: {error}") from error
        return [NativeKernel(place.address, place) for place in placed]

    def _compile_missing(self, wanted: Sequence[tuple[Toolchain, AnyKernel]]) -> list[LoadedKernel]:
        shares = self._shares([kernel for _, kernel in wanted])
        placed = {
            kernel: place
            for share, places in zip(shares, compile_all(self._compile_unit, shares), strict=True)
            for kernel, place in zip(share, places, strict=True)
        }
        made = [placed[kernel] for _, kernel in wanted]
        _PLACED.update(zip(wanted, made, strict=True))
        return made

    def _shares(self, kernels: Sequence[AnyKernel]) -> list[list[AnyKernel]]:
        """The kernels in shares of about as many statements, one share a translation unit."""
        statements = sum(len(kernel.statements) for kernel in kernels)
        wanted = min(len(kernels), thread_count(), 1 + statements // self._unit_statements)
        shares: list[list[AnyKernel]] = [[] for _ in range(wanted)]
        loads = [0] * wanted
        for kernel in sorted(kernels, key=lambda kernel: -len(kernel.statements)):
            lightest = loads.index(min(loads))
            shares[lightest].append(kernel)
            loads[lightest] += len(kernel.statements) + 1
        return shares

    def _compile_unit(self, kernels: Sequence[AnyKernel]) -> list[LoadedKernel]:
        unit = translate(
            kernels,
            vector_functions=self.toolchain.vector_functions,
            has_wide_registers=self.toolchain.has_wide_registers,
        )
        library = build(self.toolchain, unit)
        count_compiled(self.name, len(kernels))
        return loaded_kernels(library, [f"kernel_{k}" for k in range(len(kernels))])


def build(toolchain: Toolchain, unit: Unit) -> Library:
    """The library made of a translation unit.

    Raises
    ------
    KernelCompileError
        If the compiler fails. The source is kept, and the message says where.
    BrokenCompilerError
        If it would fail for any source.
    """
    source = unit.text()
    try:
        return _make_library(toolchain, toolchain.flags_for(unit), source, unit.pointers)
    except _Failure as failure:
        kind, first = KernelCompileError, "the C compiler rejected a kernel"
        if _is_broken(toolchain):
            kind, first = BrokenCompilerError, "the C compiler does not work, whatever the source"
        lines = (
            f"{first}: {failure}",
            f"command: {failure.command}",
            f"{_kept(source)}{_line_of(source, failure.output)}",
            failure.output,
            texts_of(unit.foreign_texts),
        )
        raise kind("\n".join(lines).rstrip(), source) from failure


class _Failure(Exception):
    """A command made no library; ``output`` is what it said."""

    def __init__(self, reason: str, command: Sequence[str], output: str = "") -> None:
        super().__init__(reason)
        self.command = shlex.join(command)
        self.output = output


def _make_library(
    toolchain: Toolchain, flags: Sequence[str], source: str, pointers: Mapping[str, str]
) -> Library:
    command = [*toolchain.command, *flags, "-x", "c", "-"]
    try:
        with scratch_path("kernels.so") as path:
            command += ["-o", path, *toolchain.link_flags]
            run = subprocess.run(
                command, input=source.encode(), capture_output=True, close_fds=False, check=False
            )
            output = run.stderr.decode(errors="replace").strip()
            if run.returncode != 0:
                raise _Failure(f"it {_end(run)}", command, output)
            if not os.path.exists(path):
                reason = "it ended as if all were well, but wrote no library"
                raise _Failure(reason, command, output)
            try:
                return _loaded(path, Image(Path(path).read_bytes(), dict(pointers)))
            except OSError as error:
                folder = os.path.dirname(os.path.dirname(path))
                reason = f"the kernels were compiled but could not be loaded: {error}. "
                raise _Failure(reason + _advice(error, folder), command, output) from error
    except OSError as error:
        raise _Failure(f"it could not be run: {error}", command) from error


def _advice(error: OSError, folder: str) -> str:
    """What to do about a library that the system refused."""
    if "undefined symbol" in str(error):
        return "Code of a native form may call what it defines, and functions of C and of its math"
    return f"Where programs may not be loaded from {folder}, let $TMPDIR name another directory"


def _loaded(path: str, image: Image) -> Library:
    try:
        return Library(path, image)
    except OSError:
        return load(image)  # a system may refuse to load from a folder, but not from memory


def _is_broken(toolchain: Toolchain) -> bool:
    """Whether a compiler fails for the smallest source, too."""
    try:
        _make_library(toolchain, toolchain.flags, _LEAST_SOURCE, {})
    except _Failure:
        return True
    return False


def _end(run: subprocess.CompletedProcess[bytes]) -> str:
    """The end of a compiler's process."""
    if run.returncode < 0:
        return f"was ended by signal {-run.returncode}"
    return f"ended with status {run.returncode}"


def _kept(source: str) -> str:
    """Keep the source in a file; a message that names it."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="frazil-", suffix=".c", delete=False, encoding="utf-8"
        ) as file:
            file.write(source)
    except OSError as error:
        return f"the source could not be kept: {error}"
    return f"source kept in {file.name}"


def _line_of(source: str, output: str) -> str:
    """The source line that the compiler's message names."""
    lines = source.splitlines()
    place = re.search(r"<stdin>:(\d+):", output)
    if place is None or not 0 < int(place[1]) <= len(lines):
        return ""
    return f"\nline {place[1]}: {lines[int(place[1]) - 1]}"
