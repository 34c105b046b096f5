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
from pathlib import Path

LIST = Path(__file__).resolve().parents[2] / "docs" / "array_api.md"


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
    environment = {
        **os.environ,
        "ARRAY_API_TESTS_MODULE": "frazil.array_api",
        "ARRAY_API_TESTS_VERSION": "2024.12",
    }
    command = [sys.executable, "-W", "ignore", "-m", "pytest", "-q", "-rA", "--tb=no"]
    command += ["-p", "no:cacheprovider", "--disable-deadline"]
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
