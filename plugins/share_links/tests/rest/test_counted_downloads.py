"""One visitor uses one download, whatever ranges the client asks for."""

import hashlib
import random
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select
from tests.support.api import Answer, Api
from tests.support.databases import on_postgresql
from tests.support.interleaving import Action, Interleaving
from tests.support.shares import ALL_KINDS, PLUGINS, Shared, Visitor
from werkzeug.test import create_environ
from werkzeug.wsgi import ClosingIterator

from strongroom.foundation.database import Database
from strongroom.foundation.errors import Unavailable
from strongroom_share_links.models import downloads as stored

SIZE = 1024 * 1024
CONTENT = bytes(range(256)) * (SIZE // 256)

pytestmark = pytest.mark.config(
    {
        "plugins": {"enabled": PLUGINS, "share_links": {"kinds": ALL_KINDS}},
        "files": {"max_file_bytes": 8 * SIZE},
    },
)


class Client:
    """A program without cookies, at an address and with a User-Agent."""

    def __init__(self, visitor: Visitor, path: str, agent: str, address: str = "203.0.113.7") -> None:
        self._visitor = visitor
        self._path = path
        self._agent = agent
        self._address = address

    def get(self, span: str | None = None) -> Answer:
        headers = {"User-Agent": self._agent} | ({"Range": f"bytes={span}"} if span else {})
        environ = {"REMOTE_ADDR": self._address}
        return self._visitor.get(self._path, headers=headers, environ_overrides=environ)


@pytest.fixture
def shared(api: Api) -> Shared:
    return Shared.made(api)


@pytest.fixture
def visitor(shared: Shared) -> Visitor:
    file = shared.api.upload(shared.tenant, shared.admin, "film.bin", CONTENT, shared.folder)["id"]
    shared.file = file
    return shared.share(file, maxDownloads=1)


@pytest.fixture
def path(shared: Shared, visitor: Visitor) -> str:
    assert visitor.share["id"]
    return f"/files/{shared.file}/download"


def downloads(shared: Shared, visitor: Visitor) -> int:
    reply = shared.api.get(f"{shared.tenant}/shares/{visitor.share['id']}", by=shared.admin)
    count: int = reply.json["downloads"]
    return count


def test_a_visitor_cannot_be_found_by_trying_addresses(
    shared: Shared, visitor: Visitor, path: str
) -> None:
    assert Client(visitor, path, "curl/8").get().status_code == 200
    with shared.host.database.read() as transaction:
        (row,) = transaction.all(select(stored))
    guess = f"{visitor.share['id']} 203.0.113.7 curl/8"
    assert row.visitor_hash not in {
        hashlib.sha256(text.encode()).hexdigest() for text in (guess, f"visitor {guess}")
    }
    assert row.visitor_hash == shared.host.secrets.keyed_hash(f"visitor {guess}")


@pytest.mark.parametrize("span", ["0-1", "0-65535", "0-0", "1000-2000"])
def test_a_probe_uses_no_download(shared: Shared, visitor: Visitor, path: str, span: str) -> None:
    player = Client(visitor, path, "player")
    for _ in range(5):
        assert player.get(span).status_code == 206
    assert downloads(shared, visitor) == 0
    assert Client(visitor, path, "browser").get().data == CONTENT
    assert downloads(shared, visitor) == 1
    assert player.get().status_code == 404


@pytest.mark.parametrize("span", ["0-65536", "65536-65536", "-1", "0-", "1048575-"])
def test_more_than_the_beginning_uses_one(
    shared: Shared, visitor: Visitor, path: str, span: str
) -> None:
    assert Client(visitor, path, "player").get(span).status_code == 206
    assert downloads(shared, visitor) == 1
    assert Client(visitor, path, "browser").get().status_code == 404


def test_a_download_manager_with_eight_connections_uses_one(
    shared: Shared, visitor: Visitor, path: str
) -> None:
    manager, part = Client(visitor, path, "aria2"), SIZE // 8
    parts = [manager.get(f"{number * part}-{(number + 1) * part - 1}") for number in range(8)]
    assert b"".join(answer.data for answer in parts) == CONTENT
    assert downloads(shared, visitor) == 1


def test_a_lost_connection_is_continued_until_twice_the_size(
    shared: Shared, visitor: Visitor, path: str
) -> None:
    wget = Client(visitor, path, "wget")
    assert wget.get().status_code == 200
    assert wget.get(f"{SIZE // 2}-").status_code == 206
    assert wget.get(f"{SIZE // 2}-").status_code == 206
    assert wget.get(f"{SIZE // 2}-").status_code == 404
    assert downloads(shared, visitor) == 1


def test_bytes_that_were_not_sent_do_not_count(shared: Shared, visitor: Visitor, path: str) -> None:
    """A player asks for all that follows each position, and aborts it at the next one."""
    headers = {"User-Agent": "player", "Range": "bytes=0-"}
    for position in range(0, SIZE, SIZE // 4):
        headers["Range"] = f"bytes={position}-"
        client = shared.api.app.test_client(use_cookies=False)
        answer = client.open(f"{visitor.root}{path}", headers=headers, buffered=False)
        assert answer.status_code == 206
        next(answer.iter_encoded())
        answer.close()
    assert downloads(shared, visitor) == 1


def test_of_64_visitors_at_once_one_gets_the_body(shared: Shared, visitor: Visitor, path: str) -> None:
    clients = [Client(visitor, path, "browser", f"203.0.113.{number}") for number in range(64)]
    statuses = [client.get().status_code for client in clients]
    assert sorted(statuses) == [200] + [404] * 63


def test_a_second_download_of_one_visitor_continues_as_the_first(shared: Shared, path: str) -> None:
    visitor = shared.share(shared.file, maxDownloads=3)
    wget = Client(visitor, path, "wget")
    for span in (f"0-{SIZE // 2 - 1}", "0-", "0-"):
        assert wget.get(span).status_code == 206
    assert downloads(shared, visitor) == 2
    assert wget.get("0-99999").status_code == 206
    assert wget.get(f"{SIZE - 100_000}-").status_code == 206
    assert downloads(shared, visitor) == 2


def ignored(*_: Any) -> Callable[[bytes], object]:
    """Begin no response."""
    return bytes.__len__


def abort(shared: Shared, visitor: Visitor, path: str, *spans: str) -> None:
    """Ask for ranges, and close each connection before a byte is sent."""
    for span in spans:
        headers = {"User-Agent": "wget", "Range": f"bytes={span}"}
        environ = create_environ(f"{visitor.root}{path}", headers=headers)
        body = shared.api.app.wsgi_app({**environ, "REMOTE_ADDR": "203.0.113.7"}, ignored)
        ClosingIterator(body).close()


def test_aborted_probes_of_a_used_up_download_give_nothing_back(
    shared: Shared, visitor: Visitor, path: str
) -> None:
    wget = Client(visitor, path, "wget")
    for _ in range(2):
        assert wget.get().status_code == 200
    for _ in range(4):
        abort(shared, visitor, path, "0-65535")
    assert wget.get("100000-165535").status_code == 404
    assert wget.get("0-65535").status_code == 206


def test_an_aborted_range_is_given_back_to_the_download_that_it_used(shared: Shared, path: str) -> None:
    visitor = shared.share(shared.file, maxDownloads=2)
    wget = Client(visitor, path, "wget")
    # What is left of the first of two downloads is less than the whole.
    for span in ("0-", "0-0", "0-"):
        assert wget.get(span).status_code == 206
    assert downloads(shared, visitor) == 2
    abort(shared, visitor, path, "0-")
    assert wget.get("0-").status_code == 206
    abort(shared, visitor, path, "0-0", "1-", "0-")
    assert wget.get("0-").status_code == 404
    assert wget.get("1-").status_code == 206


def test_ranges_beyond_the_beginning_in_one_request_use_a_download(
    shared: Shared, visitor: Visitor, path: str
) -> None:
    thief = Client(visitor, path, "curl")
    assert thief.get("0-0,2-60000").status_code == 206
    assert downloads(shared, visitor) == 0
    assert thief.get("500000-530000,600000-600001").status_code == 206
    assert downloads(shared, visitor) == 1
    assert Client(visitor, path, "other").get("0-0,-1").status_code == 404


FILM_SIZE = 8 * SIZE
FILM = random.Random(FILM_SIZE).randbytes(FILM_SIZE)


@pytest.fixture
def film(shared: Shared) -> str:
    """Return the path of a file that is larger than what is taken of a download at once."""
    shared.file = shared.api.upload(shared.tenant, shared.admin, "f.bin", FILM, shared.folder)["id"]
    return f"/files/{shared.file}/download"


class Body:
    """A response whose body is read piece by piece."""

    def __init__(self, visitor: Visitor, path: str, position: int = 0) -> None:
        headers = {"User-Agent": "wget", "Range": f"bytes={position}-"}
        client = visitor.api.app.test_client(use_cookies=False)
        self._answer = client.open(f"{visitor.root}{path}", headers=headers, buffered=False)
        self._chunks = self._answer.iter_encoded()
        self.status = self._answer.status_code
        self.received = b""

    def read(self) -> bool:
        """Read one piece; return whether there was one."""
        piece = next(self._chunks, b"")
        self.received += piece
        return piece != b""

    def close(self) -> None:
        """Close the connection."""
        self._answer.close()


def read_in_turn(bodies: list[Body]) -> None:
    """Read all bodies to their end, one piece of each at a time."""
    reading = bodies
    while reading:
        reading = [body for body in reading if body.read()]
    for body in bodies:
        body.close()


def test_lost_connections_that_the_server_has_not_noticed_are_continued(
    shared: Shared, film: str
) -> None:
    visitor, lost = shared.share(shared.file, maxDownloads=1), list[Body]()
    for position in (0, 3 * SIZE // 2, 5 * SIZE // 2):
        lost.append(Body(visitor, film, position))
        assert lost[-1].read()
    assert [body.status for body in lost] == [206, 206, 206]
    last = Body(visitor, film, 3 * SIZE)
    read_in_turn([last])
    assert last.received == FILM[3 * SIZE :]
    assert downloads(shared, visitor) == 1
    for body in lost:
        body.close()


def test_concurrent_bodies_of_one_download_are_twice_its_size_together(
    shared: Shared, film: str
) -> None:
    visitor = shared.share(shared.file, maxDownloads=1)
    bodies = [Body(visitor, film) for _ in range(6)]
    assert {body.status for body in bodies} == {206}
    read_in_turn(bodies)
    sent = sum(len(body.received) for body in bodies)
    assert 2 * FILM_SIZE - SIZE <= sent <= 2 * FILM_SIZE
    assert downloads(shared, visitor) == 1
    assert Body(visitor, film).status == 404


def test_a_body_goes_on_with_a_further_download_of_the_share(shared: Shared, film: str) -> None:
    visitor = shared.share(shared.file, maxDownloads=3)
    bodies = [Body(visitor, film) for _ in range(6)]
    read_in_turn(bodies)
    assert [body.received == FILM for body in bodies] == [True] * 6
    assert downloads(shared, visitor) == 3


def test_a_slow_download_is_continued_after_more_than_an_hour(shared: Shared, film: str) -> None:
    visitor = shared.share(shared.file, maxDownloads=1)
    slow = Body(visitor, film)
    for _ in range(3):
        assert slow.read()
        shared.api.clock.advance(40 * 60 * 1000)
    assert Body(visitor, film, len(slow.received)).status == 206
    read_in_turn([slow])
    assert slow.received == FILM


def unavailable(*_: Any, **__: Any) -> None:
    """Fail as a transaction does without a connection."""
    raise Unavailable


def test_a_body_goes_on_while_the_database_is_away(
    shared: Shared, film: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = shared.share(shared.file, maxDownloads=1)
    body = Body(visitor, film)
    assert body.read()
    monkeypatch.setattr(Database, "write", unavailable)
    read_in_turn([body])
    assert body.received == FILM


@on_postgresql
@pytest.mark.extended
def test_of_two_bodies_at_once_one_takes_the_last_bytes(shared: Shared, film: str) -> None:
    def prepare() -> tuple[Action, Action]:
        visitor = shared.share(shared.file, maxDownloads=1)
        bodies = [Body(visitor, film) for _ in range(2)]
        for body in bodies:
            while len(body.received) < SIZE:
                assert body.read()
        with shared.host.database.write() as transaction:
            transaction.execute(stored.update().values(remaining=SIZE))
        return bodies[0].read, bodies[1].read

    outcomes = list(Interleaving(shared.api.container.database).every(prepare))
    assert len(outcomes) > 2
    assert {sum(pair) for pair in outcomes} == {1}
