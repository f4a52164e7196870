"""Threads are shared so that uploads and downloads never keep short requests waiting."""

from dataclasses import dataclass, field

import pytest

from strongroom.web.gateway.limits import RESERVED_THREADS, Admission, AdmissionResult, ThreadTask


@dataclass(eq=False)
class Task:
    is_transfer: bool = False
    is_uncounted: bool = False
    queued_at: float = 0.0
    runs: int = field(default=0)

    def run(self) -> None:
        self.runs += 1


def fill(admission: Admission, count: int, *, transfers: bool) -> list[Task]:
    tasks = [Task(transfers) for _ in range(count)]
    assert {admission.enter(task) for task in tasks} <= {AdmissionResult.RUN}
    return tasks


@pytest.mark.parametrize(("threads", "share"), [(64, 56), (16, 8), (8, 4), (1, 1)])
def test_transfers_leave_threads_for_short_requests(threads: int, share: int) -> None:
    admission = Admission(threads)
    fill(admission, share, transfers=True)
    assert admission.enter(Task(is_transfer=True)) is AdmissionResult.REFUSED
    assert admission.enter(Task()) is AdmissionResult.RUN


def test_a_download_among_too_many_transfers_is_no_transfer() -> None:
    admission = Admission(64)
    transfers = fill(admission, 64 - RESERVED_THREADS, transfers=True)
    download = Task()
    admission.enter(download)
    assert not admission.become_transfer(download)
    admission.leave(transfers[0])
    assert admission.become_transfer(download)
    assert admission.enter(Task(is_transfer=True)) is AdmissionResult.REFUSED


def test_requests_beyond_the_threads_wait_in_order() -> None:
    admission = Admission(16)
    running = fill(admission, 16, transfers=False)
    waiting: list[ThreadTask] = [Task(), Task()]
    assert [admission.enter(job) for job in waiting] == [AdmissionResult.QUEUED] * 2
    assert [admission.leave(job) for job in running[:3]] == [*waiting, None]


def test_a_full_queue_refuses() -> None:
    admission = Admission(16)
    fill(admission, 16, transfers=False)
    verdicts = [admission.enter(Task()) for _ in range(300)]
    assert verdicts == [AdmissionResult.QUEUED] * 256 + [AdmissionResult.REFUSED] * 44


def test_a_transfer_that_goes_on_is_never_refused() -> None:
    admission = Admission(16)
    running = fill(admission, 8, transfers=True)
    resumed = Task(is_transfer=True)
    assert admission.resume(resumed) is AdmissionResult.QUEUED
    assert admission.leave(running[0]) is resumed


def test_an_upload_that_waits_does_not_hold_up_short_requests() -> None:
    admission = Admission(16)
    short = fill(admission, 9, transfers=False)
    fill(admission, 7, transfers=True)
    upload, request = Task(is_transfer=True), Task()
    assert [admission.enter(upload), admission.enter(request)] == [AdmissionResult.QUEUED] * 2
    assert admission.become_transfer(short[0])
    assert admission.leave(short[1]) is request
    assert admission.leave(short[0]) is upload


def test_a_request_that_steps_aside_makes_room_for_the_next_one() -> None:
    admission = Admission(16)
    waiting, *_ = fill(admission, 16, transfers=False)
    queued = Task()
    assert admission.enter(queued) is AdmissionResult.QUEUED
    assert admission.release_slot(waiting) is queued
    assert admission.enter(Task()) is AdmissionResult.QUEUED
    # It is counted neither as a transfer nor when it ends.
    assert admission.become_transfer(waiting)
    assert admission.leave(waiting) is None
    assert admission.enter(Task()) is AdmissionResult.QUEUED
