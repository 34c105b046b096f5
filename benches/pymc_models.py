"""Models of PyMC's, their density and gradient, in frazil's mode beside those of PyTensor's.

For each model a fresh process with empty caches compiles it in every mode and calls the functions
in turns, on one raveled vector as samplers do. What differs at one of three points by more than ten
digits, or in NaN and infinity, is told. Times are of the processor, with one thread; those
of a compilation have the child processes in them, and the first call. A compilation that takes
longer than the limit is given up. Prints a row for each model, and the medians and the worst ratios
at the end. The models are those of the tests.

    python benches/pymc_models.py --models eight_schools radon --against FAST_RUN NUMBA
"""

import argparse
import json
import signal
import statistics
import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

from apart import processor_time, run_apart

MODELS = Path(__file__).resolve().parent.parent / "tests" / "interop"
ROUNDS = 30
POINTS = (0.0, 0.3, 1.0)  # how far from the initial one densities and gradients are compared


class TooLong(BaseException):
    """A compilation is given up; no rewriter catches it as an error of its own."""


@contextmanager
def bounded(seconds):
    """Give up what takes longer, even where a peer makes another error of that."""
    late = []

    def give_up(number, frame):
        late.append(number)
        raise TooLong

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield late
    except BaseException:
        if not late:
            raise
    finally:
        signal.alarm(0)


def measure(name, against, limit):
    """Times of one model, in this process."""
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(MODELS))
    import numpy as np
    from pymc.blocking import DictToArrayBijection

    import frazil.interop.pytensor as door
    from pymc_models import MODELS as MADE

    model = MADE[name]()
    model.logp(), model.dlogp()  # what PyMC does once is nobody's
    start = model.initial_point()
    point = DictToArrayBijection.map({x.name: start[x.name] for x in model.continuous_value_vars})
    functions, found = {}, {"model": name, "compile": {}, "call": {}, "differ": []}
    for mode in ("FRAZIL", *against):
        began = processor_time()
        with bounded(limit) as late:
            made = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
            made.set_extra_values({})
            made(point)
        if not late:
            found["compile"][mode] = processor_time() - began
            functions[mode] = made._pytensor_function
    found["performed"] = list(functions["FRAZIL"].maker.linker.compiled.performed)
    random = np.random.default_rng(0)
    for scale in POINTS:
        moved = point.data + scale * random.normal(size=point.data.shape)
        own = functions["FRAZIL"](moved)
        for mode in sorted(functions.keys() - {"FRAZIL"} - set(found["differ"])):
            if not all(
                np.allclose(a, b, rtol=1e-10, atol=1e-11, equal_nan=True)
                for a, b in zip(own, functions[mode](moved), strict=True)
            ):
                found["differ"].append(mode)
    bare = door.compiled_function(functions["FRAZIL"])
    shared = [place.storage[0] for place in functions["FRAZIL"].input_storage[1:]]
    functions["bare"] = (lambda moved: bare(moved, *shared)) if shared else bare
    times = {who: [] for who in functions}
    calls = {who: max(1, int(2e-3 / timed(f, point.data, 3))) for who, f in functions.items()}
    for _ in range(ROUNDS):
        for who, f in functions.items():
            times[who].append(timed(f, point.data, calls[who]))
    found["call"] = {who: min(each) for who, each in times.items()}
    return found


def timed(f, value, calls):
    """Seconds of the processor for a call, of so many."""
    began = time.process_time()
    for _ in range(calls):
        f(value)
    return (time.process_time() - began) / calls


def measured_apart(name, against, limit):
    """What a fresh process with empty caches measures."""
    given = ("--apart", name, "--limit", str(limit), "--against", *against)
    done = run_apart(__file__, *given)
    if done.returncode:
        return {"model": name, "error": done.stderr.strip().splitlines()[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def ratio(found, what, mode):
    """Frazil's time over that of another mode; None where that gave up."""
    theirs = found[what].get(mode)
    return None if theirs is None else found[what]["FRAZIL"] / theirs


def shown(found, against):
    """The row of a model."""
    row = f"{found['model']:30}"
    if "error" in found:
        return f"{row} {found['error']}"
    compiled, called = found["compile"], found["call"]
    row += f"{compiled['FRAZIL']:8.2f}{1e6 * called['bare']:9.1f}{1e6 * called['FRAZIL']:9.1f}"
    for mode in against:
        if mode not in compiled:
            row += f"{'-':>8}{'-':>8}{'-':>9}{'-':>7}"
            continue
        row += f"{compiled[mode]:8.2f}{ratio(found, 'compile', mode):8.3f}"
        row += f"{1e6 * called[mode]:9.1f}{ratio(found, 'call', mode):7.2f}"
    row += "".join(f" differs from {mode}" for mode in found["differ"])
    return f"{row} {' '.join(found['performed'])}".rstrip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", nargs="*", help="names of models; all of them by default")
    parser.add_argument("--against", nargs="*", default=["FAST_RUN"], help="modes of PyTensor's")
    parser.add_argument("--limit", type=int, default=300, help="seconds for a compilation")
    parser.add_argument("--json", type=Path, help="a file for the numbers")
    parser.add_argument("--apart", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.apart:
        print(json.dumps(measure(given.apart, given.against, given.limit)))
        return
    names = given.models
    if not names:
        sys.path.insert(0, str(MODELS))
        from pymc_models import MODELS as MADE

        names = list(MADE)
    print(f"{'seconds, microseconds':30}{'FRAZIL':>8}{'bare':>9}{'call':>9}", end="")
    print("".join(f"{mode:>8}{'ratio':>8}{'call':>9}{'ratio':>7}" for mode in given.against))
    rows = []
    for name in names:
        rows.append(measured_apart(name, given.against, given.limit))
        print(shown(rows[-1], given.against), flush=True)
        if given.json:
            given.json.write_text(json.dumps(rows, indent=1))
    whole = [row for row in rows if "error" not in row]
    for mode in given.against:
        for what in ("compile", "call"):
            ratios = [r for row in whole if (r := ratio(row, what, mode)) is not None]
            if ratios:
                print(
                    f"{what} beside {mode}, {len(ratios)} models: "
                    f"median {statistics.median(ratios):.3f}, worst {max(ratios):.3f}"
                )


if __name__ == "__main__":
    main()
