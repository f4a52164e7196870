"""The minimum rate of a transfer."""

import pytest

from strongroom.web.gateway.limits import Patience, TransferRate

RATE = TransferRate(grace_seconds=10, bytes_per_second=1024)


def test_a_client_that_keeps_the_rate_is_never_out_of_time() -> None:
    patience = Patience(RATE)
    for _ in range(1000):
        patience.spend(waited=5, transferred=5 * 1024)
    assert patience.seconds == pytest.approx(10)


def test_a_trickle_ends_with_the_grace_period() -> None:
    patience, waited = Patience(RATE), 0
    while patience.seconds > 0:
        patience.spend(waited=5, transferred=1)
        waited += 5
    assert waited == 15


def test_fast_bytes_do_not_buy_a_long_pause() -> None:
    patience = Patience(RATE)
    patience.spend(waited=1, transferred=1024**3)
    assert patience.seconds == 10


def test_a_whole_body_has_the_grace_period_and_the_rate() -> None:
    assert RATE.seconds_for(4096) == 14
