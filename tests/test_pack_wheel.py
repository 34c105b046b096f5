"""The tool that packs wheels again, and what `make wheel` does besides."""

import importlib.util
import os
import zipfile
import zlib
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

ROOT = Path(__file__).resolve().parent.parent


def load_tool():
    path = ROOT / "tools" / "pack_wheel.py"
    spec = importlib.util.spec_from_file_location("pack_wheel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


pack = load_tool().pack


def deflate(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


names = st.text(st.characters(codec="utf-8", exclude_characters="\0/\\"), min_size=1, max_size=20)
rights = st.sampled_from([0o644, 0o755, 0o600])
files = st.dictionaries(names, st.tuples(st.binary(max_size=2000), rights), max_size=6)


@given(files, st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
def test_a_packed_wheel_has_the_same_files(tmp_path_factory, files, method):
    wheel = tmp_path_factory.mktemp("wheel") / "some-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", method) as made:
        for name, (data, mode) in files.items():
            entry = zipfile.ZipInfo(name, (2024, 2, 29, 13, 59, 58))
            entry.external_attr = (0o100000 | mode) << 16
            made.writestr(entry, data + b"ab" * 500, method)
    before = wheel.stat().st_size
    with zipfile.ZipFile(wheel) as old:
        expected = [(e.filename, e.date_time, e.external_attr, old.read(e)) for e in old.infolist()]
    pack(wheel, deflate)
    with zipfile.ZipFile(wheel) as new:
        assert new.testzip() is None
        found = [(e.filename, e.date_time, e.external_attr, new.read(e)) for e in new.infolist()]
    assert found == expected
    assert wheel.stat().st_size <= before
    assert os.listdir(wheel.parent) == [wheel.name]


def test_a_wheel_stays_if_packing_it_fails(tmp_path):
    wheel = tmp_path / "some-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr("a.py", b"x = 1\n" * 100)
    before = wheel.read_bytes()
    with pytest.raises((zlib.error, zipfile.BadZipFile)):
        pack(wheel, lambda data: b"\xff" * 10)
    assert wheel.read_bytes() == before
    assert os.listdir(tmp_path) == [wheel.name]


def test_wheels_are_made_small():
    recipe = (
        (ROOT / "Makefile").read_text().partition("\nWHEEL_ARGUMENTS")[2].partition("\nclean:")[0]
    )
    for part in (
        "--profile wheel",
        "--strip",
        "--bp-compression-sort=both",
        "tools/pack_wheel.py",
    ):
        assert part in recipe
