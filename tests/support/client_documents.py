"""A server in this process that publishes the documents of clients, and the clients."""

import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, cast

from strongroom.plugin_api.outbound import OutboundClient, OutboundPolicy
from strongroom_oidc_provider.documents.fetching import DocumentFetcher
from tests.support.api import Api, Json
from tests.support.relying_party import RelyingParty
from tests.support.tls import self_signed

HOSTS: Final = (
    "agents.example.com",
    "claude.ai",
    "vscode.dev",
    "chatgpt.com",
    "opencode.ai",
    "goose-docs.ai",
)
SECONDS: Final = 5.0


@dataclass(frozen=True)
class Published:
    """What the server answers."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = cast("_Server", self.server)
        server.requests.append(self.path)
        answer = server.answers.get(self.path, Published(b"", 404))
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.answers: dict[str, Published] = {}
        self.requests: list[str] = []


@dataclass(frozen=True)
class DocumentServer:
    """Publishes documents below several hosts, which all lead to it."""

    api: Api
    server: _Server

    @property
    def requests(self) -> list[str]:
        """The paths of the requests that it got."""
        return self.server.requests

    def url(self, host: str, path: str) -> str:
        """Return a URL of the server."""
        return f"https://{host}:{self.server.server_port}{path}"

    def answer(self, path: str, answer: Published) -> str:
        """Let a path have an answer, and return its URL."""
        self.server.answers[path] = answer
        return self.url(HOSTS[0], path)

    def publish(self, path: str, host: str = HOSTS[0], **members: Any) -> RelyingParty:
        """Publish a document, and return its client."""
        url = self.url(host, path)
        document: Json = {
            "client_id": url,
            "client_name": "Acme Agent",
            "redirect_uris": ["http://127.0.0.1/callback"],
            **members,
        }
        given = {name: value for name, value in document.items() if value is not None}
        self.server.answers[path] = Published(json.dumps(given).encode())
        uris = document["redirect_uris"]
        uri = uris[0] if isinstance(uris, list) and uris else "http://127.0.0.1/callback"
        return RelyingParty(self.api, url, None, str(uri))


def get_fetcher(api: Api) -> DocumentFetcher:
    """Return what fetches documents."""
    fetcher: DocumentFetcher = api.container.hosts.get("oidc_provider").get_service(DocumentFetcher)
    return fetcher


@contextmanager
def document_server(api: Api, folder: Path) -> Iterator[DocumentServer]:
    """Run a server, which the application reaches by the names of its hosts."""
    # For the tables.
    RelyingParty.register(api)
    certificate = self_signed(folder, *HOSTS)
    server = _Server(certificate.server())
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    policy = OutboundPolicy(tuple(f"{host}:{server.server_port}" for host in HOSTS), False, SECONDS)
    get_fetcher(api).outbound = OutboundClient(
        policy, resolver=lambda _name, _port: ["127.0.0.1"], tls=certificate.client()
    )
    try:
        yield DocumentServer(api, server)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
