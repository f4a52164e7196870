"""A guard against servers that tests start and never end.

Such a server asks for connections a hundred times a second. A few hundred of them make all tests after
them several times slower, and none of them fails.
"""

import threading
from collections.abc import Iterator
from typing import Final

import pytest

_MOST_SERVERS: Final = 8
"""Servers of a process after a module: those whose fixtures have the scope ``session``."""


@pytest.fixture(autouse=True, scope="module")
def ended_servers() -> Iterator[None]:
    """Require that a module ends the servers that it starts in threads."""
    yield
    serving = [thread.name for thread in threading.enumerate() if "(serve_forever)" in thread.name]
    assert len(serving) <= _MOST_SERVERS, f"{len(serving)} servers are not ended: {serving[:3]}, ..."
