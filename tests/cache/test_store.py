"""The store: entries come back whole or not at all, whatever happens to files and writers."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frazil.cache import entry
from frazil.cache.store import Store

LIMIT = 1_000_000


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path, LIMIT)


def file_of(store):
    [stored] = store.entries()
    return stored.path


def test_what_is_written_is_read(store):
    for content in (b"", b"x", os.urandom(10_000)):
        store.write("key", content)
        assert store.read("key") == content
    assert store.read("other") is None


def test_cut_at_any_byte_an_entry_is_gone(store):
    store.write("key", b"some content")
    path = file_of(store)
    whole = path.read_bytes()
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        assert store.read("key") is None
    path.write_bytes(whole + b"x")
    assert store.read("key") is None
    store.write("key", b"new")
    assert store.read("key") == b"new"


def test_with_any_bit_flipped_an_entry_is_gone(store):
    store.write("key", b"content")
    path = file_of(store)
    whole = path.read_bytes()
    for at in range(8 * len(whole)):
        altered = bytearray(whole)
        altered[at // 8] ^= 1 << at % 8
        path.write_bytes(altered)
        assert store.read("key") is None


def test_what_is_no_file_of_ours_is_not_read(store, tmp_path):
    store.write("key", b"content")
    path = file_of(store)
    whole = path.read_bytes()
    for mode in (0o620, 0o602, 0o666):
        path.chmod(mode)
        assert store.read("key") is None
    path.chmod(0o600)
    assert store.read("key") == b"content"

    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(whole)
    path.unlink()
    path.symlink_to(elsewhere)
    assert store.read("key") is None
    path.unlink()
    os.mkfifo(path)
    assert store.read("key") is None  # and does not wait for a writer
    path.unlink()
    path.mkdir()
    before = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else None
    for _ in range(5):
        assert store.read("key") is None
        store.write("key", b"content")  # cannot replace a folder
    if before is not None:
        assert len(os.listdir("/proc/self/fd")) == before
    assert not [name for name in os.listdir(tmp_path) if name.startswith("unfinished")]


def test_a_file_of_another_user_is_not_read(store, monkeypatch):
    store.write("key", b"content")
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    assert store.read("key") is None


def test_the_entries_used_longest_ago_are_evicted_first(tmp_path):
    store = Store(tmp_path, 10_000)
    for at in range(8):
        store.write(f"key{at}", bytes(1000))
        os.utime(tmp_path / f"key{at}.entry", (1000 + at, 1000 + at))
    assert store.read("key0") is not None  # used now
    store.write("large", bytes(3000))
    left = {stored.path.stem for stored in store.entries()}
    assert {"key0", "large"} <= left
    assert left == {"key0", "large"} | {f"key{at}" for at in range(9 - (len(left) - 1), 8)}
    assert sum(stored.size for stored in store.entries()) <= 8_000


def test_what_is_larger_than_the_cache_is_not_kept(tmp_path):
    store = Store(tmp_path, 1000)
    store.write("key", bytes(1000))
    assert store.entries() == []


@pytest.mark.parametrize("age", [0, 7200, -7200, -1e9], ids=["new", "old", "future", "far"])
@pytest.mark.parametrize("lock", ["works", "a folder lies in its place"])
def test_what_killed_writers_left_is_removed(tmp_path, store, age, lock):
    left = tmp_path / "unfinished-left"
    left.write_bytes(b"half")
    os.utime(left, (time.time() - age,) * 2)
    if lock != "works":
        (tmp_path / "ledger").mkdir()
    store.write("key", b"content")
    # Nobody writes while the lock is held; without one, what is young may be another's.
    assert left.exists() == (lock != "works" and age == 0)
    assert store.read("key") == b"content"


def test_only_the_caches_own_files_are_cleared(tmp_path, store):
    store.write("key", b"content")
    (tmp_path / "mine").write_bytes(b"not the cache's")
    (tmp_path / "unfinished-left").write_bytes(b"half")
    assert store.clear() == 1
    assert sorted(os.listdir(tmp_path)) == ["ledger", "mine"]
    store.write("key", b"content")
    assert store.read("key") == b"content"


WRITER = """
import sys
from pathlib import Path
from frazil.cache.store import Store

