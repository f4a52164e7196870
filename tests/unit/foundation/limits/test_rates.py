"""Rates: exact under concurrency, and refusing while the counters are unavailable."""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import delete, select
from tests.support.http import at_once
from tests.support.redis import RedisServer
from tests.support.waiting import SLACK_SECONDS

from strongroom.clock import Clock, SystemClock
from strongroom.foundation.config.rates import rates
from strongroom.foundation.config.redis_urls import RedisAddress
from strongroom.foundation.database import Database
from strongroom.foundation.database.pruning import PRUNE_EVERY
from strongroom.foundation.errors import TooManyRequests, Unavailable
from strongroom.foundation.limits.backends import DatabaseStorage, in_redis, rate_events
from strongroom.foundation.limits.backends import in_database as database_place
from strongroom.foundation.limits.service import Allowance, RateLimits, hashed_subject
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.testing.clock import MINUTE, SECOND, ManualClock

pytestmark = pytest.mark.both_databases

SPENDERS = 64
KEYS = SecretKeys("a secret of thirty-two characters")


@dataclass(frozen=True)
class Redis:
    """A Redis server of a test's own, and rates that are counted in it."""

    server: RedisServer
    rates: RateLimits


@pytest.fixture
def in_database(database: Database, clock: ManualClock) -> RateLimits:
    return rates_in_database(database, clock)


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    with RedisServer.serving(tmp_path) as server:
        limiter = in_redis(RedisAddress.parse(server.url)).open(Flask(__name__), client)
        # Redis uses the time of day, so its rates are read with the same clock.
        yield Redis(server, RateLimits(limiter, {}, KEYS, SystemClock()))
        limiter.storage.servers.close()  # type: ignore[attr-defined]


