"""The texts that the code generator of the extension reads, and the instructions that it writes.

After a change on purpose, ``UPDATE_CLIF=1 pytest tests/link/test_descriptions.py`` writes the
expected instructions anew.
"""

import mmap
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil import _core
from frazil.link.c import CCompiler
from frazil.link.cranelift import CraneliftCompiler
from frazil.link.cranelift.description import describe
from frazil.link.kernel.compiler import KernelCompileError
from frazil.link.kernel.image import Image
from frazil.scalar import Elementary, ScalarLoop
from frazil.scalar.table import TABLE

GOLDEN = Path(__file__).parent / "clif"


def newton(x):
    root, square = ft.scalar("root"), ft.scalar("square")
    better = (root + square / root) / 2
    loop = ScalarLoop([root], [better], [square], until=ft.abs(better - root) < 1e-9)
    return loop(20, x, x)[0]


def scan(x):
    states, _ = fz.scan(lambda e, s: s * 0.5 + e, sequences=[x], outputs_info=[ft.constant(0.25)])
    return states


def scan_of_products(a):
    start = ft.constant(np.arange(4.0))
    return fz.scan(lambda s, a: a @ s, None, [start], [a], n_steps=9, return_updates=False)


x, y, m = ft.dvector("x"), ft.dvector("y"), ft.dmatrix("m")
small, whole, places = ft.fvector("small"), ft.lvector("whole"), ft.lvector("places")
square = ft.tensor("square", shape=(4, 4))
KERNELS = {
    "arithmetic": (x - y) / (x * x + 2.5),
    "narrow": ft.cast(small * 2, "float64") + whole,
    "comparison": ft.where((x > y) | (x < 0), x, -y),
    "integers": whole // 3 + whole % 5,
    "function": ft.exp(-x * x) * y,
    "sum": ft.sqr(x - y).sum(),
    "rows": m - m.mean(axis=1, keepdims=True),
    "take": x[places] * 2,
    "take_rows": (m[places] * m[places + 1]).sum(axis=1),
    "put_rows": ft.inc_subtensor(m[places], x),
    "element_loop": newton(x),
    "scan": scan(x),
    # More numbers than registers, which instructions read from memory.
    "scan_of_products": scan_of_products(square),
}


@pytest.fixture
def described(monkeypatch):
    """The texts of what is compiled."""
    monkeypatch.setenv("FRAZIL_CACHE", "off")
    texts = []
    make = CraneliftCompiler.compile

    def compile(own, kernels):
        texts.extend(map(describe, kernels))
        return make(own, kernels)

    monkeypatch.setattr(CraneliftCompiler, "compile", compile)
    return texts


@pytest.mark.parametrize("name", KERNELS)
def test_instructions_of_kernels(name, described):
    inputs = [x, y, m, small, whole, places, square]
    # With its own name in it, no other test has made the kernel.
    fz.function(inputs, KERNELS[name], mode="cranelift", on_unused_input="ignore")
    written = []
    for text in described:
        listing, functions = _core.kernel_listing(text)
        called = "".join(f"; u0:{k} is {name}\n" for k, name in enumerate(functions))
        written.append(f"{text}\n\n{called}{listing}")
    path = GOLDEN / f"{name}.clif"
    if os.environ.get("UPDATE_CLIF"):
        path.write_text("\n".join(written))
    assert "\n".join(written) == path.read_text()


TEXTS = [path.read_text().split("\n\n")[0] for path in sorted(GOLDEN.glob("*.clif"))]
WORDS = ["0", "1", "2", "7", "64", "4294967295", "-1", "float64", "int8", "bool", "-", "add"]
WORDS += ["pass", "varying 3", "fold", "read int16 1", "write 0 int8 1 -", "op neg bool bool 0"]


