"""What an import of frazil does besides."""

import subprocess
import sys

import pytest

IMPORT = """
import gc
{before}
import frazil
print(sum(gc.get_count()), gc.get_freeze_count())
"""


def run(before=""):
    done = subprocess.run(
        [sys.executable, "-c", IMPORT.format(before=before)],
        capture_output=True,
        text=True,
        check=True,
    )
    return [int(number) for number in done.stdout.split()]


def test_what_is_imported_is_not_searched_for_garbage_at_once():
    young, frozen = run()
    assert young < 1000
    assert frozen == 0


def test_what_a_program_has_frozen_stays_so():
    _, frozen = run("gc.freeze()")
    assert frozen > 0


@pytest.mark.parametrize("before", ["gc.disable()", "gc.enable()"])
def test_collections_go_on_as_they_were(before):
    code = f"import gc\n{before}\nwas = gc.isenabled()\nimport frazil\nassert gc.isenabled() == was"
    subprocess.run([sys.executable, "-c", code], check=True)
