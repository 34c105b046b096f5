"""What all tests share: how hypothesis draws, and the linkers.

Profiles have no deadlines, since a first call compiles. Each run draws the same examples, unless
``HYPOTHESIS_PROFILE=thorough`` asks for other ones, and for many more.
"""

import gc
import itertools
import os
import shutil
import sysconfig
import tempfile

import pytest
from hypothesis import settings

# Threads of OpenBLAS turn in circles while they wait for each other: where workers keep all
# processors busy, three equations take two threads milliseconds. It reads this with NumPy's import.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from frazil.link.toolchain import keeping

# Tests neither use nor fill the cache of whoever runs them; they are not told what it knows.
os.environ["FRAZIL_CACHE_DIR"] = tempfile.mkdtemp(prefix="frazil-tests-")
for setting in ("FRAZIL_CACHE", "FRAZIL_CACHE_SIZE"):
    os.environ.pop(setting, None)

settings.register_profile("same", deadline=None, max_examples=50, derandomize=True, database=None)
settings.register_profile("thorough", deadline=None, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "same")


# Numba is not there for Pythons without a GIL.
WITHOUT_GIL = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


@pytest.fixture(params=["py", "c", "cranelift"] + ([] if WITHOUT_GIL else ["numba"]))
def mode(request):
    """Each linker in turn."""
    return request.param


@pytest.fixture(autouse=True)
def written():
    """Nothing of a test is still to be written to the cache while the next one counts nodes."""
    yield
    keeping.finish()


FROZEN_AFTER = 200  # tests: what more of them leave would make each collection take longer
_tests = itertools.count(1)


def leave_out_what_lives():
    """Leave all that there is out of the many collections of garbage that tests ask for."""
    gc.collect()
    gc.freeze()


def pytest_collection_finish():
    """Leave out modules and tests. Each test's own objects are made later, and collected."""
    leave_out_what_lives()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol():
    """Now and then leave out what caches and pytest have kept of the tests before."""
    result = yield
    if next(_tests) % FROZEN_AFTER == 0:
        leave_out_what_lives()
    return result


def pytest_unconfigure():
    """Remove the cache of this session."""
    shutil.rmtree(os.environ["FRAZIL_CACHE_DIR"], ignore_errors=True)
