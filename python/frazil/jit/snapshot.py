"""The objects that a function may read from outside of itself, before the function runs.

The names in its code are a superset of the names that it reads. Each value under a name becomes a
check (see ``_core.Guards``); containers, objects, classes and functions are taken apart further.
"""

from __future__ import annotations

import builtins
import enum
import functools
import sys
import types
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from frazil._core import Guards
from frazil.jit.callables import (
    is_trusted_code,
    is_trusted_module,
    reads_state,
)
from frazil.jit.code_names import REFLECTION, Asked, Names, Write, names_of
from frazil.jit.identity import is_one_of
from frazil.jit.kinds import (
    REMEMBERING,
    SCALARS,
    belongs,
    has_plain_layout,
    is_data,
    is_dunder,
    is_key,
    told_state,
)
from frazil.jit.object_walk import ObjectWalk
from frazil.jit.operand_flow import Keys, Root
from frazil.jit.walk import Check, NamedCapture, Policies, shown_place

LIMIT = 3000
"""A function that reads more than so many things is not worth guarding."""
MAX_COMPARED_BYTES = 1 << 22
"""The contents of arrays of more bytes are not compared at each call."""

_OF_FUNCTIONS = ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__")
_IN_CONTAINERS = ("item", "keys", "elements", "element", "length", "itself")
_PLACES = ("item", "attribute", "member", "class item", "element")
_MEMBER = types.MemberDescriptorType
_CONTAINERS = (list, tuple, set, frozenset)
_BOUND = (types.BuiltinFunctionType, types.MethodType, types.MethodWrapperType)
_ARRAYS_ARE_SEQUENCES = bool(np.ndarray.__flags__ & 1 << 5)
"""Whether arrays match sequences of patterns: they do in newer releases of NumPy."""


