"""Delays between attempts: they grow up to a maximum, vary by a jitter, and respect the other side."""

from itertools import pairwise

import pytest

from strongroom.activity.events import delivery
from strongroom.activity.notifications import service as notifications
from strongroom.content.scanning import repository as scanning
from strongroom.plugin_api.backoff import Backoff

SECOND = 1_000
MINUTE = 60 * SECOND


@pytest.mark.parametrize(
    ("backoff", "first", "maximum"),
    [(delivery.RETRIES, 500, 60 * MINUTE), (scanning.RETRIES, 5 * SECOND, 5 * MINUTE)],
    ids=["events", "scans"],
)
def test_delays_are_doubled_up_to_a_maximum(backoff: Backoff, first: int, maximum: int) -> None:
    delays = [backoff.delay(failures) for failures in range(1, 100)]
    assert delays[0] == first
    assert all(later == min(2 * earlier, maximum) for earlier, later in pairwise(delays))
    assert delays[-1] == backoff.delay(10**9) == maximum


def test_a_message_is_sent_again_after_half_a_second_and_after_a_second_give_or_take_half() -> None:
    lowest, highest = (
        Backoff(notifications.RETRIES.delays, notifications.RETRIES.jitter, choose)
        for choose in (min, max)
    )
    assert [(lowest.delay(failures), highest.delay(failures)) for failures in (1, 2)] == [
        (250, 750),
        (500, 1_500),
    ]
    assert len({notifications.RETRIES.delay(1) for _ in range(50)}) > 1


def test_the_other_side_may_ask_for_more_and_not_for_less() -> None:
    backoff = Backoff.exponential(10, factor=3, maximum=100)
    assert [backoff.delay(failures) for failures in range(1, 6)] == [10, 30, 90, 100, 100]
    assert [backoff.delay(1, at_least=least) for least in (0, 9, 50)] == [10, 10, 50]
