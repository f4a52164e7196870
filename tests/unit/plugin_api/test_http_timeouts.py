"""Responses that are too slow or incomplete are aborted."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest
from tests.support.waiting import SLACK_SECONDS

from strongroom.plugin_api import http_timeouts
from strongroom.plugin_api.http_timeouts import LEAST_BYTES, TimedResponse

TIMEOUT = 0.3
PATIENT = 60.0
PIECE_BYTES = LEAST_BYTES // 2
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"


@pytest.fixture
def sockets() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.settimeout(TIMEOUT)
    with ours, theirs:
        yield ours, theirs


def answer(ours: socket.socket) -> TimedResponse:
    response = TimedResponse(ours, method="GET")
    response.begin()
    return response


def trickle(theirs: socket.socket, content: bytes, ended: threading.Event) -> None:
    for byte in content:
        theirs.sendall(bytes([byte]))
        if ended.wait(TIMEOUT / 10):
            return


@pytest.mark.parametrize("sent_at_once", [b"", HEAD + b"x"], ids=["head", "body"])
def test_a_trickling_response_times_out(
    sockets: tuple[socket.socket, socket.socket], sent_at_once: bytes
) -> None:
    ours, theirs = sockets
    theirs.sendall(sent_at_once)
    ended = threading.Event()
    sender = threading.Thread(target=trickle, args=(theirs, HEAD * 10, ended))
    sender.start()
    started = time.monotonic()
    with pytest.raises(TimeoutError):
        answer(ours).read()
    assert time.monotonic() - started < TIMEOUT + SLACK_SECONDS
    ended.set()
    sender.join()


class Clock:
    """A clock that stands still but for a number of seconds at each reading."""

    def __init__(self, step: float = 0) -> None:
        self.now = 0.0
        self.step = step

    def monotonic(self) -> float:
        self.now += self.step
        return self.now


def test_a_reader_may_take_its_time(
    sockets: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(http_timeouts, "time", clock)
    ours, theirs = sockets
    ours.settimeout(PATIENT)
    theirs.sendall(HEAD + b"x" * 60_000)
    response = answer(ours)
    assert len(response.read(10_000)) == 10_000
    # What counts is how long the answer was waited for, and it was there.
    clock.now += PATIENT * 2
    theirs.sendall(b"x" * 40_000)
    assert len(response.read()) == 90_000
    assert ours.gettimeout() == PATIENT


def test_an_answer_that_is_slow_but_steady_is_read(
    sockets: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each reading of the socket takes a tenth of the limit; all of them last longer.
    clock = Clock(PATIENT / 10)
    monkeypatch.setattr(http_timeouts, "time", clock)
    ours, theirs = sockets
    ours.settimeout(PATIENT)
    size = LEAST_BYTES * 20
    content = HEAD.replace(b"100000", b"%d" % size) + b"x" * size
    sender = threading.Thread(target=theirs.sendall, args=(content,))
    sender.start()
    response = answer(ours)
    assert sum(len(piece) for piece in iter(lambda: response.read(PIECE_BYTES), b"")) == size
    sender.join()
    assert clock.now > 2 * PATIENT


@pytest.mark.parametrize("kept", [10, 25, len(HEAD) - 2])
def test_a_head_that_breaks_off_is_no_answer(
    sockets: tuple[socket.socket, socket.socket], kept: int
) -> None:
    ours, theirs = sockets
    ours.settimeout(PATIENT)
    theirs.sendall(HEAD[:kept])
    theirs.close()
    with pytest.raises(ConnectionResetError):
        answer(ours)
