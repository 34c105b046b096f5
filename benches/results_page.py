"""The table of all workloads in ``docs/benchmarks.md``, from measurements that were kept.

    python benches/compare.py --threads 1 --json one.json
    python benches/compare.py --threads 2 --json two.json
    python benches/limit.py > limit.txt
    python benches/results_page.py one.json --two two.json --limit limit.txt --write

Measurements of some workloads each may stand in several files. ``--write`` puts the table in its
place on the page; without it, the table is printed.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from compare import OURS, WITHOUT_COMPILER
from workloads import WORKLOADS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- table of all workloads -->\n", "<!-- end of the table -->\n"

DEFAULT = "frazil"
NUMBA = "frazil-numba"
JAX = "jax"

#: The result of each peer, by its name.
Peers = Mapping[str, Mapping[str, Any]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("one", nargs="+", type=Path, help="measurements in one thread")
    parser.add_argument("--two", nargs="+", type=Path, default=[], help="in two threads")
    parser.add_argument("--limit", type=Path, help="what limit.py printed")
    parser.add_argument("--write", action="store_true", help="write the table to the page")
    options = parser.parse_args()
    limits = _limits(options.limit.read_text()) if options.limit is not None else {}
    text = table(_results(options.one), _results(options.two), limits)
    if not options.write:
        print(text, end="")
        return
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + BEGIN + text + END + after)


def table(one: Mapping[str, Peers], two: Mapping[str, Peers], limits: Mapping[str, float]) -> str:
    """Return the table in Markdown, with geometric means of its ratios in the last row."""
    columns: list[tuple[str, Callable[[str], float | None]]] = [
        ("call, of JAX's", lambda name: _calls(one[name], DEFAULT, JAX)),
        ("two threads, of JAX's", lambda name: _calls(two.get(name, {}), DEFAULT, JAX)),
        ("`c`, of a program by hand", lambda name: limits.get(name)),
        ("`cranelift`, of `c`'s", lambda name: _calls(one[name], WITHOUT_COMPILER, OURS)),
        ("`numba`, of `c`'s", lambda name: _calls(one[name], NUMBA, OURS)),
        ("of JAX's", lambda name: _ratio(one[name], DEFAULT, JAX, "cold")),
        ("with `c`, of JAX's", lambda name: _ratio(one[name], OURS, JAX, "cold")),
    ]
    heads = ["", "call", *(head for head, _ in columns)]
    heads.insert(-2, "first result")
    lines = [_row(heads), "|---" * len(heads) + "|\n"]
    means: list[list[float]] = [[] for _ in columns]
    for name in WORKLOADS:
        if name not in one:
            continue
        cells = []
        for mean, (_, ratio) in zip(means, columns, strict=True):
            value = ratio(name)
            if value is not None:
                mean.append(value)
            cells.append("" if value is None else f"{value:.2f}")
        own = one[name][DEFAULT]
        cells.insert(-2, _time(own["cold"]))
        lines.append(_row([f"`{name}`", _time(statistics.median(own["calls"])), *cells]))
    cells = [f"{statistics.geometric_mean(mean):.2f}" if mean else "" for mean in means]
    cells.insert(-2, "")
    lines.append(_row(["geometric mean", "", *cells]))
    return "".join(lines)


def _results(files: Sequence[Path]) -> dict[str, dict[str, dict[str, Any]]]:
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for file in files:
        for result in json.loads(file.read_text())["results"]:
            found.setdefault(result["workload"], {})[result["peer"]] = result
    return found


def _limits(text: str) -> dict[str, float]:
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| `")]
    return {row[1].strip(" `"): float(row[4]) for row in rows}


def _calls(peers: Peers, ours: str, theirs: str) -> float | None:
    """Return the median of the ratios within one turn."""
    if not all(peer in peers and peers[peer]["calls"] for peer in (ours, theirs)):
        return None
    pairs = zip(peers[ours]["calls"], peers[theirs]["calls"], strict=True)
    return statistics.median(mine / other for mine, other in pairs)


def _ratio(peers: Peers, ours: str, theirs: str, step: str) -> float | None:
    if not all(peer in peers and peers[peer][step] for peer in (ours, theirs)):
        return None
    return float(peers[ours][step] / peers[theirs][step])


def _time(seconds: float) -> str:
    if seconds < 0.9995e-3:
        return f"{seconds * 1e6:#.3g} us".replace(". ", " ")
    return f"{seconds * 1e3:#.3g} ms".replace(". ", " ")


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |\n"


if __name__ == "__main__":
    main()
