"""Every list with pages also takes a cursor: what exists throughout is in it once, whatever changes."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
from sqlalchemy import Column, ColumnElement, Integer, Table, delete, insert, select, true
from tests.support.api import Answer, Api, Json, Person
from tests.support.campaign import campaign_size
from tests.support.full_server import ALL_PLUGINS, Town

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.extensions.service_accounts.service import service_accounts
from strongroom.foundation.collation import sort_key
from strongroom.foundation.database.metadata import metadata
from strongroom_login_sso.models import domains, providers
from strongroom_share_links.models import access_log, links, recipients
from strongroom_webhooks.models import deliveries, endpoints

pytestmark = [pytest.mark.both_databases, pytest.mark.config(ALL_PLUGINS)]

CHANGES = campaign_size("CURSOR_CHANGES", 48)
"""Changes while each of the lists is read; the figure of the contract is 300."""

KEPT = 20
"""Records that are added to each list before it is read."""

SAME_NUMBER = 3
"""Numbers of all times of records, so that many are equal."""

MOST = 200
"""Records of the largest page."""

OTHERS = {
    "listClientActions",  # the records of listAuditEvents
    "listDirectoryErrors",  # the directory has made no request; the plugin's tests page through errors
    "listServerDirectoryErrors",  # likewise
    "listLocks",  # a file has few, which are sorted in memory, as its holds are
    "listLoginProviders",  # they are in the configuration
    "listQuarantine",  # no content scanner is enabled here
    "listUserImports",  # a server has few
    "searchFiles",  # has a test of its own
}
OTHER_PARAMETERS = {
    "listServerDirectoryErrors": {"directoryId": "serverDirectoryId"},
    "listClientActions": {"userId": "ownerId", "clientId": "userId"},
    "listFactors": {"userId": "ownerId"},
    "listPasskeys": {"userId": "ownerId"},
    "listFiles": {"ownerId": "userId"},
    "listFilesInFolder": {"ownerId": "userId", "fileId": "parentId"},
    "listSharesOfFile": {"fileId": "parentId"},
    "listSharedFilesInFolder": {"fileId": "innerId"},
    "listServiceAccountKeys": {"keyId": "accountKeyId"},
}
OF_MEMBER = {"listClientActions", "listPasskeys", "listSharedWithMe"}
OF_NODES = ("listFiles", "listSharedFiles")
"""Copies are not counted, which pages by number need; ``test_list_cursors.py`` compares these orders."""

QUERIES = {"searchFiles": "query=note&"}
IDENTITIES = ("id", "number", "sequence", "user", "owner", "groupId", "group", "value", "fileId")


class Copy(NamedTuple):
    """A row that is copied, and the columns that have the new id."""

    table: Table
    row: Callable[[Town], ColumnElement[bool]]
    new: Sequence[str]


def table(name: str) -> Table:
    return metadata.tables[name]


def by(column: Column[Any], parameter: str) -> Callable[[Town], ColumnElement[bool]]:
    return lambda town: column == town.parameters[parameter]


def rows(name: str, column: str, parameter: str, *new: str) -> Copy:
    return Copy(table(name), by(table(name).c[column], parameter), new)


USER = rows("users", "id", "ownerId", "id")
MEMBER = rows("tenant_members", "user_id", "ownerId", "user_id")
GROUP = rows("groups", "id", "groupId", "id")
NOTE = rows("nodes", "id", "fileId", "id")
SHARE = Copy(links, by(links.c.id, "shareId"), ("id",))
FACTOR = rows("second_factors", "id", "factorId", "id")
TENANT = rows("tenants", "id", "tenantId", "id")

LISTS: dict[str, Sequence[Copy]] = {
    "listAuditEvents": [],
    "listAccessKeys": [rows("access_keys", "id", "keyId", "id")],
    "listServiceAccountKeys": [rows("access_keys", "id", "accountKeyId", "id")],
    "listAuthorizations": [rows("authorizations", "user_id", "userId", "id")],
    "listCredentials": [rows("credentials", "user_id", "userId", "id")],
    "listFactors": [FACTOR],
    "listPasskeys": [FACTOR],
    "listFileEvents": [rows("file_events", "tenant_id", "tenantId", "id")],
    "listFilesInFolder": [NOTE],
    "listFiles": [rows("nodes", "id", "parentId", "id")],
    "listSharedFiles": [NOTE],
    "listSharedFilesInFolder": [rows("nodes", "parent_id", "innerId", "id")],
    "listGroups": [GROUP],
    "listGroupMembers": [USER, MEMBER, rows("group_members", "user_id", "ownerId", "user_id")],
    "listGroupGrants": [GROUP, rows("group_grants", "node_id", "fileId", "group_id")],
    "listGrants": [USER, MEMBER, rows("grants", "node_id", "fileId", "user_id")],
    "listHolds": [NOTE, rows("node_holds", "tenant_id", "tenantId", "node_id")],
    "listInvitations": [rows("invitations", "id", "invitationId", "id")],
    "listReceivedInvitations": [
        TENANT,
        Copy(
            table("tenant_members"),
            lambda town: (
                (table("tenant_members").c.user_id == town.parameters["ownerId"])
                & (table("tenant_members").c.role == "admin")
            ),
            ("tenant_id",),
        ),
        rows("invitations", "id", "receivedId", "id", "tenant_id"),
    ],
    "listMembers": [USER, MEMBER],
    "listServerAccounts": [USER, Copy(table("server_accounts"), lambda _: true(), ("user_id",))],
    "listServiceAccounts": [USER, rows(service_accounts.name, "user_id", "accountId", "user_id")],
    "listShareOpenings": [Copy(access_log, by(access_log.c.link_id, "shareId"), ("id",))],
    "listShares": [SHARE],
    "listSharesOfFile": [SHARE],
    "listSharedWithMe": [
        Copy(links, lambda _: links.c.audience == "users", ("id",)),
        Copy(recipients, by(recipients.c.user_id, "ownerId"), ("link_id",)),
    ],
    "listTenants": [TENANT, rows("tenant_members", "user_id", "userId", "tenant_id")],
    "listTrash": [
        rows("nodes", "id", "trashedId", "id"),
        rows("trash", "node_id", "trashedId", "id", "node_id"),
    ],
    "listUsers": [USER],
    "reportFactors": [USER],
    "listVersions": [rows("node_versions", "node_id", "fileId", "number")],
    "listDirectories": [rows("directories", "id", "directoryId", "id")],
    "listServerDirectories": [rows("directories", "id", "serverDirectoryId", "id")],
    "listTenantDomains": [Copy(domains, by(domains.c.id, "domainId"), ("id",))],
    "listIdentityProviders": [Copy(providers, by(providers.c.id, "providerId"), ("id",))],
    "listWebhookEndpoints": [Copy(endpoints, by(endpoints.c.id, "endpointId"), ("id",))],
    "listWebhookDeliveries": [Copy(deliveries, by(deliveries.c.endpoint_id, "endpointId"), ("id",))],
}
SORTS = {
    "listUsers": [
        f"sort={sign}{key}&" for key in ("name", "lastLoginAt", "createdAt") for sign in ("", "-")
    ],
    "listFiles": ["sort=-size&foldersFirst=true&", "sort=type&"],
    "listWebhookDeliveries": ["outcome=pending&"],
    "listAuditEvents": ["action=tested&", "since=1970-01-01T00:00:00Z&"],
    "listShares": ["stale=false&"],
}
TIMES = {"created_at", "at", "placed_at", "trashed_at", "last_login_at", "updated_at", "archived_at"}


class Changes:
    """Adds copies of the rows of a list, and removes them."""

    def __init__(self, town: Town, name: str) -> None:
        self.town, self.name, self.random = town, name, Random(1)
        self.copies = LISTS.get(name, [])
        self.removable: list[str | int] = []
        with town.api.container.database.engine.connect() as connection:
            self.templates = [
                connection.execute(select(copy.table).where(copy.row(town)).limit(1)).mappings().one()
                for copy in self.copies
            ]

    def add(self) -> str | int:
        new: str | int = str(uuid4())
        if self.name == "listVersions":
            new = self.random.randint(10, 10**9)
        if self.name == "listAuditEvents":
            audit = self.town.api.container.get(AuditService)
            with self.town.api.container.database.write() as connection:
                audit.record(connection, AuditEvent("tested", actor_id=self.town.root.id))
            return new
        with self.town.api.container.database.engine.begin() as connection:
            for copy, template in zip(self.copies, self.templates, strict=True):
                connection.execute(insert(copy.table).values(self.row(copy, template, new)))
        return new

    def row(self, copy: Copy, template: Any, new: str | int) -> Json:
        text = f"{self.random.choice('aBmyZ')}{self.random.randint(0, 99)}{new}"
        row = dict(template)
        for name in TIMES & row.keys():
            if row[name] is not None:
                row[name] -= self.random.randrange(SAME_NUMBER)
        if "last_login_at" in row:
            row["last_login_at"] = self.random.choice([None, row["created_at"]])
        row |= {name: fitted(copy, name, new) for name in copy.new}
        for columns in unique(copy.table):
            if not {*columns} & {*copy.new}:
                is_number = isinstance(copy.table.c[columns[-1]].type, Integer)
                row[columns[-1]] = None if is_number else fitted(copy, columns[-1], new)
        if "name" in row and copy.table.name != "access_keys":
            row["name"] = text
        if "sort_key" in row:
            row["sort_key"] = sort_key(text)
        return row

    def remove(self, new: str | int) -> None:
        with self.town.api.container.database.engine.begin() as connection:
            for copy in reversed(self.copies):
                connection.execute(
                    delete(copy.table).where(copy.table.c[copy.new[0]] == fitted(copy, copy.new[0], new))
                )

    def undo(self) -> None:
        """Remove what the changes have added."""
        while self.removable and self.copies:
            self.remove(self.removable.pop())

    def change(self) -> None:
        """Make one random change."""
        if self.random.random() < 0.5 and self.removable and self.copies:
            self.remove(self.removable.pop(self.random.randrange(len(self.removable))))
        else:
            self.removable.append(self.add())


def fitted(copy: Copy, name: str, new: str | int) -> str | int:
    """Return a new id for a column, which may be shorter."""
    length = getattr(copy.table.c[name].type, "length", None) or 36
    return new if isinstance(new, int) or length == len(new) else new.replace("-", "")[:length]


def unique(table: Table) -> Iterator[Sequence[str]]:
    """Yield the columns of each unique index or constraint."""
    for index in table.indexes:
        if index.unique:
            yield [column.name for column in index.columns]
    for constraint in table.constraints:
        if type(constraint).__name__ == "UniqueConstraint":
            yield [column.name for column in constraint.columns]  # type: ignore[attr-defined]


def lists(api: Api) -> Iterator[tuple[str, str, set[str]]]:
    """Yield the operation, the path and the parameters of each list with pages."""
    for path, item in api.get("/openapi.json").json["paths"].items():
        parameters = {each["name"] for each in item.get("get", {}).get("parameters", ())}
        if "pageNumber" in parameters:
            yield item["get"]["operationId"], path, parameters


class Pages:
    """Reads a list of a town."""

    def __init__(self, town: Town, name: str, path: str) -> None:
        others = OTHER_PARAMETERS.get(name, {}).items()
        self.path = town.path(path, {key: town.parameters[value] for key, value in others})
        self.api, self.query = town.api, QUERIES.get(name, "")
        self.by = town.member if name in OF_MEMBER else town.root

    def get(self, query: str, by: Person | None = None) -> Answer:
        return self.api.get(f"{self.path}?{self.query}{query}", by=by or self.by)

    def all(self, query: str = "", between: Callable[[], None] = lambda: None) -> list[Json]:
        """Return the records of all pages by cursor."""
        records: list[Json] = []
        answer, number = self.get(f"{query}pageSize=7&cursor="), 1
        while True:
            assert answer.status_code == 200, f"{self.path}: {answer.text}"
            meta = answer.json["meta"]
            assert (meta["pageNumber"], meta["isFirstPage"]) == (number, number == 1), self.path
            records += answer.json["data"]
            if meta["nextPageLink"] is None:
                return records
            between()
            link = meta["nextPageLink"].removeprefix("https://files.example.com")
            answer, number = self.api.get(link, by=self.by), number + 1


def identity(record: Json) -> str:
    return next((str(record[name]) for name in IDENTITIES if record.get(name)), str(record))


def fault(pages: Pages, changes: Changes, query: str, most: int) -> str | dict[str, int]:
    """Return what is wrong with a list that changes while it is read; empty: nothing."""
    answer = pages.get(f"{query}pageSize={MOST}")
    assert answer.status_code == 200, f"{changes.name}: {answer.text}"
    by_number = [identity(record) for record in answer.json["data"]]
    quiet = [identity(record) for record in pages.all(query)]
    if len(quiet) < KEPT:
        return "the copies are not listed"
    if quiet[:MOST] != by_number and not changes.name.startswith(OF_NODES):
        return "another order than by number"

    def between() -> None:
        for _ in range(-(-most // 4)):
            changes.change()

    seen = Counter(identity(record) for record in pages.all(query, between))
    changes.undo()
    return {record: seen[record] for record in quiet if seen[record] != 1}


def test_changes_while_paging_skip_and_repeat_nothing_that_exists_throughout(api: Api) -> None:
    town = Town.built(api)
    faults = {}
    operations = [*lists(api)]
    for name, path, _ in operations:
        if name in LISTS:
            pages, changes = Pages(town, name, path), Changes(town, name)
            for _ in range(KEPT):
                changes.add()
            queries = ["", *SORTS.get(name, ())]
            for query in queries:
                faults[f"{name}?{query}"] = fault(pages, changes, query, CHANGES // len(queries))
    assert not any(faults.values()), {name: wrong for name, wrong in faults.items() if wrong}
    assert {name for name, *_ in operations} == LISTS.keys() | OTHERS
    assert all("cursor" in parameters for *_, parameters in operations)


def refused(answer: Answer) -> bool:
    if answer.status_code != 400:
        return False
    return [detail["field"] for detail in answer.json["error"]["details"]] == ["cursor"]


def test_a_cursor_of_another_list_order_filter_or_caller_is_refused(api: Api) -> None:
    town = Town.built(api)
    faults, former = [], ""
    for name, path, _ in lists(api):
        pages = Pages(town, name, path)
        changes = Changes(town, name)
        if name in LISTS:
            changes.add()
            changes.add()
        answer = pages.get("pageSize=1&cursor=")
        assert answer.status_code == 200, f"{name}: {answer.text}"
        cursor = (answer.json["meta"]["nextPageLink"] or "").rpartition("=")[2]
        texts = ["x", "é", "AAAA", former] if former else ["x"]
        if cursor:
            assert pages.get(f"pageSize=2&cursor={cursor}").status_code == 200, name
            texts += [cursor[:-1], f"{cursor}A", f"{'0' if cursor[0] != '0' else '1'}{cursor[1:]}"]
            former = cursor
        faults += [(name, text) for text in texts if not refused(pages.get(f"cursor={text}"))]
    assert faults == []
    for query, other in [
        ("sort=name&", "sort=-name&"),
        ("sort=name&", "sort=createdAt&"),
        ("", "status=active&"),
        ("type=USER&", "type=ADMIN&"),
    ]:
        answer = api.get(f"/users?{query}pageSize=1&cursor=", by=town.root)
        cursor = answer.json["meta"]["nextPageLink"].rpartition("=")[2]
        assert refused(api.get(f"/users?{other}cursor={cursor}", by=town.root)), (query, other)
    api.tenant(town.root, "Another")
    answer = api.get("/api/v1/tenants?pageSize=1&cursor=", by=town.root)
    cursor = answer.json["meta"]["nextPageLink"].rpartition("=")[2]
    assert refused(api.get(f"/api/v1/tenants?cursor={cursor}", by=town.member))


def test_a_search_by_cursor_skips_and_repeats_nothing(api: Api) -> None:
    town = Town.built(api)
    admin, tenant = town.root, api.tenant(town.root, "Elsewhere")
    kept = {api.folder(tenant, admin, f"note {number}")["id"] for number in range(12)}
    for query in ("sort=name", "sort=-name&foldersFirst=true"):
        link: str | None = f"{tenant}/search?query=note&{query}&pageSize=5&cursor="
        seen: Counter[str] = Counter()
        while link is not None:
            answer = api.get(link.removeprefix("https://files.example.com"), by=admin)
            assert answer.status_code == 200, answer.text
            seen.update(record["id"] for record in answer.json["data"])
            link = answer.json["meta"]["nextPageLink"]
            # One in front of the page, and one behind it.
            for name in ("note", "notes"):
                made = api.folder(tenant, admin, f"{name}{len(seen)}{query[5]}")["id"]
                if name == "notes":
                    assert api.delete(f"{tenant}/files/{made}", by=admin).status_code == 200
        assert {node: seen[node] for node in kept if seen[node] != 1} == {}, query
