"""A request that is refused before its body was read: its client hears why."""

from collections.abc import Iterator

import pytest

from tests.support.client import Client
from tests.support.server import Server

ROUNDS = 20
BODY = b"x" * (8 * 1024 * 1024)


@pytest.mark.parametrize(("path", "status"), [("/authorizations", 413), ("/nowhere", 404)])
def test_the_answer_arrives_although_the_body_is_still_being_sent(
    shared_server: Server, path: str, status: int
) -> None:
    client = Client(shared_server.url)
    headers = {"Content-Type": "application/json"}
    answers = [client.request("POST", path, BODY, headers).status for _ in range(ROUNDS)]
    assert answers == [status] * ROUNDS


def test_a_body_without_end_is_cut_off(shared_server: Server) -> None:
    """A refused request must end."""

    def endless() -> Iterator[bytes]:
        while True:
            yield BODY

    with pytest.raises(OSError):  # noqa: PT011  reset or broken pipe, as it comes
        Client(shared_server.url).request(
            "POST", "/nowhere", endless(), {"Transfer-Encoding": "chunked"}
        )
