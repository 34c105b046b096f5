"""Where machine code leaves upper halves of vector registers in use.

Read from its disassembly, so that it does not depend on what a processor makes of it: from each
instruction that writes to a wide register the walk goes on, over jumps and calls, until something
cleans the registers. Where it comes to the end of a function that others call, or to a call of
one that takes no vectors, there is a fault.
"""

import re
import subprocess
import tempfile
from collections import defaultdict
from dataclasses import dataclass

_LINE = re.compile(r"^\s*([0-9a-f]+):\t(\S+)\s*(.*)$")
_RELOCATION = re.compile(r"^\s*[0-9a-f]+: R_X86_64_\w+\t(\S+?)(?:[-+]0x[0-9a-f]+)?$")
_LABEL = re.compile(r"^([0-9a-f]+) <(.+)>:$")
_WIDE = re.compile(r"%[yz]mm(?:\d|1[0-5])(?:\{%k\d\})?(?:\{z\})?$")
_TARGET = re.compile(r"^([0-9a-f]+) <(.+)>")
_POINTER = re.compile(r"^([0-9a-f]+) R_X86_64_\w+\s+(\w+)")
_LOAD = re.compile(r"^0x[0-9a-f]+\(%rip\),(%\w+)\s+# ([0-9a-f]+) ")
_INDIRECT = re.compile(r"^\*(?:\(?)(%\w+)\)?$")
_OF_VECTORS = re.compile(r"_ZGV|_block_f[48]$")
"""Names of functions that take vectors and return one: of libmvec and of the runtime."""
_RETURNS_VECTORS = re.compile(r"loops(?:5typed|8elements)6blocks8block_f[48]")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction; ``called`` is the name that it calls or jumps to by a relocation."""

    address: int
    name: str
    operands: str
    function: str
    called: str | None


def faults(code, *, names=()):
    """What is wrong in machine code given as bytes or as a path, a line for each place.

    ``names`` are the functions that others call; without them, all are.
    """
    text = _disassembled(code)
    if not names:
        blocks = text.split("\n\n")
        text = "\n".join(block for block in blocks if "%ymm" in block or "%zmm" in block)
    instructions = list(_instructions(text.splitlines()))
    assert instructions, "nothing was disassembled"
    return sorted(set(_Walk(instructions, names).faults()))


def wide_writes(code):
    """How many instructions of machine code write to a wide register."""
    return sum(_writes_wide(own) for own in _instructions(_disassembled(code).splitlines()))


def scalar_calls(code, names):
    """Which functions of these names, none of them on vectors, machine code calls."""
    text = _disassembled(code)
    return {name for name in names if re.search(rf"(?:<|\s){name}(?:@plt)?(?:>|-0x|$)", text, re.M)}


def _disassembled(code):
    if not isinstance(code, bytes):
        return _objdump(code)
    with tempfile.NamedTemporaryFile(suffix=".o") as file:
        file.write(code)
        file.flush()
        return _objdump(file.name)


def _objdump(path):
    """The instructions, and then which names the pointers bear that the loader writes."""
    command = ["objdump", "-dr", "--no-show-raw-insn", str(path)]
    code = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    # It fails for a file that is not loaded by itself, and has no such pointers.
    loaded = subprocess.run(["objdump", "-R", str(path)], capture_output=True, text=True)
    return f"{code}\n\n{loaded.stdout}"


def _instructions(lines):
    function, held, last = "", {}, None
    found_pointers = (_POINTER.match(line) for line in lines)
    pointers = {int(found[1], 16): found[2] for found in found_pointers if found is not None}
    for line in lines:
        if (found := _LINE.match(line)) is not None:
            if last is not None:
                yield last
            address, name, operands = found.groups()
            called = None
            if name in ("call", "jmp") and (way := _INDIRECT.match(operands)) is not None:
                called = held.get(way[1])
            if name == "mov" and (load := _LOAD.match(operands)) is not None:
                held[load[1]] = pointers.get(int(load[2], 16))
            last = Instruction(int(address, 16), name, operands.strip(), function, called)
        elif (found := _RELOCATION.match(line)) is not None and last is not None:
            # It belongs to the instruction above; an address may be loaded before it is called.
            name = found[1]
            if last.name.startswith("mov"):
                held[last.operands.rsplit(",", 1)[-1]] = name
            else:
                values = (last.address, last.name, last.operands, last.function)
                last = Instruction(*values, called=name)
        elif (found := _LABEL.match(line)) is not None:
            function, held = found[2], {}
    if last is not None:
        yield last


def _writes_wide(own):
    return _WIDE.search(own.operands) is not None and not own.name.startswith(("vtest", "vptest"))


class _Walk:
    """From all that makes registers dirty to where they are when that matters."""

    def __init__(self, instructions, names):
        self.instructions = instructions
        self.at = {own.address: k for k, own in enumerate(instructions)}
        self.names = names
        self.first = {}
        for k, own in enumerate(instructions):
            self.first.setdefault(own.function, k)
        self.callers = defaultdict(list)
        for k, own in enumerate(instructions):
            if own.name == "call" and (callee := self._local(own)) is not None:
                self.callers[self.instructions[callee].function].append(k)

    def _local(self, own):
        """The number of the instruction that a jump or call goes to, in the same file."""
        if own.called is not None:
            return self.first.get(own.called)
        found = _TARGET.match(own.operands)
        if found is None or "@plt" in found[2]:
            return None
        return self.at.get(int(found[1], 16))

    def _is_vector_function(self, own):
        return _OF_VECTORS.search(own.called or own.operands.partition("@")[0]) is not None

    def _returns_to(self, function):
        """Where a function that only this file knows goes back to."""
        if not self.names or function in self.names:
            return []
        return [after for k in self.callers[function] for after in self._after(k)]

    def _after(self, k):
        """The next instruction; behind the last one of a function there is none."""
        own = self.instructions[k : k + 2]
        return [k + 1] if len(own) == 2 and own[0].function == own[1].function else []

    def _branches(self, function):
        """Where a jump by a table may lead: to all that nothing else leads to."""
        jumps = (own for own in self.instructions if own.name.startswith("j"))
        reached = {self._local(own) for own in jumps if own.function == function}
        ends = ("jmp", "ret", "ud2")
        k = self.first[function]
        while k + 1 < len(self.instructions) and self.instructions[k + 1].function == function:
            if self.instructions[k].name in ends and k + 1 not in reached:
                yield k + 1
            k += 1

    def faults(self):
        wide = (k for k, own in enumerate(self.instructions) if _writes_wide(own))
        waiting = [after for k in wide for after in self._after(k)]
        seen = set()
        while waiting:
            k = waiting.pop()
            if k in seen:
                continue
            seen.add(k)
            own = self.instructions[k]
            if own.name in ("vzeroupper", "vzeroall", "ud2", "hlt"):
                continue
            place = f"{own.function}: {own.name} {own.operands} {own.called or ''}"
            if own.name.startswith("ret"):
                back = self._returns_to(own.function)
                if not back and _RETURNS_VECTORS.search(own.function) is None:
                    yield place
                waiting += back
            elif own.name == "call":
                callee = self._local(own)
                if callee is not None and self.names:
                    waiting.append(callee)
                elif not self._is_vector_function(own):
                    yield place
                waiting += self._after(k)
            elif own.name == "jmp" and own.operands.startswith("*%") and own.called is None:
                waiting += self._branches(own.function)
            elif own.name.startswith("j"):
                target = self._local(own)
                if target is None:
                    yield place
                else:
                    waiting.append(target)
                if own.name != "jmp":
                    waiting += self._after(k)
            else:
                waiting += self._after(k)
