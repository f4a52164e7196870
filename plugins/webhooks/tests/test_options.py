"""Options are checked before the server starts; pauses follow the schedule."""

import pytest

from strongroom_webhooks.options import WebhookOptions
from strongroom_webhooks.schedule import Schedule


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"schedule_seconds": ()}, "schedule_seconds"),
        ({"schedule_seconds": (5, -1)}, "schedule_seconds"),
        ({"schedule_seconds": (5, 1)}, "schedule_seconds"),
        ({"allow_hosts": ("internal",)}, "allow_hosts"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        WebhookOptions(**options)  # type: ignore[arg-type]


def test_the_default_schedule_ends_after_three_days() -> None:
    hours = sum(WebhookOptions().schedule_seconds) / 3600
    assert 75 < hours < 76


def test_pauses_have_jitter_and_end() -> None:
    longest = Schedule((0, 10, 100), lambda _low, high: high)
    shortest = Schedule((0, 10, 100), lambda low, _high: low)
    assert [longest.pause_after(attempts) for attempts in (1, 2, 3)] == [12_000, 120_000, None]
    assert [shortest.pause_after(attempts) for attempts in (1, 2, 3)] == [8_000, 80_000, None]


def test_a_receiver_may_ask_for_a_longer_pause_but_not_for_more_than_a_day() -> None:
    schedule = Schedule((0, 10), lambda _low, high: high)
    assert schedule.pause_after(1, retry_after=5) == 12_000
    assert schedule.pause_after(1, retry_after=60) == 60_000
    assert schedule.pause_after(1, retry_after=10**12) == 86_400_000
