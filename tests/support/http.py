"""Sends HTTP requests to a real server, also from many threads."""

import http.client
import json
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

T = TypeVar("T")
TIMEOUT_SECONDS = 120


@dataclass(frozen=True)
class Reply:
    """A response of the server."""

    status: int
    headers: dict[str, str]
    json: Any


@dataclass(frozen=True)
class Caller:
    """Sends requests, each on a connection of its own."""

    url: str
    headers: dict[str, str] = field(default_factory=dict)

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        """Send a request with a JSON body, or without one."""
        content = None if body is None else json.dumps(body)
        return self.send_text(method, path, content, **headers)

    def send_text(self, method: str, path: str, content: str | None, **headers: str) -> Reply:
        """Send a body with the media type of JSON, also if it is not JSON."""
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=TIMEOUT_SECONDS)
        try:
            sent = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
            if content is not None:
                sent["Content-Type"] = "application/json"
            connection.request(method, path, content, sent)
            response = connection.getresponse()
            text = response.read()
            return Reply(
                response.status, dict(response.getheaders()), json.loads(text) if text else None
            )
        finally:
            connection.close()

    def bearing(self, token: str) -> "Caller":
        """Return a caller who presents a token."""
        return Caller(self.url, {**self.headers, "Authorization": f"Bearer {token}"})


def at_once(actions: Sequence[Callable[[], T]]) -> list[T]:
    """Run all actions at the same moment, and return what each one gave."""
    start = threading.Barrier(len(actions))

    def run(action: Callable[[], T]) -> T:
        start.wait(timeout=TIMEOUT_SECONDS)
        return action()

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(run, actions))
