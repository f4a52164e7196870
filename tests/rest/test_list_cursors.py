"""Lists by cursor: what exists throughout is listed exactly once, whatever else changes meanwhile."""

import json
from base64 import urlsafe_b64encode
from collections import Counter
from math import ceil
from random import Random
from typing import Any

import pytest
from tests.support.actors import make_group
from tests.support.api import Api, Json, Person
from tests.support.campaign import campaign_size

from strongroom.content.files.service import FileService
from strongroom.content.nodes import child_counts
from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.nodes.node_filters import SORTS
from strongroom.foundation.caller import Identity

pytestmark = pytest.mark.both_databases

CHANGES = campaign_size("CURSOR_CHANGES", 150)
"""Changes while each of the lists is read; the figure of the contract is 1,000."""

RESTS = ("", "&foldersFirst=true", "&type=file", "&q=n1&foldersFirst=true")
MALFORMED = [
    *("x", "é", "AAAA", "W10", "bnVsbA", "A" * 5000),
    *(
        urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")
        for values in (
            [1, ["size", False, False], "size", 1, "a", "b"],
            [1, ["name", False, False], "size", 1, "a", "b"],
            [1, ["name", False, False], "other", 1, "a", "b"],
            [1, ["name", False, False], "name", 2**63, "a", "b"],
            [1, ["name", False, False], "name", -1, "a", "b"],
            [1, ["name", False, False], "name", 0, "\0", "b"],
            [1, ["name", False, False], "name", 0, "\ud800", "b"],
            [1, ["name", False, False], "name", 0, "a" * 1000, "b"],
            [1, ["name", False, False], "name", None, "a", "b"],
            [1, ["name", False, False], "name", 0, "a"],
        )
    ),
]


def read_pages(
    api: Api, person: Person, path: str, query: str, between: Any = lambda: None
) -> list[Json]:
    """Return the records of all pages by cursor."""
    records: list[Json] = []
    link, number = f"{path}?{query}&cursor=", 0
    while link:
        answer = api.get(link, by=person)
        assert answer.status_code == 200, answer.json
        number += 1
        meta = answer.json["meta"]
        assert (meta["pageNumber"], meta["isFirstPage"]) == (number, number == 1)
        assert meta["hasNextPage"] is not meta["isLastPage"] is (meta["nextPageLink"] is None)
        records += answer.json["data"]
        link = (meta["nextPageLink"] or "").removeprefix("https://files.example.com")
        between()
    return records


class Changes:
    """Creates, renames and deletes nodes in a folder, none of which is there throughout."""

    def __init__(self, api: Api, person: Person, tenant: str, folder: str) -> None:
        self.files = api.container.get(FileService)
        self.who = Identity(person.id, "USER", "login")
        self.tenant, self.folder, self.random = tenant.rpartition("/")[2], folder, Random(1)
        self.others: list[str] = []
        self.api, self.person, self.path, self.count = api, person, tenant, 0

    def make(self) -> None:
        name = f"{self.random.choice('abmyz')}{self.random.randint(0, 10**9)}"
        made = self.files.create_folder(self.who, self.tenant, self.folder, name, OnConflict.RENAME)
        self.others.append(made.node.id)

    def change(self) -> None:
        """Make one random change."""
        self.count += 1
        kind = self.random.random()
        if kind < 0.5 or not self.others:
            self.make()
            return
        other = self.others[self.random.randrange(len(self.others))]
        url = f"{self.path}/files/{other}"
        if kind < 0.75:
            self.others.remove(other)
            assert self.api.delete(url, by=self.person).status_code == 200
            return
        name = f"{self.random.choice('abmyz')}{self.random.randint(0, 10**9)}"
        assert self.api.patch(url, {"name": name}, by=self.person).status_code == 200


@pytest.fixture
def several_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_counts, "SPLIT_ABOVE", 16)


