"""Compiling kernels: sharing, splitting, releasing, and what is said when it fails."""

import ctypes
import errno
import gc
import os
import re
import stat
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from native import call, kernel, run

import frazil as fz
from frazil._core import vector_bits
from frazil.link.c import CCompiler
from frazil.link.c.search import Toolchain, find_toolchain
from frazil.link.c.source import add_kernel
from frazil.link.c.unit import Unit
from frazil.link.cranelift import CraneliftCompiler
from frazil.link.kernel.compiler import KernelCompileError
from frazil.link.kernel.image import Image
from frazil.link.kernel.loop_kernel import LoopKernel, LoweringError, Read, Statement, Write
from frazil.link.numba import NumbaCompiler
from frazil.link.toolchain.symbols import function_address
from frazil.scalar import Elementary, add, erf, exp, floordiv, log1p, mul, psi, sin, tanh, where
from frazil.scalar.elementary import define

COMPILERS = {"c": CCompiler, "cranelift": CraneliftCompiler, "numba": NumbaCompiler}

HALF = define(
    "half_of_float64", "float", lambda x: x / 2, c={"u": "{0}"}, numba={"u": "{0}"}, gradient=None
)
"""An op that no compiler has a form of for floats."""

REFUSED = (LoweringError, ValueError)
"""The code generator of the extension reads a text, of which it says what is wrong."""


@pytest.fixture(params=COMPILERS)
def compiler(request):
    return COMPILERS[request.param]()


def chain(n, scale=1.0):
    """h = h + c * sin(h), n times."""
    statements = []
    for k in range(n):
        h = 0 if k == 0 else 3 * k + 1
        statements += [(sin, (h,)), (mul, (3 * k + 2, 1)), (add, (h, 3 * k + 3))]
    return kernel(["float64"], statements, [3 * n + 1], [("float64", scale)])


@pytest.mark.parametrize("count", [1, 3])
def test_no_kernel_stays_that_nobody_has(compiler, count):
    made = [chain(2, scale=0.5 + at) for at in range(count)]
    known = [weakref.ref(each) for each in made]
    native = compiler.compile(made)
    del made, native
    gc.collect()
    assert [each() for each in known] == [None] * count


def test_equal_kernels_are_compiled_once(compiler):
    first, second = compiler.compile([chain(1, 0.125), chain(1, 0.125)])
    [again] = type(compiler)().compile([chain(1, 0.125)])
    assert first.address == second.address == again.address
    [other] = compiler.compile([chain(1, 0.25)])
    assert other.address != first.address


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("reduce", ["add", "mul", "maximum", "minimum"])
def test_what_floats_are_reduced_by_is_not_compiled_again(dtype, reduce):
    unit = Unit(CCompiler().toolchain.vector_functions)
    add_kernel(unit, "kernel", kernel([dtype], [], [(0, reduce)]))
    assert "NOINLINE" not in "".join(unit.definitions.values())
    assert {f"fold_all_{reduce}_f{np.dtype(dtype).itemsize}"} <= unit.pointers.keys()


def test_functions_that_kernels_call_have_addresses():
    assert function_address("fold_all_add_f8") > 0
    with pytest.raises(KeyError, match="fold_sub_f8"):
        function_address("fold_sub_f8")


def test_a_kernel_nobody_refers_to_is_released(compiler):
    [native] = compiler.compile([chain(2, 0.7)])
    alive = weakref.ref(native.keepalive)
    del native
    gc.collect()
    assert alive() is None


def test_released_libraries_are_closed():
    if not os.path.exists("/proc/self/maps"):
        pytest.skip("needs /proc")

    def mapped():
        return Path("/proc/self/maps").read_text().count("frazil-")

    before = mapped()
    [native] = CCompiler().compile([chain(2, 0.71)])
    assert mapped() > before
    del native
    gc.collect()
    assert mapped() == before


