"""Requests at a steady rate, half of them POSTs, whose failures are counted."""

import json
import ssl
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from itertools import count
from urllib.parse import urlsplit

TIMEOUT = 60
THREADS = 100
"""Enough for the requests that arrive during a restart."""


@dataclass
class Load:
    """Creates folders and reads the user, by turns, on connections that stay open.

    Args:
        url: the address of the proxy.
        tenant: the path of the tenant that gets the folders.
        token: an access token.
        per_second: the rate.
        context: the trusted certificates, for a URL with https.
    """

    url: str
    tenant: str
    token: str
    per_second: int = 40
    context: ssl.SSLContext | None = None
    answers: Counter[tuple[str, int | str]] = field(default_factory=Counter)
    slowest: float = 0.0
    _stop: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def running(self) -> Iterator["Load"]:
        """Send requests until the block ends."""
        numbers = count()
        threads = [threading.Thread(target=self._send_all, args=(numbers,)) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()

    @property
    def number(self) -> int:
        """The number of requests so far."""
        return self.answers.total()

    @property
    def failures(self) -> dict[tuple[str, int | str], int]:
        """What was not answered as it should be, by method and status or error."""
        return {key: number for key, number in self.answers.items() if key not in _RIGHT}

    def _send_all(self, numbers: Iterator[int]) -> None:
        connection = self._connect()
        # Spread over the period of a thread, so that the methods are mixed at any time.
        began = time.monotonic() + next(numbers) % THREADS / self.per_second
        for turn in count(1):
            if self._stop.wait(max(0.0, began + turn * THREADS / self.per_second - time.monotonic())):
                break
            method = "POST" if turn % 2 else "GET"
            sent = time.monotonic()
            try:
                self.answers[method, self._send(connection, method, next(numbers))] += 1
            except (OSError, HTTPException) as error:
                self.answers[method, type(error).__name__] += 1
                connection.close()
            self.slowest = max(self.slowest, time.monotonic() - sent)
        connection.close()

    def _connect(self) -> HTTPConnection:
        address = urlsplit(self.url).netloc
        if self.context is None:
            return HTTPConnection(address, timeout=TIMEOUT)
        return HTTPSConnection(address, timeout=TIMEOUT, context=self.context)

    def _send(self, connection: HTTPConnection, method: str, number: int) -> int:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        path, body = "/users/me", None
        if method == "POST":
            path, body = f"{self.tenant}/folders", json.dumps({"name": f"folder {number}"})
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        response.read()
        return response.status


_RIGHT = {("POST", 201), ("GET", 200)}


BURST_THREADS = 50


@dataclass
class Burst:
    """As many requests as possible, each on a connection of its own and a moment after connecting.

    Args:
        url: the address of the server.
    """

    url: str
    answers: Counter[int | str] = field(default_factory=Counter)
    _stop: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def running(self) -> Iterator["Burst"]:
        """Send requests until the block ends."""
        threads = [threading.Thread(target=self._send_all) for _ in range(BURST_THREADS)]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()

    def _send_all(self) -> None:
        while not self._stop.wait(0.002):
            with closing(HTTPConnection(urlsplit(self.url).netloc, timeout=TIMEOUT)) as connection:
                try:
                    self.answers[self._send(connection)] += 1
                except (OSError, HTTPException) as error:
                    self.answers[type(error).__name__] += 1

    def _send(self, connection: HTTPConnection) -> int:
        connection.connect()
        self._stop.wait(0.002)
        connection.request("GET", "/livez")
        response = connection.getresponse()
        response.read()
        return response.status
