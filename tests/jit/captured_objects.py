"""Objects and classes that functions capture."""

import abc
import collections
import collections.abc
import copy
import enum
import numbers
import operator
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import scipy.sparse
from capture_cases import Box, X, case, changes_of, mutations, seen, text


@mutations(lambda: Box(1), lambda c: setattr(c, "value", 2), lambda c: setattr(c, "value", 2.0))
def attribute(x, c):
    return x * c.value


@mutations(lambda: Box([1]), lambda c: c.value.append(2))
def list_in_an_attribute(x, c):
    return len(c.value)


@mutations(lambda: Box(Box(1)), lambda c: setattr(c.value, "value", 2))
def attribute_of_an_attribute(x, c):
    return c.value.value


@mutations(
    lambda: Box(1), lambda c: delattr(c, "value"), lambda c: setattr(c, "value", 3), cached=None
)
def deleted_attribute(x, c):
    return c.value


@mutations(lambda: Box(1), lambda c: setattr(c, "extra", 2))
def attribute_asked_for(x, c):
    return getattr(c, "extra", "none"), hasattr(c, "extra")


@mutations(lambda: Box(1), lambda c: setattr(c, "extra", 2))
def attribute_tried(x, c):
    try:
        return c.extra
    except AttributeError:
        return "none"


@mutations(lambda: Box(1), lambda c: setattr(c, "__class__", Tripled))
def class_of_an_object(x, c):
    return c.value * getattr(type(c), "factor", 1)


class Tripled(Box):
    factor = 3


@mutations(lambda: Box(1), lambda c: setattr(c, "__dict__", {"value": 7}))
def dict_of_an_object(x, c):
    return c.value


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a = 1


@mutations(Slotted, lambda c: setattr(c, "a", 2))
def slots(x, c):
    return c.a


@mutations(Slotted, lambda c: setattr(c, "b", 5), lambda c: delattr(c, "b"))
def empty_slot(x, c):
    return hasattr(c, "b")


class WithProperty:
    factor = 2

    def __init__(self):
        self._value = 3

    @property
    def value(self):
        return self._value * self.factor

    @staticmethod
    def constant():
        return 10

    @classmethod
    def of_class(cls):
        return cls.factor

    def method(self, x):
        return x * self.value


@mutations(
    WithProperty,
    lambda c: setattr(c, "_value", 4),
    lambda c: setattr(c, "factor", 5),
)
def property_of_an_object(x, c):
    return c.value


@mutations(WithProperty, lambda c: setattr(c, "_value", 4))
def method_of_an_object(x, c):
    return c.method(x), c.constant(), c.of_class()


@case(bind="bound", error="raises")
def patched_method(jit):
    class Local:
        def go(self):
            return 1

    held = Local()
    f = jit(lambda: held.go())
    found = [seen(f)]
    Local.go = lambda self: 2
    found.append(seen(f))
    held.go = lambda: 3
    found.append(seen(f))
    return [*found, seen(f)]


@case(bind="bound", error="raises")
def patched_base_class(jit):
    class Base:
        def go(self):
            return 1

    class Local(Base):
        pass

    held = Local()
    f = jit(lambda: held.go())
    found = [seen(f)]
    Local.go = lambda self: 2
    found.append(seen(f))
    del Local.go
    Base.go = lambda self: 3
    return [*found, seen(f), seen(f)]


@case(bind="bound", error="raises")
def class_attribute(jit):
    class Local:
        scale = 2

    f = jit(lambda x: x * Local.scale)
    found = [seen(f, X)]
    Local.scale = 3
    return [*found, seen(f, X), seen(f, X)]


@case(bind="bound", error="raises")
def shadowed_class_attribute(jit):
    class Local:
        scale = 2

    held = Local()
    f = jit(lambda x: x * held.scale)
    found = [seen(f, X)]
    held.scale = 3
    return [*found, seen(f, X), seen(f, X)]


@case(bind="bound", error="raises")
def getattr_of_a_class(jit):
    class Local:
        def __init__(self):
            self.table = {"a": 1}

        def __getattr__(self, name):
            return self.table[name]

    held = Local()
    f = jit(lambda: held.a)
    found = [seen(f)]
    held.table["a"] = 2
    found.append(seen(f))
    return [*found, seen(f)]


@case(bind="bound", error="raises")
def getattr_that_is_added(jit):
    class Local:
        pass

    held = Local()

    def f():
        try:
            return held.a
        except AttributeError:
            return "none"

    f = jit(f)
    found = [seen(f)]
    Local.__getattr__ = lambda self, name: name
    return [*found, seen(f), seen(f)]


@case(bind="bound", error="raises")
def metaclass(jit):
    class Meta(type):
        offset = 1

        @property
        def total(cls):
            return cls.own + cls.offset

    class Local(metaclass=Meta):
        own = 1

    f = jit(lambda: Local.total)
    found = [seen(f)]
    Local.own = 2
    found.append(seen(f))
    Meta.offset = 5
    return [*found, seen(f), seen(f)]


