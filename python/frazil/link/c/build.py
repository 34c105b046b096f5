"""Libraries made of translation units by the system's C compiler."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

from frazil.link.c.driver import find_commands
from frazil.link.c.library import Library, load
from frazil.link.c.processes import run
from frazil.link.c.search import Toolchain, end_of
from frazil.link.c.unit import Unit
from frazil.link.kernel.compiler import BrokenCompilerError, KernelCompileError, texts_of
from frazil.link.kernel.image import Image
from frazil.link.toolchain.scratch import scratch_path

_LEAST_SOURCE = "int frazil_least(void) { return 0; }\n"


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
        return _make_library(toolchain, toolchain.flags_for(unit), source, unit)
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
    toolchain: Toolchain, flags: Sequence[str], source: str, unit: Unit | None
) -> Library:
    command = [*toolchain.command, *flags, "-x", "c", "-"]
    try:
        with scratch_path("kernels.so") as path:
            command += ["-o", path, *toolchain.link_flags]
            direct = find_commands(toolchain, flags)
            if direct is not None and direct.make(source, path):
                return _checked(path, unit, command)
            # The driver says what is wrong.
            ended = run(command, source.encode())
            output = ended.stderr.decode(errors="replace").strip()
            if ended.returncode != 0:
                raise _Failure(f"it {end_of(ended)}", command, output)
            if not os.path.exists(path):
                reason = "it ended as if all were well, but wrote no library"
                raise _Failure(reason, command, output)
            return _checked(path, unit, command, output)
    except OSError as error:
        raise _Failure(f"it could not be run: {error}", command) from error


def _checked(path: str, unit: Unit | None, command: Sequence[str], output: str = "") -> Library:
    """The library that a command wrote, loaded."""
    try:
        return _loaded(path, _image(Path(path).read_bytes(), unit))
    except OSError as error:
        folder = os.path.dirname(os.path.dirname(path))
        reason = f"the kernels were compiled but could not be loaded: {error}. "
        raise _Failure(reason + _advice(error, folder), command, output) from error


def _image(code: bytes, unit: Unit | None) -> Image:
    if unit is None:
        return Image(code, {})
    return Image(code, dict(unit.pointers), unit.table.content)


def _advice(error: OSError, folder: str) -> str:
    """Advice on a library that the system refused."""
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
        _make_library(toolchain, toolchain.flags, _LEAST_SOURCE, None)
    except _Failure:
        return True
    return False


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
