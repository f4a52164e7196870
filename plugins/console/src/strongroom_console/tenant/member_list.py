"""The members of a tenant, which pages name and offer in forms."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from werkzeug.exceptions import NotFound

from strongroom.plugin_api.visits import Visit
from strongroom_console.lists import MAX_PAGE_SIZE
from strongroom_console.tenant.frame import tenant_path

Json = Mapping[str, Any]

ROLES: Final[Mapping[str, str]] = {
    "member": "role-member",
    "admin": "role-admin",
    "records": "role-records",
}
"""The keys of the names of the roles, in the order of the forms."""

_ID_END: Final = 8


def member_row(member: Json, included: Mapping[str, Json]) -> Json:
    """Return what pages show of a member of a tenant or of a group."""
    user = named(member["user"], included)
    return {**member, "id": user["id"], "name": user["name"]}


def named(reference: Json, included: Mapping[str, Json]) -> Json:
    """Return the summary of the user in a reference; an id without a name for a deleted user."""
    user_id = reference["$ref"]
    return included.get(user_id, {"id": user_id, "name": user_id})


def distinct_names(names: Mapping[str, str]) -> Mapping[str, str]:
    """Return names by the ids of users; equal ones get the end of the id.

    The beginning of an id is a time (UUID version 7, RFC 9562, section 5.7), so users who were imported
    together share it.
    """
    uses = Counter(names.values())
    return {
        user_id: f"{name} · {user_id[-_ID_END:]}".lstrip(" ·") if uses[name] > 1 else name
        for user_id, name in names.items()
    }


def with_marks(rows: Sequence[Json]) -> list[Json]:
    """Return rows with a ``mark``, the end of the id, where others have the same name."""
    uses = Counter(row["name"] for row in rows)
    return [
        {**row, "mark": f"… {row['id'][-_ID_END:]}" if uses[row["name"]] > 1 else ""} for row in rows
    ]


def offered_members(visit: Visit, tenant_id: str) -> Mapping[str, str]:
    """Return the members that a form offers by their ids, the oldest one first; see ``read_choices``."""
    return {row["id"]: row["name"] for row in offered_rows(visit, tenant_id)}


def offered_rows(visit: Visit, tenant_id: str) -> Sequence[Json]:
    """Return the same members with their roles; their names are distinct."""
    records = visit.read_choices(f"{tenant_path(tenant_id)}/members", _name_of_member)
    users = [named(member["user"], records.included) for member in records.data]
    names = distinct_names({user["id"]: user["name"] for user in users})
    return [
        {**member, "id": user["id"], "name": names[user["id"]]}
        for member, user in zip(records.data, users, strict=True)
    ]


def _name_of_member(member: Json, included: Mapping[str, Json]) -> str:
    return str(named(member["user"], included)["name"])


def member_names(visit: Visit, tenant_id: str) -> Mapping[str, str]:
    """Return the names of the members of a tenant by their ids, the oldest member first."""
    users = visit.read_all(f"{tenant_path(tenant_id)}/members").included.values()
    return distinct_names({user["id"]: user["name"] for user in users})


def with_chosen(members: Mapping[str, str], chosen: Collection[str]) -> Mapping[str, str]:
    """Return the members that a form offers, and those that it has chosen, which it would lose."""
    return {**{user_id: "" for user_id in chosen if user_id not in members}, **members}


def service_account_ids(visit: Visit, tenant_id: str) -> Collection[str]:
    """Return the ids of the service accounts, which only administrators of the tenant see."""
    accounts = visit.read_all(tenant_path(tenant_id, "service-accounts")).data
    return {account["id"] for account in accounts}


def successors_of(visit: Visit, tenant_id: str, user_id: str) -> Mapping[str, str]:
    """Return the members who can take over what a user has: no service accounts."""
    excluded = {user_id, *service_account_ids(visit, tenant_id)}
    members = offered_members(visit, tenant_id)
    return {id_: name for id_, name in members.items() if id_ not in excluded}


def find_member(visit: Visit, tenant_id: str, user_id: str) -> Json:
    """Return a member of a tenant.

    Raises:
        NotFound: the user is no member.
    """
    number = 1
    while True:
        page = visit.read(f"{tenant_path(tenant_id)}/members", pageSize=MAX_PAGE_SIZE, pageNumber=number)
        for item in page["data"]:
            row = member_row(item, page["included"])
            if row["id"] == user_id:
                return row
        if not page["meta"]["hasNextPage"]:
            raise NotFound
        number += 1
