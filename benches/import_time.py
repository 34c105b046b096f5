"""The time of ``import frazil`` against that of ``import numpy, scipy.linalg``, in fresh processes.

    python benches/import_time.py

The two alternate; the ratio is that of the medians. It also fails if ``import frazil`` imports
Numba.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys

ROUNDS = 20
OURS = "import frazil"
BASE = "import numpy, scipy.linalg"


def _run(code: str) -> str:
    # Byte code must be there from the second run on, as it is for an installed package.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return done.stdout


def _seconds(statement: str) -> float:
    clock = "from time import perf_counter as clock; started = clock()"
    return float(_run(f"{clock}\n{statement}\nprint(clock() - started)"))


def main() -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    if _run(f"{OURS}\nimport sys\nprint('numba' in sys.modules)").strip() != "False":
        sys.exit("`import frazil` imports numba")
    times: dict[str, list[float]] = {OURS: [], BASE: []}
    for statement in times:
        _seconds(statement)
    for _ in range(ROUNDS):
        for statement, seconds in times.items():
            seconds.append(_seconds(statement))
    medians = {statement: statistics.median(seconds) for statement, seconds in times.items()}
    for statement, median in medians.items():
        print(f"{statement:28} {median * 1e3:7.1f} ms")
    print(f"ratio of medians {medians[OURS] / medians[BASE]:.2f}")


if __name__ == "__main__":
    main()