@given(text=st.sampled_from(TEXTS), data=st.data())
def test_what_is_no_kernel_is_refused(text, data):
    """Whatever is done to a text, it is a kernel or an error, and never anything else."""
    lines = text.split("\n")
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 1))
        words = lines[at].split(" ")
        place = data.draw(st.integers(0, len(words) - 1))
        match data.draw(st.sampled_from(["word", "line", "twice", "gone", "insert"])):
            case "word":
                words[place] = data.draw(st.sampled_from(WORDS))
                lines[at] = " ".join(words)
            case "line":
                other = data.draw(st.sampled_from(TEXTS)).split("\n")
                lines[at] = data.draw(st.sampled_from(other))
            case "twice":
                lines.insert(at, lines[at])
            case "gone" if len(lines) > 1:
                del lines[at]
            case _:
                lines.insert(at, data.draw(st.sampled_from(WORDS)))
    changed = "\n".join(lines)
    try:
        made = len(_core.compile_kernels([changed], {}).addresses())
    except ValueError:
        made = 0
    if made:
        assert _core.kernel_listing(changed)[0].startswith("function")
    else:
        with pytest.raises(ValueError, match="kernel"):
            _core.kernel_listing(changed)


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["loop 8 0", "loop 8 0"],
        ["loop 3 0", "pass"],
        ["loop 8 0", "pass"],
        ["loop 8 0", "read float64 1", "pass"],
        ["loop 8 0", "read float64 1", "write 0 float64 0 -", "pass"],
        ["loop 8 0", "read float64 1", "op neg float64 float64 1", "pass"],
        ["loop 8 0", "read float64 1", "op neg float64 float64 0", "write 1 float64 1 -", "pass"],
        ["loop 8 0", "literal bool 2"],
        ["loop 8 0", "literal int8 100"],
        ["loop 8 0", "read float64 1", "op and_ float64 float64,float64 0 0"],
        ["scan", "read float64 2 1", "load 0 2"],
        ["scan", "state float64 0 0", "write float64 0 5"],
        ["loop 8 0", "body float64 -", "nexts 0"],
    ],
)
def test_what_refers_to_nothing_is_refused(lines):
    with pytest.raises(ValueError, match="kernel"):
        _core.kernel_listing("\n".join(lines))


def test_an_image_of_something_else_is_refused():
    compiler = CraneliftCompiler()
    for code, names in ((b"\xff\xfe", ["0"]), (b"loop 8 0", ["1"]), (b"no kernel", ["0"])):
        with pytest.raises(KernelCompileError):
            compiler.load(Image(code, {}), names)


def test_code_is_gone_with_its_owner_and_not_before():
    """Nothing is writable and runs; the addresses that code jumps to may be written."""

    def access(page):
        """What the process may do with the page."""
        for line in Path("/proc/self/maps").read_text().splitlines():
            first, last = (int(end, 16) for end in line.split()[0].split("-"))
            if first <= page < last:
                return line.split()[1]
        return None

    code = _core.compile_kernels([TEXTS[0]], {})
    page = code.addresses()[0] // mmap.PAGESIZE * mmap.PAGESIZE
    assert access(page) == "r-xp"
    assert access(page + mmap.PAGESIZE) == "rw-p"
    del code
    assert access(page) != "r-xp"


def test_a_function_calls_no_python(described):
    """All of frazil's own ops are in kernels."""
    f = fz.function([x, y], [ft.psi(x) + ft.erfcx(y), ft.polygamma(2, x), x**y], mode="cranelift")
    assert described
    assert "call" not in str(f.explain())
    value = np.linspace(0.5, 3.0, 11)
    expected = fz.function([x, y], [ft.psi(x) + ft.erfcx(y), ft.polygamma(2, x), x**y], mode="py")
    for made, known in zip(f(value, value), expected(value, value), strict=True):
        np.testing.assert_allclose(made, known, rtol=1e-13)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "int64", "float32", "float64"])
def test_a_row_is_taken_where_c_takes_it(dtype):
    """Neither linker is behind the other."""
    for name, row in TABLE.items():
        op = Elementary(name, "int16") if row.rule == "cast" else Elementary(name)
        operands = [ft.vector(dtype=dtype)] * row.nin
        try:
            node = op.make_node(*operands)
        except TypeError:
            continue  # the op is not defined for it
        given, result = [dtype] * row.nin, node.outputs[0].dtype
        in_c = CCompiler.lowers(op, given, result)
        assert (CraneliftCompiler.refusal(op, given, result) is None) is in_c
