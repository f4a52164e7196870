"""What the core brings by itself holds to the contracts of plugins."""

import json
import logging
from collections.abc import Iterator, Sequence
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message as MessageHandler
from aiosmtpd.smtp import Envelope
from tests.support.server import free_port

from strongroom.builtin.console import ConsoleOptions, ConsoleSender
from strongroom.builtin.password import PasswordLogin
from strongroom.builtin.smtp import SmtpOptions, SmtpSender
from strongroom.plugin_api import NoOptions
from strongroom.plugin_api.login import Credential, LoginAttempt
from strongroom.testing.login import CLIENT, FakeProofs, LoginMethodContract, MakeMethod
from strongroom.testing.messages import Arrival, Delivered, MessageSenderContract

USERNAME, PASSWORD = "alice@example.com", "Correct1Horse"


class TestPasswordLogin(LoginMethodContract):
    single_use = False

    @pytest.fixture
    def credential(self, proofs: FakeProofs) -> Credential:
        return proofs.set_password(USERNAME, PASSWORD)

    @pytest.fixture
    def make_method(self) -> MakeMethod:
        return lambda proofs: PasswordLogin(NoOptions(), proofs)

    @pytest.fixture
    def good_attempt(self, credential: Credential) -> LoginAttempt:
        return LoginAttempt(CLIENT, username=USERNAME, password=PASSWORD)

    @pytest.fixture
    def bad_attempt(self, credential: Credential) -> LoginAttempt:
        return LoginAttempt(CLIENT, username=USERNAME, password="Wrong1Password")


class Mailbox(MessageHandler):
    """Keeps what a real SMTP server has taken."""

    def __init__(self) -> None:
        super().__init__()
        self.arrivals: list[Arrival] = []

    def prepare_message(self, session: object, envelope: Envelope) -> EmailMessage:
        mail = message_from_bytes(bytes(envelope.original_content or b""), policy=policy.default)
        body = mail.get_body(("plain",))
        text = body.get_content() if body else ""
        self.arrivals.extend(Arrival(recipient, text.strip()) for recipient in envelope.rcpt_tos)
        return mail

    def handle_message(self, message: object) -> None:
        """All is kept in :meth:`prepare_message`."""


class TestSmtpSender(MessageSenderContract):
    @pytest.fixture
    def mailbox(self) -> Mailbox:
        return Mailbox()

    @pytest.fixture
    def sender(self, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmtpSender]:
        # The server of the test logs what it is sent; what counts is what the sender logs.
        monkeypatch.setattr(logging.getLogger("mail.log"), "disabled", True)
        server = Controller(mailbox, hostname="127.0.0.1", port=free_port())
        server.start()
        yield SmtpSender(self.options(server.port))
        server.stop()

    @pytest.fixture
    def unreachable_sender(self) -> SmtpSender:
        return SmtpSender(self.options(free_port()))

    @pytest.fixture
    def delivered(self, mailbox: Mailbox) -> Delivered:
        return lambda: list(mailbox.arrivals)

    def options(self, port: int) -> SmtpOptions:
        return SmtpOptions(
            host="127.0.0.1", sender="Strongroom <no-reply@example.com>", port=port, encryption="none"
        )


class TestConsoleSender(MessageSenderContract):
    @pytest.fixture
    def outbox(self, tmp_path: Path) -> Path:
        return tmp_path / "outbox.jsonl"

    @pytest.fixture
    def sender(self, outbox: Path) -> ConsoleSender:
        return ConsoleSender(ConsoleOptions(outbox))

    @pytest.fixture
    def unreachable_sender(self, tmp_path: Path) -> ConsoleSender:
        return ConsoleSender(ConsoleOptions(tmp_path))

    @pytest.fixture
    def delivered(self, outbox: Path) -> Delivered:
        def read() -> Sequence[Arrival]:
            lines = outbox.read_text().splitlines() if outbox.exists() else []
            records = [json.loads(line) for line in lines]
            return [Arrival(record["recipient"], record["text"]) for record in records]

        return read

    def test_a_code_stands_by_itself_for_scripts(self, sender: ConsoleSender, outbox: Path) -> None:
        from strongroom.testing.messages import new_message

        message = new_message("sms")
        sender.send(message)
        record = json.loads(outbox.read_text())
        assert record == {
            "channel": "sms",
            "recipient": message.recipient,
            "text": message.text,
            "code": message.parameters["code"],
        }
