"""The reader of instructions, compared with the standard library's."""

import ast
import dataclasses
import dis
import json.decoder
import textwrap
import typing

import numpy as np
import pytest

from frazil.jit.code_names import names_of, nested
from frazil.jit.instructions import instructions, line_at, repeated

MODULES = (ast, dataclasses, json.decoder, textwrap, typing, dis, np.lib._npyio_impl)
_NAMED = {*dis.hasname, *dis.haslocal, *dis.hasfree}


def codes_of(module):
    with open(module.__file__, encoding="utf-8") as file:
        return list(nested(compile(file.read(), module.__file__, "exec")))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_instructions_are_those_of_the_library(module):
    jumps = set()
    for code in codes_of(module):
        told = [one for one in dis.get_instructions(code) if one.opname != "EXTENDED_ARG"]
        found = instructions(code)
        assert [(one.opname, one.arg, one.offset) for one in found] == [
            (one.opname, one.arg if one.arg is not None else own.arg, one.offset)
            for one, own in zip(told, found, strict=True)
        ]
        for own, one in zip(found, told, strict=True):
            if dis.opmap.get(one.opname) in _NAMED:
                value = one.argval
                assert own.name == (", ".join(value) if isinstance(value, tuple) else value)
            else:
                assert own.name == ""
            if one.opname == "BINARY_OP":
                assert own.is_augmented is one.argrepr.endswith("=")
            if one.opcode in (*dis.hasjrel, *dis.hasjabs):
                assert own.is_jump, one.opname
                jumps.add(one.opname)
            if one.positions.lineno:  # the start of a module has none
                assert line_at(code, own.offset) == one.positions.lineno
        back = [
            (one.argval, one.offset)
            for one in told
            if one.opcode in (*dis.hasjrel, *dis.hasjabs) and one.argval <= one.offset
        ]
        assert repeated(code) == back
    assert jumps


def test_long_arguments():
    """Names and constants beyond the 256th have prefixes."""
    text = "def f(x):\n" + "".join(f"    x.name{at} = a{at} + {at}.5\n" for at in range(600))
    (code,) = [own for own in nested(compile(text, "long.py", "exec")) if own.co_name == "f"]
    found = instructions(code)
    assert [one.name for one in found if one.opname == "STORE_ATTR"] == [
        f"name{at}" for at in range(600)
    ]
    names = names_of(code)
    assert names.uses.keys() == {f"a{at}" for at in range(600)}
    assert names.line("a599") == 601