@case(bind="bound", error="raises")
def operators_of_a_class(jit):
    class Local:
        def __add__(self, other):
            return 1

        def __len__(self):
            return 2

    held = Local()
    f = jit(lambda: (held + 1, len(held), bool(held)))
    found = [seen(f)]
    Local.__add__ = lambda self, other: 10
    Local.__bool__ = lambda self: False
    return [*found, seen(f), seen(f)]


@mutations(lambda: dataclass_of(1), lambda c: setattr(c, "a", 2))
def captured_dataclass(x, c):
    return c.a * x


def dataclass_of(a):
    @dataclass
    class Data:
        a: int

    return Data(a)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@changes_of([Colour.RED, Colour.BLUE])
def enumeration(x, c):
    return c is Colour.RED, c.value


@case(bind="bound", error="same")
def state_of_enumerations(jit):
    class Kind(enum.Enum):
        A = [2.0]  # noqa: RUF012

        def twice(self):
            return self.value[0] * 2

        def __add__(self, other):
            return self.value[0] + other

    Kind.A.extra = 1.0
    f = jit(lambda x: x * Kind.A.twice() * Kind.A.extra + (Kind.A + 1))
    found = [seen(f, X), seen(f, X)]
    Kind.A.value[0] = 3.0
    found.append(seen(f, X))
    Kind.A.extra = 5.0
    found.append(seen(f, X))
    Kind.A._value_ = [7.0]
    found.append(seen(f, X))
    Kind.twice = lambda self: 9.0
    found.append(seen(f, X))
    Kind.__add__ = lambda self, other: 11.0
    return [*found, seen(f, X), seen(f, X), seen(f, X)]


@case(bind="bound", error="raises")
def attributes_that_classes_lack(jit):
    class Plain:
        pass

    class Kind(enum.Enum):
        A = 1

    def fn(x):
        try:
            return x * Plain.tried
        except AttributeError:
            return x * getattr(Plain, "asked", 1.0) * getattr(Kind, "asked", 1.0)

    f = jit(fn)
    found = [seen(f, X), seen(f, X)]
    Plain.asked = 3.0
    found.append(seen(f, X))
    Kind.asked = 5.0
    found.append(seen(f, X))
    Plain.tried = 7.0
    return [*found, seen(f, X), seen(f, X), seen(f, X)]


@changes_of([collections.namedtuple("P", "a b")(1, 2), (1, 2)])
def captured_namedtuple(x, c):
    return c[0], type(c).__name__


@case(bind="raises", error="raises", cached=False)
def captured_object_is_changed(jit):
    held = Box(0)

    def f(x):
        held.value += 1
        return x * held.value

    f = jit(f)
    return [seen(f, X), seen(f, X), seen(f, X), held.value]


@case(bind="raises", error="raises", cached=False)
def captured_object_keeps_an_array(jit):
    held = Box(None)

    def f(x):
        held.value = x * 2
        return x.sum()

    f = jit(f)
    return [seen(f, X), type(held.value).__name__, seen(f, X), text(held.value), seen(f, X)]


@case(bind="raises", error="raises", cached=False)
def class_is_changed(jit):
    class Local:
        count = 0

    def f():
        Local.count += 1
        return Local.count

    f = jit(f)
    return [seen(f), seen(f), seen(f)]


@case(cached=True)
def object_that_is_local(jit):
    def f(x):
        box = Box(x)
        box.value = box.value * 2
        return box.value

    f = jit(f)
    return [seen(f, X), seen(f, X + 1)]


@case(cached=False)
def object_that_is_returned(jit):
    f = jit(lambda x: Box(x * 2))
    one, two = f(X), f(X)
    return [one is two, text(one.value), text(two.value), type(f(X)).__name__]


@case(bind="bound", error="same")
def object_as_an_argument(jit):
    f = jit(lambda box, x: x * box.value)
    held = Box(2)
    found = [seen(f, held, X)]
    held.value = 3
    return [*found, seen(f, held, X), seen(f, held, X)]


@case(cached=False, bind="raises", error="raises")
def argument_object_is_changed(jit):
    def f(box, x):
        box.value += 1
        return x * box.value

    f = jit(f)
    held = Box(2)
    return [seen(f, held, X), seen(f, held, X), held.value, seen(f, held, X)]


@dataclass
class Scaled:
    value: object
    factor = 2.0

    def scaled(self):
        return self.value * self.factor


class Named(NamedTuple):
    value: object

    def scaled(self):
        return self.value * 2


def patched(kind, make):
    """What a function gives whose argument is of a class that changes."""

    def program(jit):
        before = kind.scaled
        f = jit(lambda own: own.scaled())
        found = [seen(f, make()), seen(f, make())]
        kind.scaled = lambda self: self.value - 1
        try:
            found.append(seen(f, make()))
        finally:
            kind.scaled = before
        return [*found, seen(f, make())]

    return program


@case(bind="bound", error="same")
def the_class_of_a_named_tuple_among_arguments(jit):
    return patched(Named, lambda: Named(X))(jit)


@case(bind="bound", error="raises")
def the_class_of_a_dataclass_among_arguments(jit):
    return patched(Scaled, lambda: Scaled(X))(jit)


