"""E-mail addresses are compared by their normal form, and shown as their users wrote them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import text
from tests.support.api import Api, error_code
from tests.support.config import Table
from tests.support.mail import MailServer
from tests.support.waiting import wait_until

from strongroom.activity.notifications.service import MessageService
from strongroom.extensions.observability.checks import MessagesCheck
from strongroom.foundation.database import Database
from strongroom.foundation.database.upgrade import (
    SCHEMA_REVISION,
    alembic_config,
    current_revision,
    upgrade,
)
from strongroom.identity.users.bulk import find_unreachable
from strongroom.testing.server import free_port

SHARP, DOUBLE, WIRE = "Ann@fa\xdf.de", "ann@fass.de", "Ann@xn--fa-hia.de"


def test_like_domains_are_of_different_users_who_get_their_own_mail(api: Api) -> None:
    sharp, double = api.person(email=SHARP), api.person(email=DOUBLE)
    admin = api.person(admin=True)
    assert api.get("/users/me", by=sharp).json["email"] == SHARP
    assert api.get("/users/me/credentials", by=sharp).json["data"][0]["value"] == SHARP
    for spelling in (SHARP, SHARP.upper().replace("SS", "\xdf"), "ANN@XN--FA-HIA.DE"):
        assert api.log_in(spelling).json["user"]["id"] == sharp.id
        found = api.get("/users", query_string={"email": spelling}, by=admin).json["data"]
        assert [(each["id"], each["email"]) for each in found] == [(sharp.id, SHARP)]
    assert api.log_in("ANN@FASS.DE").json["user"]["id"] == double.id
    # To the address as its holder wrote it: another spelling may be another person's mailbox.
    for asked, recipient in (
        ("ann@fa\xdf.de", WIRE),
        ("ANN@FASS.DE", DOUBLE),
        ("New@Fa\xdf.de", "New@xn--fa-hia.de"),
    ):
        api.code(asked, "register")
        assert api.outbox()[-1]["recipient"] == recipient
    tenant = api.tenant(admin)
    for asked, recipient in (("ANN@fa\xdf.de", WIRE), ("Eve@Example.com", "Eve@example.com")):
        invitation = api.post(f"{tenant}/invitations", {"email": asked}, by=admin).json
        assert api.outbox()[-1]["recipient"] == recipient
        resent = api.post(f"{tenant}/invitations/{invitation['id']}/resend", {}, by=admin)
        assert resent.status_code in (200, 201), resent.text
        assert api.outbox()[-1]["recipient"] == recipient


class TestMailServerWithoutInternationalAddresses:
    @pytest.fixture
    def mail(self) -> Iterator[MailServer]:
        with MailServer(refused="gone@example.com").serving(takes_utf8=False) as server:
            yield server

    @pytest.fixture
    def config_changes(self, mail: MailServer) -> Table:
        smtp = {"host": "127.0.0.1", "port": mail.port, "encryption": "none"}
        messages = {"email": ["smtp"], "smtp": {**smtp, "sender": "A <no-reply@fa\xdf.de>"}}
        return {"messages": messages, "management": {"port": free_port()}}

    def test_the_domain_is_sent_in_ascii_and_what_cannot_be_sent_is_reported(
        self, api: Api, mail: MailServer
    ) -> None:
        check = MessagesCheck(api.container.get(MessageService), api.container.database)
        assert api.request_code("ann@fa\xdf.de", "register").status_code == 201
        wait_until(lambda: [each.recipient for each in mail.arrived] == ["ann@xn--fa-hia.de"])
        assert "no-reply@xn--fa-hia.de" in mail.arrived[0].sender
        assert [*check()] == []
        refusal = api.request_code("\u7528\u6237@\u4f8b\u3048.jp", "register")
        assert (refusal.status_code, error_code(refusal)) == (501, "error.not-implemented")
        api.clock.advance(60_000)
        assert api.request_code("gone@example.com", "register").status_code == 201
        wait_until(lambda: [*check()] != [])
        (finding,) = check()
        assert (finding.part, finding.message) == (
            "messages.email",
            "1 messages of the last 24 hours were not sent: failed",
        )
        api.container.get(MessageService).close()
        assert {outcome: counted(api, outcome) for outcome in ("sent", "failed")} == {
            "sent": 1,
            "failed": 1,
        }
        api.clock.advance(24 * 60 * 60 * 1000)
        assert [*check()] == []


def counted(api: Api, outcome: str) -> float | None:
    """Return how many e-mails had an outcome."""
    metrics = api.container.base.metrics
    assert metrics is not None
    labels = {"channel": "email", "outcome": outcome}
    return metrics.registry.get_sample_value("strongroom_messages_total", labels)


def test_addresses_of_the_version_before_are_normalised_and_collisions_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    database = Database(f"sqlite:///{tmp_path / 'old.sqlite3'}")
    with database.engine.execution_options(strongroom_writing=True).begin() as connection:
        command.upgrade(alembic_config(connection), "0046")
        columns = "id, type, status, name, created_at, updated_at, revision"
        add = (
            "INSERT INTO credentials (id, user_id, kind, value, created_at, is_verified) "
            "VALUES (:id, :id, 'email', :value, :at, :proven)"
        )
        # Case folding took the accents of the iota apart.
        for user, value, at, proven in (
            ("a", "x@\u03b9\u0308\u0301.gr", 3, False),
            ("b", "x@\u0390.gr", 4, True),
            ("c", "y@\u03b9\u0308\u0301.gr", 5, True),
            ("d", "ann@example.com", 6, True),
        ):
            connection.execute(
                text(f"INSERT INTO users ({columns}) VALUES ('{user}', 'USER', 'active', '', 1, 1, 1)")
            )
            connection.execute(text(add), {"id": user, "value": value, "at": at, "proven": proven})
    upgrade(database.engine)
    assert current_revision(database.engine) == SCHEMA_REVISION
    with database.engine.connect() as connection:
        query = text("SELECT user_id, value FROM credentials")
        rows = {row.user_id: row.value for row in connection.execute(query)}
        unreachable = find_unreachable(connection)
    database.close()
    assert rows == {
        "a": "x@\u03b9\u0308\u0301.gr",
        "b": "x@\u0390.gr",
        "c": "y@\u0390.gr",
        "d": "ann@example.com",
    }
    assert unreachable == ["a"]
    assert [record.args for record in caplog.records if "0047" in record.module] == [("a",)]
