"""Leases of jobs: due dates, exclusive claims, renewal and results."""

import pytest

from strongroom.foundation.database import Database
from strongroom.foundation.jobs.leases import LEASE, JobLeases
from strongroom.testing.clock import HOUR, MINUTE, ManualClock

EVERY = HOUR


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def leases(database: Database, clock: ManualClock) -> JobLeases:
    leases = JobLeases(database, clock)
    leases.register([("acme.prune", EVERY)])
    return leases


def test_a_new_job_is_due_after_its_interval(leases: JobLeases, clock: ManualClock) -> None:
    assert leases.claim("acme.prune") is None
    clock.advance(EVERY)
    lease = leases.claim("acme.prune")
    assert lease is not None
    assert lease.started_at == clock.now()
    assert leases.claim("acme.prune") is None
    assert leases.claim("acme.prune", even_if_not_due=True) is None


def test_intervals_count_from_the_start_of_a_run(leases: JobLeases, clock: ManualClock) -> None:
    clock.advance(EVERY)
    lease = leases.claim("acme.prune")
    assert lease
    clock.advance(10 * MINUTE)
    # The lease has ended, but no other run has taken it.
    assert leases.end(lease, EVERY, None)
    state = leases.states()["acme.prune"]
    assert (state.due_at, state.succeeded_at) == (lease.started_at + EVERY, clock.now())
    assert not state.is_running(clock.now())
    clock.advance(50 * MINUTE - 1)
    assert leases.claim("acme.prune") is None
    clock.advance(1)
    assert leases.claim("acme.prune")


def test_a_lease_that_is_renewed_does_not_end(leases: JobLeases, clock: ManualClock) -> None:
    clock.advance(EVERY)
    lease = leases.claim("acme.prune")
    assert lease
    for _ in range(5):
        clock.advance(LEASE - 1)
        assert leases.renew(lease)
        assert leases.claim("acme.prune") is None


def test_a_run_that_lost_its_lease_changes_nothing(leases: JobLeases, clock: ManualClock) -> None:
    clock.advance(EVERY)
    lost = leases.claim("acme.prune")
    assert lost
    clock.advance(LEASE)
    lease = leases.claim("acme.prune")
    assert lease
    before = leases.states()
    assert not leases.renew(lost)
    assert not leases.end(lost, EVERY, "OSError")
    assert leases.states() == before
    assert leases.end(lease, EVERY, None)


def test_a_run_that_ended_cannot_renew_its_lease(leases: JobLeases, clock: ManualClock) -> None:
    clock.advance(EVERY)
    ended = leases.claim("acme.prune")
    assert ended
    leases.end(ended, EVERY, None)
    # A renewal that was on its way would block the job for as long as a lease lasts.
    assert not leases.renew(ended)
    assert leases.claim("acme.prune", even_if_not_due=True)


def test_a_failure_is_recorded_until_the_next_success(leases: JobLeases, clock: ManualClock) -> None:
    clock.advance(EVERY)
    first = leases.claim("acme.prune")
    assert first
    leases.end(first, EVERY, "OSError")
    state = leases.states()["acme.prune"]
    assert (state.has_failed, state.failure) == (True, "OSError")
    clock.advance(EVERY)
    second = leases.claim("acme.prune")
    assert second
    leases.end(second, EVERY, None)
    state = leases.states()["acme.prune"]
    assert not state.has_failed
    assert state.failed_at == first.started_at


def test_a_shorter_interval_counts_at_once_and_a_longer_one_after_the_next_run(
    leases: JobLeases, clock: ManualClock
) -> None:
    due_at = leases.states()["acme.prune"].due_at
    leases.register([("acme.prune", 2 * EVERY)])
    assert leases.states()["acme.prune"].due_at == due_at
    leases.register([("acme.prune", MINUTE)])
    assert leases.states()["acme.prune"].due_at == clock.now() + MINUTE


def test_a_server_that_is_slow_to_register_brings_no_run_forward(
    database: Database, leases: JobLeases, clock: ManualClock
) -> None:
    slow = ManualClock()
    slow.advance(EVERY - 1)
    clock.advance(EVERY)
    lease = leases.claim("acme.prune")
    assert lease
    leases.end(lease, EVERY, None)
    JobLeases(database, slow).register([("acme.prune", EVERY)])
    assert leases.states()["acme.prune"].due_at == lease.started_at + EVERY
