"""The examples run from a shell, in a directory of the user's, and say what they should."""

import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def test_logistic_regression(tmp_path):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "logistic_regression.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "Elemwise" in done.stdout or "softplus" in done.stdout
    accuracy = re.search(r"accuracy .* ([\d.]+)$", done.stdout, re.MULTILINE)
    difference = re.search(r"difference .* ([\d.e+-]+)$", done.stdout, re.MULTILINE)
    assert accuracy is not None
    assert float(accuracy[1]) > 0.98
    assert difference is not None
    assert float(difference[1]) < 1e-4
