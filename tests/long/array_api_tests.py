"""The official tests of the array API standard on ``frazil.array_api``, from a checkout of these.

The checkout has its submodule ``array-api``; nothing of it belongs to this project. Needs the
packages pytest-json-report and ndindex, too. What fails although it is not on the list of
docs/array_api.md is printed, and what is on the list although it passes.

    python tests/long/array_api_tests.py ~/array-api-tests --examples 100
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LIST = Path(__file__).resolve().parents[2] / "docs" / "array_api.md"
# The tests ask for the dtype of a complex number before they learn that there is none.
MODULE = """
import numpy as np
import frazil.array_api
from frazil.array_api import *
from frazil.array_api import __array_api_version__, __array_namespace_info__


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    if isinstance(obj, complex):
        return np.asarray(obj)
    return frazil.array_api.asarray(obj, dtype=dtype, device=device, copy=copy)
"""


def expected_failures():
    """How the names of tests that are known to fail begin: the first cell of each row."""
    rows = re.findall(r"^\| `(test_[^`]+)` \|", LIST.read_text(), flags=re.M)
    return [row.replace("\\|", "|") for row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=Path, help="the source of array-api-tests")
    parser.add_argument("--examples", type=int, default=20, help="the most examples for a test")
    parser.add_argument("--only", default="", help="an expression for pytest's -k")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "frazil_without_complex.py").write_text(MODULE)
        environment = {
            **os.environ,
            "PYTHONPATH": f"{folder}:{os.environ.get('PYTHONPATH', '')}",
            "ARRAY_API_TESTS_MODULE": "frazil_without_complex",
            "ARRAY_API_TESTS_SKIP_DTYPES": "complex64,complex128",
            "ARRAY_API_TESTS_VERSION": "2024.12",
        }
        command = [sys.executable, "-W", "ignore", "-m", "pytest", "-q", "-rA", "--tb=no"]
        command += ["-p", "no:cacheprovider", "--disable-deadline", "--disable-extension", "fft"]
        command += ["--max-examples", str(given.examples), "-k", given.only, "array_api_tests"]
        done = subprocess.run(
            command, cwd=given.checkout, env=environment, capture_output=True, text=True
        )
    outcomes = re.findall(r"^(PASSED|FAILED|ERROR) \S+::(.*?)(?: - .*)?$", done.stdout, flags=re.M)
    known = expected_failures()
    failed = [name for outcome, name in outcomes if outcome != "PASSED"]
    unknown = [name for name in failed if not any(name.startswith(row) for row in known)]
    idle = [row for row in known if not any(name.startswith(row) for name in failed)]
    print(done.stdout.strip().splitlines()[-1])
    for name in unknown:
        print(f"fails, and is not on the list: {name}")
    for row in idle:
        print(f"passes, and is on the list: {row}")
    return bool(unknown) or not outcomes


if __name__ == "__main__":
    sys.exit(main())
