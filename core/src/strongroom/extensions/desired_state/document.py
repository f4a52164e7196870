"""Reads the file that declares the desired state: TOML, or JSON with the same tables."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from strongroom.plugin_api.resources import Collection, Membership, ResourceKind, Rules

USER: Final = "user"
"""The member of a membership that names the user."""

_SET_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,63}")
_DEFAULT_SET: Final = "default"


class DocumentError(Exception):
    """The file cannot be applied, whatever the server has; ``faults`` has a line for each reason."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = tuple(faults)


@dataclass(frozen=True, slots=True, eq=False)
class Declared:
    """A declared resource.

    Args:
        key: what identifies it among the resources of its kind below the same parent.
        body: the members that are declared, without the key of a membership.
        where: its place in the file, such as ``tenants.2.groups.1``, for messages.
    """

    kind: ResourceKind
    key: str
    body: Mapping[str, Any]
    parent: "Declared | None"
    where: str

    @property
    def title(self) -> str:
        """The resource in messages, such as ``tenants "Sales" groups "Editors"``."""
        above = f"{self.parent.title} " if self.parent else ""
        return above + make_title(self.kind, self.key)


def make_title(kind: ResourceKind, key: str) -> str:
    """Return the name of a kind, with the key of a resource that has one."""
    return f"{kind.name} {json.dumps(key, ensure_ascii=False)}" if key else kind.name


@dataclass(frozen=True, slots=True)
class Document:
    """The resources that a file declares, each after its parent.

    Args:
        set_name: tells this file's resources from other files'.
    """

    set_name: str
    resources: Sequence[Declared]


def read_document(path: Path, kinds: Sequence[ResourceKind]) -> Document:
    """Read a file.

    Raises:
        DocumentError: it cannot be read, or declares something that no kind of resources has.
    """
    content = _parse(path)
    set_name = content.pop("set", _DEFAULT_SET)
    if not isinstance(set_name, str) or not _SET_NAME.fullmatch(set_name):
        raise DocumentError(["set: must be a name such as shop-eu: lowercase letters, digits and -"])
    reader = _Reader(kinds)
    resources = tuple(reader.read(content, None))
    reader.require_distinct(resources)
    if reader.faults:
        raise DocumentError(reader.faults)
    return Document(set_name, resources)


def _parse(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
        content = json.loads(text if path.suffix == ".json" else _as_json(text))
    except (OSError, ValueError) as error:
        raise DocumentError([f"{path}: {error}"]) from error
    if not isinstance(content, dict):
        raise DocumentError([f"{path}: must be an object"])
    return content


def _as_json(toml: str) -> str:
    # TOML has dates, too, which requests have as text.
    return json.dumps(tomllib.loads(toml), default=str)


class _Reader:
    """Reads tables, and collects all faults instead of the first."""

    def __init__(self, kinds: Sequence[ResourceKind]) -> None:
        self._kinds = kinds
        self.faults: list[str] = []

    def read(self, table: dict[str, Any], parent: Declared | None) -> Iterator[Declared]:
        """Yield what a table declares below a parent, and remove it from the table."""
        place = parent.kind.place if parent else ""
        for kind in self._kinds:
            if kind.parent == place and kind.name in table:
                yield from self._of_kind(kind, table.pop(kind.name), parent)
        if parent is None:
            names = ", ".join(kind.name for kind in self._kinds if not kind.parent)
            self.faults += [f"{name}: unknown; the file may declare {names}" for name in table]

    def _of_kind(self, kind: ResourceKind, value: Any, parent: Declared | None) -> Iterator[Declared]:
        where = f"{parent.where}.{kind.name}" if parent else kind.name
        if isinstance(kind, Rules):
            yield from self._one(kind, value, parent, where)
            return
        if not isinstance(value, list):
            self.faults.append(f"{where}: must be a list of tables, as [[{kind.place}]] writes it")
            return
        for number, item in enumerate(value, 1):
            yield from self._one(kind, item, parent, f"{where}.{number}")

    def _one(
        self, kind: ResourceKind, value: Any, parent: Declared | None, where: str
    ) -> Iterator[Declared]:
        key_name = _key_name(kind)
        table = {key_name: value} if isinstance(value, str) and key_name else value
        if not isinstance(table, dict):
            self.faults.append(f"{where}: must be a table")
            return
        children = {child.name for child in self._kinds if child.parent == kind.place}
        below = {name: table[name] for name in children & table.keys()}
        body = {name: item for name, item in table.items() if name not in children}
        key = body.get(key_name, "") if key_name else ""
        if not isinstance(key, str) or (key_name and not key):
            self.faults.append(f"{where}.{key_name}: is missing; it identifies the resource")
            return
        declared = Declared(kind, key, _without_key(kind, body), parent, where)
        self.faults += [f"{where}.{name}: {fault}" for name, fault in find_unknown(declared)]
        yield declared
        yield from self.read(below, declared)

    def require_distinct(self, resources: Sequence[Declared]) -> None:
        """Note resources that are declared twice."""
        seen: dict[tuple[str, int, str], str] = {}
        for item in resources:
            name = (item.kind.place, id(item.parent), item.key)
            if (first := seen.setdefault(name, item.where)) != item.where:
                self.faults.append(f"{item.where}: {item.title} is declared in {first}, too")


def _key_name(kind: ResourceKind) -> str:
    if isinstance(kind, Collection):
        return kind.key
    return USER if isinstance(kind, Membership) else ""


def _without_key(kind: ResourceKind, body: Mapping[str, Any]) -> Mapping[str, Any]:
    hidden = {USER} if isinstance(kind, Membership) else set()
    return {name: value for name, value in body.items() if name not in hidden}


def find_unknown(declared: Declared) -> Iterator[tuple[str, str]]:
    """Yield the members that no request of the kind has, each with its fault."""
    kind = declared.kind
    if isinstance(kind, Collection):
        members = [*field_names(kind.creation), *field_names(kind.changes)]
        hidden = {"revision", kind.parent_member}
    else:
        assert isinstance(kind, Membership | Rules)  # noqa: S101  the classes of kinds
        members, hidden = field_names(kind.body), {"revision"}
    names = sorted(set(members) - hidden)
    for name in declared.body:
        if name not in names:
            yield name, f"unknown; {kind.place} have {', '.join(names) or 'no further members'}"


def field_names(schema: Any) -> list[str]:
    """Return the names of the members of a schema in JSON; none without a schema."""
    fields = schema().fields if schema else {}
    return [field.data_key or name for name, field in fields.items()]
