"""The rows that the editor of metadata shows, and the patches that it sends."""

import json
from typing import Any

import pytest

from strongroom_console.server.metadata_rows import MOST_ROWS, RowFaulty, list_rows, parse_rows
from strongroom_console.server.user_metadata import merge_patch


def test_a_patch_removes_and_replaces() -> None:
    before, after = {"a": {"b": 1, "c": 2}, "d": 1, "e": 1}, {"a": {"b": 1}, "d": {"x": 1}, "e": 1}
    assert merge_patch(before, after) == {"a": {"c": None}, "d": {"x": 1}}


VALUES: tuple[Any, ...] = (
    *(
        "text",
        "",
        " ",
        "5",
        " 5",
        "true",
        "null",
        "NaN",
        '"x"',
        '"',
        "{",
        "[1]",
        "a\nb",
        "a\r",
        "\u2028",
        "中",
    ),
    *(5, 1.5, True, None, [], {"b": [1, "2"]}, 10**400),
)


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_rows_keep_each_value(value: Any) -> None:
    rows = list_rows({"a": value})
    assert rows is not None
    assert not any("\n" in text or "\r" in text for _, text in rows)
    assert parse_rows(rows, json.loads) == {"a": value}


@pytest.mark.parametrize(
    "value", [{"": 1}, {" ": 1}, {"a\nb": 1}, {str(number): 1 for number in range(MOST_ROWS + 1)}]
)
def test_what_rows_cannot_show_is_text(value: dict[str, Any]) -> None:
    assert list_rows(value) is None


@pytest.mark.parametrize(
    ("rows", "fault", "place"),
    [([("", "x")], "row-without-key", 0), ([("a", "1"), ("a", "2")], "key-repeated", 1)],
)
def test_a_faulty_row_is_named(rows: list[tuple[str, str]], fault: str, place: int) -> None:
    with pytest.raises(RowFaulty, match=fault) as caught:
        parse_rows(rows, json.loads)
    assert caught.value.place == place


def test_a_row_without_a_value_is_left_out() -> None:
    assert parse_rows([("a", "x"), ("b", ""), ("", "")], json.loads) == {"a": "x"}
