"""Files for a moment: gone afterwards, and after a process that was killed."""

import os
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from frazil.link.toolchain import scratch
from frazil.link.toolchain.scratch import scratch_path


@pytest.fixture(autouse=True)
def own_folder(monkeypatch, tmp_path):
    """A temporary directory for each test, as a new process finds it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    scratch._sweep.cache_clear()
    yield
    scratch._sweep.cache_clear()


HOLDING = """
import sys
from frazil.link.toolchain.scratch import scratch_path
with scratch_path("some.so") as path:
    open(path, "w").close()
    print("ready", flush=True)
    sys.stdin.read()
"""


def holding(folder):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDING],
        env={**os.environ, "TMPDIR": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"ready\n"
    return process


def dated(folder, seconds):
    for name in os.listdir(folder):
        os.utime(folder / name, (time.time() - seconds,) * 2)


@pytest.mark.parametrize("age", [3600, -3600])
def test_what_a_killed_process_left_is_removed_and_what_is_in_use_is_not(tmp_path, age):
    with holding(tmp_path) as killed, holding(tmp_path) as alive:
        assert len(os.listdir(tmp_path)) == 2
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        dated(tmp_path, age)
        with scratch_path("mine.so"):
            assert len(os.listdir(tmp_path)) == 2
        assert len(os.listdir(tmp_path)) == 1
        alive.stdin.close()
        alive.wait()
    assert os.listdir(tmp_path) == []


def test_what_is_not_frazils_stays(tmp_path):
    (tmp_path / "frazil-kernels-notes").mkdir()
    (tmp_path / "frazil-kernels-notes" / "important").write_text("mine")
    (tmp_path / "frazil-kernels-file").write_text("mine")
    (tmp_path / "other").mkdir()
    (tmp_path / "frazil-kernels-empty").mkdir()
    dated(tmp_path, 3600)
    with scratch_path("some.so"):
        pass
    assert sorted(os.listdir(tmp_path)) == ["frazil-kernels-file", "frazil-kernels-notes", "other"]
    assert os.listdir(tmp_path / "frazil-kernels-notes") == ["important"]


def fail_with_a_file():
    with scratch_path("some.so") as path:
        open(path, "w").close()
        raise ZeroDivisionError


def test_a_path_is_gone_after_an_error(tmp_path):
    with pytest.raises(ZeroDivisionError):
        fail_with_a_file()
    assert os.listdir(tmp_path) == []
