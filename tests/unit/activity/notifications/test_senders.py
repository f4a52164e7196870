"""Which senders get a message, and what is recorded of it."""

from dataclasses import dataclass
from typing import Any

from strongroom.activity.notifications.composition import Composer
from strongroom.activity.notifications.service import MessageService
from strongroom.activity.notifications.sms_numbers import SmsNumbers
from strongroom.activity.notifications.templates import MessageTexts
from strongroom.foundation.config.page_settings import PagesSettings
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Paging
from strongroom.foundation.translations import Translations
from strongroom.plugin_api.login import Credential
from strongroom.plugin_api.messages import (
    DeliveryUncertain,
    Message,
    MessageNotSent,
    MessageSender,
)
from strongroom.testing.clock import ManualClock

MAIL = Credential("email", "maria@example.com")
CODE = {"code": "123456", "minutes": "5", "source": "Firefox, Windows, 192.0.2.7"}


@dataclass(frozen=True)
class NoOptions:
    pass


class Gateway(MessageSender[NoOptions]):
    """A gateway that fails some times before it accepts a message."""

    name = "gateway"
    options_type = NoOptions
    channels = frozenset({"email"})
    # Called by the thread of the test.
    development_only = True

    def __init__(self, error: Exception | None = None, times: int = 100) -> None:
        super().__init__(NoOptions())
        self._error = error
        self._times = times
        self.attempts = 0

    def send(self, message: Message) -> str | None:
        self.attempts += 1
        if self._error is not None and self.attempts <= self._times:
            raise self._error
        return message.id


def send(database: Database, clock: ManualClock, *gateways: Gateway, **options: Any) -> tuple[Any, ...]:
    """Send a message; return its outcome, the attempts of each gateway and the pauses."""
    pauses: list[float] = []
    composer = Composer(MessageTexts(Translations()), PagesSettings(), code_in_subject=False)
    senders = {"email": gateways}
    service = MessageService(database, clock, senders, composer, SmsNumbers(["CN"]), sleep=pauses.append)
    service.send(MAIL, "login", CODE, **options)
    service.close()
    clock.advance(1)
    (row,) = service.newest(Paging(number=1, size=1))
    return row.outcome, [gateway.attempts for gateway in gateways], len(pauses)


def test_a_message_goes_to_the_next_sender_only_if_the_one_before_has_not_accepted_it(
    database: Database, clock: ManualClock
) -> None:
    def sent(error: Exception | None, times: int = 100, **options: Any) -> tuple[Any, ...]:
        return send(database, clock, Gateway(error, times), Gateway(), **options)

    outcomes = {
        "accepted": sent(None),
        "refused": sent(MessageNotSent("no", retryable=False)),
        "busy": sent(MessageNotSent("busy", retryable=True)),
        "busy once": sent(MessageNotSent("busy", retryable=True), 1),
        "a bug": sent(ZeroDivisionError()),
        "uncertain": sent(DeliveryUncertain("lost")),
        "suppressed": sent(None, suppressed=True),
    }
    assert outcomes == {
        "accepted": ("sent", [1, 0], 0),
        "refused": ("sent", [1, 1], 0),
        "busy": ("sent", [3, 1], 2),
        "busy once": ("sent", [2, 0], 1),
        "a bug": ("sent", [1, 1], 0),
        "uncertain": ("uncertain", [1, 0], 0),
        "suppressed": ("suppressed", [0, 0], 0),
    }


def test_what_no_sender_accepts_has_failed(database: Database, clock: ManualClock) -> None:
    refusals = [Gateway(MessageNotSent("no", retryable=False)) for _ in range(2)]
    assert send(database, clock, *refusals) == ("failed", [1, 1], 0)
    assert send(database, clock) == ("failed", [], 0)
