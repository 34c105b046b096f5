"""Code objects that are equal and not the same: texts that run twice, as cells of notebooks do."""

import numpy as np
import pytest

import frazil as fz

TEXTS = {
    "read": "def f(x):\n    return x * w * w[0]",
    "element": "def f(x):\n    t = list(held.values())[0]\n    return x * t * t[0]",
    "loop": "def f(x):\n    for own in held.values(): x = x * own * own.sum()\n    return x",
    "number": "def f(x):\n    return x * float(w.sum())",
    "helper": "def g(x):\n    return x * w.sum()\ndef f(x):\n    return g(x) * w",
    "class asked": "def f(x):\n    return x * 2 if type(x) is np.ndarray else x",
    "callback": "def f(x):\n    fz.debug.callback(told.append, x.sum())\n    return x * len(told)",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_code_that_ran_before_is_traced_by_itself(text):
    code = "import numpy as np\n" + text
    for _ in range(3):
        found = []
        for compiles in (False, True):
            w = np.array([1.0, 2.0, 3.0])
            scope = {"w": w, "held": {"w": w}, "told": [], "fz": fz}
            exec(code, scope)
            f = fz.jit(scope["f"], mode="py") if compiles else scope["f"]
            results = []
            for _ in range(3):
                results.append(f(np.ones(3)).tolist())
                w += 1.0
            found.append(results)
        assert found[0] == found[1]


def test_equal_functions_of_two_modules_read_each_its_own():
    text = "def g(x):\n    return x * scale"
    first, second = {"scale": 1.0}, {"scale": 10.0}
    for scope in (first, second):
        exec(text, scope)
    f = fz.jit(lambda x: first["g"](x) + second["g"](x), mode="py")
    x = np.ones(2)
    assert f(x).tolist() == [11.0, 11.0]
    second["scale"] = 20.0
    assert f(x).tolist() == [21.0, 21.0]
    first["scale"] = 2.0
    assert f(x).tolist() == [22.0, 22.0]
