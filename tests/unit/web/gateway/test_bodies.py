"""Bodies in many small pieces: the work for them is bounded, whatever arrives."""

from io import BytesIO
from typing import Any

import pytest

from strongroom.web.gateway.bodies import (
    FREE_PIECES,
    SMALLEST_AVERAGE,
    BodyDrain,
    EarlyBody,
    RequestBody,
)
from strongroom.web.gateway.limits import Timers, TransferRate

MANY = 600_000
RATE = TransferRate()


class Arrived:
    """A future whose result is available."""

    def __init__(self, message: dict[str, Any]) -> None:
        self._message = message

    def done(self) -> bool:
        return True

    def result(self) -> dict[str, Any]:
        return self._message

    def cancel(self) -> bool:
        return True

    def cancelled(self) -> bool:
        return False

    def add_done_callback(self, callback: Any) -> None:
        raise AssertionError("the result is available")


class Client:
    """A client that sends equal pieces, as far as they are received; the protocol object of Granian."""

    def __init__(self, piece: bytes, count: int) -> None:
        self._piece = piece
        self._count = count
        self.received = 0

    def receive(self) -> Arrived:
        self.received += 1
        return Arrived(
            {"type": "http.request", "body": self._piece, "more_body": self.received < self._count}
        )

    def send(self, message: dict[str, Any]) -> None:
        raise AssertionError("nothing is sent")


def test_a_body_of_single_bytes_is_refused_after_a_bounded_number_of_pieces() -> None:
    client = Client(b"x", MANY)
    with pytest.raises(ConnectionError, match="too many small pieces"):
        RequestBody(client, RATE).read()
    assert client.received <= FREE_PIECES + FREE_PIECES // SMALLEST_AVERAGE + 2


def test_empty_pieces_are_no_way_around() -> None:
    client = Client(b"", MANY)
    with pytest.raises(ConnectionError):
        RequestBody(client, RATE).read()
    assert client.received <= FREE_PIECES + 2


@pytest.mark.parametrize(("piece", "count"), [(b"x", FREE_PIECES), (b"x" * SMALLEST_AVERAGE, 10_000)])
def test_a_few_small_pieces_and_many_ordinary_ones_are_read(piece: bytes, count: int) -> None:
    assert RequestBody(Client(piece, count), RATE).read() == piece * count


def test_a_small_body_of_single_bytes_stays_incomplete() -> None:
    client, bodies = Client(b"x", MANY), list[BytesIO | None]()
    EarlyBody(client, 65_536, RATE, Timers(), bodies.append).receive()
    (body,) = bodies
    assert body is not None
    assert len(body.getvalue()) < 2 * FREE_PIECES
    assert client.received < 2 * FREE_PIECES


def test_a_refused_body_of_single_bytes_is_not_discarded_to_its_end() -> None:
    client = Client(b"x", MANY)
    BodyDrain(client, RATE, Timers()).discard()
    assert client.received < 2 * FREE_PIECES
