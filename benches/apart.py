"""Fresh processes with empty caches, and the processor time that they take."""

import os
import resource
import subprocess
import sys
import tempfile
import time

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


def processor_time():
    """Seconds of this process and of those that it started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime


def run_apart(*arguments):
    """What a Python process prints that has empty caches, and one thread for libraries."""
    with tempfile.TemporaryDirectory() as folder:
        flags = os.environ.get("PYTENSOR_FLAGS", "")
        environment = {
            **os.environ,
            **dict.fromkeys(THREADS, "1"),
            "FRAZIL_CACHE_DIR": f"{folder}/frazil",
            "NUMBA_CACHE_DIR": f"{folder}/numba",
            "PYTENSOR_FLAGS": f"{flags},base_compiledir={folder}/pytensor".strip(","),
        }
        return subprocess.run(
            [sys.executable, *arguments], env=environment, capture_output=True, text=True
        )