@pytest.mark.usefixtures("several_runs")
def test_changes_while_paging_skip_and_repeat_nothing_that_exists_throughout(api: Api) -> None:
    admin = api.person()
    tenant = api.tenant(admin)
    folder = api.folder(tenant, admin, "folder")["id"]
    kept: set[str] = set()
    for number in range(40):
        api.clock.advance(number % 2)
        if number % 4:
            kept.add(api.upload(tenant, admin, f"file {number}", b"x" * (number % 5), folder)["id"])
        else:
            kept.add(api.folder(tenant, admin, f"folder {number}", folder)["id"])
    changes = Changes(api, admin, tenant, folder)
    for _ in range(10):
        changes.make()
    path = f"{tenant}/owners/me/files/{folder}/files"
    orders = [f"sort={sort}{RESTS[number % 3 % 2]}" for number, sort in enumerate(SORTS)]
    for query in [*orders, "q=f", "q=f&sort=-size&foldersFirst=true"]:
        done = changes.count

        def between(most: int = done + CHANGES // len(orders)) -> None:
            for _ in range(ceil(CHANGES / len(orders) / 8)):
                if changes.count < most:
                    change_and_wait(api, changes)

        records = read_pages(api, admin, path, f"{query}&pageSize=7", between)
        seen = Counter(record["id"] for record in records)
        assert {node: seen[node] for node in kept if seen[node] != 1} == {}, query
    assert changes.count >= CHANGES * 0.8


def change_and_wait(api: Api, changes: Changes) -> None:
    changes.change()
    api.clock.advance(1)


@pytest.mark.usefixtures("several_runs")
def test_pages_by_cursor_have_the_order_of_pages_by_number(api: Api) -> None:
    admin, member, reader = api.person(), api.person(), api.person()
    tenant = api.tenant(admin)
    for person in (member, reader):
        api.join(tenant, admin, person)
    group = make_group(api, tenant, admin, reader)
    for number in range(12):
        api.clock.advance(number % 2)
        if number % 3:
            node = api.upload(tenant, admin, f"n{number}", b"x" * (number % 4))
        else:
            node = api.folder(tenant, admin, f"n{number}")
        grant = {"ownerId": member.id, "permission": "read"}
        assert api.post(f"{tenant}/files/{node['id']}/owners", grant, by=admin).status_code == 201
        shared = {"groupId": group, "permission": "read"}
        url = f"{tenant}/files/{node['id']}/group-grants"
        assert api.post(url, shared, by=admin).status_code in (200, 201)
    path = f"{tenant}/owners/me/files"
    for person in (admin, member, reader):
        for number, sort in enumerate(SORTS):
            for rest in (RESTS[number % 4], RESTS[(number + number // 4 + 1) % 4]):
                query = f"sort={sort}{rest}"
                expected = api.get(f"{path}?{query}&pageSize=200", by=person).json
                assert expected["data"]
                assert read_pages(api, person, path, f"{query}&pageSize=5") == expected["data"], query
    empty = api.get(f"{path}?cursor=&q=nothing", by=admin).json
    assert (empty["data"], empty["meta"]["nextPageLink"], empty["meta"]["isLastPage"]) == (
        [],
        None,
        True,
    )


def test_a_text_that_is_no_cursor_of_the_list_is_refused(api: Api) -> None:
    admin = api.person()
    tenant = api.tenant(admin)
    for number in range(3):
        api.folder(tenant, admin, f"folder {number}")
    path = f"{tenant}/owners/me/files"
    of_name = api.get(f"{path}?cursor=&pageSize=1", by=admin).json["meta"]["nextPageLink"]
    cursor = of_name.rpartition("=")[2]
    others = [f"cursor={cursor}&{rest}" for rest in ("sort=size", "sort=-name", "foldersFirst=true")]
    for query in (*(f"cursor={text}" for text in MALFORMED), *others):
        answer = api.get(f"{path}?{query}", by=admin)
        assert answer.status_code == 400, query
        assert answer.json["error"]["details"][0]["field"] == "cursor", query
