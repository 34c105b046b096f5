"""In which order guards are asked, and that no code of users runs in them."""

import sys

import numpy as np

import frazil as fz

SCALE = 2.0
X = np.ones(2)


class Box:
    def __init__(self, value):
        self.value = value


class Spy:
    """Has all that Python calls by itself."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 1

    def __getattr__(self, name):
        raise AttributeError(name)

    def __bool__(self):
        return True

    def __len__(self):
        return 1

    def __iter__(self):
        return iter(())

    def __index__(self):
        return 1


class Meta(type):
    def __eq__(cls, other):
        return cls is other

    def __hash__(cls):
        return 2

    def __instancecheck__(cls, value):
        return True


class Held(metaclass=Meta):
    factor = 3.0

    @property
    def doubled(self):
        return 2 * self.factor


def entered(call):
    """The functions of this file that a call enters, and what it gives."""
    found = []

    def profile(frame, event, _):
        if event == "call" and frame.f_code.co_filename == __file__:
            found.append(frame.f_code.co_name)

    sys.setprofile(profile)
    try:
        result = call()
    finally:
        sys.setprofile(None)
    return found, result


def test_cells_come_before_modules_and_attributes():
    offset, box = 1.0, Box(5.0)
    compiled = fz.jit(lambda x: x * SCALE + offset + box.value, mode="py")
    compiled(X)
    told = compiled.explain().forms[0].guarded
    cells = [told.index(f"nonlocal {name!r}") for name in ("offset", "box")]
    attributes = [at for at, own in enumerate(told) if own.endswith((".__code__", ".value"))]
    assert len(attributes) > 1
    assert max(cells) < told.index("global 'SCALE'") < min(attributes)


def test_the_first_that_fails_is_told_by_that_order():
    global SCALE
    sizes, offset, box = [1.0, 2.0], 1.0, Spy(5.0)

    def fn(x):
        return x * SCALE * sizes[0] + offset + box.value

    compiled = fz.jit(fn, mode="py")
    before = SCALE
    compiled(X)
    try:
        box.value, sizes[1], SCALE, offset = 6.0, 3.0, 4.0, 2.0
        assert compiled(X).tolist() == fn(X).tolist()
        assert "nonlocal 'offset'" in compiled.explain().changes[-1]
        box.value, sizes[1], SCALE = 7.0, 4.0, 5.0
        assert compiled(X).tolist() == fn(X).tolist()
        assert "global 'SCALE'" in compiled.explain().changes[-1]
        box.value, sizes[1] = 8.0, 5.0
        assert compiled(X).tolist() == fn(X).tolist()
        assert "sizes" in compiled.explain().changes[-1]
        box.value = 9.0
        assert compiled(X).tolist() == fn(X).tolist()
        assert ".value" in compiled.explain().changes[-1]
    finally:
        SCALE = before


def test_arguments_are_looked_at_before_captures():
    # A call with other arguments does not meet the guards: what changed is told of the arguments.
    factor = 2.0
    compiled = fz.jit(lambda x, n: x * factor * n, mode="py")
    compiled(X, 1)
    factor = 3.0
    compiled(X, 2)
    assert "n = 1 -> n = 2" in compiled.explain().changes[-1]


def test_no_code_of_users_runs_in_a_hit():
    spy, held, key = Spy(2.0), Held(), Spy("key")
    spies, table = [spy, spy], {"spy": spy, "held": held}
    key.other = 1.0

    def fn(x, static):
        if static is None:
            return x
        return x * spies[0].value * table["spy"].value * held.factor * Held.factor * key.other

    compiled = fz.jit(fn, mode="py")
    compiled(X, spy), compiled(X, spy)
    assert compiled.cache_info().hits == 1, compiled.explain()
    codes, found = entered(lambda: compiled(X, spy))
    assert found.tolist() == [36.0, 36.0]
    assert codes == ["<lambda>"]
    assert compiled.cache_info().hits == 2


def test_no_code_of_users_runs_in_a_guard_that_fails():
    spy, held = Spy(2.0), Held()
    spies = [spy]
    compiled = fz.jit(lambda x: x * spies[0].value * held.factor, mode="py")
    compiled(X)
    assert compiled.explain().uncacheable == ()
    guards = compiled._entries.popitem()[1][0].guards
    other = Spy(2.0)
    for holds in (True, False):
        codes, failed = entered(guards.first_failure)
        assert (failed is None) is holds
        assert codes == []
        spies[0] = other
    spies[0], spy.value = spy, other
    codes, arrays = entered(guards.arrays)
    assert codes == []
    assert arrays is None
