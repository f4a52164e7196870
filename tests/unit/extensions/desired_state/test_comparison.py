"""What a file declares is compared with what the server answers."""

from typing import Any

import pytest

from strongroom.extensions.desired_state.comparison import changed_members, digest


@pytest.mark.parametrize(
    ("declared", "current", "changed"),
    [
        ({"name": "a"}, {"name": "a", "id": "1"}, ()),
        ({"name": "a"}, {"name": "b"}, ("name",)),
        ({"name": "a"}, {}, ("name",)),
        ({"scopes": ["b", "a"]}, {"scopes": ["a", "b"]}, ()),
        ({"scopes": ["a"]}, {"scopes": ["a", "b"]}, ("scopes",)),
        ({"rule": {"acr": "x"}}, {"rule": {"acr": "x", "maxAge": None}}, ()),
        ({"rule": {"acr": "x"}}, {"rule": None}, ("rule",)),
        ({"rule": None}, {"rule": None}, ()),
        ({"claims": [{"name": "a"}]}, {"claims": [{"name": "a", "form": "ids"}]}, ()),
        ({"claims": [{"name": "a"}]}, {"claims": []}, ("claims",)),
        ({"claims": []}, {"claims": [{"name": "a"}]}, ("claims",)),
    ],
)
def test_only_declared_members_count(
    declared: dict[str, Any], current: dict[str, Any], changed: tuple[str, ...]
) -> None:
    assert changed_members(declared, current) == changed


def test_the_order_of_members_does_not_change_the_digest() -> None:
    assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1}) != digest({"a": 1, "b": [3]})
