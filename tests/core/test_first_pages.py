"""The sizes of the pages that the extension's memory has."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

CHOICE = Path("/sys/kernel/mm/transparent_hugepage/enabled")

MAPPINGS = """
import frazil.tensor as ft
kept = [ft.vector("x") * float(k) for k in range(100)]
print(open("/proc/self/smaps").read())
"""


@pytest.mark.skipif(not CHOICE.exists(), reason="this system has pages of one size")
def test_the_first_memory_has_small_pages_and_the_rest_may_have_large_ones():
    run = subprocess.run(
        [sys.executable, "-c", MAPPINGS], capture_output=True, text=True, check=True
    )
    found = re.findall(r"^([0-9a-f]+)-([0-9a-f]+) .*?^VmFlags:(.*?)$", run.stdout, re.M | re.S)
    mappings = [(int(first, 16), int(end, 16), flags.split()) for first, end, flags in found]
    small = {end: first for first, end, flags in mappings if "nh" in flags}
    beside = [
        (small[first], first) for first, end, flags in mappings if "hg" in flags and first in small
    ]
    assert any(14 << 20 <= end - first <= 16 << 20 for first, end in beside)