class Snapshot(ObjectWalk):
    """The checks of what functions read, made before they run."""

    def __init__(
        self,
        roots: Iterable[tuple[object, str]],
        names: frozenset[str],
        handles: bool,
        policies: Policies,
        apart: Container[int] = frozenset(),
    ) -> None:
        super().__init__(names, handles, policies, apart)
        self.blind: list[str] = []
        """The questions whose answers would tell traced arrays from NumPy's."""
        self.asked: list[tuple[types.CodeType, str, str]] = []
        """Arguments of code that asks for their class, with what to say if they are traced."""
        self.tells_identity = False
        """Whether code asks whether two values are one object."""
        self.writes: list[tuple[Write, types.CodeType]] = []
        self.stored: set[str] = set()
        """The attributes that code stores to."""
        self.changes_containers = False
        self.changes_arrays = False
        self.stores: set[tuple[int, str]] = set()
        """The variables that code stores to: the id of a module's dict or a cell, and the name."""
        self.codes: dict[int, types.CodeType] = {}
        """The code objects that were met, by their ids: equal ones are not the same."""
        self._scopes: set[tuple[int, int]] = set()
        """The code objects and the modules that they were met with."""
        self.wanted = set(names)
        """Names of attributes in all code that was met."""
        self._order: list[int] = []
        self.variables: dict[int, set[str]] = {}
        """By their ids the dicts of modules, and cells with their names."""
        for value, path in roots:
            self._visit(value, path)
        self.finish()

    def finish(self) -> None:
        """Take apart what was met."""
        while self._pending and len(self.checks) <= LIMIT:
            value, path, self._policy, self._where = self._pending.pop()
            self._take_apart(value, path)
        if len(self.checks) > LIMIT:
            self.reasons.append(f"it may read more than {LIMIT} things outside of it")
            self._pending.clear()

    def keep(self, other: Snapshot) -> None:
        """Keep only checks that another snapshot of the same functions has, too."""
        kept = set(map(_place, other.checks, other.told))
        places = list(map(_place, self.checks, self.told))
        at = [at for at, place in enumerate(places) if place in kept]
        numbers = {before: now for now, before in enumerate(at)}
        self._order = []
        self.visits = other.visits
        self.checks = [self.checks[own] for own in at]
        self.told = [self.told[own] for own in at]
        named = {_place(*own) for own in other.whole}
        self.whole = [own for own in self.whole if _place(*own) in named]
        self.meetings = {
            key: [numbers[own] for own in meetings if own in numbers]
            for key, meetings in self.meetings.items()
        }
        arrays, self.arrays = self.arrays, {}
        for key in arrays.keys() & other.arrays.keys():
            own = arrays[key]
            self.arrays[key] = replace(own, check=[*self.meetings[key], numbers[own.check]][0])

    def places(self) -> dict[int, list[tuple[object, object]]]:
        """By the ids of values, the owners and keys under which they were found."""
        found: dict[int, list[tuple[object, object]]] = {}
        for place, owner, key, expected in self.checks:
            if place == "elements":
                for at, one in enumerate(expected[0]):
                    found.setdefault(id(one), []).append((owner, at))
            elif place in _PLACES and expected:
                found.setdefault(id(expected[0]), []).append((owner, key))
        return found

    def root_of(
        self, value: object, places: Mapping[int, list[tuple[object, object]]]
    ) -> Root | None:
        """The variable or attribute from which alone a value is reached; None if there are more."""
        keys: Keys = ()
        while True:
            met = places.get(id(value), [])
            if len(met) != 1 or self.visits[id(value)] != 1:
                return None
            owner, key = met[0]
            if type(owner) is types.CellType:
                return Root(frozenset(self.variables[id(owner)]), False, keys)
            if id(owner) in self.variables:
                return Root(frozenset([str(key)]), False, keys)
            name = key if type(key) is str else getattr(key, "__name__", None)
            by_name = type(owner) is types.MappingProxyType or type(key) is _MEMBER
            if name is not None and (by_name or id(owner) in self.owned):
                return Root(frozenset([name]), True, keys)
            if not is_one_of(type(owner), (list, tuple, dict)):
                return None
            known = key if isinstance(key, str | int) and type(key) is not bool else None
            value, keys = owner, (known, *keys)

    def first_change(self) -> NamedCapture | None:
        """The subjects that are no longer as they were when the snapshot was made."""
        failed = Guards(self.checks).first_failure()
        if failed is not None:
            return self.told[failed]
        failed = Guards([check for check, _ in self.whole]).first_failure()
        if failed is not None:
            return self.whole[failed][1]
        for own in self.arrays.values():
            if own.array.tobytes() != own.contents:
                return self.told[own.check]
            if Guards([("layout", own.array, None, (own.layout,))]).first_failure() is not None:
                return self.told[own.check]
        return None

    def holders(self) -> list[Any]:
        """The objects that were met, and the dicts and cells that were read."""
        owners = {id(check[1]): check[1] for check in self.checks}
        return list({**owners, **self.seen}.values())

    def order(self) -> list[int]:
        """The numbers of the checks of cells, modules, containers and attributes."""
        if len(self._order) != len(self.checks):
            ranks: tuple[list[int], ...] = ([], [], [], [])
            for at, (place, owner, _, _) in enumerate(self.checks):
                if type(owner) is types.CellType:
                    ranks[0].append(at)
                elif id(owner) in self.variables:
                    ranks[1].append(at)
                else:
                    contained = place in _IN_CONTAINERS and id(owner) not in self.owned
                    ranks[2 if contained else 3].append(at)
            self._order = [at for own in ranks for at in own]
        return self._order

    def _take_apart(self, value: Any, path: str) -> None:
        kind = type(value)
        wrapped = getattr(value, "_fn", None) if kind.__module__.startswith("frazil.") else None
        if kind is types.FunctionType:
            self._function(value, path)
        elif issubclass(kind, type):
            self._class(value, path)
        elif issubclass(kind, types.ModuleType):
            self._module(value, None, path)
        elif wrapped is not None:
            self._visit(wrapped, path)
        elif is_one_of(kind, _CONTAINERS) or "n_sequence_fields" in vars(kind):
            self._sequence(value, path)
        elif issubclass(kind, dict) and has_plain_layout(kind, dict):
            self._dict(value, path)
            if kind is not dict:
                self._instance(value, path)
        elif is_one_of(kind, _BOUND):
            owner = value.__self__
            if not isinstance(owner, types.ModuleType):
                self._visit(owner, path)
            if kind is types.MethodType:
                self._visit(value.__func__, path)
        elif kind is functools.partial:
            for name in ("func", "args", "keywords"):
                self._read("attribute", value, name, getattr(value, name), path)
        elif issubclass(kind, property):
            for name in ("fget", "fset", "fdel"):
                self._visit(getattr(value, name), path)
        elif issubclass(kind, staticmethod | classmethod):
            self._visit(value.__func__, path)
        elif issubclass(kind, functools.cached_property):
            self._visit(value.func, path)
        elif issubclass(kind, enum.Enum):
            self._enumerated(value, path)
        elif kind is REMEMBERING:
            self.reasons.append(f"{path} remembers what it returned before")
        elif is_trusted_module(kind.__module__) and not issubclass(kind, np.ndarray):
            self._instance_of_library(value, path)
        elif any(has_plain_layout(kind, base) for base in (object, list, tuple, set)):
            if issubclass(kind, list | tuple | set | frozenset):
                self._sequence(value, path)
            self._instance(value, path)
        else:
            self.reasons.append(told_state(value, path))

    # ------------------------------------------------------------ functions and their code

    def _function(self, function: types.FunctionType, path: str) -> None:
        name = function.__qualname__
        code = function.__code__
        own = f"{name}.__code__"
        if is_trusted_code(code):
            return
        self._check("attribute", function, "__code__", (code,), own)
        defaults = function.__defaults__
        self._check("attribute", function, "__defaults__", (defaults,), f"{name}.__defaults__")
        for value in defaults or ():
            if is_one_of(type(value), SCALARS):
                continue
            self._visit_data(value, f"a default of {name}")
        keywords = function.__kwdefaults__
        self._check("attribute", function, "__kwdefaults__", (keywords,), f"{name}.__kwdefaults__")
        if keywords:
            self._visit(keywords, f"the defaults of {name}")
            if any(is_data(own) and not is_one_of(type(own), SCALARS) for own in keywords.values()):
                self.data.append(NamedCapture(f"a default of {name}", self._policy, self._where))
        for key in _OF_FUNCTIONS:
            if key in self._names:
                self._read("attribute", function, key, getattr(function, key), f"{name}.{key}")
        if "__globals__" in self._names:
            self.reasons.append(f"the globals of {name} may be read by {name}.__globals__")
        own = f"the attributes of {name}"
        self.owned.add(id(vars(function)))
        self._check("keys", vars(function), None, (tuple(vars(function)),), own)
        for key, value in vars(function).items():
            self._read("item", vars(function), key, value, f"{own}[{key!r}]")
            if is_data(value) and not is_dunder(key):
                self.data.append(NamedCapture(f"{name}.{key}", self._policy, self._where))
        self.code(code, function.__globals__, function.__closure__, name)

    def code(
        self,
        code: types.CodeType,
        scope: dict[str, object],
        closure: tuple[types.CellType, ...] | None,
        name: str,
    ) -> None:
        """Add the names that code reads from a module, from builtins and from cells."""
        if (id(code), id(scope)) in self._scopes and not code.co_freevars:
            return
        names = names_of(code)
        self.codes.update((id(each), each) for each in names.codes)
        self._scopes.update((id(each), id(scope)) for each in names.codes)
        self.wanted |= names.attributes
        self.handles = self.handles or names.handles_errors
        self.writes += [(write, code) for write in names.writes]
        self.stored |= names.stored
        self.changes_containers = self.changes_containers or names.changes_containers
        self.changes_arrays = self.changes_arrays or names.changes_arrays
        cells = dict(zip(code.co_freevars, closure or (), strict=False))
        for write in names.writes:
            self.stores.add((id(cells.get(write.name, scope)), write.name))
        above = self._policy
        library = str(scope.get("__name__", "")).partition(".")[0] in sys.stdlib_module_names
        if not library:
            self.tells_identity = self.tells_identity or names.tells_identity
            for asked in names.classes_asked:
                self._note_asked(asked)
            for matching, line in names.sequences_matched if _ARRAYS_ARE_SEQUENCES else ():
                place = shown_place(matching, line, matching.co_name)
                self.blind.append(
                    f"a value is matched with [...] or (...), {place}, which arrays may match"
                )
        for used, chains in names.uses.items():
            self._policy = self._policies.of(used, above)
            self._where = (code, names, used, name)
            self._global(used, chains, scope, library)
        self._note_scopes(scope, sys.modules)
        for module in sorted(names.imports):
            if module in sys.modules:
                self._read("item", sys.modules, module, sys.modules[module], f"module {module!r}")
        if closure is None and code.co_freevars:
            self.reasons.append(f"{name} is reached by a way that cannot be watched")
        for cell, free in zip(closure or (), code.co_freevars, strict=False):
            self._policy = self._policies.of(free, above)
            self._where = (code, names, free, name)
            self._cell(cell, free, names, library)
        self._policy = above

    def _note_scopes(self, *scopes: object) -> None:
        self.variables.update((id(scope), set()) for scope in scopes)

    def _note_asked(self, asked: Asked) -> None:
        place = shown_place(asked.code, asked.line, asked.code.co_name)
        reason = (
            f"type(...) is called, {place}, which tells traced arrays from NumPy's: write "
            "isinstance(x, np.ndarray)"
        )
        if asked.argument is None:
            self.blind.append(reason)
        else:
            self.asked.append((asked.code, asked.argument, reason))

    def _global(
        self, name: str, chains: set[tuple[str, ...]], scope: dict[str, object], library: bool
    ) -> None:
        path = f"global {name!r}"
        if name in scope:
            self._check("item", scope, name, (scope[name],), path)
            if library or is_dunder(name):
                self._visit(scope[name], path)
            else:
                self._used(scope[name], chains, path)
            return
        self._check("item", scope, name, (), path)
        inner = _builtins_of(scope)
        self._note_scopes(inner)
        if name in REFLECTION:
            self.wanted.add(name)
        if name in inner:
            self._check("item", inner, name, (inner[name],), f"builtin {name!r}")
            self._visit(inner[name], f"builtin {name!r}")

    def _cell(self, cell: types.CellType, name: str, names: Names, library: bool) -> None:
        path = f"nonlocal {name!r}"
        self.variables.setdefault(id(cell), set()).add(name)
        try:
            value = cell.cell_contents
        except ValueError:
            self._check("attribute", cell, "cell_contents", (), path)
            return
        self._check("attribute", cell, "cell_contents", (value,), path)
        if library:
            self._visit(value, path)
        else:
            self._used(value, names.free_uses.get(name, {()}), path)

    def _used(self, value: object, chains: set[tuple[str, ...]], path: str) -> None:
        """A value under a name; code reads these attributes of it."""
        if isinstance(value, types.ModuleType) and () not in chains:
            for chain in sorted(chains):
                self._along(value, chain, path)
            return
        self._visit_data(value, path)

    def _along(self, module: types.ModuleType, chain: tuple[str, ...], path: str) -> None:
        """The attributes that are read of a module, of a module in it, and so on."""
        scope = vars(module)
        self._note_scopes(scope)
        name = chain[0]
        shown = f"{module.__name__}.{name}"
        if name not in scope:
            self._check("item", scope, name, (), shown)
            return
        value = scope[name]
        self._check("item", scope, name, (value,), shown)
        if reads_state(module.__name__, name):
            self.reasons.append(f"{shown} reads or changes what NumPy is set to")
        if isinstance(value, types.ModuleType) and len(chain) > 1:
            self._along(value, chain[1:], path)
        elif is_one_of(type(value), SCALARS) and module.__name__ in sys.stdlib_module_names:
            return  # a constant like math.pi
        elif not is_trusted_module(module.__name__):
            self._visit_data(value, shown)
        elif isinstance(value, types.ModuleType) or not belongs(value):
            self._visit(value, shown)

    def _module(self, module: types.ModuleType, chains: None, path: str) -> None:
        if is_trusted_module(module.__name__):
            return
        scope = vars(module)
        self._note_scopes(scope)
        self._note_names(scope, f"an attribute of {module.__name__}")
        for name in sorted(self._names & scope.keys()):
            shown = f"{module.__name__}.{name}"
            self._check("item", scope, name, (scope[name],), shown)
            if is_dunder(name):
                self._visit(scope[name], shown)
            else:
                self._visit_data(scope[name], shown)
        for name in self._missed(scope):
            self._check("item", scope, name, (), f"{module.__name__}.{name}")

    # ------------------------------------------------------------ containers

    def _sequence(self, value: Any, path: str) -> None:
        base = next(one for one in (list, tuple, set, frozenset) if isinstance(value, one))
        if base in (set, frozenset) and type(value) is not base:
            self.reasons.append(f"{path} is a set of a class of its own")
            return
        elements = tuple(base.__iter__(value))
        arrays = [at for at, one in enumerate(elements) if type(one) is np.ndarray]
        if isinstance(value, list) and arrays:
            self._check("length", value, None, (len(value),), path)
            for at, one in enumerate(elements):
                self._read("element", value, at, one, f"{path}[{at}]")
            return
        self._check("elements", value, None, (elements,), path)
        if base in (set, frozenset):
            if not all(map(is_key, elements)):
                self.reasons.append(f"{path} is a set of objects")
            return
        for at, one in enumerate(elements):
            if type(one) is np.ndarray:
                self._check("itself", one, None, (one,), f"{path}[{at}]")
            self._visit(one, f"{path}[{at}]")

    def _dict(self, value: dict[object, object], path: str) -> None:
        keys = tuple(dict.keys(value))
        self._check("keys", value, None, (keys,), path)
        if not all(map(is_key, keys)):
            self.reasons.append(f"{path} is a dict whose keys are objects")
            return
        for key, one in dict.items(value):
            self._read("item", value, key, one, f"{path}[{key!r}]")


