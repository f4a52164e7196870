"""Pages of lists of files: each is a part of the whole list, and shows changes at once."""

from typing import Any

import pytest
from tests.support.api import Answer, Api, Json, Person, error_code
from tests.support.files import MISSING, File

from strongroom.content.nodes import child_counts

pytestmark = pytest.mark.both_databases

PUBLIC_URL = "https://files.example.com"
PAGES = [
    (20, 1, ""),
    (1, 1, "?pageSize=1"),
    (3, 1, "?pageSize=3"),
    (3, 2, "?pageSize=3&pageNumber=2"),
    (3, 2, "?pageNumber=2&pageSize=3"),
    (20, 1, "?pageNumber=1"),
    (7, 1, "?pageSize=7&pageNumber=1"),
    (8, 1, "?pageSize=8"),
    (200, 1, "?pageSize=200"),
    (20, 2, "?pageNumber=2"),
    (3, 5, "?pageNumber=5&pageSize=3"),
    (3, 2**31 - 1, "?pageNumber=2147483647&pageSize=3"),
    (3, 1, "?pageSize=03"),
    (3, 1, "?pageSize=%33"),
    (3, 1, "?pageSize=3&pageSize=4"),
    (3, 1, "?pageSize=\u0663"),
    (3, 1, "?pageSize=3&"),
    (20, 1, "?&"),
]
ODD_PAGES = {
    "?pageSize=0": "pageSize",
    "?pageSize=201": "pageSize",
    "?pageSize=-1": "pageSize",
    "?pageSize=1.5": "pageSize",
    "?pageSize=": "pageSize",
    "?pageNumber=0": "pageNumber",
    "?pageNumber=2147483648": "pageNumber",
    "?pageNumber=99999999999999999999": "pageNumber",
    "?pageSize=3&other=1": "other",
    "?pagesize=3": "pagesize",
}


@pytest.mark.parametrize("count", [0, 7])
def test_every_page_is_a_part_of_the_whole_list(
    api: Api, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_counts, "SPLIT_ABOVE", 2)
    alice, bob = api.person(), api.person(name='Bob "the \u3000 Builder" \U0001f600')
    tenant = api.tenant(alice)
    api.join(tenant, alice, bob)
    folder = api.folder(tenant, alice, "folder")["id"]
    grant = {"ownerId": bob.id, "permission": "write"}
    assert api.post(f"{tenant}/files/{folder}/owners", grant, by=alice).status_code == 201
    for number in range(count):
        api.upload(tenant, (alice, bob)[number % 2], f"{number}", b"content", folder)
        api.upload(tenant, bob, f"{number}", b"content")
    names = [str(number) for number in range(count)]
    for person in (alice, bob):
        for path, expected in (
            (f"{tenant}/owners/me/files", [*names, "folder"]),
            (f"{tenant}/owners/me/files/{folder}/files", names),
        ):
            whole = api.get(f"{path}?pageSize=200", by=person).json
            assert [item["name"] for item in whole["data"]] == expected
            for size, number, query in PAGES:
                answer = api.get(path + query, by=person)
                assert answer.status_code == 200, query
                data = whole["data"][(number - 1) * size : number * size]
                owners = {item["owner"]["$ref"] for item in data}
                assert answer.json == {
                    "success": True,
                    "meta": meta(path, len(expected), size, number),
                    "data": data,
                    "included": {id_: whole["included"][id_] for id_ in owners},
                }, query


def meta(path: str, total: int, size: int, number: int) -> Json:
    """Return the expected paging information."""
    count = (total + size - 1) // size
    previous = number - 1 if number <= count else max(count, 1)
    link = f"{PUBLIC_URL}{path}?pageSize={size}&pageNumber="
    return {
        "totalCount": total,
        "pageSize": size,
        "pageNumber": number,
        "pageCount": count,
        "isFirstPage": number == 1,
        "isLastPage": number >= count,
        "hasPreviousPage": number > 1,
        "previousPageLink": f"{link}{previous}" if number > 1 else None,
        "hasNextPage": number < count,
        "nextPageLink": f"{link}{number + 1}" if number < count else None,
    }


def test_odd_pages_are_refused(api: Api) -> None:
    file = File(api)
    for path in (file.top, f"{file.top}/{MISSING}/files"):
        for query, field in ODD_PAGES.items():
            answer = file.get(path + query)
            assert (answer.status_code, error_code(answer)) == (400, "error.validation-failed"), query
            (detail,) = answer.json["error"]["details"]
            assert detail["field"] == field
            unknown = field not in ("pageSize", "pageNumber")
            assert detail["code"] == ("unknown-field" if unknown else "invalid"), query


