"""Answers of the gateway itself, without the application."""

from typing import Any
from unittest.mock import MagicMock

from strongroom.foundation.errors import Unavailable
from strongroom.web.gateway.exchange import Exchange


def test_no_cache_stores_a_refusal() -> None:
    protocol = MagicMock()
    refusal: Any = Exchange(MagicMock(), MagicMock(), protocol)
    refusal._refuse(Unavailable("The server is busy.", retry_after=1))
    start = protocol.send.call_args_list[0].args[0]
    assert start["status"] == 503
    assert dict(start["headers"])[b"Cache-Control"] == b"no-store"