@case(bind="bound", error="raises")
def an_attribute_of_the_class_of_an_argument(jit):
    f = jit(lambda own: own.value * own.factor)
    found = [seen(f, Scaled(X))]
    for Scaled.factor in (3.0, 2.0, 2.0):
        found.append(seen(f, Scaled(X)))
    return found


@case(bind="bound", error="same")
def names_of_functions_and_classes(jit):
    def named():
        """Short."""

    class Kind:
        pass

    f = jit(lambda x: x * len(named.__name__) * len(Kind.__name__) + len(named.__doc__))
    found = [seen(f, X), seen(f, X)]
    named.__name__ = "another"
    found.append(seen(f, X))
    Kind.__name__ = "Other kind"
    found.append(seen(f, X))
    named.__doc__ = "Longer than it was."
    return [*found, seen(f, X), seen(f, X)]


@case(bind="bound", error="same")
def annotations_of_a_function(jit):
    def annotated(x: float):
        return x

    f = jit(lambda x: x * len(annotated.__annotations__))
    found = [seen(f, X)]
    annotated.__annotations__["y"] = int
    return [*found, seen(f, X), seen(f, X)]


class Doubling(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return "its own"


class Money:
    def __init__(self, amount):
        self.amount = amount

    def __radd__(self, other):
        return "money"


@case(bind="raises", error="raises", cached=False)
def arrays_of_a_subclass(jit):
    own = np.ones(2).view(Doubling)
    f = jit(lambda x: np.add(x, own))
    return [seen(f, X), seen(f, X)]


@case(bind="raises", error="raises", cached=False)
def masked_arrays(jit):
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    f = jit(lambda x: (x * masked).sum())
    return [seen(f, X), seen(f, X)]


@case(bind="raises", error="raises", cached=False)
def masked_arrays_on_the_left(jit):
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    f = jit(lambda x: ((masked * x).sum(), (masked - x).count()))
    return [seen(f, X), seen(f, X)]


@case(bind="raises", error="raises", cached=False)
def ufuncs_of_the_users(jit):
    doubled = np.frompyfunc(lambda value: value * 2, 1, 1)
    f = jit(lambda x: (doubled(x).tolist(), doubled.accumulate is None))
    return [seen(f, X), seen(f, X)]


@case(bind="raises", error="raises", cached=False)
def numbers_of_a_class_of_the_users(jit):
    f = jit(lambda x: (x + Money(2)).tolist())
    return [seen(f, X), seen(f, X)]


@case()
def comparisons_with_none_and_text(jit):
    f = jit(lambda x: (x == None, x != None, x == None, x is None, x[0] == None))  # noqa: E711
    return [seen(f, X), seen(f, X * 2)]


@case(cached=False, bind="raises", error="raises")
def copies_of_arrays(jit):
    f = jit(lambda x: copy.copy(x) + copy.deepcopy([x])[0])
    return [seen(f, X), seen(f, X * 2)]


# Arrays match sequences of patterns in newer releases of NumPy.
MATCHED = "raises" if np.ndarray.__flags__ & 1 << 5 else "same"


@case(cached=None, bind=MATCHED, error=MATCHED)
def sequences_matched_with_arrays(jit):
    def f(tree):
        match tree:
            case {"k": [a, b]}:
                return a + b
            case {"k": a, **rest}:
                return a * len(rest)
        return None

    f = jit(f)
    return [seen(f, tree) for tree in ({"k": [X, X]}, {"k": X, "z": 1}, {}) * 2]


@case(bind="raises", error="raises", cached=False)
def sparse_matrices_on_the_left(jit):
    sparse = scipy.sparse.csr_array([[0.0, 2.0], [1.0, 0.0]])
    f = jit(lambda x: (sparse @ x, sparse.dot(x)))
    return [seen(f, X), seen(f, X)]


@case(error="raises")
def abstract_classes_of_the_library(jit):
    values = {"a": 2.0}

    def f(x):
        if isinstance(values, collections.abc.Mapping) and isinstance(3, numbers.Integral):
            return x * values["a"]
        return x

    f = jit(f)
    return [seen(f, X), seen(f, X)]


@case(bind="bound", error="raises")
def classes_registered_with_abstract_ones(jit):
    class Abstract(abc.ABC):
        @abc.abstractmethod
        def value(self): ...

    class Registered:
        pass

    own = Registered()
    f = jit(lambda x: x * 2 if isinstance(own, Abstract) else x * 3)
    found = [seen(f, X), seen(f, X)]
    Abstract.register(Registered)
    return [*found, seen(f, X)]


@case()
def generic_classes(jit):
    Held = TypeVar("Held")

    class Holder(Generic[Held]):
        def __init__(self, held):
            self.held = held

    f = jit(lambda x: Holder(x).held * 2)
    return [seen(f, X), seen(f, X)]


@case()
def getters_of_items(jit):
    f = jit(lambda x: operator.itemgetter("a")({"a": x}) * operator.attrgetter("value")(Box(3.0)))
    return [seen(f, X), seen(f, X)]
