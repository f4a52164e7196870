"""Kinds of resources that a file declares for ``strongroom apply``.

The command compares each declared resource with the answers of the kind's routes, and sends the missing
requests. So a declaration has the members of the REST API, with its checks, limits, audit records and
events. A plugin adds a kind by naming its routes::

    @hookimpl
    def register_resource_kinds() -> list[ResourceKind]:
        return [Collection("printers", "/api/v1/printers", NewPrinterSchema, PrinterChangesSchema)]

The file then has tables ``[[printers]]``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ResourceKind:
    """A kind of resources. API 2.0.

    Args:
        name: the member of the file, or of the parent's tables, that has the resources.
        path: the path of the collection below the base path. A name in braces, such as ``{tenants}``, is
            the id of the resource of that kind which these resources are below.
        parent: the kind that these resources are below, such as ``tenants`` or ``tenants.groups``;
            empty: none, they are the server's.
    """

    name: str
    path: str
    parent: str = field(default="", kw_only=True)

    @property
    def place(self) -> str:
        """The name with the names of its parents, such as ``tenants.groups``."""
        return f"{self.parent}.{self.name}".removeprefix(".")


@dataclass(frozen=True, slots=True)
class Collection(ResourceKind):
    """Resources with ids of the server: POST creates, PATCH changes, DELETE deletes one. API 2.0.

    Args:
        creation: the marshmallow schema of the request that creates one. Declared members that it lacks
            are changed right after the creation.
        changes: the schema of the request that changes one; ``None``: nothing can be changed.
        key: the member that identifies a resource below its parent.
        parent_member: the member with the id of the parent, if it is not in the path. It filters the
            list, too, and is null of the server's resources.
        query: further parameters of the list.
        secrets: members that only the answer of the creation has.
        references: the kinds of resources that members name, such as ``{"serviceAccountId":
            "serviceAccounts"}``. The file has their keys, and requests have their ids. A dot leads into
            a list of tables.
    """

    creation: type[Any]
    changes: type[Any] | None = None
    key: str = field(default="name", kw_only=True)
    parent_member: str = field(default="", kw_only=True)
    query: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    secrets: tuple[str, ...] = field(default=(), kw_only=True)
    references: Mapping[str, str] = field(default_factory=dict, kw_only=True)


@dataclass(frozen=True, slots=True)
class Membership(ResourceKind):
    """Users in a resource: PUT adds or changes one, DELETE removes one. API 2.0.

    A declaration has the member ``user``: an e-mail address, another name for logins, or an id.

    Args:
        body: the schema of the body of PUT; ``None``: it has none.
    """

    body: type[Any] | None = None


@dataclass(frozen=True, slots=True)
class Rules(ResourceKind):
    """One table of rules, which GET reads and PUT replaces. API 2.0.

    Args:
        body: the schema of the body of PUT.
    """

    body: type[Any]
