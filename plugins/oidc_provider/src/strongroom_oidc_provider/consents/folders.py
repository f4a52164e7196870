"""The one folder that a client gets: what it requests (RFC 9396), and what the user chooses."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.visits import Visit
from strongroom_oidc_provider.scopes import API_SCOPES

DETAIL_TYPE: Final = "folder"

FILE_SCOPES: Final = (Scope.FILES_READ.value, Scope.FILES_WRITE.value, Scope.FILES_SHARE.value)
"""The scopes that can be limited to a folder; the client gets no others of the REST API."""

_MAX_ID: Final = 36
_MAX_TENANTS: Final = 20
_MAX_FOLDERS: Final = 100
_TENANTS: Final = "/api/v1/tenants"

Choice = tuple[str, str]
"""The value and the text of a choice."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder with its subtree. Its ids may come from a client."""

    tenant_id: str
    file_id: str

    @classmethod
    def parse(cls, details: str) -> Self | None:
        """Return the folder of the parameter ``authorization_details``; ``None`` for an empty list.

        Raises:
            ValueError: the parameter is anything but a list with one folder.
        """
        values = json.loads(details)
        if values == []:
            return None
        if not isinstance(values, list) or len(values) > 1 or not isinstance(values[0], dict):
            raise ValueError("authorization_details must be a list with one object")
        value: dict[str, Any] = values[0]
        if value.keys() != {"type", "tenantId", "fileId"} or value["type"] != DETAIL_TYPE:
            raise ValueError("a folder has type, tenantId and fileId")
        return cls._checked(value["tenantId"], value["fileId"])

    @classmethod
    def from_choice(cls, text: str) -> Self | None:
        """Return the folder of a choice of the page; ``None``: all folders.

        Raises:
            ValueError: the text is no choice.
        """
        tenant_id, _, file_id = text.partition("/")
        return cls._checked(tenant_id, file_id) if text else None

    @classmethod
    def from_columns(cls, tenant_id: str | None, file_id: str | None) -> Self | None:
        """Return the folder of a row; ``None``: all folders."""
        return cls(tenant_id, file_id) if tenant_id and file_id else None

    @classmethod
    def _checked(cls, *ids: Any) -> Self:
        # Ids of REST paths: a slash or a dot would lead to another route.
        if not all(isinstance(id_, str) and _is_id(id_) for id_ in ids):
            raise ValueError("not an id")
        return cls(*ids)

    @property
    def choice(self) -> str:
        """The value of the choice of the page."""
        return f"{self.tenant_id}/{self.file_id}"

    def describe(self) -> list[dict[str, str]]:
        """Return the member ``authorization_details`` of a response with tokens."""
        return [{"type": DETAIL_TYPE, "tenantId": self.tenant_id, "fileId": self.file_id}]


def limit_scopes(scopes: Sequence[str], folder: Folder | None) -> list[str]:
    """Return the scopes that a client gets within a folder."""
    if folder is None:
        return [*scopes]
    return [scope for scope in scopes if scope not in API_SCOPES or scope in FILE_SCOPES]


def has_files(scopes: Sequence[str], resource: str, public_url: str) -> bool:
    """Return whether tokens open files of this server, so that a folder limits them."""
    is_own = resource == public_url or resource.startswith(f"{public_url}/")
    return is_own and any(scope in FILE_SCOPES for scope in scopes)


def find_choices(visit: Visit, requested: Folder | None) -> Sequence[Choice]:
    """Return the folders that the user can choose: the topmost ones, and the one that was requested."""
    choices = {}
    tenants = visit.read(_TENANTS, pageSize=_MAX_TENANTS)["data"]
    for tenant in tenants:
        path = f"{_TENANTS}/{tenant['id']}/owners/me/files?type=folder&pageSize={_MAX_FOLDERS}"
        response = visit.rest("GET", path)
        # Such as a tenant that requires a stronger login.
        for node in response.json["data"] if response.error is None else ():
            choices[Folder(tenant["id"], node["id"]).choice] = f"{tenant['name']} / {node['name']}"
    if requested is not None and requested.choice not in choices:
        name = find_name(visit, requested)
        choices |= {} if name is None else {requested.choice: name}
    return [*choices.items()]


def find_name(visit: Visit, folder: Folder) -> str | None:
    """Return the name of a folder; ``None`` if the user cannot see it, or it is a file."""
    response = visit.rest("GET", f"{_TENANTS}/{folder.tenant_id}/files/{folder.file_id}")
    if response.error is not None or response.json["type"] != "folder":
        return None
    return str(response.json["name"])


def _is_id(text: str) -> bool:
    return 0 < len(text) <= _MAX_ID and text.isascii() and text.replace("-", "").isalnum()
