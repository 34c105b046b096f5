"""Machine code returns, and calls what is not its own, with the upper halves of registers clean.

Where they are not, whatever runs next in the process with plain SSE instructions, which is most of
Python, NumPy and SciPy, takes up to fifteen times as long on processors by Intel.
"""

import ctypes
import platform
import subprocess
from pathlib import Path

import numpy as np
import pytest
from vector_registers import faults, wide_writes

import frazil as fz
import frazil.tensor as ft
from frazil import _core
from frazil.link.c import CCompiler
from frazil.link.c.search import find_toolchain
from frazil.link.cranelift import CraneliftCompiler
from frazil.link.kernel.compiler import NativeKernel
from frazil.link.numba import NumbaCompiler
from frazil.scalar import ScalarLoop

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="registers of x86-64 alone have upper halves"
)

PROBE = r"""
#include <stdint.h>
typedef int32_t kernel(char *const *, int64_t, int64_t, const int64_t *);
kernel *targets[64];
uint32_t calls, dirty;
static uint32_t in_use(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
  return low & 0x44;
}
int has_in_use(void) {
  uint32_t a = 0xd, b, c = 1, d;
  __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  if (!(a & 4)) return 0;
  a = 1;
  __asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
  return (c >> 27 & 1) && (c >> 28 & 1);  /* registers are saved by the system, and wide */
}
uint32_t after_wide_write(void) {
  uint32_t left;
  __asm__ volatile("vpcmpeqd %%xmm3, %%xmm3, %%xmm3\n\tvinsertf128 $1, %%xmm3, %%ymm3, %%ymm3"
                   ::: "xmm3");
  left = in_use();
  __asm__ volatile("vzeroupper");
  return left;
}
#define THROUGH(k) int32_t through_##k(char *const *p, int64_t o, int64_t n, const int64_t *s) { \
  __asm__ volatile("vzeroupper"); \
  int32_t status = targets[k](p, o, n, s); \
  calls += 1; dirty |= in_use(); \
  __asm__ volatile("vzeroupper"); \
  return status; }
"""
SLOTS = 32


@pytest.fixture(scope="module")
def probe(tmp_path_factory):
    """A library that calls kernels and looks at the registers they leave behind."""
    path = tmp_path_factory.mktemp("probe") / "probe.so"
    text = PROBE + "\n".join(f"THROUGH({k})" for k in range(SLOTS)) + "\n"
    command = [*find_toolchain().command, "-O1", "-shared", "-fPIC", "-x", "c", "-", "-o", path]
    subprocess.run(command, input=text.encode(), check=True)
    return ctypes.CDLL(str(path))


class Watched:
    """What a compiler makes, called through the probe."""

    def __init__(self, probe, compiler, monkeypatch):
        self.probe, self.kernels, self.images = probe, 0, {}
        self.targets = (ctypes.c_void_p * 64).in_dll(probe, "targets")
        make = compiler.compile

        def compile(own, kernels):
            found = []
            for native in make(own, kernels):
                symbol = own.symbol(native.keepalive)
                self.images.setdefault(symbol.image, set()).add(symbol.name)
                self.targets[self.kernels] = native.address
                through = getattr(probe, f"through_{self.kernels}")
                address = ctypes.cast(through, ctypes.c_void_p).value
                found.append(NativeKernel(address, native.keepalive))
                self.kernels += 1
            return found

        monkeypatch.setattr(compiler, "compile", compile)

    @property
    def calls(self):
        return ctypes.c_uint32.in_dll(self.probe, "calls").value

    @property
    def dirty(self):
        return ctypes.c_uint32.in_dll(self.probe, "dirty").value


@pytest.fixture(params=["c", "cranelift", "numba"])
def watched(request, probe, monkeypatch):
    """A mode, and what its compiler makes."""
    monkeypatch.setenv("FRAZIL_CACHE", "off")
    for name in ("calls", "dirty"):
        ctypes.c_uint32.in_dll(probe, name).value = 0
    compiler = {"c": CCompiler, "cranelift": CraneliftCompiler, "numba": NumbaCompiler}[
        request.param
    ]
    return request.param, Watched(probe, compiler, monkeypatch)


def scanned(x):
    """The states of a loop that works on few numbers."""
    first = ft.constant(0.25)
    states, _ = fz.scan(lambda e, s: ft.tanh(s) * 0.5 + e, sequences=[x], outputs_info=[first])
    return states


def until_small(x):
    """How far each element goes on its own."""
    value = ft.scalar("value")
    loop = ScalarLoop([value], [ft.sin(value) * 0.5], [], until=ft.abs(value) < 1e-3)
    return loop(50, x)[0] * 2


def gathered(x):
    """Elements that indices find, and elements put where they say."""
    places = ft.constant(np.arange(999, -1, -1))
    return [ft.exp(x[places]) + 1, ft.inc_subtensor(ft.zeros(1000)[places], ft.sin(x))]


x, small, m = ft.dvector("x"), ft.fvector("small"), ft.dmatrix("m")
KINDS = {
    "elementwise": [x + 1, small * 2, ft.cast(x * 8, "int64") // 3, x > 0],
    "functions of blocks": [ft.exp(x) + 1, ft.log(ft.exp(small) * 2), ft.log1p(ft.exp(x))],
    "functions of the library": [ft.tanh(x), ft.tanh(x + 1) > 0, ft.sigmoid(ft.sin(small))],
    "scalar functions": [ft.gammaln(x) * 2 + 1, ft.psi(x) + ft.exp(x), x % 0.7, x**2.5],
    "reductions": [x.sum(), small.max(), m.sum(axis=0), (m > 0).any(axis=1), ft.cumsum(x)],
    "reductions of functions": [ft.exp(x).sum(), ft.gammaln(m).sum(axis=1), ft.tanh(m).max(axis=0)],
    "rows": [ft.softmax(m.T, axis=1), ft.softmax(ft.where(m.T > 0, ft.tanh(m.T), -1.0), axis=1)],
    "tiles": [ft.softmax(m, axis=1), m - m.mean(axis=1, keepdims=True)],
    "gathers": gathered(x),
    "scans": [scanned(x)],
    "element loops": [until_small(x)],
}
ARGUMENTS = [
    np.random.default_rng(1).normal(size=1000),
    np.random.default_rng(2).normal(size=1003).astype("float32"),
    np.random.default_rng(3).normal(size=(131, 13)),
]


@pytest.mark.parametrize("kind", KINDS)
def test_kernels_leave_registers_clean(kind, watched):
    """Their text shows it, and so do the registers where the processor tells of them."""
    mode, seen = watched
    function = fz.function([x, small, m], KINDS[kind], mode=mode, on_unused_input="ignore")
    function(*ARGUMENTS)
    assert seen.images
    made = () if mode == "cranelift" else seen.images.items()  # those images are no machine code
    found = [line for image, names in made for line in faults(image.code, names=names)]
    assert not found, found
    # A scan is about one number after the other.
    narrow = not made or kind == "scans" or _core.register_bits() < 256
    assert narrow or any(wide_writes(image.code) for image in seen.images)
    if seen.probe.has_in_use():
        assert seen.probe.after_wide_write() != 0
        assert seen.calls > 0
        assert seen.dirty == 0


def test_the_runtime_leaves_registers_clean():
    """All of its functions for wide registers, and those of libraries that became part of it."""
    assert faults(Path(_core.__file__)) == []
