"""Jobs in several processes: one run per interval, and after a process is killed."""

import logging
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from multiprocessing.synchronize import Barrier
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from tests.support.campaign import campaign_size

from strongroom.foundation.database import Database
from strongroom.foundation.errors import Unavailable
from strongroom.foundation.jobs.leases import LEASE, JobLeases
from strongroom.foundation.jobs.runner import CurrentRun, JobRunner, JobRunning
from strongroom.plugin_api.jobs import Job, JobRun
from strongroom.testing.clock import HOUR, ManualClock

pytestmark = pytest.mark.both_databases

PROCESSES = 8
FORK = multiprocessing.get_context("fork")


def runner(database: Database, clock: ManualClock, run: Callable[[JobRun], object]) -> JobRunner:
    """Return a runner of the hourly job ``acme.prune``."""
    jobs = {"acme.prune": Job("prune", timedelta(hours=1), run)}
    return JobRunner(JobLeases(database, clock), jobs, clock)


def note(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(f"{text}\n")


def take_part(url: str, record: Path, rounds: int, barrier: Barrier) -> None:
    """Run the due jobs in one of several processes, in each of several hours."""
    clock = ManualClock()
    with closing(Database(url)) as database:
        jobs = runner(database, clock, lambda _: note(record, f"{clock.now()} {os.getpid()}"))
        jobs.register()
        for _ in range(rounds):
            clock.advance(HOUR)
            barrier.wait()
            jobs.run_due()


def test_a_job_runs_once_per_interval_in_eight_processes(database_url: str, tmp_path: Path) -> None:
    rounds, record = campaign_size("JOB_INTERVALS", 20), tmp_path / "record"
    barrier = FORK.Barrier(PROCESSES)
    arguments = (database_url, record, rounds, barrier)
    processes = [FORK.Process(target=take_part, args=arguments) for _ in range(PROCESSES)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0] * PROCESSES
    runs = [line.split()[0] for line in record.read_text().splitlines()]
    assert len(runs) == rounds
    assert len(set(runs)) == rounds


def hold(url: str, clock: ManualClock, held: Any) -> None:
    """Run the job without end."""

    def run(_: JobRun) -> None:
        held.set()
        signal.pause()

    with closing(Database(url)) as database:
        runner(database, clock, run).run_due()


def test_a_job_whose_process_is_killed_runs_again_after_the_lease(database_url: str) -> None:
    clock, held = ManualClock(), FORK.Event()
    runs: list[JobRun] = []
    with closing(Database(database_url)) as database:
        runner(database, clock, print).register()
    clock.advance(HOUR)
    process = FORK.Process(target=hold, args=(database_url, clock, held))
    process.start()
    assert held.wait(60)
    with closing(Database(database_url)) as database:
        jobs = runner(database, clock, runs.append)
        assert jobs.run_due() == pytest.approx(LEASE / 1000)
        assert process.pid
        os.kill(process.pid, signal.SIGKILL)
        process.join(60)
        assert process.exitcode == -signal.SIGKILL
        clock.advance(LEASE - 1)
        assert jobs.run_due() == pytest.approx(0.001)
        assert runs == []
        clock.advance(1)
        assert jobs.run_due() == pytest.approx(60)
        assert len(runs) == 1


def test_a_job_that_raises_is_logged_and_recorded_by_its_class(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    def run(_: JobRun) -> None:
        raise OSError("hush")

    clock, observed = ManualClock(), []
    jobs = JobRunner(
        JobLeases(database, clock),
        {"acme.prune": Job("prune", timedelta(hours=1), run)},
        clock,
        lambda name, succeeded, _: observed.append((name, succeeded)),
    )
    jobs.register()
    clock.advance(HOUR)
    with caplog.at_level(logging.ERROR):
        jobs.run_due()
    assert "The job acme.prune failed" in caplog.text
    assert JobLeases(database, clock).states()["acme.prune"].failure == "OSError"
    assert observed == [("acme.prune", False)]


def test_a_job_runs_by_hand_before_it_is_due_but_not_twice_at_once(database: Database) -> None:
    clock = ManualClock()

    def run(_: JobRun) -> None:
        with pytest.raises(JobRunning):
            runner(database, clock, print).run_now("acme.prune")

    assert runner(database, clock, run).run_now("acme.prune")
    assert JobLeases(database, clock).states()["acme.prune"].due_at == clock.now() + HOUR


def test_a_thread_runs_jobs_until_it_is_stopped(database: Database) -> None:
    clock, ran, seen = ManualClock(), Event(), []

    def run(current: JobRun) -> None:
        ran.set()
        while not current.should_stop:
            time.sleep(0.01)
        seen.append("stopped")

    jobs = runner(database, clock, run)
    jobs.register()
    clock.advance(HOUR)
    jobs.start()
    assert ran.wait(60)
    jobs.stop()
    assert seen == ["stopped"]


def test_a_runner_without_jobs_has_no_thread(database: Database) -> None:
    clock = ManualClock()
    jobs = JobRunner(JobLeases(database, clock), {}, clock)
    jobs.start()
    jobs.stop()
    assert JobLeases(database, clock).states() == {}


def test_a_run_stops_if_its_lease_was_lost() -> None:
    current = CurrentRun(Event())
    assert not current.should_stop
    current.is_lost = True
    assert current.should_stop


def test_a_database_that_is_away_is_reported_to_the_caller() -> None:
    with closing(Database("postgresql+psycopg://nobody@127.0.0.1:1/none?connect_timeout=2")) as away:
        jobs = runner(away, ManualClock(), print)
        with pytest.raises(Unavailable):
            jobs.run_due()


@pytest.mark.parametrize("name", ["", "Prune", "a.b", "a b", "9", "a" * 49])
def test_a_job_has_a_plain_name(name: str) -> None:
    with pytest.raises(ValueError, match="the name of the job"):
        Job(name, timedelta(hours=1), print)


def test_a_job_has_an_interval_of_a_second_or_more() -> None:
    with pytest.raises(ValueError, match="at least one second"):
        Job("prune", timedelta(milliseconds=999), print)
