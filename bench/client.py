"""Users who set the scene for a bench."""

import json
import os
from collections.abc import Mapping
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPResponse
from typing import Any, BinaryIO, Final

from bench.harness import MEBIBYTE
from bench.load import SILENCE_SECONDS
from bench.servers import HOST, Server

EMAIL: Final = "bench@example.com"
PASSWORD: Final = "Correct1Horse"  # noqa: S105  of a user who lives as long as the bench

Json = dict[str, Any]


class HttpClient:
    """Speaks to a server, each request on a connection of its own.

    Args:
        port: where it listens.
        headers: what every request carries.
    """

    def __init__(self, port: int, headers: Mapping[str, str] | None = None) -> None:
        self._port = port
        self.headers: dict[str, str] = dict(headers or {})

    def post(self, path: str, body: Json) -> Json:
        """Send a JSON object, and return the JSON object of the response."""
        return self.upload(path, {"Content-Type": "application/json"}, json.dumps(body).encode())

    def upload(self, path: str, headers: Mapping[str, str], *parts: bytes | BinaryIO) -> Json:
        """Send a multipart body, and return the JSON object of the response."""
        with closing(self._begin("POST", path, headers, sum(map(_length, parts)))) as connection:
            # A server that refuses a body stops to read it, and says why.
            with suppress(BrokenPipeError, ConnectionResetError):
                for part in parts:
                    _send(connection, part)
            answer: Json = json.load(_successful(connection.getresponse()))
            return answer

    def download(self, path: str) -> int:
        """Receive a file, and return how many bytes it had."""
        return self.receive("GET", path, {})

    def receive(self, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> int:
        """Send a request, and return the size of the response body in bytes."""
        buffer, received = bytearray(MEBIBYTE), 0
        with closing(self._begin(method, path, headers, len(body))) as connection:
            if body:
                connection.send(body)
            response = _successful(connection.getresponse())
            while count := response.readinto(buffer):
                received += count
        return received

    def delete(self, path: str) -> None:
        """Delete the resource."""
        with closing(self._begin("DELETE", path, {}, 0)) as connection:
            _successful(connection.getresponse()).read()

    def _begin(self, method: str, path: str, headers: Mapping[str, str], length: int) -> HTTPConnection:
        connection = HTTPConnection(HOST, self._port, timeout=SILENCE_SECONDS)
        connection.putrequest(method, path)
        for name, value in {**self.headers, **headers, "Content-Length": str(length)}.items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection


class Client(HttpClient):
    """A user of Strongroom with a tenant, logged in.

    Args:
        server: the server, which does not know the user yet.
    """

    def __init__(self, server: Server) -> None:
        super().__init__(server.port)
        server.create_user(EMAIL, PASSWORD)
        issued = self.post("/authorizations", {"username": EMAIL, "password": PASSWORD})
        self.headers["Authorization"] = f"Bearer {issued['accessToken']}"
        tenant = self.post("/api/v1/tenants", {"name": "Bench"})
        self.files = f"/api/v1/tenants/{tenant['id']}/files"


def _length(part: bytes | BinaryIO) -> int:
    return len(part) if isinstance(part, bytes) else os.fstat(part.fileno()).st_size


def _send(connection: HTTPConnection, part: bytes | BinaryIO) -> None:
    if isinstance(part, bytes):
        connection.send(part)
    else:
        # The kernel's own way, which takes next to nothing from the server's processor time.
        connection.sock.sendfile(part)


def _successful(response: HTTPResponse) -> HTTPResponse:
    if response.status not in (200, 201, 204):
        raise RuntimeError(f"unexpected answer {response.status}: {response.read()!r}")
    return response