def test_lists_show_changes_at_once(api: Api) -> None:
    alice, bob = api.person(name="Alice"), api.person(name="Bob")
    tenant = api.tenant(alice)
    api.join(tenant, alice, bob)
    folder = api.folder(tenant, alice, "folder")["id"]
    first, second = (api.upload(tenant, alice, name, b"content", folder)["id"] for name in "ab")
    owners = f"{tenant}/files/{folder}/owners"
    grant = {"ownerId": bob.id, "permission": "read"}
    top = f"{tenant}/owners/me/files"

    def seen(person: Person) -> list[Any]:
        """Return what both lists contain, twice each: once read, once perhaps from a cache."""
        answers = [api.get(path, by=person) for path in (top, f"{top}/{folder}/files") for _ in "12"]
        lists = [answer.json.get("data") for answer in answers]
        assert lists[0::2] == lists[1::2]
        return [
            found and [(item["name"], item["size"], item["permission"]) for item in found]
            for found in lists[::2]
        ]

    def check(change: Answer, for_alice: list[Any], for_bob: list[Any]) -> None:
        assert change.status_code < 300
        assert seen(alice) == for_alice
        assert seen(bob) == for_bob

    def both(*rows: tuple[str, int], as_bob: str) -> tuple[list[Any], list[Any]]:
        inside = [[(name, size, level) for name, size in rows] for level in ("manage", as_bob)]
        outside = [[("folder", 0, level)] for level in ("manage", as_bob)]
        return [outside[0], inside[0]], [outside[1], inside[1]]

    assert seen(bob) == [[], None]
    check(api.post(owners, grant, by=alice), *both(("a", 7), ("b", 7), as_bob="read"))
    renamed = api.patch(f"{tenant}/files/{first}", {"name": "c"}, by=alice)
    check(renamed, *both(("b", 7), ("c", 7), as_bob="read"))
    replaced = api.request("PUT", f"{tenant}/files/{second}/content", by=alice, data=b"other")
    check(replaced, *both(("b", 5), ("c", 7), as_bob="read"))
    raised = api.post(owners, {**grant, "permission": "write"}, by=alice)
    check(raised, *both(("b", 5), ("c", 7), as_bob="write"))
    own = api.post(f"{tenant}/files/{first}/owners", {**grant, "permission": "manage"}, by=alice)
    for_alice, for_bob = both(("b", 5), ("c", 7), as_bob="write")
    for_bob[1][1] = ("c", 7, "manage")
    check(own, for_alice, for_bob)
    moved = api.put(f"{tenant}/files/{first}/directory", {"parentId": None}, by=alice)
    top_of = [[("c", 7, "manage"), ("folder", 0, level)] for level in ("manage", "write")]
    check(moved, [top_of[0], [("b", 5, "manage")]], [top_of[1], [("b", 5, "write")]])
    deleted = api.delete(f"{tenant}/files/{second}", by=alice)
    check(deleted, [top_of[0], []], [top_of[1], []])
    assert api.patch("/users/me", {"name": "Alicia"}, by=alice).status_code == 200
    for person in (alice, bob):
        (summary,) = api.get(top, by=person).json["included"].values()
        assert summary["name"] == "Alicia"


def test_a_list_is_filtered_by_owner_and_by_the_time_of_the_change(api: Api) -> None:
    alice, bob = api.person(), api.person()
    tenant = api.tenant(alice)
    api.join(tenant, alice, bob)
    folder = api.folder(tenant, alice, "folder")["id"]
    grant = {"ownerId": bob.id, "permission": "write"}
    assert api.post(f"{tenant}/files/{folder}/owners", grant, by=alice).status_code == 201
    before = api.upload(tenant, alice, "before", b"content", folder)["updatedAt"]
    api.clock.advance(1000)
    for person, name in ((alice, "mine"), (bob, "theirs")):
        api.upload(tenant, person, name, b"content", folder)
    for reader in (alice, bob):
        inside, top = f"{tenant}/owners/me/files/{folder}/files", f"{tenant}/owners/me/files"
        cases = {
            f"{inside}?owner={bob.id}": ["theirs"],
            f"{inside}?owner=me": ["before", "mine"] if reader == alice else ["theirs"],
            f"{inside}?modifiedAfter={before}": ["mine", "theirs"],
            f"{inside}?modifiedAfter={before}&owner={alice.id}&q=IN": ["mine"],
            f"{inside}?owner={MISSING}": [],
            f"{top}?owner={alice.id}": ["folder"],
            f"{top}?owner={bob.id}": [],
        }
        for path, expected in cases.items():
            page = api.get(path, by=reader).json
            assert [item["name"] for item in page["data"]] == expected, path
            assert page["meta"]["totalCount"] == len(expected), path
    assert error_code(api.get(f"{inside}?modifiedAfter=x", by=alice)) == "error.validation-failed"
