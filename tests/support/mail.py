"""A real mail server for tests, and its received messages."""

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from strongroom.testing.server import free_port
from tests.support.waiting import PATIENCE_SECONDS, wait_until

_CODE = re.compile(r"(?<![0-9])[0-9]{6}(?![0-9])")


@dataclass(frozen=True)
class Mail:
    """A mail that has arrived."""

    recipient: str
    subject: str
    text: str
    html: str = ""
    sender: str = ""


@dataclass
class MailServer:
    """Accepts mail from clients that know the password, if there is one.

    Args:
        refused: a recipient that does not exist.
    """

    password: str | None = None
    refused: str | None = None
    port: int = field(default_factory=free_port)
    arrived: list[Mail] = field(default_factory=list)

    async def handle_DATA(  # noqa: N802  so aiosmtpd calls it
        self, _server: SMTP, _session: Session, envelope: Envelope
    ) -> str:
        """Keep a mail."""
        mail = message_from_bytes(bytes(envelope.original_content or b""), policy=policy.default)
        text, html = _part(mail, "plain"), _part(mail, "html")
        subject, sender = str(mail["Subject"]), str(mail["From"])
        self.arrived.extend(Mail(to, subject, text, html, sender) for to in envelope.rcpt_tos)
        return "250 taken"

    async def handle_RCPT(  # noqa: N802  so aiosmtpd calls it
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        """Accept a recipient, unless it does not exist."""
        if address == self.refused:
            return "550 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    def authenticate(
        self, _server: SMTP, _session: Session, _: Envelope, _kind: str, data: object
    ) -> AuthResult:
        """Return whether a password is right."""
        given = data.password.decode() if isinstance(data, LoginPassword) else None
        return AuthResult(success=given == self.password, handled=False)

    @contextmanager
    def serving(self, *, takes_utf8: bool = True) -> Iterator["MailServer"]:
        """Take mail until the block ends, to addresses that are not ASCII only with SMTPUTF8."""
        # It logs each mail; the output of a test should not contain it.
        logging.getLogger("mail.log").disabled = True
        controller = Controller(
            self,
            hostname="127.0.0.1",
            port=self.port,
            authenticator=self.authenticate,
            auth_required=self.password is not None,
            auth_require_tls=False,
            ready_timeout=PATIENCE_SECONDS,
            enable_SMTPUTF8=takes_utf8,
        )
        controller.start()
        try:
            yield self
        finally:
            controller.stop()
            logging.getLogger("mail.log").disabled = False

    def texts(self, recipient: str) -> list[str]:
        """Return the texts that a recipient has received, in order."""
        return [mail.text for mail in self.arrived if mail.recipient == recipient]


def _part(mail: EmailMessage, kind: str) -> str:
    part = mail.get_body((kind,))
    return str(part.get_content()).strip() if part else ""


def code_in(texts: Callable[[], Sequence[str]], count: int = 1) -> str:
    """Wait until so many texts have arrived, and return the code that the last one brings."""
    wait_until(lambda: len(texts()) >= count, seen=texts)
    (code,) = _CODE.findall(texts()[count - 1])
    return str(code)
