"""The built-in extensions of the core fulfil the contracts of plugins."""

import base64
import io
import json
import logging
import wave
from collections.abc import Iterator, Sequence
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message as MessageHandler
from aiosmtpd.smtp import Envelope
from altcha.v1 import solve_challenge
from tests.support.waiting import PATIENCE_SECONDS

from strongroom.builtin.console_sender import ConsoleOptions, ConsoleSender
from strongroom.builtin.fixed_captcha import FixedCaptcha, FixedCaptchaOptions
from strongroom.builtin.image_captcha import DigitsCaptcha, ImageCaptchaOptions
from strongroom.builtin.password import PasswordLogin
from strongroom.builtin.proof_of_work import ProofOfWork, ProofOfWorkOptions
from strongroom.builtin.recovery_code import RecoveryCode
from strongroom.builtin.smtp import SmtpOptions, SmtpSender
from strongroom.plugin_api import NoOptions
from strongroom.plugin_api.captcha import CaptchaChallenge
from strongroom.plugin_api.login import Credential, LoginAttempt
from strongroom.testing.captcha import CaptchaProviderContract, Solve
from strongroom.testing.factors import Device, SecondFactorContract
from strongroom.testing.login import CLIENT, FakeProofs, LoginMethodContract, MakeMethod
from strongroom.testing.messages import Arrival, Delivered, MessageSenderContract
from strongroom.testing.server import free_port

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
    """Stores the messages that a real SMTP server has accepted."""

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
        # The server of the test logs its messages; only the log of the sender counts.
        monkeypatch.setattr(logging.getLogger("mail.log"), "disabled", True)
        server = Controller(
            mailbox, hostname="127.0.0.1", port=free_port(), ready_timeout=PATIENCE_SECONDS
        )
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

    def test_a_code_is_on_its_own_line_for_scripts(self, sender: ConsoleSender, outbox: Path) -> None:
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


class TestImageCaptcha(CaptchaProviderContract):
    @pytest.fixture
    def provider(self) -> DigitsCaptcha:
        # With fewer digits, the image may contain them by chance.
        return DigitsCaptcha(ImageCaptchaOptions(length=8))

    @pytest.fixture
    def solve(self) -> Solve:
        return lambda challenge: challenge.state

    def test_it_has_an_image_and_a_sound(self, provider: DigitsCaptcha) -> None:
        payload = provider.issue().payload
        image = base64.b64decode(str(payload["image"]).removeprefix("data:image/png;base64,"))
        assert image.startswith(b"\x89PNG")
        audio = base64.b64decode(str(payload["audio"]).removeprefix("data:audio/wav;base64,"))
        with wave.open(io.BytesIO(audio)) as speech:
            assert speech.getnframes() / speech.getframerate() > len(provider.issue().state) * 0.5

    def test_blanks_in_an_answer_do_not_matter(self, provider: DigitsCaptcha) -> None:
        assert provider.verify("123456", " 123 456 ")


class TestProofOfWork(CaptchaProviderContract):
    @pytest.fixture
    def provider(self) -> ProofOfWork:
        return ProofOfWork(ProofOfWorkOptions(max_number=1000))

    @pytest.fixture
    def solve(self) -> Solve:
        def work(challenge: CaptchaChallenge) -> str:
            puzzle: dict[str, Any] = dict(challenge.payload)
            limit = puzzle.pop("maxnumber")
            solution = solve_challenge(puzzle["challenge"], puzzle["salt"], puzzle["algorithm"], limit)
            assert solution is not None
            return base64.b64encode(json.dumps({**puzzle, "number": solution.number}).encode()).decode()

        return work


class TestFixedCaptcha(CaptchaProviderContract):
    distinct = False

    @pytest.fixture
    def provider(self) -> FixedCaptcha:
        return FixedCaptcha(FixedCaptchaOptions(answer="42"))

    @pytest.fixture
    def solve(self) -> Solve:
        return lambda _challenge: "42"


class Sheet(Device):
    """A sheet of recovery codes, whose owner strikes out the used ones."""

    def __init__(self) -> None:
        self._used = 0

    def enrol(self, shown: dict[str, Any]) -> None:
        return None

    def answer(self, shown: dict[str, Any], enrolled: dict[str, Any]) -> str:
        self._used += 1
        code: str = enrolled["recoveryCodes"][self._used - 1]
        return code


class TestRecoveryCode(SecondFactorContract):
    needs_answer = False

    @pytest.fixture
    def factor(self) -> RecoveryCode:
        return RecoveryCode(NoOptions())

    @pytest.fixture
    def device(self) -> Sheet:
        return Sheet()
