"""Where the cache is, and which folders are not trusted."""

import os
import subprocess
import sys
import warnings

import pytest

from frazil.cache import folder
from frazil.cache.store import find_store


@pytest.fixture(autouse=True)
def forget():
    """What was found out about folders, before and after each test."""
    folder.prepared.cache_clear()
    yield
    folder.prepared.cache_clear()


def use(monkeypatch, path):
    monkeypatch.setenv("FRAZIL_CACHE_DIR", str(path))


def test_a_folder_is_made_for_the_user_alone(monkeypatch, tmp_path):
    use(monkeypatch, tmp_path / "a" / "b")
    assert find_store().path == (tmp_path / "a" / "b").resolve()
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
def test_a_folder_that_others_write_to_is_not_used(monkeypatch, tmp_path, mode):
    place = tmp_path / "cache"
    place.mkdir()
    place.chmod(mode)
    use(monkeypatch, place)
    with pytest.warns(RuntimeWarning, match="others may write to it.*FRAZIL_CACHE_DIR"):
        assert find_store() is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find_store() is None  # said once


def test_nor_one_below_a_folder_that_others_write_to(monkeypatch, tmp_path):
    open_folder = tmp_path / "open"
    open_folder.mkdir()
    open_folder.chmod(0o777)
    use(monkeypatch, open_folder / "cache")
    with pytest.warns(RuntimeWarning, match="others may write to .*open"):
        assert find_store() is None
    folder.prepared.cache_clear()
    open_folder.chmod(0o1777)  # as /tmp
    assert find_store() is not None


def test_a_link_is_judged_by_where_it_leads(monkeypatch, tmp_path):
    bad = tmp_path / "bad"
    bad.mkdir()
    bad.chmod(0o777)
    (tmp_path / "link").symlink_to(bad)
    use(monkeypatch, tmp_path / "link")
    with pytest.warns(RuntimeWarning, match="others may write"):
        assert find_store() is None


def test_a_folder_of_another_user_is_not_used(monkeypatch, tmp_path):
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    use(monkeypatch, tmp_path)
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        assert find_store() is None


def test_nor_one_below_it(monkeypatch, tmp_path):
    place = tmp_path / "theirs" / "mine"
    place.mkdir(mode=0o700, parents=True)
    told = os.stat

    def stat(path, **options):
        status = list(told(path, **options))
        status[4] = 12345 if os.path.basename(path) == "theirs" else os.geteuid()
        return os.stat_result(status)

    monkeypatch.setattr(os, "stat", stat)
    with pytest.raises(folder.Untrusted, match="theirs belongs to another user"):
        folder.check(str(place))


def test_a_file_is_no_folder(monkeypatch, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    use(monkeypatch, tmp_path / "file")
    with pytest.warns(RuntimeWarning, match="does not use the cache"):
        assert find_store() is None


def test_a_folder_that_cannot_be_made_is_done_without(monkeypatch):
    use(monkeypatch, "/proc/frazil")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find_store() is None


def test_the_cache_can_be_turned_off(monkeypatch):
    assert find_store() is not None
    for word in ("0", "off", "OFF", "no", "false"):
        monkeypatch.setenv("FRAZIL_CACHE", word)
        assert find_store() is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [("", 2**30), ("1000", 1000), ("1.5k", 1536), ("2 MiB", 2**21), ("3GB", 3 * 2**30)],
)
def test_the_limit_is_a_size(monkeypatch, given, expected):
    monkeypatch.setenv("FRAZIL_CACHE_SIZE", given)
    assert folder.limit() == expected
    assert find_store().limit == expected


@pytest.mark.parametrize("given", ["much", "-1", "1T", "1e9"])
def test_a_limit_that_is_none_says_what_to_write_and_stops_nothing(monkeypatch, given):
    monkeypatch.setenv("FRAZIL_CACHE_SIZE", given)
    folder._warn_of_size.cache_clear()
    with pytest.warns(RuntimeWarning, match=r"number of bytes.*500M.*given") as told:
        assert find_store().limit == folder.limit() == folder.DEFAULT_LIMIT
    assert len(told) == 1


def test_a_limit_of_any_length_is_a_limit(monkeypatch):
    monkeypatch.setenv("FRAZIL_CACHE_SIZE", "9" * 400 + "G")
    assert find_store().limit >= 2**60


def test_the_default_follows_the_system(monkeypatch, tmp_path):
    monkeypatch.delenv("FRAZIL_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert folder.chosen() == str(tmp_path / "frazil")
        monkeypatch.setenv("XDG_CACHE_HOME", "relative")
        monkeypatch.setenv("HOME", "/home/somebody")
        assert folder.chosen() == "/home/somebody/.cache/frazil"


def command(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "frazil.cache", *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_shows_and_clears(monkeypatch, tmp_path):
    use(monkeypatch, tmp_path / "cache")
    store = find_store()
    store.write("one", bytes(2000))
    store.write("two", bytes(3000))
    shown = command("info")
    assert shown.returncode == 0
    assert "entries  2" in shown.stdout
    assert "4.93 KiB of 1 GiB" in shown.stdout
    assert str(store.path) in shown.stdout
    assert command("clear").stdout == f"removed 2 entries from {store.path}\n"
    assert "entries  0" in command("info").stdout


def test_the_command_says_why_there_is_no_cache(tmp_path):
    off = command("info", FRAZIL_CACHE="0")
    assert (off.returncode, off.stdout) == (1, "")
    assert "FRAZIL_CACHE" in off.stderr
    bad = tmp_path / "bad"
    bad.mkdir()
    bad.chmod(0o777)
    refused = command("clear", FRAZIL_CACHE_DIR=str(bad))
    assert refused.returncode == 1
    assert "others may write to it" in refused.stderr
    unclear = command("info", FRAZIL_CACHE_SIZE="much")
    assert unclear.returncode == 0
    assert "of 1 GiB" in unclear.stdout
    assert "given 'much'" in unclear.stderr
    assert command("nonsense").returncode == 2
