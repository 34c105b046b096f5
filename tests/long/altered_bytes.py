"""Altered bytes: graphs, their text, programs and files of the cache.

Whatever is read from altered bytes is refused with a ValueError, or is a whole value that has bytes
of its own. Nothing else is raised, and the process lives.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

from drawn_programs import draw
from search import main

import frazil as fz
from frazil._core import FrozenFunctionGraph, Program
from frazil.cache.store import Store


def case(seed: int) -> None:
    """One program, and some alterations of each form that it has as bytes."""
    rng = random.Random(seed)
    program = draw(seed, rng.randint(1, 10))
    inputs = program.variables()
    graph = FrozenFunctionGraph(inputs, [program.on_frazil(inputs)[-1]])
    for _ in range(20):
        check_graph(altered(graph.to_bytes(), rng))
        check_text(altered(str(graph).encode(), rng))
    function = fz.function(inputs, graph.bind(inputs), mode="py", on_unused_input="ignore")
    for _ in range(20):
        check_program(altered(function.program.to_bytes(), rng), function, program.inputs)
    check_stored(graph.to_bytes(), rng)


def altered(whole: bytes, rng: random.Random) -> bytes:
    """Some of the bytes changed, left out, put in, or taken from elsewhere."""
    made = bytearray(whole)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at = rng.randrange(len(made) + 1)
        match rng.randrange(5):
            case 0 if at < len(made):
                made[at] ^= 1 << rng.randrange(8)
            case 1 if at < len(made):
                made[at] = rng.choice([0, 1, 127, 128, 255])
            case 2:
                del made[at : at + rng.randint(1, 9)]
            case 3:
                made[at:at] = bytes(rng.choices(range(256), k=rng.randint(1, 9)))
            case _:
                start = rng.randrange(len(whole))
                part = whole[start : start + rng.randint(1, 30)]
                made[at : at + len(part)] = part
    return bytes(made)


def check_graph(given: bytes) -> None:
    try:
        graph = FrozenFunctionGraph.from_bytes(given)
    except (ValueError, TypeError):
        return
    assert FrozenFunctionGraph.from_bytes(graph.to_bytes()) is graph


def check_text(given: bytes) -> None:
    try:
        graph = FrozenFunctionGraph.parse(given.decode("utf-8", "replace"))
    except (ValueError, TypeError):
        return
    assert FrozenFunctionGraph.parse(str(graph)) is graph


def check_program(given: bytes, function: Any, arguments: list[Any]) -> None:
    """An altered program is refused, or has its own bytes."""
    whole = function.program
    try:
        program = Program.from_bytes(given, [], whole.functions, whole.origins)
    except ValueError:
        return
    again = Program.from_bytes(program.to_bytes(), [], whole.functions, whole.origins)
    assert again.to_bytes() == program.to_bytes()


def check_stored(content: bytes, rng: random.Random) -> None:
    """An altered file of the cache is no entry."""
    with tempfile.TemporaryDirectory() as name:
        store = Store(Path(name), 10**8)
        store.write("a1", content)
        [file] = Path(name).glob("*.entry")
        whole = file.read_bytes()
        for _ in range(5):
            given = altered(whole, rng)
            file.write_bytes(given)
            assert store.read("a1") == (content if given == whole else None)


if __name__ == "__main__":
    main("altered bytes", case)
