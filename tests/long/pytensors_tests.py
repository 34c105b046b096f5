"""PyTensor's own tests with frazil's mode as the default, from a checkout of PyTensor's source.

The checkout must be of the version that is installed; nothing of it belongs to this project. Each
file runs in a process of its own. Prints what passed and what failed, and the errors by their kind.

    python tests/long/pytensors_tests.py ~/pytensor tests/tensor/test_elemwise.py ...
"""

import argparse
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

FILES = (
    "tests/tensor/test_elemwise.py",
    "tests/tensor/test_subtensor.py",
    "tests/tensor/test_basic.py",
    "tests/tensor/test_math.py",
    "tests/tensor/test_extra_ops.py",
    "tests/tensor/test_shape.py",
    "tests/tensor/test_sort.py",
    "tests/tensor/test_blockwise.py",
    "tests/tensor/test_nlinalg.py",
    "tests/tensor/test_slinalg.py",
    "tests/tensor/test_special.py",
    "tests/tensor/test_math_scipy.py",
    "tests/tensor/random/test_basic.py",
    "tests/scan/test_basic.py",
    "tests/test_ifelse.py",
    "tests/test_raise_op.py",
)
PLUGIN = """
import pytensor
import frazil.interop.pytensor
pytensor.config.mode = "FRAZIL"
"""


def run(checkout, file, folder, seconds):
    """What a file's tests print."""
    (folder / "frazil_is_default.py").write_text(PLUGIN)
    environment = {**os.environ, "PYTHONPATH": f"{folder}:{os.environ.get('PYTHONPATH', '')}"}
    environment["PYTENSOR_FLAGS"] = "cxx="
    command = [sys.executable, "-W", "ignore", "-m", "pytest", "-p", "frazil_is_default", "-q"]
    command += ["-p", "no:cacheprovider", "-rfE", "--tb=no", "-o", "addopts=", str(file)]
    try:
        done = subprocess.run(
            command, cwd=checkout, env=environment, capture_output=True, text=True, timeout=seconds
        )
    except subprocess.TimeoutExpired as error:
        return (error.stdout or b"").decode() + "\nFAILED all - TimeoutExpired"
    return done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=Path, help="PyTensor's source")
    parser.add_argument("files", nargs="*", default=FILES, help="test files in it")
    parser.add_argument("--log", type=Path, default=Path("pytensors_tests.txt"))
    parser.add_argument("--seconds", type=int, default=3600, help="the most for a file")
    given = parser.parse_args()
    counts, kinds = Counter(), Counter()
    folder = Path(given.log).resolve().parent
    with given.log.open("w") as log:
        for file in given.files:
            printed = run(given.checkout, file, folder, given.seconds)
            log.write(f"==== {file}\n{printed}\n")
            log.flush()
            lines = printed.strip().splitlines()
            own = Counter({word: int(n) for n, word in re.findall(r"(\d+) (\w+)", lines[-1])})
            own = Counter({word: own[word] for word in ("passed", "failed", "errors", "skipped")})
            counts += own
            failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
            kinds.update(line.partition(" - ")[2].partition(":")[0] for line in failed)
            print(f"{file}: {dict(own)}", flush=True)
    print(f"all: {dict(counts)}")
    for kind, count in kinds.most_common():
        print(f"{count:6} {kind}")


if __name__ == "__main__":
    main()
