"""The examples run from a shell, in a directory of the user's, and say what they should."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def run(name, directory):
    """What an example prints."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def difference(printed):
    found = re.search(r"difference .* ([\d.e+-]+)$", printed, re.MULTILINE)
    assert found is not None
    return float(found[1])


def test_logistic_regression(tmp_path):
    printed = run("logistic_regression.py", tmp_path)
    assert "Elemwise" in printed or "softplus" in printed
    accuracy = re.search(r"accuracy .* ([\d.]+)$", printed, re.MULTILINE)
    assert accuracy is not None
    assert float(accuracy[1]) > 0.98
    assert difference(printed) < 1e-4


def test_garch(tmp_path):
    assert difference(run("garch.py", tmp_path)) < 1e-6


def test_kalman(tmp_path):
    printed = run("kalman.py", tmp_path)
    assert difference(printed) < 0.02
    # What Durbin and Koopman's book gives for this model of these data.
    noise = re.search(r"noise +([\d.]+)", printed)
    drift = re.search(r"drift +([\d.]+)", printed)
    assert noise is not None
    assert drift is not None
    assert abs(float(noise[1]) - 15099) < 2
    assert abs(float(drift[1]) - 1469) < 1


def test_eight_schools(tmp_path):
    printed = run("eight_schools.py", tmp_path)
    mean, spread = map(float, re.findall(r"by? ([\d.]+)(?:,|$)", printed.replace("is", "by"), re.M))
    # Long chains of other samplers say 4.4 and 3.6.
    assert abs(mean - 4.4) < 0.6
    assert abs(spread - 3.6) < 0.6


def test_a_sampler_in_native_code(tmp_path):
    """Two threads call a density by its address; no Python runs while they draw."""
    printed = run("sample_by_address.py", tmp_path)
    means, taken = (
        [float(number) for number in re.findall(r"[\d.]+", printed.split(what)[1].split("\n")[0])]
        for what in ("mean of the effects:", "proposals taken:")
    )
    assert len(means) == len(taken) == 2
    # Long chains of other samplers say 4.4.
    assert all(abs(mean - 4.4) < 0.6 for mean in means)
    assert all(share > 0.5 for share in taken)


BARE = """
import atexit, runpy, sys
sys.modules["numba"] = sys.modules["llvmlite"] = None
from frazil.link.toolchain.count import compiled_kernels
atexit.register(lambda: print("made by", *compiled_kernels()))
runpy.run_path(sys.argv.pop(), run_name="__main__")
"""


@pytest.mark.parametrize(
    ("name", "most"), [("logistic_regression", 1e-4), ("garch", 1e-6), ("kalman", 0.02)]
)
def test_a_machine_with_nothing_but_the_wheel_runs_the_demos(name, most, tmp_path):
    """Neither a compiler nor Numba: the same results, by native code of the extension alone."""
    kept = {name: value for name, value in os.environ.items() if name not in ("CC", "PATH")}
    done = subprocess.run(
        [sys.executable, "-c", BARE, str(EXAMPLES / f"{name}.py")],
        cwd=tmp_path,
        env={**kept, "PATH": str(tmp_path), "FRAZIL_CACHE": "0"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert difference(done.stdout) < most
    assert done.stdout.endswith("made by cranelift\n")
