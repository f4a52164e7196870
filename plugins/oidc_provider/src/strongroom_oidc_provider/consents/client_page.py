"""The page of a client that the user has consented to: what it may do, and what it did."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.visits import join_path
from strongroom_oidc_provider.consents.folders import Folder, find_name
from strongroom_oidc_provider.logins.pages import ProviderVisit, split_scopes

Json = dict[str, Any]

PAGE_SIZE: Final = 20
DEEDS: Final = frozenset(
    (
        "business-file.delete",
        "credential.bind",
        "credential.unbind",
        "file.purge",
        "grant.put",
        "grant.remove",
        "group-grant.put",
        "group-grant.remove",
        "group-member.add",
        "group-member.remove",
        "group.create",
        "group.delete",
        "group.update",
        "impersonation.end",
        "impersonation.start",
        "mcp.upload",
        "member.put",
        "member.remove",
        "password-link.issue",
        "password.give",
        "scan.infected",
        "share_links.create",
        "share_links.delete",
        "share_links.update",
        "tenant.create",
        "user-import.cancel",
        "user-import.create",
        "user.change",
        "user.change-metadata",
        "user.change-server-metadata",
        "user.create",
        "user.delete",
        "user.reinstate",
        "user.suspend",
        "version.update",
    )
)
"""The actions that the scopes of clients allow, but for the calls of tools."""

CALL: Final = "mcp.call"
TOOLS: Final = frozenset(
    (
        "spaces_list",
        "files_list",
        "files_search",
        "files_grep",
        "files_stat",
        "files_read",
        "files_write",
        "folders_create",
        "files_download_link",
        "files_upload_link",
        "files_move",
        "files_trash",
        "resources/read",
    )
)
"""The tools of agents that the page has texts for."""

_TENANTS: Final = "/api/v1/tenants"


@dataclass(frozen=True, slots=True)
class Permission:
    """What a client may do with a service.

    Args:
        resource: the URI of the service; empty: this server, or the client itself.
        scopes: those that the page has words for.
        others: the other scopes.
        place: the names of the space and the folder; empty: all.
        is_gone: whether the folder exists no more, or the user cannot see it.
    """

    resource: str
    scopes: Sequence[str]
    others: Sequence[str]
    place: str
    is_gone: bool


@dataclass(frozen=True, slots=True)
class Deed:
    """What a client did once.

    Args:
        key: the key of the text.
        action: the name of the action, for one without a text of its own.
        name: the name of the file or the space; empty: of none, or of one that the user cannot see.
        at: when, as in the REST API.
    """

    key: str
    action: str
    name: str
    at: str
    has_failed: bool


def show_client(visit: ProviderVisit, consents: Sequence[Json]) -> Any:
    """Return the page of a client by the consents of the user to it."""
    client = consents[0]
    permissions = [_describe(visit, consent) for consent in consents]
    # No path of the REST API contains an id that is a URL.
    if client["id"] != client["clientId"]:
        return visit.account_page(
            "client.html", app=client, permissions=permissions, deeds=None, links=None
        )
    path = join_path("/users/me/client-actions", client["clientId"])
    page = visit.read(path, pageSize=PAGE_SIZE, pageNumber=page_number())
    return visit.account_page(
        "client.html",
        app=client,
        permissions=permissions,
        deeds=[*_find_deeds(visit, page["data"])],
        links=page_links(page["meta"]),
    )


def _describe(visit: ProviderVisit, consent: Json) -> Permission:
    scopes, others = split_scopes(consent["scopes"])
    folder = Folder.from_columns(consent["tenantId"], consent["fileId"])
    name = find_name(visit, folder) if folder else None
    space = _find_space(visit, folder.tenant_id) if folder and name else ""
    return Permission(
        "" if consent["resource"] == visit.host.public_url else consent["resource"] or "",
        scopes,
        others,
        " / ".join(part for part in (space, name) if part),
        is_gone=folder is not None and name is None,
    )


def _find_deeds(visit: ProviderVisit, records: Sequence[Json]) -> Iterator[Deed]:
    names: dict[tuple[str, str], str] = {}
    for record in records:
        place = _find_place(record)
        if place is not None and place not in names:
            names[place] = _find_target(visit, *place)
        yield Deed(
            get_key(record),
            record["action"],
            names[place] if place else "",
            record["at"],
            record["outcome"] == "failure" or record["details"].get("outcome", "ok") != "ok",
        )


def get_key(record: Mapping[str, Any]) -> str:
    """Return the key of the text of a record."""
    if record["action"] == CALL:
        tool = record["details"].get("tool")
        return f"tool-{tool}" if tool in TOOLS else "deed-other"
    return f"deed-{record['action']}" if record["action"] in DEEDS else "deed-other"


def _find_place(record: Json) -> tuple[str, str] | None:
    """Return the ids of the space and the file of a record."""
    target, tenant_id = record["target"], record["details"].get("tenant")
    if target is None or target["type"] != "file" or not tenant_id:
        return None
    return tenant_id, target["id"]


def _find_target(visit: ProviderVisit, tenant_id: str, file_id: str) -> str:
    path = join_path(_TENANTS, tenant_id, "files", file_id)
    response = visit.rest("GET", path)
    return "" if response.error is not None else str(response.json["name"])


def _find_space(visit: ProviderVisit, tenant_id: str) -> str:
    response = visit.rest("GET", join_path(_TENANTS, tenant_id))
    return "" if response.error is not None else str(response.json["name"])
