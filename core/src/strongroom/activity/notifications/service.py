"""Renders and queues messages."""

import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import Column, Index, Row, String, Table, bindparam, func, insert, select, update

from strongroom.activity.notifications.composition import Composer
from strongroom.activity.notifications.sms_numbers import SmsNumbers
from strongroom.clock import DAY, Clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.metadata import Id, Name, Timestamp, metadata
from strongroom.foundation.database.paging import Paging
from strongroom.foundation.database.pruning import prune
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import ValidationFailed
from strongroom.foundation.locales import DEFAULT_LOCALE, choose_locale
from strongroom.foundation.plugins.selection import CHANNELS
from strongroom.plugin_api.backoff import Backoff
from strongroom.plugin_api.contacts import wire_address
from strongroom.plugin_api.login import Credential
from strongroom.plugin_api.messages import DeliveryUncertain, Message, MessageNotSent, MessageSender
from strongroom.plugin_api.tracing import SpanKind, carry, span

sent_messages: Final = Table(
    "sent_messages",
    metadata,
    Column("id", Id, primary_key=True),
    Column("channel", String(16), nullable=False),
    Column("recipient", Name, nullable=False),
    Column("template", String(64), nullable=False),
    Column("sender", String(64)),
    Column("reference", String(128)),
    Column("outcome", String(16), nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("sent_at", Timestamp),
    Index(None, "created_at"),
)
"""The recipient, template, sender and outcome of each message; never its text."""


class MessageOutcome(StrEnum):
    """What became of a message."""

    PENDING = "pending"
    """It waits, or the server has stopped before it was sent."""
    SENT = "sent"
    UNCERTAIN = "uncertain"
    """The gateway may have accepted it."""
    FAILED = "failed"
    REFUSED = "refused"
    """Its number gets no SMS; see ``[login] sms_regions``."""
    SUPPRESSED = "suppressed"
    """It would have been of no use to its recipient."""


logger = logging.getLogger(__name__)

_MOBILE: Final = "mobile"
_THREADS: Final = 4
_ATTEMPTS: Final = 3
RETRIES: Final = Backoff.exponential(500, maximum=1000, jitter=0.5)
"""When the next attempt to send a message is made."""

_ADD: Final = Statement(insert(sent_messages))
_NEWEST: Final = Statement(
    select(sent_messages)
    .order_by(sent_messages.c.created_at.desc(), sent_messages.c.id)
    .limit(bindparam("count"))
    .offset(bindparam("skipped"))
)
_SEARCHED: Final = 10_000
_LATEST: Final = (
    select(sent_messages).order_by(sent_messages.c.created_at.desc()).limit(_SEARCHED).subquery("latest")
)
_FOUND: Final = Statement(
    select(_LATEST)
    .where(func.lower(_LATEST.c.recipient).like(bindparam("pattern"), escape="\\"))
    .order_by(_LATEST.c.created_at.desc(), _LATEST.c.id)
    .limit(bindparam("count"))
    .offset(bindparam("skipped"))
)
_LOST_AFTER: Final = 15 * 60 * 1000
"""Milliseconds after which a message that is still pending was lost with its process."""
_EXAMINED: Final = 10_000
_RECENT: Final = (
    select(sent_messages.c.channel, sent_messages.c.outcome, sent_messages.c.created_at)
    .where(sent_messages.c.created_at > bindparam("since"))
    .order_by(sent_messages.c.created_at.desc())
    .limit(_EXAMINED)
    .subquery("recent")
)
_NOT_SENT: Final = (
    MessageOutcome.FAILED.value,
    MessageOutcome.REFUSED.value,
    MessageOutcome.UNCERTAIN.value,
)
_IS_LOST: Final = (_RECENT.c.outcome == MessageOutcome.PENDING.value) & (
    _RECENT.c.created_at < bindparam("lost_before")
)
_UNSENT: Final = Statement(
    select(_RECENT.c.channel, _RECENT.c.outcome, func.count())
    .where(_RECENT.c.outcome.in_(_NOT_SENT) | _IS_LOST)
    .group_by(_RECENT.c.channel, _RECENT.c.outcome)
    .order_by(_RECENT.c.channel, _RECENT.c.outcome)
)
_CONCLUDE: Final = Statement(
    update(sent_messages)
    .where(sent_messages.c.id == bindparam("message_id"))
    .values(
        outcome=bindparam("new_outcome"),
        sender=bindparam("by_sender"),
        reference=bindparam("its_reference"),
        sent_at=bindparam("now"),
    )
)

Senders = Mapping[str, Sequence[MessageSender[Any]]]


class MessageService:
    """Sends messages to the contacts of users.

    Senders for development are called synchronously, so that scripts find the message after the
    request.

    Args:
        senders: the senders of each channel, in the order in which they are tried.
        default_locale: the language of recipients whose languages have no texts.
        sleep: waits between attempts; its argument is in seconds.
        observe: called with the channel and the outcome of each message that was to be sent.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        senders: Senders,
        composer: Composer,
        numbers: SmsNumbers,
        default_locale: str = DEFAULT_LOCALE,
        sleep: Callable[[float], None] = time.sleep,
        observe: Callable[[str, str], None] | None = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self.senders = senders
        self._composer = composer
        self._numbers = numbers
        self.default_locale = default_locale
        self._sleep = sleep
        self._observe = observe or (lambda _channel, _outcome: None)
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="messages")

    def send(
        self,
        recipient: Credential,
        template: str,
        parameters: Mapping[str, str],
        languages: Sequence[str] = (),
        *,
        suppressed: bool = False,
    ) -> None:
        """Queue a message for sending, without waiting for its delivery.

        Its language is the first one with a text, or the default language. A suppressed message is
        recorded but not sent, so that the response time does not reveal the difference.
        """
        channel = CHANNELS[recipient.kind]
        locale = choose_locale(languages, self.default_locale)
        message = self._composer.compose((channel, recipient.address), template, locale, parameters)
        # Recorded first: after a crash, the row stays "pending".
        self._record(message, recipient)
        senders = self.senders.get(channel, ())
        work = self._suppress if suppressed else self._deliver
        if not self._is_reachable(recipient):
            work = self._refuse
        # Also true without senders: the failure is then recorded immediately.
        if all(sender.development_only for sender in senders):
            work(message, senders)
        else:
            self._pool.submit(carry(work), message, senders)

    def translate(self, text: str, locale: str) -> str:
        """Return an English text of the server in a language, for a parameter of a message."""
        return self._composer.translate(text, locale)

    def can_send(self, template: str, recipient: Credential) -> bool:
        """Return whether any sender can send a template to a recipient."""
        senders = self.senders.get(CHANNELS[recipient.kind], ())
        address = wire_address(recipient.address)
        return self._is_reachable(recipient) and any(
            sender.can_send(template, address) for sender in senders
        )

    def require_reachable(self, recipient: Credential, field: str) -> None:
        """Require that messages are sent to a contact at all.

        Args:
            field: the field of the request that has the contact.

        Raises:
            ValidationFailed: it is a number to which the server sends no SMS.
        """
        if not self._is_reachable(recipient):
            message = f"SMS go to mobile numbers of: {', '.join(self._numbers.regions) or 'no region'}."
            raise ValidationFailed.of_field(field, "not-reachable", message)

    def _is_reachable(self, recipient: Credential) -> bool:
        return recipient.kind != _MOBILE or self._numbers.accepts(recipient.value)

    def can_send_to(self, kind: str, template: str) -> bool:
        """Return whether any sender can send a template to any recipient of a kind."""
        return any(sender.can_send(template) for sender in self.senders.get(CHANNELS[kind], ()))

    def newest(self, paging: Paging, recipient: str = "") -> Sequence[Row[Any]]:
        """Return a page of the records of messages, the newest first.

        Args:
            recipient: a part of the address or number. Only the newest 10,000 messages are searched.
        """
        parameters: dict[str, Any] = {"count": paging.size, "skipped": paging.offset}
        statement = _NEWEST
        if recipient:
            part = re.sub(r"([\\%_])", r"\\\1", recipient.lower())
            statement, parameters["pattern"] = _FOUND, f"%{part}%"
        with self._database.read() as connection:
            return statement.all(connection, parameters)

    def unsent(self) -> Sequence[tuple[str, str, int]]:
        """Return the channels, outcomes and numbers of the messages of a day that may not have arrived.

        The newest 10,000 messages count.
        """
        now = self._clock.now()
        parameters = {"since": now - DAY, "lost_before": now - _LOST_AFTER}
        with self._database.read() as connection:
            return [tuple(row) for row in _UNSENT.all(connection, parameters)]

    def prune(self, days: int) -> int:
        """Delete the records of messages older than ``days``; return the count. 0 keeps all."""
        if days == 0:
            return 0
        before = self._clock.now() - days * DAY
        return prune(self._database, sent_messages.c.id, sent_messages.c.created_at <= before)

    def close(self) -> None:
        """Wait for queued messages."""
        self._pool.shutdown()

    def _refuse(self, message: Message, _senders: Sequence[MessageSender[Any]]) -> None:
        self._conclude(message, MessageOutcome.REFUSED)

    def _suppress(self, message: Message, _senders: Sequence[MessageSender[Any]]) -> None:
        self._conclude(message, MessageOutcome.SUPPRESSED)

    def _deliver(self, message: Message, senders: Sequence[MessageSender[Any]]) -> None:
        for sender in senders:
            try:
                reference = self._attempt(sender, message)
            except DeliveryUncertain as error:
                # No fail-over: another sender might deliver the message a second time.
                logger.warning("Message %s by %s: %s", message.id, sender.name, error)
                self._conclude(message, MessageOutcome.UNCERTAIN, sender.name)
                return
            except MessageNotSent as error:
                logger.warning("Message %s by %s: %s", message.id, sender.name, error)
            except Exception:
                # A bug in one sender must not prevent the fail-over to the next.
                logger.exception("Message %s: sender %s failed", message.id, sender.name)
            else:
                self._conclude(message, MessageOutcome.SENT, sender.name, reference)
                return
        self._conclude(message, MessageOutcome.FAILED)

    def _attempt(self, sender: MessageSender[Any], message: Message) -> str | None:
        facts = {"strongroom.sender": sender.name, "strongroom.template": message.template}
        with span(f"message {message.channel}", facts, kind=SpanKind.CLIENT):
            return self._send(sender, message)

    def _send(self, sender: MessageSender[Any], message: Message) -> str | None:
        # The error of the last attempt, after the loop, is final.
        for failures in range(1, _ATTEMPTS):
            try:
                return sender.send(message)
            except MessageNotSent as error:
                if not error.retryable:
                    raise
            self._sleep(RETRIES.delay(failures) / 1000)
        return sender.send(message)

    def _record(self, message: Message, recipient: Credential) -> None:
        row = {
            "id": message.id,
            "channel": message.channel,
            "recipient": recipient.address,
            "template": message.template,
            "outcome": MessageOutcome.PENDING.value,
            "sender": None,
            "reference": None,
            "created_at": self._clock.now(),
            "sent_at": None,
        }
        with self._database.write() as connection:
            _ADD.execute(connection, row)

    def _conclude(
        self,
        message: Message,
        outcome: MessageOutcome,
        sender: str | None = None,
        reference: str | None = None,
    ) -> None:
        if outcome is not MessageOutcome.SUPPRESSED:
            self._observe(message.channel, outcome.value)
        conclusion = {
            "message_id": message.id,
            "new_outcome": outcome.value,
            "by_sender": sender,
            "its_reference": reference,
            "now": self._clock.now(),
        }
        with self._database.write() as connection:
            _CONCLUDE.execute(connection, conclusion)
