"""An HTTP client for tests with real servers."""

import http.client
import json
import ssl
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

PASSWORD = "Correct1Horse"
TIMEOUT = 120

Json = dict[str, Any]
Body = bytes | Iterable[bytes] | None


@dataclass(frozen=True)
class Response:
    """An answer that was read to its end."""

    status: int
    content: bytes

    def json(self) -> Json:
        """Return the body, which is an object."""
        body: Json = json.loads(self.content)
        return body


@dataclass(frozen=True)
class Client:
    """Sends each request on a connection of its own, with an access token if it has one."""

    url: str
    token: str | None = None
    context: ssl.SSLContext | None = None

    @classmethod
    def logged_in(cls, url: str, email: str) -> "Client":
        """Log in with the password of all tests."""
        body = {"username": email, "password": PASSWORD}
        token = cls(url).expect(200, "POST", "/authorizations", body).json()["accessToken"]
        return cls(url, token)

    def connect(self) -> http.client.HTTPConnection:
        """Return a new connection."""
        netloc = urlsplit(self.url).netloc
        if self.context is not None:
            return http.client.HTTPSConnection(netloc, timeout=TIMEOUT, context=self.context)
        return http.client.HTTPConnection(netloc, timeout=TIMEOUT)

    def headers(self, more: dict[str, str] | None = None) -> dict[str, str]:
        """Return the request headers that carry the token, and more of them."""
        return {**({"Authorization": f"Bearer {self.token}"} if self.token else {}), **(more or {})}

    def request(
        self, method: str, path: str, body: Body = None, headers: dict[str, str] | None = None
    ) -> Response:
        """Send a request."""
        with closing(self.connect()) as connection:
            connection.request(method, path, body, self.headers(headers))
            response = connection.getresponse()
            return Response(response.status, response.read())

    def expect(self, status: int, method: str, path: str, body: Json | None = None) -> Response:
        """Send a request with a JSON body, and insist on the status of the answer."""
        content = None if body is None else json.dumps(body).encode()
        response = self.request(method, path, content, {"Content-Type": "application/json"})
        assert response.status == status, response.content
        return response

    def make_tenant(self, name: str) -> str:
        """Make a tenant and return its path."""
        return (
            f"/api/v1/tenants/{self.expect(201, 'POST', '/api/v1/tenants', {'name': name}).json()['id']}"
        )

    def send(self, tenant: str, name: str, body: Body, size: int) -> Response:
        """Try to upload a file."""
        headers = {
            "Content-Disposition": f'attachment; filename="{name}"',
            "Content-Type": "application/octet-stream",
            "Content-Length": str(size),
        }
        return self.request("POST", f"{tenant}/files", body, headers)

    def upload(self, tenant: str, name: str, content: bytes) -> Json:
        """Upload a file and return it."""
        response = self.send(tenant, name, content, len(content))
        assert response.status == 201, response.content
        return response.json()

    def files(self, tenant: str) -> list[Json]:
        """Return the first 200 files of the caller."""
        listing = self.expect(200, "GET", f"{tenant}/owners/me/files?pageSize=200").json()
        nodes: list[Json] = listing["data"]
        return nodes

    def download(self, tenant: str, file_id: str) -> bytes:
        """Return the content of a file."""
        return self.expect(200, "GET", f"{tenant}/files/{file_id}/download").content
