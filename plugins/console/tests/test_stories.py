"""Records of the audit log as sentences with links."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.support.features import ALL_FEATURES

from strongroom.plugin_api.audit import AUDIT_NAMES
from strongroom_console.sentences import Piece
from strongroom_console.server.stories import (
    ALONE,
    MARKS_OF_PLUGINS,
    OF_ONESELF,
    ON_TARGET,
    WARNINGS,
    WITH_PERSON,
    Names,
    make_pieces,
    story_key,
    without_names,
)

NAMES = Names({"a": "Ann", "b": "Bo"}, {"t": "Acme"})
TEXTS = {
    "story-user-suspend": "{actor} suspended {target}",
    "story-member-put": "{actor} gave {person} the role {role} in {target}",
    "story-group-create": "{actor} created {name}",
    "story-password-change-self": "{actor} changed the password",
    "role-admin": "Administrator",
    "the-system": "The server",
    "unknown": "Unknown",
    "server-in-sentences": "the server",
}
SENTENCES = {
    "press.print": "{actor} printed {name} for {user} in {tenant}",
    "press.stop": "The press of {target} was stopped",
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


def pieces(record: dict[str, Any]) -> Sequence[Piece]:
    return make_pieces(SENTENCES, record, NAMES, text, str)


def words(record: dict[str, Any]) -> str:
    return "".join(piece.words for piece in pieces(record))


def test_a_sentence_names_people_and_links_to_them() -> None:
    assert pieces(event("user.suspend", ("user", "b"))) == [
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
    (*_, last) = pieces(event("user.suspend", ("user", "z")))
    assert last == Piece("z", is_name=True)


def test_a_name_with_a_mark_or_braces_stays_text() -> None:
    record = event("group.create", details={"name": "{actor}\ue001<b>"})
    assert words(record) == "Ann created {actor}<b>"


@pytest.mark.parametrize("action", ["mars.fly", "member.put", "user.fly"])
def test_an_action_without_a_sentence_has_no_pieces(action: str) -> None:
    assert story_key(event(action)) is None
    assert pieces(event(action)) == ()


def test_a_failure_is_no_success() -> None:
    assert story_key(event("user.suspend", ("user", "b"), outcome="failure")) is None
    assert story_key(event("login", outcome="failure")) == "story-login-failed"


def test_each_action_of_the_core_has_a_sentence() -> None:
    actions = {action for feature in ALL_FEATURES for action, _ in feature.silent_actions} | {
        action
        for feature in ALL_FEATURES
        for item in feature.register_event_types()
        for action, _ in item.sources
    }
    assert actions == ALONE | ON_TARGET | OF_ONESELF | WITH_PERSON


@pytest.mark.parametrize("action", sorted(WARNINGS))
def test_a_warning_is_a_failure_with_a_sentence(action: str) -> None:
    key = f"story-{action.replace('.', '-')}"
    assert story_key(event(action, ("tenant", "t"), outcome="failure")) == key


def test_a_plugin_has_sentences_of_its_own() -> None:
    details = {"name": "Plan\ue001", "user": "b", "tenantId": "t"}
    record = event("press.print", ("printer", "p"), details=details)
    assert words(record) == "Ann printed Plan for Bo in Acme"
    assert pieces(record)[-1] == Piece("Acme", "/server/tenants/t/", is_name=True)
    assert words(event("press.stop", ("tenant", "t"))) == "The press of Acme was stopped"


def test_what_a_plugin_did_not_name_is_unknown_or_of_the_server() -> None:
    assert words(event("press.print")) == "Ann printed  for Unknown in the server"


def test_all_names_that_plugins_may_use_are_known() -> None:
    assert {*MARKS_OF_PLUGINS, "name"} == AUDIT_NAMES


def test_an_unknown_name_in_a_translation_stays_text() -> None:
    sentences = {"press.print": "{actor} printed"}
    record = event("press.print")
    (*_, last) = make_pieces(sentences, record, NAMES, text, lambda _: "{actor} druckte {file}")
    assert last == Piece(" druckte {file}")


def test_a_failure_of_a_plugin_is_no_success() -> None:
    assert pieces(event("press.print", outcome="failure")) == ()


def test_the_name_of_an_action_is_its_sentence_without_names() -> None:
    assert without_names(SENTENCES["press.print"]) == "… printed … for … in …"
