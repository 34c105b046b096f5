"""The tables of all workloads in ``docs/benchmarks.md``, from measurements that were kept.

    python benches/compare.py --threads 1 --json one.json
    python benches/compare.py --threads 2 --json two.json
    python benches/limit.py > limit.txt
    python benches/results_page.py one.json --two two.json --limit limit.txt --write AVX2

Measurements of some workloads each may stand in several files; of a workload that stands in two,
the later file counts. ``--write`` puts the table in the place of the processor's registers on the
page; without it, the table is printed.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from compare import OURS, WITHOUT_COMPILER, Result, ratio, shown
from workloads import WORKLOADS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
END = "<!-- end of the table -->\n"
REGISTERS = "AVX-512", "AVX2"

DEFAULT = "frazil"
NUMBA = "frazil-numba"
JAX = "jax"

#: The result of each peer, by its name.
Peers = Mapping[str, Result]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("one", nargs="+", type=Path, help="measurements in one thread")
    parser.add_argument("--two", nargs="+", type=Path, default=[], help="in two threads")
    parser.add_argument("--limit", type=Path, help="what limit.py printed")
    parser.add_argument("--write", choices=REGISTERS, help="write the table to its place")
    options = parser.parse_args()
    limits = _limits(options.limit.read_text()) if options.limit is not None else {}
    text = table(_results(options.one), _results(options.two), limits)
    if options.write is None:
        print(text, end="")
        return
    page = PAGE.read_text()
    begin = f"<!-- table of all workloads, {options.write} -->\n"
    start = page.index(begin) + len(begin)
    PAGE.write_text(page[:start] + text + page[page.index(END, start) :])


def table(one: Mapping[str, Peers], two: Mapping[str, Peers], limits: Mapping[str, float]) -> str:
    """Return the table in Markdown, with geometric means of its ratios in the last row."""
    columns: dict[str, Callable[[str], float | str | None]] = {
        "call": lambda name: shown(one[name][DEFAULT].call_median),
        "of JAX's": lambda name: _calls(one[name], DEFAULT, JAX),
        "two threads, of JAX's": lambda name: _calls(two.get(name, {}), DEFAULT, JAX),
        "`c`, of a program by hand": limits.get,
        "`cranelift`, of `c`'s": lambda name: _calls(one[name], WITHOUT_COMPILER, OURS),
        "`numba`, of `c`'s": lambda name: _calls(one[name], NUMBA, OURS),
        "first result": lambda name: shown(one[name][DEFAULT].cold),
        "first result, of JAX's": lambda name: _first(one[name], DEFAULT, JAX),
        "first result with `c`, of JAX's": lambda name: _first(one[name], OURS, JAX),
    }
    names = [name for name in WORKLOADS if name in one]
    rows = {name: [column(name) for column in columns.values()] for name in names}
    means = []
    for column in zip(*rows.values(), strict=True):
        ratios = [cell for cell in column if isinstance(cell, float)]
        means.append(statistics.geometric_mean(ratios) if ratios else None)
    lines = [_row(["", *columns]), "|---" * (len(columns) + 1) + "|\n"]
    lines += [_row([f"`{name}`", *cells]) for name, cells in rows.items()]
    return "".join([*lines, _row(["geometric mean", *means])])


def _results(files: Sequence[Path]) -> dict[str, dict[str, Result]]:
    found: dict[str, dict[str, Result]] = {}
    for file in files:
        for fields in json.loads(file.read_text())["results"]:
            result = Result(**fields)
            found.setdefault(result.workload, {})[result.peer] = result
    return found


def _limits(text: str) -> dict[str, float]:
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| `")]
    return {row[1].strip(" `"): float(row[4]) for row in rows}


def _calls(peers: Peers, ours: str, theirs: str) -> float | None:
    if not all(peer in peers and peers[peer].calls for peer in (ours, theirs)):
        return None
    return ratio(peers[ours], peers[theirs])


def _first(peers: Peers, ours: str, theirs: str) -> float | None:
    own, other = (peers[peer].cold if peer in peers else None for peer in (ours, theirs))
    return own / other if own and other else None


def _row(cells: Sequence[float | str | None]) -> str:
    shown_cells = [f"{cell:.2f}" if isinstance(cell, float) else cell or "" for cell in cells]
    return "| " + " | ".join(shown_cells) + " |\n"


if __name__ == "__main__":
    main()
