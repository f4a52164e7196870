"""Measures whether requests about known users differ from those about unknown names."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import get_ident

import pytest
from sqlalchemy import Engine, event

from strongroom.activity.notifications.service import MessageService
from strongroom.testing.clock import HOUR
from tests.support.api import Api
from tests.support.timing import IS_IDLE, differences

KNOWN, UNKNOWN = "known@example.com", "other@example.com"
PAIRS, TRIES = 160, 3

Attempt = Callable[[Api, str], object]


class QuietSender:
    """Takes every message, as a gateway would."""

    name = "quiet"
    development_only = False

    def can_send(self, template: str, recipient: str | None = None) -> bool:
        """Return that it takes every message."""
        return True

    def send(self, message: object) -> None:
        """Send it nowhere."""


def transactions(action: Callable[[], object]) -> Counter[str]:
    """Return how often a request began, committed and rolled back; what others do is not counted."""
    counted: Counter[str] = Counter()
    here = get_ident()

    def counting_as(name: str) -> Callable[[object], None]:
        def count(_: object) -> None:
            counted[name] += get_ident() == here

        return count

    # Of all engines, for what need not be durable has one of its own.
    listeners = [(name, counting_as(name)) for name in ("begin", "commit", "rollback")]
    for name, listener in listeners:
        event.listen(Engine, name, listener)
    action()
    for name, listener in listeners:
        event.remove(Engine, name, listener)
    assert counted["begin"] > 0
    return Counter(counted)


only_alone = pytest.mark.skipif(
    not IS_IDLE,
    reason="times differ with what else the machine does: make test-timing runs these by themselves",
)
only_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


class Timing:
    """Measures response times."""

    @pytest.fixture(autouse=True)
    def pool(self, api: Api, monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadPoolExecutor]:
        """Messages go as in production: in the background, by a sender that is not waited for."""
        messages = api.container.get(MessageService)
        monkeypatch.setattr(messages, "senders", {"email": [QuietSender()]})
        with ThreadPoolExecutor(1) as pool:
            monkeypatch.setattr(messages, "_pool", pool)
            yield pool

    def measure(self, api: Api, pool: ThreadPoolExecutor, attempt: Attempt) -> list[float]:
        """Return by how much longer the known take, pair by pair."""

        def settle() -> None:
            # No limit is ever reached, and no message of before is still on its way.
            api.clock.advance(HOUR)
            pool.submit(int).result()

        known, unknown = (partial(attempt, api, who) for who in (KNOWN, UNKNOWN))
        # Create objects that a process creates once.
        known(), unknown()
        return differences(known, unknown, settle, pairs=PAIRS, tries=TRIES)
