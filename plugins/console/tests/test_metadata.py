"""The patches that the editor of metadata sends."""

from strongroom_console.server.user_metadata import merge_patch


def test_a_patch_removes_and_replaces() -> None:
    before, after = {"a": {"b": 1, "c": 2}, "d": 1, "e": 1}, {"a": {"b": 1}, "d": {"x": 1}, "e": 1}
    assert merge_patch(before, after) == {"a": {"c": None}, "d": {"x": 1}}