@pytest.fixture(params=["sqlite", "postgresql", "redis"])
def limits(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[RateLimits]:
    """Rates over a storage; a test with this fixture runs over each kind."""
    if request.param == "redis":
        yield request.getfixturevalue("redis").rates
        return
    with request.getfixturevalue(f"{request.param}_databases").create() as url:
        database = Database(url)
        yield rates_in_database(database, clock)
        database.close()


def rates_in_database(database: Database, clock: Clock) -> RateLimits:
    limiter = database_place(database, clock).open(Flask(__name__), client)
    return RateLimits(limiter, {}, KEYS, clock)


def client() -> str:
    """Return the subject of the requests of a test, which all are of one client."""
    return hashed_subject(KEYS, "192.0.2.1")


def allowance(*texts: str, subject: str = "alice") -> Allowance:
    return Allowance("test", subject, rates(*texts))


def wait_after(limits: RateLimits, *allowances: Allowance) -> int:
    """Return after how many seconds the refusal says to come back."""
    with pytest.raises(TooManyRequests) as refusal:
        limits.spend(*allowances)
    assert refusal.value.retry_after is not None
    return refusal.value.retry_after


def test_sixty_four_at_once_spend_an_allowance_of_five_five_times(limits: RateLimits) -> None:
    spend = partial(spends, limits, allowance("5/hour"))
    assert Counter(at_once([spend] * SPENDERS)) == {True: 5, False: SPENDERS - 5}
    assert not spends(limits, allowance("5/hour"))


def test_requests_and_services_count_by_one_limiter(database: Database, clock: ManualClock) -> None:
    app, refusals = Flask(__name__), list[str]()
    limiter = database_place(database, clock).open(app, client)
    limits = RateLimits(limiter, {"visits": rates("3/minute")}, KEYS, clock, refusals.append)
    same = Allowance("visits", "192.0.2.1", rates("3/minute"))
    with app.test_request_context():
        limits.check("visits")
        limits.spend(same)
        assert [limits.has_room("visits") for _ in range(2)] == [True, False]
        assert refusals == []
        with pytest.raises(TooManyRequests) as refusal:
            limits.check("visits")
    assert refusal.value.retry_after == 60
    assert wait_after(limits, same) == 60
    assert refusals == ["visits", "visits"]


class TickingClock(ManualClock):
    """A clock that is later each time that it is read."""

    def now(self) -> int:
        at = super().now()
        self.advance(600)
        return at


def test_a_refusal_is_reported_although_there_is_room_a_moment_later(database: Database) -> None:
    app, refusals, clock = Flask(__name__), list[str](), TickingClock()
    limiter = database_place(database, clock).open(app, client)
    limits = RateLimits(limiter, {"visits": rates("1/second")}, KEYS, clock, refusals.append)
    with app.test_request_context():
        limits.check("visits")
        with pytest.raises(TooManyRequests) as refusal:
            limits.check("visits")
    assert refusal.value.retry_after == 1
    assert refusals == ["visits"]


def test_a_refusal_counts_nothing_on_the_allowances_that_have_room(limits: RateLimits) -> None:
    used_up, roomy = allowance("1/hour", subject="alice"), allowance("2/hour", subject="bob")
    limits.spend(used_up)
    for order in ((used_up, roomy), (roomy, used_up)):
        assert not any(spends(limits, *order) for _ in range(5))
    assert [spends(limits, roomy) for _ in range(3)] == [True, True, False]


def spends(limits: RateLimits, *allowances: Allowance) -> bool:
    try:
        limits.spend(*allowances)
    except TooManyRequests:
        return False
    return True


def test_purposes_and_subjects_are_counted_apart(limits: RateLimits) -> None:
    hourly = rates("1/hour")
    for purpose, subject in (("a", "alice"), ("a", "bob"), ("b", "alice")):
        assert spends(limits, Allowance(purpose, subject, hourly))
        assert not spends(limits, Allowance(purpose, subject, hourly))


def test_the_refusal_says_when_to_come_back(limits: RateLimits) -> None:
    limits.spend(allowance("1/minute"))
    # Over Redis time passes while the test runs.
    assert wait_after(limits, allowance("1/minute")) in range(50, 61)


def test_a_refusal_by_several_rates_has_the_longest_wait(limits: RateLimits) -> None:
    limits.spend(allowance("1/minute", "1/hour"))
    assert wait_after(limits, allowance("1/minute", "1/hour")) in range(3550, 3601)
    limits.spend(allowance("1/minute", subject="bob"))
    both = allowance("1/minute", subject="bob"), allowance("1/minute", "1/hour")
    assert wait_after(limits, *both) in range(3550, 3601)


def test_there_is_room_once_the_wait_is_over_and_not_before(
    in_database: RateLimits, clock: ManualClock
) -> None:
    in_database.spend(allowance("2/minute"))
    clock.advance(20 * SECOND)
    in_database.spend(allowance("2/minute"))
    wait = wait_after(in_database, allowance("2/minute"))
    assert wait == 40
    clock.advance(wait * SECOND - 1)
    assert wait_after(in_database, allowance("2/minute")) == 1
    clock.advance(1)
    assert spends(in_database, allowance("2/minute"))
    assert wait_after(in_database, allowance("2/minute")) == 20


def test_events_that_are_older_than_all_windows_do_not_accumulate(
    in_database: RateLimits, clock: ManualClock, database: Database
) -> None:
    for _ in range(2 * PRUNE_EVERY):
        in_database.spend(allowance("1/minute"))
        clock.advance(24 * 60 * MINUTE)
    assert len(rows(database)) <= PRUNE_EVERY


def test_a_full_window_is_refused_without_a_query_until_it_has_room(
    clock: ManualClock, database: Database
) -> None:
    storage = DatabaseStorage(database=database, clock=clock)
    assert [storage.acquire_entry("subject", 1, 60) for _ in range(2)] == [True, False]
    with database.write() as connection:
        connection.execute(delete(rate_events))
    clock.advance(MINUTE - 1)
    assert not storage.acquire_entry("subject", 1, 60)
    clock.advance(1)
    assert storage.acquire_entry("subject", 1, 60)


def test_no_name_stands_in_the_table(in_database: RateLimits, database: Database) -> None:
    in_database.spend(Allowance("code-recipient", "email:alice@example.com", rates("5/hour", "9/day")))
    assert len(rows(database)) == 2
    assert "alice" not in str(rows(database))
    assert "example" not in str(rows(database))


def rows(database: Database) -> list[object]:
    with database.read() as connection:
        return list(connection.execute(select(rate_events)).all())


@pytest.mark.parametrize("was_used", [True, False])
def test_a_redis_that_is_gone_refuses_within_a_second(redis: Redis, was_used: bool) -> None:
    if was_used:
        redis.rates.spend(allowance("5/hour"))
    redis.server.kill()
    refuses_within(1, redis.rates)


@pytest.mark.parametrize("was_used", [True, False])
def test_a_redis_that_hangs_refuses_within_seconds(redis: Redis, was_used: bool) -> None:
    if was_used:
        redis.rates.spend(allowance("5/hour"))
    redis.server.hang()
    refuses_within(3, redis.rates)


def refuses_within(seconds: float, limits: RateLimits) -> None:
    began = time.monotonic()
    with pytest.raises(Unavailable) as refusal:
        limits.spend(allowance("5/hour"))
    assert time.monotonic() - began < seconds + SLACK_SECONDS
    assert refusal.value.retry_after == 5
