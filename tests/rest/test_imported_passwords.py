"""Logins of users whose password hash comes from another system."""

import hashlib
import logging
from typing import Any

import pytest
from sqlalchemy import select
from tests.support.api import PASSWORD, Api, error_code

from strongroom.foundation.database.installation import oldest_code
from strongroom.identity.users.credential_changes import ChangedBy, CredentialChanges
from strongroom.identity.users.models import OWN_SCHEME, passwords
from strongroom.identity.users.passwords import UserPasswords
from strongroom.plugin_api.password_schemes import HashRejected

PHPASS = {"algorithm": "phpass", "hash": "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0"}
PHPASS_PASSWORD = "test12345"
MD5 = hashlib.md5(PASSWORD.encode()).hexdigest()
DIGEST = {
    "algorithm": "auth0",
    "custom_password_hash": {"algorithm": "md5", "hash": {"value": MD5, "encoding": "hex"}},
}
EMAIL = "imported@example.com"

pytestmark = pytest.mark.config({"plugins": {"enabled": ["storage_local", "password_schemes"]}})


def stored(api: Api, user_id: str) -> Any:
    """Return the row of a password."""
    with api.container.database.read() as connection:
        return connection.execute(select(passwords).where(passwords.c.user_id == user_id)).one()


def test_the_first_login_replaces_an_imported_hash_by_one_of_the_server(api: Api) -> None:
    user_id = api.imported(PHPASS, EMAIL)
    assert stored(api, user_id).scheme == "phpass"
    assert api.log_in(EMAIL, "test12346").status_code == 401
    assert stored(api, user_id).hash == PHPASS["hash"]
    for _ in range(2):
        assert api.log_in(EMAIL, PHPASS_PASSWORD).status_code == 200
        row = stored(api, user_id)
        assert (row.scheme, row.cost) == (OWN_SCHEME, "")
        assert row.hash.startswith("$2b$")
    assert api.log_in(EMAIL, "test12346").status_code == 401


def test_a_fast_digest_is_never_stored(api: Api) -> None:
    user_id = api.imported(DIGEST, EMAIL)
    assert MD5 not in str(stored(api, user_id))
    # Who has the table cannot log in by the digest.
    assert api.log_in(EMAIL, MD5).status_code == 401
    assert api.log_in(EMAIL).status_code == 200
    assert stored(api, user_id).scheme == OWN_SCHEME


def test_a_password_is_changed_by_giving_the_imported_one(api: Api) -> None:
    user_id = api.imported(DIGEST, EMAIL)
    response = api.log_in(EMAIL)
    # Imported again, as the login has replaced the hash.
    with api.container.database.write() as connection:
        imported = api.container.get(UserPasswords).imported_password(DIGEST)
        api.container.get(UserPasswords).set_password(connection, user_id, imported)
        api.container.get(CredentialChanges).settle(connection, ChangedBy(None))
    body = {"oldPassword": PASSWORD, "newPassword": "Another2Battery"}
    token = response.headers["X-Access-Token"]
    changed = api.put("/users/me/password", body, headers={"Authorization": f"Bearer {token}"})
    assert changed.status_code == 200, changed.text
    assert stored(api, user_id).scheme == OWN_SCHEME
    assert api.log_in(EMAIL, "Another2Battery").status_code == 200


def test_a_password_that_was_replaced_meanwhile_stays_replaced(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_id = api.imported(PHPASS, EMAIL)
    credentials = api.container.get(UserPasswords)
    rehash = credentials._rehash

    def replace_first(*arguments: Any) -> None:
        new = credentials.hash_password("Another2Battery")
        with api.container.database.write() as connection:
            credentials.set_password(connection, user_id, new)
            api.container.get(CredentialChanges).settle(connection, ChangedBy(None))
        rehash(*arguments)

    monkeypatch.setattr(credentials, "_rehash", replace_first)
    api.log_in(EMAIL, PHPASS_PASSWORD)
    monkeypatch.undo()
    assert api.log_in(EMAIL, PHPASS_PASSWORD).status_code == 401
    assert api.log_in(EMAIL, "Another2Battery").status_code == 200


def test_a_hash_in_the_database_that_exceeds_a_cap_is_a_wrong_password(
    api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    user_id = api.imported(PHPASS, EMAIL)
    hostile = "$argon2id$v=19$m=4294967295,t=1,p=1$MDEyMzQ1Njc4OWFi$" + "A" * 43
    with api.container.database.write() as connection:
        connection.execute(passwords.update().values(hash=hostile, scheme="argon2", cost="x"))
    with caplog.at_level(logging.WARNING):
        response = api.log_in(EMAIL, PHPASS_PASSWORD)
    assert (response.status_code, error_code(response)) == (401, "error.invalid-credentials")
    assert "argon2 m: at most 262144" in caplog.text
    assert hostile not in caplog.text
    assert stored(api, user_id).hash == hostile


def test_older_code_is_refused_from_the_first_imported_hash_on(api: Api) -> None:
    api.person()
    with api.container.database.read() as connection:
        assert oldest_code(connection) != "0029"
    api.imported(PHPASS, EMAIL)
    with api.container.database.read() as connection:
        assert oldest_code(connection) == "0029"


@pytest.mark.parametrize(
    "described", [{}, {"algorithm": 7}, {"algorithm": OWN_SCHEME}, {"algorithm": "rot13", "hash": "x"}]
)
def test_an_unknown_algorithm_is_refused_with_the_known_ones(api: Api, described: Any) -> None:
    with pytest.raises(HashRejected, match="argon2, auth0, bcrypt, django"):
        api.imported(described, EMAIL)


def test_a_refused_hash_makes_no_user(api: Api) -> None:
    with pytest.raises(HashRejected):
        api.imported({"algorithm": "phpass", "hash": "$P$z" + "A" * 30}, EMAIL)
    api.imported(PHPASS, EMAIL)


class TestWithoutThePlugin:
    """The plugin was removed from the configuration after the import."""

    pytestmark = pytest.mark.config({"plugins": {"enabled": ["storage_local"]}})

    def test_the_password_is_wrong_and_the_log_says_why(
        self, api: Api, caplog: pytest.LogCaptureFixture
    ) -> None:
        person = api.person(email=EMAIL)
        with api.container.database.write() as connection:
            values = {"hash": PHPASS["hash"], "scheme": "phpass", "cost": "phpass=11"}
            connection.execute(passwords.update().values(values))
        with caplog.at_level(logging.WARNING):
            assert api.log_in(person.email).status_code == 401
        assert "no enabled plugin has the scheme phpass" in caplog.text
