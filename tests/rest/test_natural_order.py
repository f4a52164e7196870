"""Lists are in the order that people expect, with folders first on request."""

import pytest
from tests.support.api import Api, Json, Person

from strongroom.content.nodes import child_counts

pytestmark = pytest.mark.both_databases

NATURAL = [
    "_draft",
    "2 plans",
    "10 plans",
    "Äpfel",
    "apple",
    "Banana",
    "img09.png",
    "img9.png",
    "img10.png",
    "resume",
    "Resume",
    "résumé",
    "Zebra",
    "смета",
    "报告",
]


def listed(api: Api, person: Person, path: str, query: str, size: int) -> list[Json]:
    """Return all records of a list, page by page."""
    found: list[Json] = []
    number = 1
    while True:
        answer = api.get(f"{path}?{query}&pageSize={size}&pageNumber={number}", by=person)
        assert answer.status_code == 200, answer.json
        found += answer.json["data"]
        if answer.json["meta"]["isLastPage"]:
            assert len(found) == answer.json["meta"]["totalCount"]
            return found
        number += 1


def test_names_are_in_the_order_that_people_expect(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_counts, "SPLIT_ABOVE", 4)
    alice, bob = api.person(), api.person()
    tenant = api.tenant(alice)
    api.join(tenant, alice, bob)
    for name in sorted(NATURAL):
        node = api.upload(tenant, alice, name, b"x")
        grant = {"ownerId": bob.id, "permission": "read"}
        assert api.post(f"{tenant}/files/{node['id']}/owners", grant, by=alice).status_code == 201
    path = f"{tenant}/owners/me/files"
    for person in (alice, bob):
        for size in (4, 50):
            for query in ("sort=name", "sort=name&type=file", "sort=type", "sort=updatedAt"):
                names = [node["name"] for node in listed(api, person, path, query, size)]
                assert names == NATURAL, (query, size)
            found = listed(api, person, path, "sort=-name", size)
            assert [node["name"] for node in found] == NATURAL[::-1]
        hits = listed(api, person, f"{tenant}/search", "query=img&sort=name", 2)
        assert [node["name"] for node in hits] == ["img09.png", "img9.png", "img10.png"]
