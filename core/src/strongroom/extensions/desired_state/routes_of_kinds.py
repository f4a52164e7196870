"""The requests that read, create, change and delete a resource of each class of kinds."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from strongroom.extensions.desired_state.administrator import AdministratorApi
from strongroom.extensions.desired_state.document import field_names
from strongroom.plugin_api.resources import Collection, Membership, ResourceKind, Rules

Json = dict[str, Any]

KindT = TypeVar("KindT", bound=ResourceKind)


class ServerResource(NamedTuple):
    """A resource of the server; its key is what identifies it in a file."""

    id: str
    key: str
    current: Mapping[str, Any]


@dataclass(slots=True, eq=False, repr=False)
class KindRoutes(ABC, Generic[KindT]):
    """The requests of a kind below one parent.

    Args:
        ids: the ids of the parents by the names of their kinds, for the path.
        parent_id: the direct parent; empty: none.
    """

    _kind: KindT
    _api: AdministratorApi
    _ids: Mapping[str, str]
    _parent_id: str

    @property
    def _path(self) -> str:
        return self._kind.path.format_map(self._ids)

    @abstractmethod
    def find_all(self) -> Iterator[ServerResource]:
        """Iterate over the resources of the server."""

    @abstractmethod
    def create(self, resource_id: str, body: Json, /) -> Json:
        """Create a resource, and return the answer with its ``id``; it has the secrets, too.

        Args:
            resource_id: the user of a membership; otherwise empty.
        """

    def change(self, resource: ServerResource, body: Json, _: Iterable[str], /) -> Json:
        """Change a resource, and return the answer. By default, the request that creates one changes it.

        Args:
            body: all declared members.
            _: the names of the members that differ.
        """
        return self.create(resource.id, body)

    def delete(self, resource_id: str, /) -> None:
        """Delete a resource."""
        self._api.send("DELETE", f"{self._path}/{resource_id}")


@dataclass(slots=True, eq=False, repr=False)
class CollectionRoutes(KindRoutes[Collection]):
    """The requests of a :class:`Collection`."""

    def find_all(self) -> Iterator[ServerResource]:
        kind, query = self._kind, dict(self._kind.query)
        if kind.parent_member and self._parent_id:
            query[kind.parent_member] = self._parent_id
        for item in self._api.read_all(self._path, query):
            # The list without a filter has the resources of all parents.
            if not kind.parent_member or (item[kind.parent_member] or "") == self._parent_id:
                yield ServerResource(item["id"], item[kind.key], item)

    def create(self, _: str, body: Json, /) -> Json:
        at_first = body.keys() & set(field_names(self._kind.creation))
        sent = {name: body[name] for name in at_first}
        if self._kind.parent_member and self._parent_id:
            sent[self._kind.parent_member] = self._parent_id
        created = self._api.send("POST", self._path, sent)
        if rest := body.keys() - at_first:
            return created | self.change(ServerResource(created["id"], "", created), body, rest)
        return created

    def change(self, resource: ServerResource, body: Json, changed: Iterable[str], /) -> Json:
        sent = {name: body[name] for name in changed}
        if "revision" in field_names(self._kind.changes):
            sent["revision"] = resource.current["revision"]
        return self._api.send("PATCH", f"{self._path}/{resource.id}", sent)


@dataclass(slots=True, eq=False, repr=False)
class MembershipRoutes(KindRoutes[Membership]):
    """The requests of a :class:`Membership`, whose ids are the ids of users."""

    def find_all(self) -> Iterator[ServerResource]:
        for item in self._api.read_all(self._path, {}):
            user_id = item["user"]["$ref"]
            yield ServerResource(user_id, user_id, item)

    def create(self, resource_id: str, body: Json, /) -> Json:
        sent = body if self._kind.body else None
        return self._api.send("PUT", f"{self._path}/{resource_id}", sent) | {"id": resource_id}


@dataclass(slots=True, eq=False, repr=False)
class RulesRoutes(KindRoutes[Rules]):
    """The requests of :class:`Rules`, which always exist."""

    def find_all(self) -> Iterator[ServerResource]:
        yield ServerResource("", "", self._api.send("GET", self._path))

    def create(self, resource_id: str, body: Json, /) -> Json:
        return self._api.send("PUT", self._path, body) | {"id": resource_id}

    def delete(self, _: str, /) -> None:
        # An empty table has the defaults of all rules.
        self._api.send("PUT", self._path, {})


def make_routes(
    kind: ResourceKind, api: AdministratorApi, ids: Mapping[str, str], parent_id: str
) -> KindRoutes[Any]:
    """Return the requests of a kind."""
    if isinstance(kind, Collection):
        return CollectionRoutes(kind, api, ids, parent_id)
    if isinstance(kind, Membership):
        return MembershipRoutes(kind, api, ids, parent_id)
    assert isinstance(kind, Rules)  # noqa: S101  there is no other class
    return RulesRoutes(kind, api, ids, parent_id)
