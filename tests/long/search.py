"""A search for faults: cases drawn by seed, one after the other, for as long as one asks.

Each module of this folder is a program, for instance::

    python tests/long/random_programs.py --minutes 60 --seed 1

Case ``k`` of a search is drawn from the seed ``seed + k``: ``--seed K --cases 1`` runs one again.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Search:
    """What has been tried, and which seeds found a fault."""

    name: str
    case: Callable[[int], None]
    cases: int = 0
    faults: list[int] = field(default_factory=list)

    def run(self, seed: int, *, minutes: float = math.inf, cases: int | None = None) -> None:
        """Run cases until the time is over, or there were so many."""
        end = time.monotonic() + 60 * minutes
        while time.monotonic() < end and (cases is None or self.cases < cases):
            try:
                self.case(seed + self.cases)
            except KeyboardInterrupt:
                raise
            except BaseException:  # a panic of the extension is no Exception
                self.faults.append(seed + self.cases)
                print(f"{self.name}: --seed {seed + self.cases} --cases 1", file=sys.stderr)
                traceback.print_exc()
            self.cases += 1


def main(name: str, case: Callable[[int], None]) -> None:
    """Read the command line, search, and exit with 1 if there was a fault."""
    parser = argparse.ArgumentParser(description=f"Searches for faults: {name}.")
    parser.add_argument("--minutes", type=float, default=60.0, help="how long, at most")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first case")
    parser.add_argument("--cases", type=int, help="how many cases, at most")
    given = parser.parse_args()
    os.environ.setdefault("FRAZIL_CACHE", "off")
    search = Search(name, case)
    search.run(given.seed, minutes=given.minutes, cases=given.cases)
    print(f"{name}: {search.cases} cases, {len(search.faults)} faults {search.faults[:20]}")
    sys.exit(bool(search.faults))
