"""Frazil, PyTensor, JAX and NumPy on the same work, in one run.

    python benches/compare.py --threads 1 --workloads logistic chain300

What is measured, for each workload and each peer that is installed:

build
    writing the expression, gradient included (JAX: tracing it).
cold
    from the expression to its first result, in a fresh process with empty caches. Starting up
    (imports, what a peer sets up once per process or per cache directory) comes before it and is
    not counted.
again
    the same in a second process that finds the caches which the first one left; JAX is asked to
    keep one.
call
    one call with NumPy arrays that returns arrays. PyTensor is called with ``trust_input``; JAX is
    called with device arrays and with NumPy arrays, the faster counts, and its results are waited
    for.

limit
    a peer that only does what no compiler can avoid: moving each array through memory once, or the
    calls of BLAS and LAPACK alone.

Each peer holds a process of its own on the same CPUs. They are timed in turns, a short batch of
calls each after as many that are not timed, so that noise meets all alike; a ratio is the median of
the ratios within one turn.
Before anything is timed, every peer's results are compared with NumPy's.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import queue
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from peers import PEERS
from workloads import WORKLOADS

HERE = Path(__file__).resolve().parent
START_SECONDS = 300.0
LONG_SECONDS = 3.0
OURS = "frazil-c"
WITHOUT_COMPILER = "frazil-cranelift"
LIMIT = "limit"


class Late(Exception):
    """A worker did not answer in time."""


class Failed(Exception):
    """A worker ended before it answered."""


class Missing(Exception):
    """The peer is not installed."""


@dataclass
class Result:
    """What one peer did on one workload; seconds, or None where it was not reached."""

    workload: str
    peer: str
    version: str | None = None
    build: float | None = None
    cold: float | None = None
    again: float | None = None
    calls: list[float] = field(default_factory=list)
    note: str | None = None

    @property
    def call_min(self) -> float | None:
        return min(self.calls, default=None)

    @property
    def call_median(self) -> float | None:
        return statistics.median(self.calls) if self.calls else None


class Worker:
    """A process that holds one peer and one workload."""

    def __init__(
        self, peer: str, workload: str, cpus: Sequence[int], caches: Path, results: Path
    ) -> None:
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115  # closed in `close`
        self.process = subprocess.Popen(
            [
                sys.executable,
                str(HERE / "worker.py"),
                peer,
                workload,
                ",".join(map(str, cpus)),
                str(results),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env=_environment(caches, len(cpus)),
            start_new_session=True,  # so that a compiler it runs ends with it
        )
        self.answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.answers.put(json.loads(line))
        self.answers.put(None)

    def answer(self, event: str, timeout: float) -> dict[str, Any]:
        """Return the next answer, which must be ``event``."""
        try:
            answer = self.answers.get(timeout=timeout)
        except queue.Empty:
            raise Late(f"> {timeout:g} s") from None
        if answer is None:
            self.process.wait()
            self.log.seek(0)
            lines = self.log.read().strip().splitlines()
            raise Failed(lines[-1] if lines else f"ended with status {self.process.returncode}")
        if answer["event"] == "missing":
            raise Missing(answer["reason"])
        assert answer["event"] == event, answer
        return answer

    def time_calls(self, count: int) -> float:
        """Return the mean seconds of ``count`` calls."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        return float(self.answer("calls", timeout=60)["seconds"])

    def end(self, timeout: float) -> None:
        """Let the process end by itself: what it writes to its caches is whole then."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Late(f"> {timeout:g} s to end") from None
        finally:
            self.close()

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdin, self.log):
            if stream is not None:
                stream.close()


def main() -> None:
    options = _options()
    cpus = _cpus(options.threads)
    for peer in options.peers:
        _warm_up(peer, options.timeout, cpus)
    results: list[Result] = []
    for workload in options.workloads:
        measured = _measure(workload, options, cpus)
        _print_workload(workload, measured)
        results += measured
    _print_ratios(results)
    missing = {result.peer: result.note for result in results if result.version is None}
    for peer, note in missing.items():
        print(f"not measured: {peer}: {note}")
    if options.json is not None:
        document = {
            "machine": _machine(),
            "threads": len(cpus),
            "rounds": options.rounds,
            "results": [asdict(result) for result in results],
        }
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    if any(result.note is not None and "differs" in result.note for result in results):
        sys.exit("some peers disagree: see the notes above")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS), metavar="PEER")
    parser.add_argument(
        "--workloads", nargs="+", choices=WORKLOADS, default=list(WORKLOADS), metavar="WORKLOAD"
    )
    parser.add_argument("--threads", type=int, default=1, help="CPUs for every worker (1)")
    parser.add_argument("--rounds", type=int, default=25, help="turns that each peer gets (25)")
    parser.add_argument("--batch", type=float, default=0.02, help="seconds of calls a turn (0.02)")
    parser.add_argument("--timeout", type=float, default=60, help="limit of one compile (60 s)")
    parser.add_argument(
        "--compiles",
        type=int,
        default=3,
        help="how often to compile, unless it takes more than 3 s; the minimum counts (3)",
    )
    parser.add_argument("--json", type=Path, help="write the measurements to this file")
    return parser.parse_args()


def _measure(workload: str, options: argparse.Namespace, cpus: Sequence[int]) -> list[Result]:
    reference = WORKLOADS[workload].numpy(*WORKLOADS[workload].arguments())
    results = [
        Result(workload, peer)
        for peer in options.peers
        if peer != LIMIT or hasattr(WORKLOADS[workload], "limit")
    ]
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="frazil-bench-")))
        turns: list[tuple[Result, Worker, int]] = []
        for result in results:
            _progress(f"{workload}: {result.peer}")
            worker = _compile(result, directory, reference, options, cpus)
            if worker is not None:
                stack.callback(worker.close)
                seconds = float(worker.answer("ready", timeout=options.timeout)["seconds"])
                turns.append((result, worker, max(1, round(options.batch / seconds))))
        _progress(f"{workload}: calls")
        for _ in range(options.rounds):
            for result, worker, count in turns:
                result.calls.append(worker.time_calls(count))
        _progress("")
    return results


def _warm_up(peer: str, timeout: float, cpus: Sequence[int]) -> None:
    """Run ``peer`` once for nothing, so that its files are read from memory afterwards."""
    _progress(f"warming up: {peer}")
    with tempfile.TemporaryDirectory(prefix="frazil-bench-") as directory:
        caches = Path(directory)
        worker = Worker(peer, next(iter(WORKLOADS)), cpus, caches, caches / "outputs.npz")
        try:
            worker.answer("start", timeout=START_SECONDS)
            for event in ("build", "compile", "ready"):
                worker.answer(event, timeout=timeout)
        except (Late, Failed, Missing):
            pass  # said when it is measured
        finally:
            worker.close()


def _compile(
    result: Result,
    directory: Path,
    reference: Sequence[Any],
    options: argparse.Namespace,
    cpus: Sequence[int],
) -> Worker | None:
    """Fill in ``result``; return its last process, ready to be timed, or None."""
    worker: Worker | None = None
    cold: list[float] = []
    again: list[float] = []
    try:
        while _goes_on(cold, options.compiles):
            caches = directory / f"{result.peer}-{len(cold)}"
            caches.mkdir()
            worker = Worker(result.peer, result.workload, cpus, caches, caches / "outputs.npz")
            cold.append(_run_once(worker, result, options.timeout))
            worker.answer("ready", timeout=options.timeout)
            worker.end(options.timeout)
            if result.peer != LIMIT:
                with np.load(caches / "outputs.npz") as given:
                    result.note = difference([given[name] for name in given.files], reference)
            if result.note is not None:
                return None
        while _goes_on(again, options.compiles):
            if again and worker is not None:
                worker.close()
            worker = Worker(result.peer, result.workload, cpus, caches, caches / "outputs.npz")
            again.append(_run_once(worker, result, options.timeout))
    except (Late, Failed, Missing) as error:
        result.note = str(error)
        if worker is not None:
            worker.close()
        return None
    finally:
        result.cold, result.again = min(cold, default=None), min(again, default=None)
    return worker


def _goes_on(seconds: Sequence[float], compiles: int) -> bool:
    return not seconds or (len(seconds) < compiles and seconds[0] < LONG_SECONDS)


def _run_once(worker: Worker, result: Result, timeout: float) -> float:
    """Return the seconds from the expression to its first result."""
    result.version = worker.answer("start", timeout=START_SECONDS)["version"]
    build = float(worker.answer("build", timeout=timeout)["seconds"])
    result.build = build if result.build is None else min(result.build, build)
    return float(worker.answer("compile", timeout=timeout)["seconds"])


def difference(outputs: Sequence[Any], reference: Sequence[Any]) -> str | None:
    """Return where ``outputs`` differs from ``reference`` by more than rounding, or None."""
    if len(outputs) != len(reference):
        return f"differs from NumPy: {len(outputs)} outputs, not {len(reference)}"
    for position, (output, expected) in enumerate(zip(outputs, reference, strict=True)):
        if output.shape != np.shape(expected):
            return f"differs from NumPy: output {position} has shape {output.shape}"
        # Sums of many terms are compared on the scale of the result's largest element.
        scale = np.max(np.abs(expected), initial=0.0)
        error = np.max(np.abs(output - expected), initial=0.0)
        if not error <= 1e-9 * scale:
            return f"differs from NumPy: output {position} by {error:.3g} of {scale:.3g}"
    return None


def _environment(caches: Path, threads: int) -> dict[str, str]:
    """Return a worker's environment: caches in ``caches``, ``threads`` threads in every pool."""
    dropped = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    pools = ("OMP", "OPENBLAS", "MKL", "NUMBA", "NUMEXPR", "VECLIB_MAXIMUM")
    environment.update({f"{pool}_NUM_THREADS": str(threads) for pool in pools})
    environment["JAX_PLATFORMS"] = "cpu"
    environment["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'false' if threads == 1 else 'true'}"
    environment["PYTENSOR_FLAGS"] = f"base_compiledir={caches}/pytensor"
    environment["NUMBA_CACHE_DIR"] = f"{caches}/numba"
    environment["XDG_CACHE_HOME"] = f"{caches}/xdg"
    environment["JAX_COMPILATION_CACHE_DIR"] = f"{caches}/jax"
    environment["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    environment["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
    environment["FRAZIL_CACHE_DIR"] = f"{caches}/frazil"
    return environment


def _cpus(threads: int) -> list[int]:
    if hasattr(os, "sched_getaffinity"):
        available = sorted(os.sched_getaffinity(0))
    else:
        available = list(range(os.cpu_count() or 1))
    if not 1 <= threads <= len(available):
        sys.exit(f"--threads {threads}: this process may use {len(available)} CPUs")
    return available[:threads]


def _machine() -> dict[str, str]:
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return {
        "cpu": model,
        "cpus": str(os.cpu_count()),
        "system": platform.platform(),
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d"),
    }


def _print_workload(workload: str, results: Sequence[Result]) -> None:
    best = _best_peer(results)
    header = ["peer", "version", "build", "cold", "again", "call min", "call median"]
    if best is not None:
        header.append(f"/ {best.peer}")
    rows = []
    for result in results:
        if result.version is None:
            continue
        late = result.note or "-"
        row = [result.peer, result.version, shown(result.build)]
        row += [shown(result.cold, late), shown(result.again, late if result.cold else "-")]
        row += [shown(result.call_min), shown(result.call_median)]
        if best is not None:
            row.append(f"{ratio(result, best):.2f}" if result.calls else "-")
        rows.append(row)
    _print_table(workload, header, rows)


def _print_ratios(results: Sequence[Result]) -> None:
    """Print how frazil stands to the others: below 1 it is faster."""
    header = ["workload", "call", "numpy", "limit", "cold", "again"]
    rows = []
    colds: list[float] = []
    for workload in WORKLOADS:
        here = {result.peer: result for result in results if result.workload == workload}
        ours, others = here.get(OURS), [r for r in here.values() if _is_peer(r)]
        best = _best_peer(others)
        if ours is None or not ours.calls or best is None:
            continue
        row = [workload, f"{ratio(ours, best):.2f} of {best.peer}"]
        for name in ("numpy", LIMIT):
            other = here.get(name)
            row.append(f"{ratio(ours, other):.2f}" if other and other.calls else "-")
        compilers = [result for result in others if result.peer != "numpy"]
        for step in ("cold", "again"):
            own = getattr(ours, step)
            reached = [(getattr(r, step), r.peer) for r in compilers if getattr(r, step)]
            if not own or not reached:
                row.append("-")
                continue
            fastest, peer = min(reached)
            row.append(f"{own / fastest:.2f} of {peer}")
            if step == "cold":
                colds.append(own / fastest)
        rows.append(row)
    if rows:
        _print_table(f"{OURS} to the best other peer, to NumPy and to the limit", header, rows)
    if colds:
        print(f"geometric mean of the cold ratios: {statistics.geometric_mean(colds):.2f}")
    _print_without_compiler(results)


def _print_without_compiler(results: Sequence[Result]) -> None:
    """Print how the machine code that needs no compiler stands to C's."""
    rows, calls, colds = [], [], []
    for workload in WORKLOADS:
        here = {result.peer: result for result in results if result.workload == workload}
        ours, other = here.get(OURS), here.get(WITHOUT_COMPILER)
        if ours is None or other is None or not ours.calls or not other.calls:
            continue
        calls.append(ratio(other, ours))
        row = [workload, f"{calls[-1]:.2f}", "-"]
        if ours.cold and other.cold:
            colds.append(other.cold / ours.cold)
            row[2] = f"{colds[-1]:.2f}"
        rows.append(row)
    if rows:
        _print_table(f"{WITHOUT_COMPILER} to {OURS}", ["workload", "call", "cold"], rows)
    for name, ratios in (("call", calls), ("cold", colds)):
        if ratios:
            print(f"geometric mean of the {name} ratios: {statistics.geometric_mean(ratios):.2f}")


def _is_peer(result: Result) -> bool:
    return result.peer != LIMIT and not result.peer.startswith("frazil")


def _best_peer(results: Sequence[Result]) -> Result | None:
    others = [result for result in results if result.calls and _is_peer(result)]
    return min(others, key=lambda result: statistics.median(result.calls), default=None)


def ratio(result: Result, other: Result) -> float:
    """Return the median of the ratios within one turn."""
    pairs = zip(result.calls, other.calls, strict=True)
    return statistics.median(ours / theirs for ours, theirs in pairs)


def shown(seconds: float | None, absent: str = "-") -> str:
    if seconds is None:
        return absent
    if seconds >= 0.9995:
        return f"{seconds:.2f} s"
    if seconds >= 0.9995e-3:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds * 1e6:.3g} us"


def _print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    print(f"\n{title}")
    for row in (header, ["-" * width for width in widths], *rows):
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  ".join(cells).rstrip())


def _progress(text: str) -> None:
    """Show on a terminal what is being waited for."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
