"""coverage.py counts the lines of a traced run as those of plain Python, by each of its cores."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CORES = ["pytrace"]
if importlib.util.find_spec("coverage.tracer") is not None:
    CORES.append("ctrace")  # written in C, which some builds of coverage.py lack
if sys.version_info >= (3, 12):
    CORES.append("sysmon")
CLASSES = {"pytrace": "PyTracer", "ctrace": "CTracer", "sysmon": "SysMonitor"}


@pytest.mark.parametrize("core", CORES)
def test_lines_of_a_traced_run_are_counted(core):
    run = Path(__file__).with_name("covered_run.py")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(run)],
        env={**os.environ, "COVERAGE_CORE": core},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["cores"] == [CLASSES[core]]
    (first, some), (second, others) = told["plain"]
    assert set(others) - set(some)
    assert set(some) - set(others)
    assert told["traced"] == told["plain"]
    assert told["compiled"] == [[first, []], [second, []]]
    assert told["calls"] == [2, 2, 0]
