"""Compress the files of a wheel again, by zopfli, which takes minutes and makes the smallest.

    python tools/pack_wheel.py target/wheels/*.whl

The wheel is replaced by one with the same files in the same order, with their dates and rights.
Whatever unpacks the one unpacks the other: the format is that of every tool, written with more
patience.
"""

from __future__ import annotations

import argparse
import os
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

Compress = Callable[[bytes], bytes]

# Of a large file more rounds gain less than a thousandth.
LARGE = 1 << 20

LOCAL, CENTRAL, END = "<4s5H3I2H", "<4s6H3I5H2I", "<4s4H2IH"
VERSION = 20  # of the format: compressed files
MOST = 1 << 31  # bytes that are surely counted by 32 bits


def zopfli_deflate(data: bytes) -> bytes:
    from zopfli import zopfli

    rounds = 5 if len(data) > LARGE else 15
    packed: bytes = zopfli.compress(data, numiterations=rounds, blocksplittingmax=0)
    return packed[2:-4]  # without what zlib puts around it


def pack(wheel: Path, deflate: Compress = zopfli_deflate) -> None:
    """Replace a wheel by a smaller one with the same files; it stays if that fails."""
    new = wheel.with_suffix(".new")
    try:
        _write(wheel, new, deflate)
        _check(wheel, new)
        os.replace(new, wheel)
    finally:
        new.unlink(missing_ok=True)


def _write(wheel: Path, new: Path, deflate: Compress) -> None:
    with zipfile.ZipFile(wheel) as old, new.open("wb") as out:
        central = b""
        entries = [entry for entry in old.infolist() if not entry.is_dir()]
        for entry in entries:
            data = old.read(entry)
            at = out.tell()
            packed, method = deflate(data), zipfile.ZIP_DEFLATED
            if len(packed) >= len(data):
                packed, method = data, zipfile.ZIP_STORED
            local, own = _headers(entry, method, len(packed), at)
            out.write(local + packed)
            central += own
        start = out.tell()
        if start + len(central) > MOST:
            raise ValueError(f"{wheel} is too large")
        count = len(entries)
        end = struct.pack(END, b"PK\5\6", 0, 0, count, count, len(central), start, 0)
        out.write(central + end)


def _headers(entry: zipfile.ZipInfo, method: int, packed: int, at: int) -> tuple[bytes, bytes]:
    """The header of a file, and its entry in the list of files."""
    name = entry.filename.encode()
    flags = 0 if entry.filename.isascii() else 0x800  # the name is UTF-8
    year, month, day, hour, minute, second = entry.date_time
    time, date = hour << 11 | minute << 5 | second // 2, year - 1980 << 9 | month << 5 | day
    both = (flags, method, time, date, entry.CRC, packed, entry.file_size, len(name), 0)
    local = struct.pack(LOCAL, b"PK\3\4", VERSION, *both)
    unix = 3 << 8 | VERSION
    rest = (0, 0, 0, entry.external_attr, at)
    central = struct.pack(CENTRAL, b"PK\1\2", unix, VERSION, *both, *rest)
    return local + name, central + name


def _check(wheel: Path, new: Path) -> None:
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(new) as made:
        files = [entry for entry in old.infolist() if not entry.is_dir()]
        for a, b in zip(files, made.infolist(), strict=True):
            if (a.filename, a.external_attr) != (b.filename, b.external_attr):
                raise ValueError(f"{b.filename} is not as it was")
            if old.read(a) != made.read(b):
                raise ValueError(f"{b.filename} does not hold what it held")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("wheels", nargs="+", type=Path)
    for wheel in parser.parse_args().wheels:
        before = wheel.stat().st_size
        pack(wheel)
        print(f"{wheel.name}: {before:,} bytes, now {wheel.stat().st_size:,}")


if __name__ == "__main__":
    main()