def take_snapshot(
    roots: Sequence[tuple[object, str]],
    extra: Collection[tuple[types.CodeType, dict[str, object]]],
    policies: Policies,
    apart: Container[int] = frozenset(),
) -> Snapshot:
    """Return what functions read, with the attributes of all names that their code has.

    ``extra`` is code that is known to be entered, with its globals. ``apart`` has the ids of values
    that are not taken apart.
    """
    # The names of the code and of functions that it names, at once: as a rule no others are met.
    own = list(_names_ahead([root for root, _ in roots]))
    names = frozenset().union(*[known.attributes for known in own])
    handles = any(known.handles_errors for known in own)
    while True:
        found = Snapshot(roots, names, handles, policies, apart)
        for code, scope in extra:
            found.code(code, scope, None, code.co_name)
        found.finish()
        if found.wanted <= names and found.handles == handles:
            return found
        names, handles = names | found.wanted, found.handles


def _names_ahead(functions: list[object]) -> Iterator[Names]:
    """The names of functions' code, and of the code of functions that these name."""
    met: set[int] = set()
    pending = functions
    while pending:
        function = pending.pop()
        if type(function) is not types.FunctionType or id(function) in met:
            continue
        met.add(id(function))
        if is_trusted_code(function.__code__):
            continue
        names = names_of(function.__code__)
        yield names
        scope = function.__globals__
        pending += [scope[name] for name in names.uses if name in scope]
        for cell in function.__closure__ or ():
            with suppress(ValueError):
                pending.append(cell.cell_contents)


def _place(check: Check, told: NamedCapture) -> tuple[object, ...]:
    """The place that a check reads; a class gives its dict by another proxy each time."""
    place, owner, key, _ = check
    if type(owner) is types.MappingProxyType:
        return place, told.path
    return place, id(owner), key if is_key(key) else id(key)


def _builtins_of(scope: dict[str, Any]) -> dict[str, object]:
    """The place where code of a module finds names that the module does not have."""
    found = scope.get("__builtins__", builtins)
    return vars(found) if isinstance(found, types.ModuleType) else found
