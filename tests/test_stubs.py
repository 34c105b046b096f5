"""The stub of the extension module says what the extension module has."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_stub_agrees_with_the_extension():
    command = [sys.executable, "-m", "mypy.stubtest", "frazil._core"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
