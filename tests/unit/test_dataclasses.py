"""The core's dataclasses behave as those of the standard library."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, astuple, field, fields, replace
from types import FunctionType
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from strongroom.dataclasses import dataclass

_OF_EACH_CLASS = frozenset({"__dict__", "__weakref__"})

T = TypeVar("T")
Define = Callable[[type[Any]], type[Any]]

OWN = dataclass(frozen=True, slots=True)
STANDARD = dataclasses.dataclass(frozen=True, slots=True)


class Fields:
    """Fields of all kinds that the core uses."""

    kinds: ClassVar[int] = 5
    name: str
    age: int | None = None
    names: list[str] = field(default_factory=list)
    secret: str = field(default="hidden", repr=False)
    note: str = field(default="", compare=False)


class OneField:
    """One field."""

    name: str


class NoField:
    """No field."""


class Validated:
    """Validates its field, and names itself."""

    name: str
    _names: ClassVar[list[str]] = []

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("no name")

    def __repr__(self) -> str:
        return f"<{self.name}>"

    @property
    def upper(self) -> str:
        return self.name.upper()


SAMPLES: dict[type[Any], list[tuple[Any, ...]]] = {
    Fields: [
        ("a",),
        ("a", 1),
        ("a", None, []),
        ("a", None, ["x"]),
        ("a", 1, [], "other", "note"),
        ("b",),
    ],
    OneField: [("a",), ("b",), (("a",),)],
    NoField: [()],
    Validated: [("a",), ("b",)],
}


@dataclass(frozen=True, slots=True)
class Point(Generic[T]):
    """Pickled by its name in this module."""

    x: T
    y: int = 0


def twins(body: type[Any]) -> tuple[type[Any], type[Any]]:
    """Return the class with the given body, as defined by the core and by the standard library."""
    content = {name: value for name, value in vars(body).items() if name not in _OF_EACH_CLASS}
    name = body.__name__
    return OWN(type(name, (), dict(content))), STANDARD(type(name, (), dict(content)))


@pytest.mark.parametrize("body", SAMPLES)
def test_objects_look_alike(body: type[Any]) -> None:
    own, standard = twins(body)
    for sample in SAMPLES[body]:
        ours, theirs = own(*sample), standard(*sample)
        assert repr(ours) == repr(theirs)
        assert asdict(ours) == asdict(theirs)
        assert astuple(ours) == astuple(theirs)
        assert not hasattr(ours, "__dict__")


@pytest.mark.parametrize("body", SAMPLES)
def test_objects_compare_alike(body: type[Any]) -> None:
    own, standard = twins(body)
    for one in SAMPLES[body]:
        for other in SAMPLES[body]:
            assert (own(*one) == own(*other)) is (standard(*one) == standard(*other))
        assert own(*one) != standard(*one)
        assert own(*one) != one


@pytest.mark.parametrize("body", [OneField, NoField, Validated])
def test_equal_objects_have_equal_hashes(body: type[Any]) -> None:
    own, _ = twins(body)
    for sample in SAMPLES[body]:
        assert len({own(*sample), own(*sample)}) == 1


def test_an_object_with_a_list_has_no_hash() -> None:
    own, _ = twins(Fields)
    with pytest.raises(TypeError, match="unhashable type: 'list'"):
        hash(own("a"))


@pytest.mark.parametrize("body", SAMPLES)
def test_classes_are_described_alike(body: type[Any]) -> None:
    own, standard = twins(body)
    assert str(inspect.signature(own)) == str(inspect.signature(standard))
    assert own.__match_args__ == standard.__match_args__
    assert own.__doc__ == standard.__doc__
    assert own.__init__.__qualname__ == standard.__init__.__qualname__
    assert own.__init__.__annotations__ == standard.__init__.__annotations__
    for ours, theirs in zip(fields(own), fields(standard), strict=True):
        assert repr(ours) == repr(theirs)


@pytest.mark.parametrize("arguments", [{}, {"nane": "a"}, {"name": "a", "unknown": 1}])
def test_wrong_arguments_are_refused_alike(arguments: dict[str, Any]) -> None:
    messages = []
    for define in twins(Fields):
        with pytest.raises(TypeError) as caught:
            define(**arguments)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_assignments_are_refused_alike() -> None:
    messages = []
    for define in twins(OneField):
        with pytest.raises(FrozenInstanceError) as assigned:
            define("a").name = "b"
        with pytest.raises(FrozenInstanceError) as deleted:
            del define("a").name
        messages.append((str(assigned.value), str(deleted.value)))
    assert messages[0] == messages[1]


def test_assignments_to_unknown_names_are_refused() -> None:
    own, _ = twins(OneField)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'unknown'"):
        own("a").unknown = "b"


def test_defaults_are_created_for_each_object() -> None:
    own, _ = twins(Fields)
    assert own("a").names is not own("a").names


def test_an_object_is_validated_when_it_is_created_or_replaced() -> None:
    own, _ = twins(Validated)
    with pytest.raises(ValueError, match="no name"):
        own("")
    with pytest.raises(ValueError, match="no name"):
        replace(own("a"), name="")
    assert replace(own("a"), name="b").upper == "B"


def test_the_constructor_is_compiled_when_it_is_first_called() -> None:
    own, standard = twins(OneField)
    assert not isinstance(vars(own)["__init__"], FunctionType)
    assert own("a").name == "a"
    assert isinstance(vars(own)["__init__"], FunctionType)
    assert isinstance(vars(standard)["__init__"], FunctionType)


def test_an_undocumented_class_has_its_name_as_description() -> None:
    class Undocumented:
        name: str

    assert (OWN(Undocumented).__doc__ or "").endswith("Undocumented")


def test_objects_are_copied_and_pickled() -> None:
    point = Point(["a"], 2)
    assert pickle.loads(pickle.dumps(point)) == point
    assert copy.copy(point) == point
    assert copy.copy(point).x is point.x
    assert copy.deepcopy(point).x is not point.x


def test_objects_match_patterns() -> None:
    match Point("a", 2):
        case Point(x, 2):
            assert x == "a"
        case _:
            pytest.fail("not matched")


def test_an_object_that_contains_itself_has_a_representation() -> None:
    values: list[Any] = []
    point = Point(values)
    values.append(point)
    assert repr(point) == "Point(x=[...], y=0)"


@pytest.mark.parametrize("define", [OWN, STANDARD, dataclasses.dataclass(frozen=True)])
def test_a_derived_dataclass_is_frozen_too(define: Define) -> None:
    class Body(Point[str]):
        z: int = 0

    derived = define(Body)
    assert repr(derived("a", 1, 2)).endswith("Body(x='a', y=1, z=2)")
    assert derived("a", 1, 2) == derived("a", 1, 2)
    assert derived("a", 1, 2) != Point("a", 1)
    for name in ("x", "z"):
        with pytest.raises(FrozenInstanceError):
            setattr(derived("a"), name, "b")


def test_a_derived_class_calls_the_constructor_of_its_base() -> None:
    own, _ = twins(OneField)

    class Derived(own):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            super().__init__("a")

    assert Derived().name == "a"
    assert Derived().name == "a"


def test_names_of_fields_do_not_collide_with_those_of_the_constructor() -> None:
    class Body:
        set: str = ""
        FACTORY: list[str] = field(default_factory=list)
        default_set: str = "other"

    own, standard = twins(Body)
    assert repr(own(FACTORY=["a"])).endswith(repr(standard(FACTORY=["a"])).rpartition(".")[2])
    assert own("a", ["b"], "c").set == "a"


def test_a_derived_dataclass_cannot_thaw_its_base() -> None:
    class Body(Point[str]):
        z: int

    with pytest.raises(TypeError, match="cannot inherit non-frozen"):
        dataclass(slots=True)(Body)


def test_a_dataclass_that_is_not_frozen_is_the_standard_one() -> None:
    @dataclass(slots=True)
    class Mutable:
        name: str

    changed = Mutable("a")
    changed.name = "b"
    assert changed == Mutable("b")


class KeywordOnly:
    name: str = field(kw_only=True)


class NoParameter:
    name: str = field(default="", init=False)


class Private:
    _name: str


@pytest.mark.parametrize("body", [KeywordOnly, NoParameter, Private])
def test_fields_that_are_not_public_positional_parameters_are_refused(body: type[Any]) -> None:
    with pytest.raises(TypeError, match="every field must be a public positional parameter"):
        OWN(body)
