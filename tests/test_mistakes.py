"""What users get wrong most often, and what they are told: tests/mistakes.txt has both.

Each message says what is wrong, in which line, what was expected and given, and what to do. The
golden file is for people to read: a change of a message is a change of that text.
"""

import math
import os
import subprocess
import sys
import textwrap
import traceback
from pathlib import Path

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.scalar import ScalarOp

GOLDEN = Path(__file__).with_name("mistakes.txt")
UPDATE = "UPDATE_GOLDEN=1 python -m pytest tests/test_mistakes.py"
FILE = "mistake.py"


def blocks():
    """The parts of the golden file: headings, and code with what is said of it."""
    found = []
    for block in GOLDEN.read_text().rstrip().split("\n\n"):
        # Code may have empty lines within; what follows them is indented, and is no message.
        if found and block.startswith("    def "):
            found[-1] += "\n\n" + block
        else:
            found.append(block)
    return found


def code_of(block):
    return block.partition("\n=> ")[0]


MISTAKES = [block for block in blocks() if not block.startswith("#")]


def told(code):
    """The line of the code that raises, and what it raises."""
    names = {
        "np": np,
        "math": math,
        "fz": fz,
        "ft": ft,
        "ScalarOp": ScalarOp,
        "x": ft.vector("x"),
        "y": ft.vector("y"),
        "X": ft.matrix("X"),
        "s": ft.scalar("s"),
        "k": ft.iscalar("k"),
        "__name__": "mistakes",
    }
    try:
        exec(compile(code, FILE, "exec"), names)
    except Exception as error:
        lines = [
            at.lineno for at in traceback.extract_tb(error.__traceback__) if at.filename == FILE
        ]
        kind = type(error).__name__
        return lines[-1], f"{kind}: {error}"
    raise AssertionError(f"nothing is wrong with\n{code}")


def written(code):
    """The code and what is said of it, as the golden file has them."""
    line, message = told(code)
    where = f"line {line}: " if "\n" in code else ""
    paragraphs = [
        textwrap.fill(part, 96, break_long_words=False, break_on_hyphens=False)
        for part in (where + message).split("\n")
    ]
    said = "\n".join(paragraphs).replace("\n", "\n   ")
    return f"{code}\n=> {said}"


def the_golden_text():
    """The golden file's text, as its code tells it now."""
    now = [block if block.startswith("#") else written(code_of(block)) for block in blocks()]
    return "\n\n".join(now) + "\n"


def test_the_messages_are_those_of_the_golden_file():
    """With UPDATE_GOLDEN=1 the file is written anew; a new mistake is a line of code in it.

    A process of its own tells them: a node that another test keeps alive is told with the line
    that built it there, and other tests register linkers of their own.
    """
    script = Path(__file__)
    command = f"import sys; sys.path.insert(0, {str(script.parent)!r}); import {script.stem} as m"
    command += "; sys.stdout.buffer.write(m.the_golden_text().encode())"
    run = subprocess.run([sys.executable, "-c", command], capture_output=True, check=False)
    assert run.returncode == 0, run.stderr.decode()
    text = run.stdout.decode()
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text(), f"messages changed; if that is meant, run {UPDATE}"
    assert len(MISTAKES) >= 60


@pytest.mark.parametrize(
    "block", MISTAKES, ids=[code_of(block).split("\n")[0] for block in MISTAKES]
)
def test_a_message_is_frazils_own(block):
    """It names what users write, and not what frazil is made of."""
    _, message = told(code_of(block))
    for foreign in (
        "_core",
        "_Methods",
        "NoneType",
        "cannot be interpreted",
        "positional argument",
    ):
        assert foreign not in message


def test_tensors_name_frazil_and_not_the_caller():
    """A function of frazil that calls another one is the one that is named."""
    with pytest.raises(
        np.exceptions.AxisError, match="logsumexp takes axes from -2 to 1"
    ) as raised:
        ft.logsumexp(ft.matrix("X"), axis=2)
    with pytest.raises(np.exceptions.AxisError, match="argmax takes no axis here"):
        ft.scalar("s").argmax(axis=1)
    assert raised.value.axis == 2
    assert raised.value.ndim == 2


@pytest.mark.parametrize("decimals", [-2, -1, 0, 1, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8"])
def test_numbers_are_rounded_as_numpy_rounds_them(decimals, dtype, mode):
    values = np.array([0.0, 1.25, 12.345, 15.0, 25.0, 99.95, 250.0]).astype(dtype)
    if dtype.startswith("float"):
        values = np.append(values, np.array([-0.05, np.inf, np.nan], dtype))
    x = ft.vector("x", dtype=dtype)
    results = fz.function([x], [ft.round(x, decimals), x.round(decimals)], mode=mode)(values)
    for result in results:
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, np.round(values, decimals))


def test_series_and_frames_give_way_to_variables():
    """Those of pandas ask operands for this number: its frames have 4000, its series 3000."""
    assert ft.vector("x").__pandas_priority__ > 4000


def test_what_a_variable_knows_is_told_to_numpy():
    x = ft.matrix("x")
    assert np.ndim(x) == 2
    assert np.shape(x) == x.shape
