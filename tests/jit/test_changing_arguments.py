"""Arguments that another thread changes while a call looks at them."""

import threading

import numpy as np
import pytest

import frazil as fz

ONE, TWO = np.array([1.0, 2.0]), np.array([3.0, 4.0])


def alter(tree, key):
    """Take an element out and put it back."""
    if isinstance(tree, list):
        tree.pop()
        tree.append(TWO)
    else:
        del tree[key]
        tree[key] = TWO


@pytest.mark.parametrize("tree", [{"a": ONE, "b": TWO}, [ONE, TWO]], ids=["dict", "list"])
def test_containers_may_change_during_a_call(tree):
    @fz.jit(mode="py")
    def total(tree):
        return sum(tree.values() if isinstance(tree, dict) else tree)

    before = total(tree)
    if isinstance(tree, dict):
        total({"a": ONE})
    else:
        total([ONE])
    over = threading.Event()

    def change():
        while not over.is_set():
            alter(tree, "b")

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(1000):
            try:
                found = total(tree)
            except RuntimeError:  # as Python has it where a dict changes within a loop
                continue
            assert np.array_equal(found, before) or np.array_equal(found, ONE)
    finally:
        over.set()
        thread.join()
    assert np.array_equal(total(tree), before)
