"""Models of PyMC's, their density and gradient, in frazil's mode beside one of PyTensor's.

For each model a fresh process with empty caches compiles both functions and calls them in turns, on
one raveled vector as samplers do. Times are of the processor, those of child processes included.
Prints a row for each model, and the medians and the worst ratios at the end. The models are those
of the tests.

    python benches/pymc_models.py --models eight_schools radon --against FAST_RUN --json out.json
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

MODELS = Path(__file__).resolve().parent.parent / "tests" / "interop"
ROUNDS = 30


def processor_time():
    """Seconds of this process and of those that it started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime


def measure(name, against):
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
    functions, found = {}, {"model": name}
    for who, mode in (("frazil", "FRAZIL"), ("pytensor", against)):
        began = processor_time()
        made = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
        made.set_extra_values({})
        made(point)
        found[f"{who}_compile"] = processor_time() - began
        functions[who] = made._pytensor_function
    found["performed"] = list(functions["frazil"].maker.linker.compiled.performed)
    own, theirs = (f(point.data) for f in functions.values())
    found["agree"] = all(
        np.allclose(a, b, rtol=1e-10, atol=1e-11, equal_nan=True)
        for a, b in zip(own, theirs, strict=True)
    )
    functions["bare"] = door.compiled_function(functions["frazil"])
    times = {who: [] for who in functions}
    calls = {who: max(1, int(2e-3 / timed(f, point.data, 3))) for who, f in functions.items()}
    for _ in range(ROUNDS):
        for who, f in functions.items():
            times[who].append(timed(f, point.data, calls[who]))
    found |= {f"{who}_call": min(own) for who, own in times.items()}
    return found


def timed(f, value, calls):
    """Seconds of the processor for a call, of so many."""
    began = time.process_time()
    for _ in range(calls):
        f(value)
    return (time.process_time() - began) / calls


def run_apart(name, against):
    """What a fresh process with empty caches measures."""
    with tempfile.TemporaryDirectory() as folder:
        flags = os.environ.get("PYTENSOR_FLAGS", "")
        environment = {
            **os.environ,
            "FRAZIL_CACHE_DIR": f"{folder}/frazil",
            "NUMBA_CACHE_DIR": f"{folder}/numba",
            "PYTENSOR_FLAGS": f"{flags},base_compiledir={folder}/pytensor".strip(","),
        }
        command = [sys.executable, __file__, "--apart", name, "--against", against]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            return {"model": name, "error": done.stderr.strip().splitlines()[-1]}
        return json.loads(done.stdout.splitlines()[-1])


def shown(found):
    if "error" in found:
        return f"{found['model']:30} {found['error']}"
    compiled = found["frazil_compile"] / found["pytensor_compile"]
    called = found["frazil_call"] / found["pytensor_call"]
    return (
        f"{found['model']:30} {found['frazil_compile']:8.2f} {found['pytensor_compile']:8.2f} "
        f"{compiled:7.3f} {1e6 * found['bare_call']:9.1f} {1e6 * found['frazil_call']:9.1f} "
        f"{1e6 * found['pytensor_call']:9.1f} {called:7.2f} {'' if found['agree'] else 'DIFFER'} "
        f"{' '.join(found['performed'])}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", nargs="*", help="names of models; all of them by default")
    parser.add_argument("--against", default="FAST_RUN", help="the mode of PyTensor's")
    parser.add_argument("--json", type=Path, help="a file for the numbers")
    parser.add_argument("--apart", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.apart:
        print(json.dumps(measure(given.apart, given.against)))
        return
    names = given.models
    if not names:
        sys.path.insert(0, str(MODELS))
        from pymc_models import MODELS as MADE

        names = list(MADE)
    print(f"{'':30} compile: seconds           call: microseconds")
    print(f"{'model':30} {'frazil':>8} {'theirs':>8} {'ratio':>7} ", end="")
    print(f"{'bare':>9} {'frazil':>9} {'theirs':>9} {'ratio':>7}")
    rows = []
    for name in names:
        rows.append(run_apart(name, given.against))
        print(shown(rows[-1]), flush=True)
    whole = [row for row in rows if "error" not in row]
    for what in ("compile", "call") if whole else ():
        ratios = [row[f"frazil_{what}"] / row[f"pytensor_{what}"] for row in whole]
        print(f"{what}: median {statistics.median(ratios):.3f}, worst {max(ratios):.3f}")
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
