"""The C and Numba text of ops of one's own: what it may hold, and what is said where it cannot."""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.link.kernel.compiler import KernelCompileError
from frazil.scalar import ScalarOp
from frazil.scalar.expression_text import check_text

VALUES = np.array([1.0, -2.0, 3.5])


@dataclass(frozen=True, eq=False)
class Texted(ScalarOp):
    """The square; each text makes an op of its own."""

    c: str | None = None
    numba: str | None = None
    nin = 1
    rule = "float"

    def impl(self, x):
        return x * x


def compiled(language, text, x=None):
    """A function in which the op has neighbours."""
    x = ft.dvector("x") if x is None else x
    return fz.function([x], Texted(**{language: text})(x) + 1, mode=language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("c", "({ double t = {0}; t * t; })"),
        ("c", "({ double t; if ({0} > 0) { t = {0}; } else { t = -{0}; } t * t; })"),
        ("c", "((double[2]){ 0 })[0] + {0} * {0}"),
        ("c", "((double[]){{0}, {0}})[0] * ((double[]){{0}})[0]"),
        ("c", "(struct { double a; }){{0}}.a * {0}"),
        ("c", "{0} * {0} // the square; (of"),
        ("c", "{0} * {0} /* the square } */"),
        ("c", "{0} *\n {0}"),
        ("c", '({ const char *s = ";)}"; s[0] == 59 ? {0} * {0} : 0; })'),
        ("c", "({ {T} t = {fabs}({0}); t * t; })"),
        ("numba", "{0} * {0}  # the square"),
        ("numba", "({0} *  # the\n {0})  # square"),
        ("numba", "abs({0}) * {fabs}({0})"),
    ],
)
def test_what_is_an_expression_joins_the_loop(language, text):
    function = compiled(language, text)
    assert np.array_equal(function(VALUES), VALUES * VALUES + 1)
    assert len(function.explain().segments) == 1


WRONG = [
    ("c", "{0} * {1}", r"asks for operand \{1\}, but .* takes 1: \{0\}"),
    ("c", "{abs}({0})", r"names \{abs\}, which is none of .* Did you mean \{fabs\}\? They are: "),
    ("c", "{nosuch}({0})", r"names \{nosuch\}, which is none of the functions .* exp, "),
    ("c", "{0}; {0}", "holds a statement, but must be an expression"),
    ("c", "{0})*({0}", r"closes '\)' that nothing opens"),
    ("c", "({0} * {0}", r"does not close '\('"),
    ("c", "/* nothing */", "is empty"),
    ("numba", "{0} * {1}", r"asks for operand \{1\}, but .* takes 1: \{0\}"),
    ("numba", "{nosuch}({0})", r"names \{nosuch\}, which is none of the functions .* exp, "),
    ("numba", "{ 0 } * 2", "has braces that stand for nothing"),
    ("numba", "{0} *", "is not a Python expression"),
    ("numba", "{0})*({0}", "is not a Python expression"),
    ("numba", "# nothing", "is not a Python expression"),
]


@pytest.mark.parametrize(("language", "text", "fault"), WRONG)
def test_what_is_not_is_an_error_that_names_the_op(language, text, fault):
    """Never a silent call of impl."""
    with pytest.raises(ValueError, match=f"(?s)^the {language.title()} text of Texted.*{fault}"):
        compiled(language, text)


@pytest.mark.parametrize(
    ("language", "text"), [("c", "{ 0 } * { 0 }"), ("c", "nosuch({0} ?)"), ("numba", "nosuch({0})")]
)
def test_what_a_compiler_rejects_is_told_with_the_op(language, text):
    with pytest.raises(KernelCompileError, match=r"(?s)rejected a kernel.*frazil's own: Texted"):
        compiled(language, text)


@pytest.mark.parametrize("language", ["c", "numba"])
def test_functions_of_floats_are_not_given_integers(language):
    """They would take the integer's bits for a number; impl is called instead."""

    @dataclass(frozen=True, eq=False)
    class Wide(ScalarOp):
        nin = 1
        rule = "arithmetic"
        c = numba = "{exp}({0})"

        def impl(self, x):
            return np.int64(np.exp(x))

    n = ft.lvector("n")
    function = fz.function([n], Wide()(n), mode=language)
    assert function(np.array([0, 1, 3])).tolist() == [1, 2, 20]


@pytest.mark.parametrize("language", ["c", "numba"])
def test_text_that_no_file_can_hold_is_told_with_the_op(language):
    """A lone surrogate in the text of a class, or in a parameter."""

    @dataclass(frozen=True, eq=False)
    class Surrogate(ScalarOp):
        nin = 1
        rule = "float"
        c = numba = "{0} * {0} + '\ud800'"

        def impl(self, x):
            return x * x

    x = ft.dvector("x")
    with pytest.raises(ValueError, match=r"Surrogate.*has a lone surrogate at position 13"):
        fz.function([x], Surrogate()(x), mode=language)
    with pytest.raises(ValueError, match=r"Texted' has a lone surrogate at position 3 of "):
        Texted(**{language: "{0}\udfff"})


@settings(max_examples=300)
@given(st.text(alphabet="{}()[];0x +*/'\"\n#T", max_size=30))
def test_no_text_leads_to_another_error(text):
    """It is an expression as far as one can see, or its fault is told."""
    for language in ("C", "Numba"):
        with suppress(ValueError):
            check_text(Texted(), language, text, frozenset({"exp"}))