def test_no_files_are_left(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    [native] = CCompiler().compile([chain(1, 0.72)])
    assert list(tmp_path.iterdir()) == []
    assert native.address


def test_results_do_not_depend_on_the_split(monkeypatch):
    monkeypatch.setenv("FRAZIL_CACHE", "0")  # which would know what is compiled twice
    kernels = [chain(n, 0.3) for n in (1, 40, 3, 30, 25)]
    x = np.linspace(-3, 3, 37)
    results = []
    for threads in (1, 4):
        monkeypatch.setattr(CCompiler, "_unit_statements", 60)
        with fz.compile_threads(threads):
            native = CCompiler().compile(kernels)
        assert len({place.keepalive.library for place in native}) == threads
        results.append([run(n, k, [x])[0] for n, k in zip(native, kernels, strict=True)])
        del native
        gc.collect()
    np.testing.assert_array_equal(np.array(results[0]), np.array(results[1]))


def test_many_threads_compile(compiler):
    def work(k):
        made = chain(1 + k % 3, 0.05)
        [native] = compiler.compile([made])
        return float(run(native, made, [np.ones(9)])[0][8]), k % 3

    with ThreadPoolExecutor(6) as pool:
        results = set(pool.map(work, range(18)))
    assert len(results) == 3


def test_long_chains_compile():
    made = chain(400, 0.01)
    [native] = CCompiler().compile([made])
    x = want = np.linspace(0, 3, 20)
    for _ in range(400):
        want = want + np.sin(want) * 0.01
    np.testing.assert_allclose(run(native, made, [x])[0], want, rtol=1e-13)


def test_an_op_without_a_form_is_named(compiler):
    assert not compiler.lowers(HALF, ["float64"], "float64")
    assert compiler.lowers(add, ["int8", "float32"], "float32")
    assert compiler.lowers(where, ["bool", "int8", "int8"], "int8")
    assert compiler.lowers(Elementary("cast", "uint64"), ["float32"], "uint64")
    with pytest.raises(REFUSED, match=r"half_of_float64 (for )?float64"):
        compiler.compile([kernel(["float64"], [(HALF, (0,))], [1])])


def test_a_write_that_cannot_be_is_refused(compiler):
    made = kernel(["float64"], [], [Write(0, "float64", inner=False, reduce=None)])
    with pytest.raises(ValueError, match="does not move"):
        compiler.compile([made])


def test_a_reduction_that_is_not_known_is_named(compiler):
    with pytest.raises(REFUSED, match="sub"):
        compiler.compile([kernel(["float64"], [], [(0, "sub")])])


def test_a_compiler_that_fails(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    script = tmp_path / "cc"
    script.write_text("#!/bin/sh\ncat > /dev/null\necho '<stdin>:2:1: error: no' >&2\nexit 1\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(KernelCompileError, match="error: no") as raised:
        CCompiler(Toolchain((str(script),), "")).compile([chain(1, 0.73)])
    kept = re.search(r"source kept in (\S+)", str(raised.value))
    source = Path(kept[1]).read_text()
    assert "kernel_0" in source
    assert raised.value.source == source
    assert f"line 2: {source.splitlines()[1]}" in str(raised.value)


def test_a_compiler_that_fails_where_the_disk_is_full(tmp_path, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    script = tmp_path / "cc"
    script.write_text("#!/bin/sh\ncat > /dev/null\necho 'ld: no space' >&2\nexit 1\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr("tempfile.NamedTemporaryFile", full)
    with pytest.raises(KernelCompileError, match="ld: no space") as raised:
        CCompiler(Toolchain((str(script),), "")).compile([chain(1, 0.735)])
    assert "the source could not be kept: [Errno 28] No space" in str(raised.value)
    assert "kernel_0" in raised.value.source


def test_a_compiler_that_is_gone(tmp_path):
    with pytest.raises(KernelCompileError, match="could not be run"):
        CCompiler(Toolchain((str(tmp_path / "gone"),), "")).compile([chain(1, 0.74)])


def test_a_library_that_cannot_be_loaded(tmp_path):
    script = tmp_path / "cc"
    script.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\necho no > "$2"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(KernelCompileError, match="TMPDIR"):
        CCompiler(Toolchain((str(script),), "")).compile([chain(1, 0.75)])


def test_where_there_is_no_compiler():
    code = (
        "from frazil.link.c import CCompiler\n"
        "assert CCompiler.find() is None\n"
        "try: CCompiler()\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    environment = {**os.environ, "CC": "no-such-compiler"}
    answer = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert answer.stdout.startswith("BrokenCompilerError no C compiler was found: install gcc")


def test_cc_may_have_arguments():
    code = "from frazil.link.c.search import find_toolchain\nprint(find_toolchain().command[1:])\n"
    command = " ".join([*find_toolchain().command, "-DWORD=1"])
    answer = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "CC": command},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout == "('-DWORD=1',)\n"


def test_numba_calls_functions_of_blocks_wherever_operands_lie():
    vector = Read("float64", inner=True)
    write = Write(1, "float64", inner=True, reduce=None)
    compiler = NumbaCompiler()
    (native,) = compiler.compile(
        [LoopKernel((vector,), (), (Statement(tanh, (0,), "float64"),), (write,))]
    )
    symbol = compiler.symbol(native.keepalive)
    assert symbol is not None
    called = {name for name in symbol.image.pointers if name.startswith("tanh_")}
    assert called == {"tanh_block_f8" if vector_bits() == 512 else "tanh_many_f8"}
    values = np.linspace(-700.0, 700.0, 1003)
    signature = ctypes.CFUNCTYPE(
        ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p
    )
    (loaded,) = compiler.load(symbol.image, [symbol.name])
    for address in (native.address, loaded.address):
        own = values.copy()
        for read, result in ((values, np.empty_like(values)), (own, own)):
            pointers = np.array([read.ctypes.data, result.ctypes.data])
            strides = np.zeros(2, dtype=np.int64)
            assert (
                signature(address)(pointers.ctypes.data, 1, values.size, strides.ctypes.data) == 0
            )
            np.testing.assert_allclose(result, np.tanh(values), rtol=1e-15)


@pytest.mark.parametrize("memory", [True, False], ids=["memory", "file"])
def test_images_of_c_are_loaded_apart_from_each_other(memory, tmp_path, monkeypatch):
    """All have the same function, and none leaves a file."""

    def refused(*arguments):
        raise PermissionError("what no file holds is not run here")

    if not memory:
        monkeypatch.setattr(os, "memfd_create", refused, raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    compiler = CCompiler()
    symbols = []
    for scale in (1.25, 2.5, 5.0):
        [native] = compiler.compile(
            [kernel(["float64"], [(mul, (0, 1))], [2], [("float64", scale)])]
        )
        symbols.append((scale, compiler.symbol(native.keepalive)))
    loaded = [
        (scale, native)
        for _ in range(10)
        for scale, symbol in symbols
        for native in compiler.load(symbol.image, [symbol.name])
    ]
    x = np.arange(5.0)
    for scale, native in loaded:
        result = np.zeros(5)
        assert call(native, [x, result], 1, 5) == 0
        np.testing.assert_array_equal(result, x * scale)
    assert len({native.address for _, native in loaded}) == len(loaded)
    assert list(tmp_path.iterdir()) == []


def test_an_image_of_c_lacks_what_is_asked_of_it():
    compiler = CCompiler()
    [native] = compiler.compile([chain(1, 0.73)])
    image = compiler.symbol(native.keepalive).image
    with pytest.raises(KernelCompileError, match="no_such_kernel"):
        compiler.load(image, ["no_such_kernel"])
    with pytest.raises(KernelCompileError, match="could not be loaded"):
        compiler.load(Image(image.code[:200], {}), ["kernel_0"])


def test_an_image_of_numba_that_cannot_be_loaded_is_an_error():
    image = Image(b"", {"frazil_nothing_has_this_name": "nothing_has_this_name"})
    with pytest.raises(KernelCompileError, match="nothing_has_this_name"):
        NumbaCompiler().load(image, ["kernel_0"])


def test_numba_is_imported_for_the_text_of_users_alone():
    """What kernels of frazil's own ops do needs no inference of types."""
    code = (
        "import sys\n"
        "from dataclasses import dataclass\n"
        "import frazil as fz, frazil.tensor as ft\n"
        "x = ft.vector()\n"
        "f = fz.function([x], [ft.gammaln(x) + x.sum(), ft.cumsum(x // 2)], mode='numba')\n"
        "print(f([1.0, 2.0]), 'numba' in sys.modules)\n"
        "@dataclass(frozen=True, eq=False)\n"
        "class Twice(fz.scalar.ScalarOp):\n"
        "    nin, rule, numba = 1, 'arithmetic', '{0} + {0}'\n"
        "    def impl(self, x): raise AssertionError('not compiled')\n"
        "f = fz.function([x], Twice()(x) * 2, mode='numba')\n"
        "print(f([1.0, 2.0]), 'numba' in sys.modules)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "FRAZIL_CACHE_SIZE": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout == "[array([3., 3.]), array([0., 1.])] False\n[4. 8.] True\n"


def test_without_vector_functions():
    """What is made of a kernel where the compiler is not gcc, or the C library not glibc."""
    plain = Toolchain(find_toolchain().command, "another compiler")
    made = kernel(
        ["float64", "float32", Read("float64", inner=False)],
        [(exp, (0,)), (log1p, (0,)), (erf, (1,)), (tanh, (3,)), (add, (4, 5)), (psi, (2,))],
        [6, 7, (6, "add"), Write(8, "float64", inner=False, reduce=None)],
    )
    assert "simd(" not in "".join(
        line for line in source(made, plain).splitlines() if not line.startswith("#define")
    )
    x = np.linspace(0.1, 3, 29)
    arguments = [x, x.astype("f4"), np.array(2.0)]
    for n in (1, 8, 29):
        outs = []
        for toolchain in (plain, find_toolchain()):
            [native] = CCompiler(toolchain).compile([made])
            results = [np.zeros(n), np.zeros(n), np.zeros(()), np.zeros(())]
            assert call(native, [*arguments, *results], 1, n) == 0
            outs.append(np.concatenate([np.atleast_1d(r) for r in results]))
        np.testing.assert_allclose(outs[0], outs[1], rtol=1e-6)


def source(made, toolchain):
    unit = Unit(toolchain.vector_functions)
    add_kernel(unit, "kernel", made)
    return unit.text()


def test_the_source_includes_nothing_and_is_the_same_each_time():
    made = kernel(["int64", "float64"], [(floordiv, (0, 0)), (sin, (1,))], [2, (3, "add")])
    text = source(made, find_toolchain())
    assert "#include" not in text
    assert text == source(made, find_toolchain())
