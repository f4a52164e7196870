"""Records of the audit log as sentences with links."""

from typing import Any

import pytest

from strongroom_console.sentences import Piece
from strongroom_console.server.stories import Names, make_pieces, story_key

NAMES = Names({"a": "Ann", "b": "Bo"}, {"t": "Acme"})
TEXTS = {
    "story-user-suspend": "{actor} suspended {target}",
    "story-member-put": "{actor} gave {person} the role {role} in {target}",
    "story-group-create": "{actor} created {name}",
    "story-password-change-self": "{actor} changed the password",
    "role-admin": "Administrator",
    "the-system": "The server",
    "unknown": "Unknown",
}


def text(key: str, **values: str) -> str:
    return TEXTS[key].format(**values)


def event(action: str, target: tuple[str, str] | None = None, **values: Any) -> dict[str, Any]:
    return {
        "action": action,
        "actor": {"$ref": "a"},
        "target": target and {"type": target[0], "id": target[1]},
        "outcome": "success",
        "details": {},
        **values,
    }


def words(record: dict[str, Any]) -> str:
    return "".join(piece.words for piece in make_pieces(record, NAMES, text))


def test_a_sentence_names_people_and_links_to_them() -> None:
    assert make_pieces(event("user.suspend", ("user", "b")), NAMES, text) == [
        Piece("Ann", "/server/users/a/", is_name=True),
        Piece(" suspended "),
        Piece("Bo", "/server/users/b/", is_name=True),
    ]


def test_a_member_and_the_space_are_named() -> None:
    record = event("member.put", ("tenant", "t"), details={"user": "b", "role": "admin"})
    assert words(record) == "Ann gave Bo the role Administrator in Acme"


def test_a_change_of_oneself_has_a_sentence_of_its_own() -> None:
    assert words(event("password.change", ("user", "a"))) == "Ann changed the password"


def test_an_action_without_an_actor_is_the_servers() -> None:
    assert words(event("user.suspend", ("user", "b"), actor=None)) == "The server suspended Bo"


def test_a_name_of_a_deleted_user_is_the_id() -> None:
    (*_, last) = make_pieces(event("user.suspend", ("user", "z")), NAMES, text)
    assert last == Piece("z", is_name=True)


def test_a_name_with_a_mark_or_braces_stays_text() -> None:
    record = event("group.create", details={"name": "{actor}\ue001<b>"})
    assert words(record) == "Ann created {actor}<b>"


@pytest.mark.parametrize("action", ["mars.fly", "member.put", "user.change-metadata"])
def test_an_action_without_a_sentence_has_no_pieces(action: str) -> None:
    assert story_key(event(action)) is None
    assert make_pieces(event(action), NAMES, text) == ()


def test_a_failure_is_no_success() -> None:
    assert story_key(event("user.suspend", ("user", "b"), outcome="failure")) is None
    assert story_key(event("login", outcome="failure")) == "story-login-failed"


@pytest.mark.parametrize("action", ["mcp.call", "mcp.upload", "oidc_provider.consent-give"])
def test_what_agents_and_applications_do_is_a_sentence(action: str) -> None:
    assert story_key(event(action)) == f"story-{action.replace('.', '-')}"
