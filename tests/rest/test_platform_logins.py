"""Logins by the credentials of a platform end with their sessions and people there: ``host.logins``."""

import logging
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from importlib import import_module
from itertools import product
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import text
from tests.support.acme_logins import install_acme, log_in, status
from tests.support.api import Api, Person
from tests.support.config import Table, lifted, write_api_config
from tests.support.totp import enrol, meet, use_clock

from strongroom.activity.audit.sealing import seal
from strongroom.foundation.errors import (
    CredentialConflict,
    InvalidCredentials,
    SecondFactorRequired,
    UserSuspended,
)
from strongroom.identity.users.credential_changes import ChangedBy, CredentialChanges
from strongroom.identity.users.credentials import CredentialService
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.login import MAX_SESSION, Contact, Credential, NewLogin, VerifiedCredential
from strongroom.testing.clock import ManualClock
from strongroom.web.http import downloads

CONFIG: Table = {
    "plugins": {"enabled": ["storage_local", "acme", "factor_totp"]},
    "login": {"methods": ["password", "acme"]},
}
ANN, BOB = Credential("acme", "ann"), Credential("acme", "bob")


@pytest.fixture
def config(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    module = install_acme(tmp_path)
    yield write_api_config(tmp_path, database_url, CONFIG, lifted())
    del sys.modules[module]


@pytest.fixture(autouse=True)
def time_of_the_test(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    use_clock(clock, monkeypatch)


@pytest.fixture
def host(api: Api) -> HostAPI:
    return api.container.hosts.get("acme")


def plugin() -> Any:
    return import_module("acme_acme")


def records(api: Api, action: str) -> list[tuple[Any, ...]]:
    statement = (
        "SELECT actor_id, target_id, details FROM audit_events WHERE action = '%s' ORDER BY sequence"
    )
    seal(api.container.database)
    with api.container.database.read() as connection:
        return [tuple(row) for row in connection.exec_driver_sql(statement % action)]


class TestEnd:
    @pytest.mark.both_databases
    def test_all_logins_of_a_credential_end_and_no_others(self, api: Api, host: HostAPI) -> None:
        first, second = log_in(api, "ann", session="s1"), log_in(api, "ann", session="s2")
        other = log_in(api, "bob", session="s1")
        assert host.logins.end(ANN) == 2
        assert [status(api, login) for login in (first, second, other)] == [401, 401, 200]
        refreshed = api.post("/authorizations/refresh", {"refreshToken": first.refresh_token})
        assert refreshed.status_code == 401
        assert host.logins.end(ANN) == 0
        assert status(api, log_in(api, "ann")) == 200

    @pytest.mark.both_databases
    def test_one_session_ends_alone(self, api: Api, host: HostAPI) -> None:
        first, second = log_in(api, "ann", session="s1"), log_in(api, "ann", session="s2")
        unnamed = log_in(api, "ann")
        assert host.logins.end(ANN, session="s1") == 1
        assert [status(api, login) for login in (first, second, unnamed)] == [401, 200, 200]
        assert host.logins.end_session("badge", "s2") == 0
        assert host.logins.end_session("acme", "s2") == 1
        assert [status(api, login) for login in (second, unnamed)] == [401, 200]

    def test_a_login_by_another_credential_of_the_user_stays(self, api: Api, host: HostAPI) -> None:
        person = api.person()
        bind(api, person, ANN)
        login = log_in(api, "ann")
        assert login.user.id == person.id
        assert host.logins.end(ANN) == 1
        assert api.get("/users/me", by=person).status_code == 200
        assert status(api, login) == 401

    def test_logins_end_of_a_credential_that_was_unbound_since(self, api: Api, host: HostAPI) -> None:
        login = log_in(api, "ann")
        with api.container.database.write() as connection:
            api.container.get(CredentialService).release_one(connection, login.user.id, ANN)
            api.container.get(CredentialChanges).settle(connection, ChangedBy(None))
        assert host.logins.end(ANN) == 1
        assert status(api, login) == 401

    def test_each_end_is_recorded_with_the_plugin(self, api: Api, host: HostAPI) -> None:
        login = log_in(api, "ann")
        host.logins.end(ANN)
        [(actor, target, details)] = records(api, "authorization.revoke")
        assert (actor, target) == (None, login.authorization_id)
        assert '"plugin"' in str(details) or "'plugin'" in str(details)

    @pytest.mark.both_databases
    def test_of_many_logins_at_once_with_an_end_each_has_ended_or_is_newer(
        self, api: Api, host: HostAPI
    ) -> None:
        log_in(api, "ann")
        start = Barrier(8)

        def act(number: int) -> Any:
            start.wait(30)
            return host.logins.end(ANN) if number % 4 == 0 else log_in(api, "ann")

        with ThreadPoolExecutor(8) as pool:
            logins = [login for login in pool.map(act, range(8)) if not isinstance(login, int)]
        host.logins.end(ANN)
        assert [status(api, login) for login in logins] == [401] * 6

    def test_a_download_that_has_begun_ends(
        self, api: Api, host: HostAPI, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(downloads, "WATCH_SECONDS", 0)
        login = log_in(api, "ann")
        person = Person(login.user.id, "", login.access_token)
        tenant = api.tenant(person)
        file = api.upload(tenant, person, "large.bin", os.urandom(4 * 1024 * 1024))["id"]
        headers = {"Authorization": f"Bearer {login.access_token}"}
        download = api.app.test_client().get(f"{tenant}/files/{file}/download", headers=headers)
        chunks = download.iter_encoded()
        received = len(next(chunks))
        assert host.logins.end(ANN) == 1
        received += sum(map(len, chunks))
        download.close()
        assert received < int(download.headers["Content-Length"]) // 2


class TestCredentials:
    @pytest.mark.both_databases
    def test_credentials_of_active_users_with_a_login_or_key_are_in_order(
        self, api: Api, host: HostAPI, clock: ManualClock
    ) -> None:
        people = {name: log_in(api, name) for name in ("dan", "ann", "Eve", "bob", "carl")}
        host.logins.end(BOB)
        assert host.logins.suspend(Credential("acme", "carl"), reason="left")
        assert values(host) == ["Eve", "ann", "dan"]
        live = host.logins.credentials("acme", after="Eve", size=1)
        assert [(item.credential, item.user_id) for item in live] == [(ANN, people["ann"].user.id)]
        assert values(host, after="ann") == ["dan"]
        assert host.logins.credentials("badge") == []
        owner = Person(people["dan"].user.id, "", people["dan"].access_token)
        body = {"name": "key", "scopes": ["files:read"], "expiresAt": "2026-12-31T00:00:00Z"}
        assert api.post("/users/me/access-keys", body, by=owner).status_code == 201
        clock.advance(60 * 24 * 3600 * 1000)
        assert values(host) == ["dan"]

    def test_odd_sizes_are_refused(self, host: HostAPI) -> None:
        for size in (0, 1001):
            with pytest.raises(ValueError, match="1 to 1000"):
                host.logins.credentials("acme", size=size)


class TestSuspend:
    @pytest.mark.both_databases
    def test_the_holder_is_suspended_as_by_an_administrator(self, api: Api, host: HostAPI) -> None:
        login, admin = log_in(api, "ann"), api.person(admin=True)
        assert host.logins.suspend(ANN, reason="Has left Acme")
        assert status(api, login) == 401
        with pytest.raises(UserSuspended):
            log_in(api, "ann")
        user = api.get(f"/users/{login.user.id}", by=admin).json
        assert (user["status"], user["suspensionReason"]) == ("suspended", "Has left Acme")
        [(actor, target, details)] = records(api, "user.suspend")
        assert (actor, target) == (None, login.user.id)
        assert "platform" in str(details)
        assert "acme" in str(details)

    def test_it_happens_once_and_to_holders_only(self, api: Api, host: HostAPI) -> None:
        log_in(api, "ann")
        assert not host.logins.suspend(BOB, reason="left")
        assert host.logins.suspend(ANN, reason="left")
        assert not host.logins.suspend(ANN, reason="left again")
        with pytest.raises(ValueError, match="255"):
            host.logins.suspend(ANN, reason="x" * 256)

    def test_the_last_administrator_stays(
        self, api: Api, host: HostAPI, caplog: pytest.LogCaptureFixture
    ) -> None:
        login = log_in(api, "ann")
        with api.container.database.write() as connection:
            connection.execute(text("UPDATE users SET type = 'ADMIN'"))
        assert not host.logins.suspend(ANN, reason="left")
        assert "last administrator" in caplog.text
        assert status(api, login) == 200

    @pytest.mark.both_databases
    @pytest.mark.parametrize("admin", [False, True])
    def test_who_only_connected_the_platform_loses_its_logins(
        self, api: Api, host: HostAPI, admin: bool
    ) -> None:
        person = api.person(admin=admin)
        bind(api, person, ANN)
        assert not host.logins.suspend(ANN, reason="left")
        login = log_in(api, "ann")
        assert host.logins.suspend(ANN, reason="left")
        assert status(api, login) == 401
        assert api.log_in(person.email).json["user"]["id"] == person.id


class TestLoggedIn:
    def test_it_is_called_with_the_login_after_the_commit(self, api: Api) -> None:
        issued = log_in(api, "ann", session="s1")
        expected = VerifiedCredential(ANN, may_register=True, session="s1", context={"rules": ["sales"]})
        assert plugin().logins == [NewLogin(issued.user.id, issued.authorization_id, expected)]
        with pytest.raises(InvalidCredentials):
            log_in(api, "bob", closed="")
        assert len(plugin().logins) == 1

    def test_it_is_called_after_a_second_factor_with_all_that_was_verified(
        self, api: Api, host: HostAPI
    ) -> None:
        person = api.person()
        bind(api, person, ANN)
        app = enrol(api, person)
        with pytest.raises(SecondFactorRequired) as required:
            log_in(api, "ann", session="s1")
        assert plugin().logins == []
        issued = meet(api, required.value.members["challenge"], totp=app.next_code())
        assert issued.status_code == 200, issued.text
        [login] = plugin().logins
        assert (login.user_id, login.verified.credential) == (person.id, ANN)
        assert (login.verified.session, login.verified.context) == ("s1", {"rules": ["sales"]})
        assert host.logins.end(ANN, session="s1") == 1

    def test_its_failure_is_logged_and_the_login_goes_on(
        self, api: Api, caplog: pytest.LogCaptureFixture
    ) -> None:
        log_in(api, "ann")
        plugin().faults.append("broken")
        with caplog.at_level(logging.ERROR):
            assert status(api, log_in(api, "ann")) == 200
        assert "Login method acme failed after a login" in caplog.text


class TestContacts:
    """A platform's contact joins a user only if both have verified it, and the method trusts it."""

    EMAIL = "ann@example.com"

    @pytest.mark.parametrize(
        ("is_trusted", "is_verified_here", "outcome"),
        [
            (True, True, "joins"),
            (True, False, "conflict"),
            (False, True, "new user"),
            (False, False, "new user"),
        ],
    )
    @pytest.mark.both_databases
    def test_who_gets_the_login(
        self, api: Api, is_trusted: bool, is_verified_here: bool, outcome: str
    ) -> None:
        person = api.person(email=self.EMAIL)
        if not is_verified_here:
            unverify(api, self.EMAIL)
        proof = {"email": self.EMAIL} if is_trusted else {}
        if outcome == "conflict":
            with pytest.raises(CredentialConflict):
                log_in(api, "ann", **proof)
            assert held_by(api, person) == ["email"]
            return
        login = log_in(api, "ann", **proof)
        assert (login.user.id == person.id) is (outcome == "joins")
        assert held_by(api, person) == ["email", "acme"][: 2 if outcome == "joins" else 1]

    @pytest.mark.both_databases
    def test_only_proven_and_trusted_contacts_lead_to_users(self, api: Api, host: HostAPI) -> None:
        table = product(("", "proven", "trusted", "proven trusted"), ("user", "admin", "suspended"))
        for number, (marks, holder) in enumerate(table):
            person, email = f"p{number}", f"holder{number}@example.com"
            known = api.person(email=email, admin=holder == "admin")
            if holder == "suspended":
                suspend(api, known)
            outcome = attempt(api, person, email=email, marks=marks)
            case = (marks, holder, outcome)
            if marks != "proven trusted":
                assert outcome not in ("conflict", "suspended", known.id), case
                assert held_by(api, known) == ["email"], case
                assert mail_of(api, outcome) == [], case
                # The leaver's job suspends the new user of the platform, and no other.
                assert host.logins.suspend(Credential("acme", person), reason="left"), case
            else:
                expected = {"user": known.id, "admin": "conflict", "suspended": "suspended"}
                assert outcome == expected[holder], case
                # The platform may end what it began, and not the account of before.
                host.logins.suspend(Credential("acme", person), reason="left")
            assert is_active(api, known) is (holder != "suspended"), case

    def test_no_platform_leads_to_an_administrator(self, api: Api) -> None:
        root = api.person(email=self.EMAIL, admin=True)
        with pytest.raises(CredentialConflict):
            log_in(api, "ann", email=self.EMAIL)
        assert held_by(api, root) == ["email"]
        bind(api, root, ANN)
        assert log_in(api, "ann", email=self.EMAIL).user.id == root.id

    def test_a_free_address_is_that_of_the_new_user(self, api: Api) -> None:
        first = log_in(api, "ann", email=self.EMAIL)
        # Bound by the platform's verification, so another account of it joins.
        assert log_in(api, "ann at work", email=self.EMAIL).user.id == first.user.id

    def test_a_bound_account_logs_in_although_its_address_is_unverified_here(self, api: Api) -> None:
        person = api.person(email=self.EMAIL)
        bind(api, person, ANN)
        unverify(api, self.EMAIL)
        assert log_in(api, "ann", email=self.EMAIL).user.id == person.id


@pytest.mark.parametrize("kind", ["email", "mobile"])
def test_a_contact_is_no_further_id(kind: str) -> None:
    with pytest.raises(ValueError, match="belongs in contacts"):
        VerifiedCredential(ANN, also=(Credential(kind, "x"),))
    with pytest.raises(ValueError, match="no kind of contacts"):
        Contact(ANN)


def test_a_proof_of_the_version_before_has_no_contact_that_counts() -> None:
    email = Credential("email", "ann@example.com")
    stored = asdict(VerifiedCredential(ANN, contacts=(Contact(email, is_proven=True, is_trusted=True),)))
    assert VerifiedCredential.from_json(stored).further == (email,)
    del stored["contacts"]
    stored["also"] = [asdict(email)]
    assert VerifiedCredential.from_json(stored).further == ()


@pytest.mark.parametrize("session", ["x" * (MAX_SESSION + 1), "a\0b"])
def test_a_session_that_no_database_stores_is_refused(session: str) -> None:
    with pytest.raises(ValueError, match="255 characters"):
        VerifiedCredential(ANN, session=session)


def values(host: HostAPI, after: str = "") -> list[str]:
    return [live.credential.value for live in host.logins.credentials("acme", after=after)]


def bind(api: Api, person: Person, credential: Credential) -> None:
    with api.container.database.write() as connection:
        api.container.get(CredentialService).bind(connection, person.id, credential)
        api.container.get(CredentialChanges).settle(connection, ChangedBy(None))


def attempt(api: Api, person: str, **proof: str) -> str:
    """Return the id of the user of a login, or why it was refused."""
    try:
        return log_in(api, person, **proof).user.id
    except CredentialConflict:
        return "conflict"
    except UserSuspended:
        return "suspended"


def suspend(api: Api, person: Person) -> None:
    with api.container.database.write() as connection:
        connection.execute(
            text("UPDATE users SET status = 'suspended' WHERE id = :id"), {"id": person.id}
        )


def is_active(api: Api, person: Person) -> bool:
    with api.container.database.read() as connection:
        query = text("SELECT status FROM users WHERE id = :id")
        return bool(connection.execute(query, {"id": person.id}).scalar() == "active")


def mail_of(api: Api, user_id: str) -> list[str]:
    return [kind for kind in held_by(api, Person(user_id, "", "")) if kind == "email"]


def held_by(api: Api, person: Person) -> list[str]:
    with api.container.database.read() as connection:
        return [row.kind for row in api.container.get(CredentialService).of_user(connection, person.id)]


def unverify(api: Api, email: str) -> None:
    with api.container.database.write() as connection:
        connection.exec_driver_sql(f"UPDATE credentials SET is_verified = false WHERE value = '{email}'")
