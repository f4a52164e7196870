"""Each change of how a user logs in has its rules, whichever code makes it."""

import ast
from pathlib import Path
from typing import Any

import pytest
from tests.support.api import Api

import strongroom
from strongroom.identity.users.credential_changes import (
    RULES,
    ChangedBy,
    CredentialChanges,
    Effect,
    Rule,
)
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.enrolled_factors import EnrolledFactors
from strongroom.identity.users.passwords import UserPasswords
from strongroom.plugin_api.factors import Enrolment
from strongroom.plugin_api.login import Credential

CORE = Path(strongroom.__file__).parent
TABLES = {"credentials", "passwords", "second_factors"}
STORES = {
    "identity.users.bulk",
    "identity.users.credential_changes",
    "identity.users.credentials",
    "identity.users.enrolled_factors",
    "identity.users.passwords",
}
NEW = Credential("email", "new@example.com")


def change_contact(api: Api, connection: Any, user_id: str) -> None:
    credentials = api.container.get(CredentialService)
    credentials.release(connection, user_id, "email")
    credentials.bind(connection, user_id, NEW)


def set_username(api: Api, connection: Any, user_id: str) -> None:
    api.container.get(CredentialService).bind(connection, user_id, Credential("username", "anna"))


def add_platform_login(api: Api, connection: Any, user_id: str) -> None:
    api.container.get(CredentialService).bind(connection, user_id, Credential("some_platform", "x1"))


def set_password(api: Api, connection: Any, user_id: str) -> None:
    passwords = api.container.get(UserPasswords)
    passwords.set_password(connection, user_id, passwords.hash_password("Another2Battery"))


def add_factor(api: Api, connection: Any, user_id: str) -> None:
    factors = api.container.get(EnrolledFactors)
    factors.add(connection, user_id, "totp", "", Enrolment({}), is_backup=False)


def verify_contact(api: Api, connection: Any, user_id: str) -> None:
    """Mark the address as unverified."""
    credentials, held = api.container.get(CredentialService), Credential("email", "old@example.com")
    credentials.release(connection, user_id, "email")
    credentials.bind(connection, user_id, held, is_verified=False)


CHANGES = {
    Effect.CONTACT: change_contact,
    Effect.VERIFICATION: verify_contact,
    Effect.USERNAME: set_username,
    Effect.PLATFORM_LOGIN: add_platform_login,
    Effect.PASSWORD: set_password,
    Effect.FACTOR: add_factor,
}


@pytest.mark.parametrize("effect", Effect)
def test_a_change_without_its_rules_is_not_committed(api: Api, effect: Effect) -> None:
    person, database = api.person(email="old@example.com"), api.container.database
    sent = len(api.outbox())
    with pytest.raises(RuntimeError, match="was not settled"), database.write() as connection:
        CHANGES[effect](api, connection, person.id)
    with database.write() as connection:
        CHANGES[effect](api, connection, person.id)
        api.container.get(CredentialChanges).settle(connection, ChangedBy(None))
    recipients = {each["recipient"] for each in api.outbox()[sent:]}
    both = {"old@example.com", "new@example.com"}
    assert recipients == (both if effect is Effect.CONTACT else {"old@example.com"})


def test_a_change_that_a_savepoint_has_undone_needs_no_rules(api: Api) -> None:
    person = api.person()
    with api.container.database.write() as connection:
        savepoint = connection.begin_nested()
        add_factor(api, connection, person.id)
        savepoint.rollback()


def test_each_effect_is_recorded_and_its_user_is_informed() -> None:
    assert RULES.keys() == set(Effect)
    assert all(rules >= {Rule.INFORM_CURRENT, Rule.RECORD} for rules in RULES.values())
    assert Rule.INFORM_FORMER in RULES[Effect.CONTACT]


def test_only_the_stores_that_note_changes_write_the_tables() -> None:
    writers = set()
    for path in CORE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id not in {"insert", "update", "delete", "for_each_dialect"}:
                continue
            tables = {item.id for item in node.args if isinstance(item, ast.Name)}
            if tables & TABLES:
                writers.add(".".join(path.relative_to(CORE).with_suffix("").parts))
    assert writers == STORES


def test_a_code_to_an_address_of_a_user_says_what_it_confirms(api: Api) -> None:
    api.person(email="old@example.com")
    api.code("old@example.com", "bind")
    assert "for example to replace this address" in api.outbox()[-1]["text"]
    api.code("new@example.com", "bind")
    assert "add this address to your account" in api.outbox()[-1]["text"]
