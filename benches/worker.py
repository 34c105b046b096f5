"""One peer doing one workload in a process of its own; ``compare.py`` starts it and talks to it.

It speaks JSON, one object a line. Unasked it reports ``start``, ``build``, ``compile`` and
``ready``; then each number that it reads asks for that many calls, and the seconds per call are its
answer.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import numpy as np

CALIBRATION_SECONDS = 0.1


def main() -> None:
    peer_name, workload_name, cpus, results = sys.argv[1:]
    if hasattr(os, "sched_setaffinity"):
        # Before anything starts threads: pools are sized by it, and a thread inherits it.
        os.sched_setaffinity(0, {int(cpu) for cpu in cpus.split(",")})
    answers = _take_over_stdout()

    from peers import PEERS
    from workloads import WORKLOADS

    started = time.perf_counter()
    try:
        peer = PEERS[peer_name]()
    except ImportError as error:
        _answer(answers, event="missing", reason=str(error))
        return
    _answer(answers, event="start", seconds=time.perf_counter() - started, version=peer.version)

    workload = WORKLOADS[workload_name]
    arguments = workload.arguments()
    started = time.perf_counter()
    peer.build(workload, arguments)
    _answer(answers, event="build", seconds=time.perf_counter() - started)

    started = time.perf_counter()
    outputs = peer.compile()
    _answer(answers, event="compile", seconds=time.perf_counter() - started)

    np.savez(Path(results), *[np.asarray(output) for output in outputs])
    timed = [(_seconds_per_call(call, CALIBRATION_SECONDS), call) for call in peer.calls()]
    estimate, call = min(timed, key=lambda pair: pair[0])
    _answer(answers, event="ready", seconds=estimate)

    gc.collect()
    for line in sys.stdin:
        count = int(line)
        # Threads of the peer before may spin for as long as this takes, which is not counted.
        _batch(call, count)
        _answer(answers, event="calls", seconds=_batch(call, count))


def _take_over_stdout() -> TextIO:
    """Return the pipe to ``compare.py``; what libraries print goes to stderr from here on."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def _answer(answers: TextIO, **fields: Any) -> None:
    answers.write(json.dumps(fields) + "\n")
    answers.flush()


def _seconds_per_call(call: Callable[[], Any], budget: float) -> float:
    call()
    count, best, deadline = 1, float("inf"), time.perf_counter() + budget
    while time.perf_counter() < deadline:
        best = min(best, _batch(call, count))
        count = min(count * 2, 1000)
    return best


def _batch(call: Callable[[], Any], count: int) -> float:
    repetitions = range(count)
    started = time.perf_counter()
    for _ in repetitions:
        call()
    return (time.perf_counter() - started) / count


if __name__ == "__main__":
    main()
