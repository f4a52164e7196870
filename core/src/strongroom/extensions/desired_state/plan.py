"""Plans what is missing until the server has what a file declares."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from strongroom.extensions.desired_state.administrator import AdministratorApi, RequestRefused
from strongroom.extensions.desired_state.comparison import changed_members, digest
from strongroom.extensions.desired_state.document import (
    Declared,
    Document,
    DocumentError,
    field_names,
    make_title,
)
from strongroom.extensions.desired_state.models import DeclaredRow
from strongroom.extensions.desired_state.references import with_ids
from strongroom.extensions.desired_state.routes_of_kinds import ServerResource, make_routes
from strongroom.foundation.ids import is_id
from strongroom.plugin_api.resources import Collection, Membership, ResourceKind, Rules

_PENDING: Final = "00000000-0000-0000-0000-000000000000"
"""The id of a resource that will be created, until it is."""

FindUser = Callable[[str], str | None]


class Action(StrEnum):
    """What is done to a resource."""

    CREATE = "create"
    CHANGE = "change"
    KEEP = "keep"


@dataclass(slots=True, eq=False)
class Step:
    """A declared resource with what is done to it.

    Args:
        user_id: of a membership: the user.
        resource: the resource on the server; ``None`` until it is created.
        row: how it was applied last.
        changed: the members that differ.
        is_drift: whether something else than a file has changed it since it was applied.
    """

    declared: Declared
    parent: "Step | None"
    user_id: str = ""
    resource: ServerResource | None = None
    row: DeclaredRow | None = None
    changed: tuple[str, ...] = ()
    is_drift: bool = False

    @property
    def action(self) -> Action:
        if self.resource is None:
            return Action.CREATE
        return Action.CHANGE if self.changed else Action.KEEP

    @property
    def is_of_row(self) -> bool:
        """Whether the resource is the one that was applied last."""
        return bool(self.row and self.resource and self.row.resource_id == self.resource.id)

    @property
    def parent_id(self) -> str | None:
        """The id of the parent; empty: there is none. ``None``: it will be created."""
        if self.parent is None:
            return ""
        return self.parent.resource.id if self.parent.resource else None

    @property
    def ids(self) -> dict[str, str]:
        """The ids of the parents by the names of their kinds."""
        if self.parent is None or self.parent.resource is None:
            return {}
        return {**self.parent.ids, self.parent.declared.kind.name: self.parent.resource.id}


@dataclass(slots=True, eq=False)
class StatePlan:
    """All steps in their order, and what the file no longer declares, the lowest first."""

    steps: Sequence[Step]
    undeclared: Sequence["Undeclared"]

    @property
    def differs(self) -> bool:
        """Whether the server lacks something that is declared."""
        return any(step.action is not Action.KEEP for step in self.steps)


@dataclass(frozen=True, slots=True, eq=False)
class Undeclared:
    """A resource that the file has declared formerly, and no longer does."""

    row: DeclaredRow
    kind: ResourceKind
    ids: Mapping[str, str]
    title: str


@dataclass(slots=True, eq=False)
class Server:
    """The resources of the server, each list read at most once."""

    api: AdministratorApi
    kinds: Mapping[str, ResourceKind]
    _lists: dict[tuple[str, str], list[ServerResource]] = field(default_factory=dict)

    def find_all(
        self, kind: ResourceKind, ids: Mapping[str, str], parent_id: str
    ) -> list[ServerResource]:
        """Return the resources of a kind below a parent.

        Raises:
            RequestRefused: the administrator cannot list them.
        """
        name = (kind.place, parent_id)
        if name not in self._lists:
            self._lists[name] = list(make_routes(kind, self.api, ids, parent_id).find_all())
        return self._lists[name]


class StatePlanner:
    """Compares a document with the server.

    Args:
        rows: what the document has declared formerly.
        find_user: returns the id of a user by a name for logins.
    """

    def __init__(self, server: Server, rows: Sequence[DeclaredRow], find_user: FindUser) -> None:
        self._server = server
        self._rows = rows
        self._find_user = find_user
        self._steps: dict[Declared, Step] = {}
        self._by_key: dict[tuple[str, str], Step] = {}
        self._members: dict[tuple[str, ResourceKind, Declared | None], str] = {}
        self._rows_below: dict[tuple[str, str], list[DeclaredRow]] = {}
        for row in rows:
            self._rows_below.setdefault((row.place, row.parent_id), []).append(row)
        self._faults: list[str] = []

    def plan(self, document: Document) -> StatePlan:
        """Return the plan of a document.

        Raises:
            DocumentError: something that is declared cannot be applied to this server.
        """
        for declared in document.resources:
            try:
                step = self._steps[declared] = self._step(declared)
                self._by_key[declared.kind.place, declared.key] = step
            except (RequestRefused, _Fault) as fault:
                raise DocumentError([*self._faults, f"{declared.where}: {fault}"]) from fault
        if self._faults:
            raise DocumentError(self._faults)
        return StatePlan(list(self._steps.values()), list(self._find_undeclared()))

    def _step(self, declared: Declared) -> Step:
        step = Step(declared, self._steps[declared.parent] if declared.parent else None)
        if isinstance(declared.kind, Membership):
            step.user_id = self._user(declared)
        body = with_ids(declared.kind, declared.body, self.resolve)
        if step.parent_id is not None:
            self._compare(step, step.parent_id, body)
        self._validate(step, body)
        return step

    def _user(self, declared: Declared) -> str:
        user_id = self._find_user(declared.key)
        if user_id is None:
            raise _Fault(f'there is no user "{declared.key}"; create or invite the user first')
        first = self._members.setdefault((user_id, declared.kind, declared.parent), declared.key)
        if first != declared.key:
            raise _Fault(f"{declared.key} is the same user as {first}")
        return user_id

    def _compare(self, step: Step, parent_id: str, body: Mapping[str, Any]) -> None:
        declared = step.declared
        kind, key = declared.kind, step.user_id or declared.key
        rows = self._rows_below.get((kind.place, parent_id), [])
        present = self._server.find_all(kind, step.ids, parent_id)
        step.row = _find_row(rows, declared.key, step.user_id)
        step.resource = _match(declared, key, present, rows, step.row)
        if step.resource is None:
            return
        current = {name: step.resource.current.get(name) for name in body}
        is_declared = step.row is not None and step.row.declared == digest(body)
        is_answer_same = step.row is not None and step.row.current == digest(current)
        step.is_drift = is_declared and not is_answer_same
        # The server may answer with other values than were sent, such as the stricter of two rules.
        step.changed = () if is_declared and is_answer_same else changed_members(body, current)

    def resolve(self, place: str, key: str) -> str:
        """Return the id of a resource that another one refers to.

        Raises:
            _Fault: there is none.
        """
        if step := self._by_key.get((place, key)):
            return step.resource.id if step.resource else _PENDING
        if is_id(key):
            return key
        present = self._server.find_all(self._server.kinds[place], {}, "")
        ids = [resource.id for resource in present if resource.key == key]
        if len(ids) != 1:
            raise _Fault(f'there are {len(ids)} {place} of the name "{key}"; expected one')
        return ids[0]

    def _validate(self, step: Step, body: Mapping[str, Any]) -> None:
        """Note what no request would be accepted for, before the first one changes something."""
        kind, where = step.declared.kind, step.declared.where
        if isinstance(kind, Collection) and step.resource is not None:
            fixed = sorted(set(step.changed) - set(field_names(kind.changes)))
            self._faults += [f"{where}.{name}: cannot be changed; delete it first" for name in fixed]
            return
        schema = kind.creation if isinstance(kind, Collection) else _body(kind)
        if schema is not None:
            sent = {name: body[name] for name in body.keys() & set(field_names(schema))}
            self._faults += _flat(where, schema().validate(sent))

    def _find_undeclared(self) -> Iterator[Undeclared]:
        """Yield the resources that are declared no longer, those below others first."""
        kept = {
            (step.declared.kind.place, step.parent_id, step.resource.id)
            for step in self._steps.values()
            if step.resource is not None
        }
        # A row of a resource that was deleted by hand, and is declared, is replaced with the resource.
        replaced = {step.row for step in self._steps.values() if not step.is_of_row}
        order = list(self._server.kinds)
        rows = [row for row in self._rows if row.place in order and row not in replaced]
        for row in sorted(rows, key=lambda row: order.index(row.place), reverse=True):
            kind, above = self._server.kinds[row.place], self._above(row, rows)
            # Without a row of its parent, it is gone with the parent.
            is_gone = bool(kind.parent and not above)
            if not is_gone and (row.place, row.parent_id, row.resource_id) not in kept:
                ids = {self._server.kinds[item.place].name: item.resource_id for item in above}
                yield Undeclared(row, kind, ids, " ".join(map(self._title, [*above, row])))

    def _above(self, row: DeclaredRow, rows: Sequence[DeclaredRow]) -> list[DeclaredRow]:
        """Return what a resource is below, the highest first."""
        place = self._server.kinds[row.place].parent
        for parent in rows:
            if (parent.place, parent.resource_id) == (place, row.parent_id):
                above = self._above(parent, rows)
                is_complete = bool(above) or not self._server.kinds[parent.place].parent
                return [*above, parent] if is_complete else []
        return []

    def _title(self, row: DeclaredRow) -> str:
        return make_title(self._server.kinds[row.place], row.key)


class _Fault(Exception):
    """Something that is declared cannot be applied."""


def _find_row(rows: Sequence[DeclaredRow], key: str, user_id: str) -> DeclaredRow | None:
    return next(
        (row for row in rows if (row.resource_id == user_id if user_id else row.key == key)), None
    )


def _match(
    declared: Declared,
    key: str,
    present: Sequence[ServerResource],
    rows: Sequence[DeclaredRow],
    row: DeclaredRow | None,
) -> ServerResource | None:
    """Return the resource of the server that a declaration is about."""
    if row is not None:
        by_id = [item for item in present if item.id == row.resource_id]
        if by_id:
            return by_id[0]
    applied = {other.resource_id for other in rows}
    candidates = [item for item in present if item.key == key and item.id not in applied]
    if len(candidates) > 1:
        raise _Fault(f"{len(candidates)} {declared.kind.place} have the key {key!r}; rename all but one")
    return candidates[0] if candidates else None


def _body(kind: ResourceKind) -> Any:
    assert isinstance(kind, Membership | Rules)  # noqa: S101  there is no other class
    return kind.body


def _flat(where: str, faults: Any) -> list[str]:
    """Return the faults of a schema, each with its place."""
    if isinstance(faults, dict):
        return [
            text
            for name, inner in faults.items()
            for text in _flat(where if name == "_schema" else f"{where}.{name}", inner)
        ]
    return [f"{where}: {' '.join(map(str, faults))}"]
