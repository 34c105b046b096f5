"""Compilers run to their end, whatever other threads do meanwhile."""

import os
import subprocess
import sys

import pytest

# A thread forks a child, which lives on, at the moment at which all pipes of a program are open.
FORKING = """
import os, subprocess, threading
from frazil.link.c import driver, processes

start = subprocess.Popen._execute_child
ending, living = os.pipe()
children = []

def fork():
    child = os.fork()
    if child == 0:
        os.close(living)
        os.read(ending, 1)  # until the parent closes its end, or ends
        os._exit(0)
    children.append(child)

def start_while_another_thread_forks(self, *arguments):
    forking = threading.Thread(target=fork)
    forking.start()
    forking.join(0.2)
    start(self, *arguments)
    threads.append(forking)

threads = []
subprocess.Popen._execute_child = start_while_another_thread_forks
print(processes.run(["cat"], b"some text").stdout)
print(driver._piped(["cat"], ["cat"], b"some text"), driver._piped(["cat"], ["false"], b""))
for forking in threads:
    forking.join()
print(*[os.waitpid(child, os.WNOHANG) == (0, 0) for child in children])
os.close(living)
for child in children:
    os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_no_program_waits_for_children_that_another_thread_forks():
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKING],
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    assert ran.stdout.splitlines() == ["b'some text'", "True False", " ".join(["True"] * 5)]
