"""Objects, classes and enumerations in a snapshot: what code may read of them."""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any

from frazil.jit.callables import is_allowed_class, is_trusted_module
from frazil.jit.identity import is_one_of
from frazil.jit.kinds import NOT_READ, SCALARS, is_data, is_dunder, is_written_in_python
from frazil.jit.walk import NamedCapture, Walk

_OF_CLASSES = ("__name__", "__qualname__")
_MRO = type.__dict__["__mro__"]
_DICT_OF_TYPE = type.__dict__["__dict__"]


class ObjectWalk(Walk):
    """Checks of objects, classes and enumerations."""

    def _instance(self, value: object, path: str) -> None:
        kind = type(value)
        self._check("class", value, None, (kind,), f"the class of {path}")
        self._visit(kind, kind.__qualname__)
        resolved = {name for base in kind.__mro__ for name in vars(base)}
        if kind.__dictoffset__:
            own = object.__getattribute__(value, "__dict__")
            self.owned.add(id(own))
            self._check("instance dict", value, None, (own,), f"the attributes of {path}")
            self._note_names(own, f"an attribute of {path}")
            names = own.keys() if self._reflects else own.keys() & self._names
            for name in sorted(names):
                self._read("item", own, name, own[name], f"{path}.{name}")
            self._not_in_classes(kind, names)
            if "__getattr__" in resolved:
                made_up = self._names - own.keys() - resolved
                self._not_in_classes(kind, [x for x in made_up if not is_dunder(x)])
            absent = self._names - own.keys()
            if not (self._reflects or self.handles or "__getattr__" in resolved):
                absent &= resolved
            elif self._reflects:
                self._check("keys", own, None, (tuple(own),), f"the attributes of {path}")
            for name in sorted(absent):
                if name.isidentifier() and not name.startswith("__"):
                    self._check("item", own, name, (), f"{path}.{name}")
        for base in kind.__mro__:
            for name, member in vars(base).items():
                if type(member) is types.MemberDescriptorType and is_written_in_python(base):
                    self._slot(value, name, member, path)

    def _instance_of_library(self, value: object, path: str) -> None:
        """Check what an instance holds whose class is trusted: its methods may read all of it.

        Numbers whose names begin with an underscore are what the library notes for itself.
        """
        kind = type(value)
        if kind.__module__.startswith("frazil.") or not kind.__dictoffset__:
            return
        own = object.__getattribute__(value, "__dict__")
        self.owned.add(id(own))
        self._check("instance dict", value, None, (own,), f"the attributes of {path}")
        for name in sorted(own):
            if not (name.startswith("_") and is_one_of(type(own[name]), SCALARS)):
                self._read("item", own, name, own[name], f"{path}.{name}")

    def _not_in_classes(self, kind: type, names: Iterable[str]) -> None:
        """Check that classes have none of the names that were found before them."""
        for base in _MRO.__get__(kind):
            if is_written_in_python(base) and not is_trusted_module(base.__module__):
                proxy = _DICT_OF_TYPE.__get__(base)
                for name in sorted(names):
                    if name not in proxy:
                        self._check("class item", proxy, name, (), f"{base.__qualname__}.{name}")

    def _slot(self, value: object, name: str, member: Any, path: str) -> None:
        try:
            found = member.__get__(value)
        except AttributeError:
            self._check("member", value, member, (), f"{path}.{name}")
            return
        self._read("member", value, member, found, f"{path}.{name}")

    def _class(self, kind: type, path: str) -> None:
        if not is_written_in_python(kind) or is_trusted_module(kind.__module__):
            if not is_allowed_class(kind):
                self.reasons.append(f"{kind.__module__}.{kind.__qualname__} may be called")
            return
        if issubclass(kind, enum.Enum):
            self._enumeration(kind)
            return
        mro = _MRO.__get__(kind)
        self._check("member", kind, _MRO, (mro,), f"the bases of {kind.__qualname__}")
        if type(kind) is not type:
            self._visit(type(kind), type(kind).__qualname__)
            above = {name for base in _MRO.__get__(type(kind)) for name in vars(base)}
            wanted = {name for name in self._names if not is_dunder(name)}
            self._not_in_classes(kind, wanted if "__getattr__" in above else wanted & above)
        for name in _OF_CLASSES:
            if name in self._names:
                reader = vars(type)[name]
                path = f"{kind.__qualname__}.{name}"
                self._check("member", kind, reader, (reader.__get__(kind),), path)
        found: set[str] = set()
        for base in reversed(mro):
            own = is_written_in_python(base) and base is not typing.Generic
            if not own or is_trusted_module(base.__module__):
                if not is_allowed_class(base):
                    self.reasons.append(f"{kind.__qualname__} derives from {base.__qualname__}")
                continue
            proxy = _DICT_OF_TYPE.__get__(base)
            self._note_names(proxy, f"an attribute of {base.__qualname__}")
            names = {n for n in proxy if n in self._names or (is_dunder(n) and n not in NOT_READ)}
            for name in sorted(names):
                self._class_item(base, proxy, name)
            for name in sorted((found | {"__getattr__", "__getattribute__"}) - names):
                if name not in proxy:
                    self._check("class item", proxy, name, (), f"{base.__qualname__}.{name}")
            found |= names
        self._not_in_classes(kind, self._missed({name for base in mro for name in vars(base)}))

    def _enumerated(self, member: enum.Enum, path: str) -> None:
        """Check what a member of an enumeration holds; it stays of its class."""
        own = object.__getattribute__(member, "__dict__")
        self.owned.add(id(own))
        self._note_names(own, f"an attribute of {path}")
        for name in sorted((own.keys() & self._names) | {"_value_"}):
            if name in own:
                self._read("item", own, name, own[name], f"{path}.{name}")
        for name in sorted(name for name in self._names - own.keys() if not is_dunder(name)):
            self._check("item", own, name, (), f"{path}.{name}")
        self._visit(type(member), type(member).__qualname__)

    def _enumeration(self, kind: type[enum.Enum]) -> None:
        """Check the members of an enumeration that code names, and what else its classes define."""
        members = kind._member_map_
        for name in sorted(self._names & members.keys()):
            self._read("item", members, name, members[name], f"{kind.__qualname__}.{name}")
        for base in _MRO.__get__(kind):
            if base.__module__ == "enum" or not is_written_in_python(base):
                continue
            proxy = _DICT_OF_TYPE.__get__(base)
            self._note_names(proxy, f"an attribute of {base.__qualname__}")
            wanted = {name for name in self._names if not _is_of_enumerations(name)}
            wanted -= members.keys()
            functions = {n for n, own in proxy.items() if type(own) is types.FunctionType}
            wanted |= {n for n in functions if is_dunder(n) and proxy[n].__module__ != "enum"}
            for name in sorted(wanted):
                if name in proxy:
                    self._class_item(base, proxy, name)
                else:
                    self._check("class item", proxy, name, (), f"{base.__qualname__}.{name}")

    def _class_item(self, kind: type, proxy: Mapping[str, object], name: str) -> None:
        value = proxy[name]
        path = f"{kind.__qualname__}.{name}"
        self._check("class item", proxy, name, (value,), path)
        field = name in vars(kind).get("__dataclass_fields__", ())  # a default of instances
        if is_data(value) and not is_dunder(name) and not field:
            self.data.append(NamedCapture(path, self._policy, self._where))
        self._visit(value, path)


def _is_of_enumerations(name: str) -> bool:
    """Whether a name is one that Python or the machinery of enumerations gives: ``_value_``."""
    return name.startswith("_") and name.endswith("_")
