"""Sends e-mail by SMTP (RFC 5321), encrypted by default."""

import re
import ssl
from contextlib import suppress
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate, make_msgid, parseaddr
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strongroom.plugin_api import hookimpl, option
from strongroom.plugin_api.addresses import is_loopback
from strongroom.plugin_api.contacts import wire_address
from strongroom.plugin_api.messages import (
    DeliveryUncertain,
    Message,
    MessageNotSent,
    MessageSender,
    RecipientRefused,
)

if TYPE_CHECKING:
    import smtplib

API_VERSION = "2.0"

# RFC 5321, section 4.2.1: 4yz replies are transient failures, 5yz are permanent.
_PERMANENT = 500

# RFC 8314, section 7: implicit TLS on 465, STARTTLS on 587.
_ENCRYPTION_OF_PORT = {465: "tls", 587: "starttls"}

_HOST = re.compile(r"[\w.-]+|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*")
"""A host name, or an address; an IPv6 address has two colons or more."""


@dataclass(frozen=True, slots=True)
class SmtpOptions:
    """The keys of ``[messages.smtp]``."""

    host: str = option(help="The host name of the mail server.")
    sender: str = option(
        help='The From header of all messages, such as "Example <no-reply@example.com>".'
    )
    port: int = option(587, minimum=1, maximum=65535, help="The port of the mail server.")
    encryption: str = option(
        "starttls", choices=("starttls", "tls", "none"), help="How the connection is encrypted."
    )
    ca_file: str | None = option(
        None,
        help="A file of CA certificates to trust instead of the system's, in PEM format.",
        advanced=True,
    )
    allow_plaintext: bool = option(
        False,
        help="Whether messages, with their codes and links, may be sent unencrypted to another host; "
        "for a relay in a private network only.",
        advanced=True,
    )
    username: str | None = option(None, help="The username at the mail server; absent: no login.")
    password: str | None = option(None, secret=True, help="The password at the mail server.")
    timeout_seconds: float = option(
        10.0, minimum=1, maximum=120, help="Seconds that a network operation may take.", advanced=True
    )

    def __post_init__(self) -> None:
        if not _HOST.fullmatch(self.host):
            raise ValueError("host: must be a host name or an address alone; its port has its own key")
        if not parseaddr(self.sender)[1].rpartition("@")[0]:
            raise ValueError('sender: must have an address, such as "Acme <no-reply@acme.org>"')
        if (self.username is None) != (self.password is None):
            stated, absent = ("username", "password") if self.username else ("password", "username")
            raise ValueError(f"{absent}: must be set together with {stated}")
        if self.ca_file is not None and not Path(self.ca_file).is_file():
            raise ValueError(f"ca_file: {self.ca_file} does not exist; name a file in PEM format")
        _require_encryption(self)


def _require_encryption(options: SmtpOptions) -> None:
    """Check that the port speaks the encryption, and that plain text does not leave the machine."""
    usual = _ENCRYPTION_OF_PORT.get(options.port)
    if usual is not None and options.encryption not in (usual, "none"):
        raise ValueError(f'encryption: port {options.port} takes "{usual}"; set it')
    is_local = is_loopback(options.host)
    if options.encryption == "none" and not is_local and not options.allow_plaintext:
        raise ValueError(
            f'encryption: "none" sends codes and links to {options.host} unencrypted; set "starttls" '
            'or "tls", or for a relay in a private network allow_plaintext = true'
        )


class SmtpSender(MessageSender[SmtpOptions]):
    """Opens a connection for each message and hands it over to the mail server."""

    name = "smtp"
    channels = frozenset({"email"})
    options_type = SmtpOptions

    def __init__(self, options: SmtpOptions) -> None:
        super().__init__(options)
        self._takes_utf8: bool | None = None

    def can_send(self, template: str, recipient: str | None = None) -> bool:  # noqa: ARG002
        """Return whether the mail server supports the address: SMTPUTF8 (RFC 6531), unless it is ASCII.

        The first such address makes a connection. An unreachable server counts as one that supports it,
        because the message waits for it.
        """
        if recipient is None or recipient.isascii():
            return True
        if self._takes_utf8 is None:
            with suppress(OSError), self._connect():
                pass
        return self._takes_utf8 is not False

    def send(self, message: Message) -> str | None:
        # Imported here and below, because a server that sends no mail starts faster without them.
        import smtplib

        mail = self._compose(message)
        # An error after this point may mean that the server has accepted the message.
        handed_over = False
        try:
            with self._connect() as connection:
                if not (message.recipient.isascii() or self._takes_utf8):
                    raise RecipientRefused(
                        "the mail server supports no SMTPUTF8, as the address requires"
                    )
                handed_over = True
                connection.send_message(mail)
        except smtplib.SMTPRecipientsRefused as error:
            # The text of the response is left out, because some servers quote the refused message.
            code, _ = next(iter(error.recipients.values()))
            if code >= _PERMANENT:
                raise RecipientRefused(f"the mail server responded with {code}") from error
            raise MessageNotSent(f"the mail server responded with {code}", retryable=True) from error
        except smtplib.SMTPResponseException as error:
            code = error.smtp_code
            raise MessageNotSent(
                f"the mail server responded with {code}", retryable=code < _PERMANENT
            ) from error
        except (OSError, smtplib.SMTPException) as error:
            if handed_over:
                raise DeliveryUncertain(type(error).__name__) from error
            raise MessageNotSent(self._unreachable(error), retryable=True) from error
        return str(mail["Message-ID"])

    def _unreachable(self, error: Exception) -> str:
        # Include only errors of the operating system, because a mail server might quote the message.
        reason = (isinstance(error, OSError) and error.strerror) or type(error).__name__
        where = f"{self.options.host}:{self.options.port}, {self.options.encryption}"
        return f"the mail server cannot be reached at {where}: {reason}"

    def _compose(self, message: Message) -> EmailMessage:
        from email.policy import SMTP

        mail = EmailMessage(policy=SMTP)
        address = parseaddr(self.options.sender)[1]
        wire = wire_address(address)
        mail["From"] = self.options.sender.replace(address, wire)
        mail["To"] = message.recipient
        mail["Subject"] = message.subject or ""
        mail["Date"] = formatdate(localtime=False)
        # The sender's domain instead of the default, which reveals the server's host name.
        mail["Message-ID"] = make_msgid(domain=wire.rpartition("@")[2])
        # Suppresses automatic replies (RFC 3834, section 5).
        mail["Auto-Submitted"] = "auto-generated"
        mail["Content-Language"] = message.locale
        mail.set_content(message.text)
        if message.html is not None:
            mail.add_alternative(message.html, subtype="html")
        return mail

    def _connect(self) -> "smtplib.SMTP":
        import smtplib

        options = self.options
        context = ssl.create_default_context(cafile=options.ca_file)
        if options.encryption == "tls":
            connection: smtplib.SMTP = smtplib.SMTP_SSL(
                options.host, options.port, timeout=options.timeout_seconds, context=context
            )
        else:
            connection = smtplib.SMTP(options.host, options.port, timeout=options.timeout_seconds)
        try:
            if options.encryption == "starttls":
                connection.starttls(context=context)
            if options.username is not None:
                connection.login(options.username, options.password or "")
            connection.ehlo_or_helo_if_needed()
            self._takes_utf8 = connection.has_extn("smtputf8")
        except BaseException:
            connection.close()
            raise
        return connection


@hookimpl
def register_message_senders() -> list[type[MessageSender[Any]]]:
    return [SmtpSender]