store = Store(Path(sys.argv[1]), 10**9)
print("ready", flush=True)
at = 0
while True:
    at += 1
    store.write("key", bytes([at % 256]) * 3_000_000)
"""


def test_a_writer_killed_at_any_time_leaves_nothing_torn(store):
    store = Store(store.path, 10**9)
    store.write("key", bytes(3_000_000))
    for delay in (0.0, 0.003, 0.01, 0.02, 0.04, 0.08):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(store.path)], stdout=subprocess.PIPE
        )
        with process:
            assert process.stdout.readline() == b"ready\n"
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
        content = store.read("key")
        assert content is not None
        assert content == content[:1] * 3_000_000
    # The next writer removes what they left, at once.
    store.write("other", b"content")
    assert sorted(os.listdir(store.path)) == ["key.entry", "ledger", "other.entry"]


def hammer(arguments):
    """Write and read one key all the time; the wrong contents that were read."""
    path, number = arguments
    store = Store(path, LIMIT)
    wrong = []
    for at in range(100):
        store.write("key", bytes([number]) * 10_000)
        store.write(f"key{number}-{at}", bytes(50_000))
        content = store.read("key")
        if content is not None and content != content[:1] * 10_000:
            wrong.append(content)
    return wrong


def size_of(folder):
    """The bytes of all files in a folder, unfinished ones too."""
    total = 0
    for file in os.scandir(folder):
        with contextlib.suppress(FileNotFoundError):
            total += file.stat().st_size
    return total


def test_eight_processes_at_once(store):
    with ProcessPoolExecutor(8) as pool:
        running = [pool.submit(hammer, (store.path, number)) for number in range(8)]
        largest = 0
        while not all(one.done() for one in running):
            largest = max(largest, size_of(store.path))
            time.sleep(0.001)
    assert [one.result() for one in running] == [[]] * 8
    assert LIMIT / 2 < largest <= LIMIT
    assert store.entries()
    assert not [name for name in os.listdir(store.path) if name.startswith("unfinished")]


def test_a_writer_does_not_wait_for_one_that_stands_still(tmp_path, monkeypatch):
    monkeypatch.setattr("frazil.cache.store._PATIENCE", 0.01)
    store = Store(tmp_path, LIMIT)
    store.write("key", b"old")
    with store._ledger():
        store.write("key", b"new")
    assert store.read("key") == b"old"
    store.write("key", b"new")
    assert store.read("key") == b"new"


FULL = """
import os
import resource
import sys
from pathlib import Path
from frazil.cache.store import Store

folder, how = sys.argv[1:]
store = Store(Path(folder), 10**9)
store.write("key", b"old")
if how == "limit":
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
store.write("small", bytes(1000))
store.write("key", bytes(200_000))
assert store.read("key") == b"old"
assert store.read("small") == bytes(1000)
left = ["key.entry", "ledger", "small.entry"]
assert sorted(os.listdir(folder)) == left, os.listdir(folder)
"""

MOUNTED = ["unshare", "--mount", "--map-root-user", "sh", "-c"]


def can_mount():
    """Whether a small disk can be made here; many containers do not let one."""
    if shutil.which("unshare") is None:
        return False
    script = "mount -t tmpfs tmpfs /mnt"
    return subprocess.run([*MOUNTED, script], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("how", ["limit", *(["disk"] if can_mount() else [])])
def test_a_disk_that_is_full_keeps_what_it_has(tmp_path, how):
    command = [sys.executable, "-c", FULL, str(tmp_path), how]
    if how == "disk":
        script = f'mount -t tmpfs -o size=64k,mode=700 tmpfs "{tmp_path}" && "$@"'
        command = [*MOUNTED, script, "sh", *command]
    subprocess.run(command, check=True)


def test_a_folder_that_cannot_be_written_to_or_is_gone_is_a_miss(tmp_path):
    store = Store(tmp_path / "gone", LIMIT)
    store.write("key", b"content")
    assert store.read("key") is None
    assert store.entries() == []
    assert store.clear() == 0


@given(st.lists(st.binary(max_size=50), max_size=5))
def test_parts_are_told_apart(parts):
    assert entry.unpack(entry.pack(parts)) == parts


@given(st.binary(max_size=60))
def test_bytes_that_are_no_parts_are_refused(content):
    try:
        parts = entry.unpack(content)
    except ValueError:
        return
    assert entry.pack(parts) == content
