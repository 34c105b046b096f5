"""The C compiler of this machine, and its flags."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache

import frazil._core as _core
from frazil.cache import identity
from frazil.cache.store import find_store
from frazil.graph.cached_property import cached_property
from frazil.link.c.functions import vector_functions
from frazil.link.c.processes import run
from frazil.link.c.unit import Unit
from frazil.link.kernel.compiler import KernelCompileError
from frazil.link.kernel.loop_kernel import BLOCK_BYTES

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
# clang takes loops of as many turns as a block has elements apart before it makes vectors of them.
_OTHER_FLAGS = ("-O2", "-fno-unroll-loops")
_X86 = ("x86_64", "AMD64")
# Processors whose registers have no more bits.
_LEVELS = {128: "x86-64-v2", 256: "x86-64-v3"}


@dataclass(frozen=True)
class Toolchain:
    """A C compiler on this machine."""

    command: tuple[str, ...]
    version: str

    @cached_property
    def is_gcc(self) -> bool:
        return "Free Software Foundation" in self.version

    @cached_property
    def identity(self) -> str:
        """The dependencies of machine code besides its text: compiler, flags, processor."""
        told = self.command, self.version, self.flags, self.link_flags
        return f"{told}\n{sorted(self.vector_functions)}\n{identity.processor()}"

    @cached_property
    def vector_functions(self) -> frozenset[str]:
        """The math functions that loops made by this compiler can call on vectors."""
        return vector_functions() if self.is_gcc else frozenset()

    @cached_property
    def register_bits(self) -> int:
        """The bits of the registers that vectors should fit; 0 if vectors are not quick."""
        return _core.vector_bits()

    @property
    def has_wide_registers(self) -> bool:
        """Whether the processor's registers hold a block, as those of AVX-512 do."""
        return self.register_bits == 8 * BLOCK_BYTES

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
    store = find_store() if is_compiler(path) else None
    key = _core.digest_of(f"compiler {command} {identity.file(path)}".encode()).hex()
    known = None if store is None else store.read(key)
    if known is not None:
        return known.decode(errors="replace")
    asked = [*command, "--version"]
    try:
        ended = run(asked, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        raise KernelCompileError(f"{command[0]} could not be run: {error}") from error
    if ended.returncode != 0:
        said = (ended.stderr or ended.stdout).decode(errors="replace").strip()
        raise KernelCompileError(f"{shlex.join(asked)} {end_of(ended)}: {said}".rstrip(": "))
    if store is not None:
        store.write(key, ended.stdout)
    return ended.stdout.decode(errors="replace")


def is_compiler(path: str) -> bool:
    """Whether a file is a compiler, as its name says, and not a script."""
    name = os.path.basename(path)
    if "gcc" not in name and "clang" not in name:
        return False
    try:
        with open(path, "rb", buffering=0) as program:
            return program.read(2) != b"#!"
    except OSError:
        return False


def end_of(run: subprocess.CompletedProcess[bytes]) -> str:
    """The end of a compiler's process."""
    if run.returncode < 0:
        return f"was ended by signal {-run.returncode}"
    return f"ended with status {run.returncode}"
