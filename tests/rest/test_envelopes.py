"""Every list of the API: its envelope, and the summary of each entity that its records refer to."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.api import Api, Json
from tests.support.full_server import ALL_PLUGINS, Town

META = {
    "totalCount",
    "pageSize",
    "pageNumber",
    "pageCount",
    "isFirstPage",
    "isLastPage",
    "hasPreviousPage",
    "previousPageLink",
    "hasNextPage",
    "nextPageLink",
}
FEEDS = {"listChanges"}
"""Lists that are read from a cursor, without a total."""

EMPTY = {
    "listClientActions": "no client has acted for this user",
    "listDirectoryErrors": "the directory has made no request",
    "listServerDirectoryErrors": "the directory has made no request",
    "listLocks": "nothing is locked here; test_locks has the name of a holder",
    "listQuarantine": "no content scanner is enabled here",
    "listUserImports": "imports refer to no other records",
}
OTHER_PARAMETERS = {
    "listServerDirectoryErrors": {"directoryId": "serverDirectoryId"},
    "listClientActions": {"userId": "ownerId", "clientId": "userId"},
    "listFactors": {"userId": "ownerId"},
    "listPasskeys": {"userId": "ownerId"},
    "listFilesInFolder": {"ownerId": "userId"},
    "listSharesOfFile": {"fileId": "parentId"},
    "listSharedFilesInFolder": {"fileId": "innerId"},
    "listServiceAccountKeys": {"keyId": "accountKeyId"},
}
OF_MEMBER = {"listClientActions", "listPasskeys", "listSharedWithMe"}
QUERIES = {"listChanges": "?cursor=0", "searchFiles": "?query=note"}
MILLISECONDS = re.compile(r"1[0-9]{12}")
"""What a point in time of these years looks like if it was not formatted."""


pytestmark = pytest.mark.config(ALL_PLUGINS)


@pytest.fixture
def town(api: Api) -> Town:
    return Town.built(api)


def lists(api: Api) -> Iterator[tuple[str, str]]:
    """Yield the operation and the path of each list."""
    document = api.get("/openapi.json").json
    for path, item in document["paths"].items():
        content = item.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
        schema = content.get("application/json", {}).get("schema", {}).get("$ref", "")
        properties = document["components"]["schemas"].get(schema.rpartition("/")[2], {})
        if {"data", "included"} <= properties.get("properties", {}).keys():
            yield item["get"]["operationId"], path


def read(town: Town, name: str, path: str) -> Json:
    named = {key: town.parameters[value] for key, value in OTHER_PARAMETERS.get(name, {}).items()}
    by = town.member if name in OF_MEMBER else town.root
    answer = town.api.get(town.path(path, named) + QUERIES.get(name, ""), by=by)
    assert answer.status_code == 200, f"{name}: {answer.text}"
    page: Json = answer.json
    return page


def references(value: Any) -> Iterator[str]:
    """Yield the ids that a JSON value refers to."""
    if isinstance(value, dict):
        if value.keys() == {"$ref"}:
            yield value["$ref"]
        for member in value.values():
            yield from references(member)
    elif isinstance(value, list):
        for member in value:
            yield from references(member)


def raw_times(value: Any, name: str = "") -> Iterator[str]:
    """Yield the members that are milliseconds since the Unix epoch; revisions may be."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from raw_times(member, key)
    elif isinstance(value, list):
        for member in value:
            yield from raw_times(member, name)
    elif name != "revision" and MILLISECONDS.fullmatch(str(value)):
        yield f"{name}={value}"


def test_each_reference_of_each_list_has_its_summary(town: Town) -> None:
    pages = {name: read(town, name, path) for name, path in lists(town.api)}
    assert len(pages) > 25
    assert {name for name, page in pages.items() if not page["data"]} == EMPTY.keys()
    missing = {
        name: unknown
        for name, page in pages.items()
        if (unknown := {*references(page["data"])} - page["included"].keys())
    }
    assert missing == {}
    assert all(
        summary.keys() == {"id", "type", "name"} and summary["id"] == key
        for page in pages.values()
        for key, summary in page["included"].items()
    )


def test_each_list_has_ten_members_of_meta_and_feeds_have_three(town: Town) -> None:
    metas = {name: read(town, name, path)["meta"].keys() for name, path in lists(town.api)}
    assert {name for name, meta in metas.items() if meta != META} == FEEDS
    assert all(metas[name] == {"pageSize", "cursor", "hasMore"} for name in FEEDS)


def test_no_list_shows_a_point_in_time_as_a_number(town: Town) -> None:
    shown = {name: [*raw_times(read(town, name, path))] for name, path in lists(town.api)}
    assert {name: faults for name, faults in shown.items() if faults} == {}
