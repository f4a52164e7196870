"""The simulator lists as the service documents it."""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

import pytest

Send = Callable[..., Any]


@pytest.fixture(autouse=True)
def stored(send: Send) -> None:
    for key in ("a", "b/1", "b/2", "b/c/3", "b-4", "ü z"):
        send("PUT", key, body=key.encode())


def test_all_is_listed_in_order(send: Send) -> None:
    assert listed(send) == ["a", "b-4", "b/1", "b/2", "b/c/3", "ü z"]


def test_a_prefix_narrows(send: Send) -> None:
    assert listed(send, prefix="b/") == ["b/1", "b/2", "b/c/3"]


def test_a_delimiter_makes_folders(send: Send) -> None:
    root = send("GET", query="list-type=2&delimiter=%2F").xml
    assert [key.text for key in root.findall("Contents/Key")] == ["a", "b-4", "ü z"]
    assert [prefix.text for prefix in root.findall("CommonPrefixes/Prefix")] == ["b/"]
    assert root.findtext("KeyCount") == "4"


@pytest.mark.parametrize("delimiter", ["", "/"])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_pages_put_together_are_the_whole(send: Send, delimiter: str, size: int) -> None:
    whole = names(send("GET", query=f"list-type=2&delimiter={quote(delimiter, safe='')}").xml)
    assert list(paged(send, delimiter, size)) == whole


def test_start_after_skips(send: Send) -> None:
    assert listed(send, **{"start-after": "b/1"}) == ["b/2", "b/c/3", "ü z"]


def test_names_are_encoded_on_request(send: Send) -> None:
    assert listed(send, prefix="ü", **{"encoding-type": "url"}) == ["%C3%BC%20z"]


@pytest.mark.parametrize("query", ["max-keys=0", "max-keys=1001", "continuation-token=%2A"])
def test_what_makes_no_sense_is_an_invalid_argument(send: Send, query: str) -> None:
    answer = send("GET", query=f"list-type=2&{query}")
    assert (answer.status, answer.code) == (400, "InvalidArgument")


def listed(send: Send, **parameters: str) -> list[str]:
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in parameters.items())
    return names(send("GET", query=f"list-type=2&{query}" if query else "list-type=2").xml)


def names(root: ET.Element) -> list[str]:
    found = [*root.iterfind("Contents/Key"), *root.iterfind("CommonPrefixes/Prefix")]
    return sorted(element.text or "" for element in found)


def paged(send: Send, delimiter: str, size: int) -> Iterator[str]:
    query, token = f"list-type=2&max-keys={size}&delimiter={quote(delimiter, safe='')}", ""
    while True:
        root = send("GET", query=f"{query}&continuation-token={quote(token, safe='')}").xml
        assert int(root.findtext("KeyCount", "")) <= size
        yield from names(root)
        token = root.findtext("NextContinuationToken", "")
        if root.findtext("IsTruncated") == "false":
            return
