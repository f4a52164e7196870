"""The core's ``dataclass``, which defines frozen classes in a tenth of the time.

The standard decorator writes the methods of a frozen class as source text and compiles them. No bytecode
cache stores the result, so each start repeats it: for the core's classes, a tenth of a start. Here,
``__init__`` is compiled when it is first called, and the other methods are functions that exist already.
"""

from collections.abc import Callable, Sequence
from dataclasses import MISSING, FrozenInstanceError, field, fields, is_dataclass
from dataclasses import dataclass as standard_dataclass
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")

_OWN_METHODS = frozenset({"__init__", "__eq__", "__hash__", "__setattr__", "__delattr__"})


@dataclass_transform(field_specifiers=(field,))
def dataclass(*, frozen: bool = False, slots: bool = False) -> Callable[[type[T]], type[T]]:
    """Return a decorator whose classes behave as those of :func:`dataclasses.dataclass`.

    Args:
        frozen: refuse assignments to fields.
        slots: store fields without a dictionary.
    """

    def decorate(cls: type[T]) -> type[T]:
        is_derived = any(is_dataclass(base) for base in cls.__mro__[1:])
        if not (frozen and slots) or is_derived or _OWN_METHODS & vars(cls).keys():
            return standard_dataclass(frozen=frozen, slots=slots)(cls)
        defined: type[T] = _define(cls)
        return defined

    return decorate


def _define(cls: Any) -> Any:
    # An undocumented class would be documented by its signature, which takes longer than to define it.
    cls.__doc__ = cls.__doc__ or cls.__qualname__
    cls = standard_dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    members = fields(cls)
    if any(each.kw_only or not each.init or each.name[0] == "_" for each in members):
        raise TypeError(f"{cls.__qualname__}: every field must be a public positional parameter")
    # Classes that extend this one must be frozen, too.
    cls.__dataclass_params__.frozen = True
    cls.__init__ = _UncompiledInit(cls)
    if "__repr__" not in vars(cls):
        cls.__repr__ = _repr
    cls.__getstate__, cls.__setstate__ = _get_state, _set_state
    cls.__setattr__, cls.__delattr__ = _refuse_assignment, _refuse_deletion
    _add_comparison(cls, [each.name for each in members if each.compare])
    return cls


class _UncompiledInit:
    """Replaces itself by the ``__init__`` of a class when it is first looked up."""

    def __init__(self, cls: Any) -> None:
        self._class = cls

    def __get__(self, instance: object, owner: type) -> Any:
        compiled = self._class.__init__ = _compile_init(self._class)
        return compiled.__get__(instance, owner)


class _Factory:
    """The default of a parameter whose field has a ``default_factory``."""

    def __repr__(self) -> str:
        return "<factory>"


def _compile_init(cls: Any) -> Any:
    # The names of all variables but the parameters begin with "_", as those of no field do.
    variables: dict[str, Any] = {"_set": object.__setattr__, "_FACTORY": _Factory()}
    parameters, lines = [], []
    for each in fields(cls):
        name, default, value = each.name, "", each.name
        if each.default is not MISSING:
            variables[f"_default_{name}"], default = each.default, f"=_default_{name}"
        elif each.default_factory is not MISSING:
            variables[f"_create_{name}"], default = each.default_factory, "=_FACTORY"
            value = f"_create_{name}() if {name} is _FACTORY else {name}"
        parameters.append(f"{name}{default}")
        lines.append(f" _set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    source = f"def __init__(self, {', '.join(parameters)}):\n" + "\n".join(lines or [" pass"])
    exec(source, variables)  # noqa: S102  names of fields
    init = variables["__init__"]
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    init.__annotations__ = {each.name: each.type for each in fields(cls)} | {"return": None}
    return init


@recursive_repr()
def _repr(self: Any) -> str:
    values = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(values)})"


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


def _refuse_assignment(_: object, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(_: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _add_comparison(cls: Any, names: Sequence[str]) -> None:
    # Of a single name, it would return a value instead of a tuple.
    values = attrgetter(*names) if len(names) > 1 else attrgetter("__class__", *names)

    def __eq__(self: Any, other: Any) -> Any:  # noqa: N807
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    cls.__eq__, cls.__hash__ = __eq__, __hash__
