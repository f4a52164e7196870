"""Listens on this computer for a login that the browser returns (RFC 8252, section 7.3)."""

import secrets
import socket
import socketserver
import threading
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from hmac import compare_digest
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from types import TracebackType
from typing import Final, Self
from urllib.parse import parse_qs

PATH: Final = "/strongroom-client"
"""The path that servers know this client by; see ``[plugins.login_pages] app_return_urls``."""

_POLL_SECONDS: Final = 0.05
_REQUEST_SECONDS: Final = 10
_TEXTS: Final = {
    "en": ("You can close this page and return to the program.", "The program has not begun it."),
    "zh": ("可以关闭本页面，返回程序。", "这次登录不是由本程序发起的。"),
}
_PAGE: Final = '<!doctype html><html lang="{}"><meta charset="utf-8"><title>{}</title><p>{}</p></html>'
_HEADERS: Final = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "default-src 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Connection": "close",
}


class LoopbackRedirect:
    """A free port of this computer, to which the login page returns with a code.

    The code is worth nothing without :attr:`verifier`, because other programs of this computer may read
    the URL (RFC 7636).
    """

    def __init__(self) -> None:
        self.verifier = secrets.token_urlsafe(32)
        self.code = ""
        """The code of the login page, after :attr:`answered` is set."""
        self.answered = threading.Event()
        self._state = secrets.token_urlsafe(16)
        self._listener = _listening(self)

    def __enter__(self) -> Self:
        run = self._listener.serve_forever
        threading.Thread(target=run, args=(_POLL_SECONDS,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # A thread that still waits for it ends.
        self.answered.set()
        self._listener.shutdown()
        self._listener.server_close()

    @property
    def query(self) -> Mapping[str, str]:
        """The parameters of the login page."""
        digest = urlsafe_b64encode(sha256(self.verifier.encode()).digest())
        challenge = digest.decode().rstrip("=")
        return {"returnUrl": self._url, "state": self._state, "codeChallenge": challenge}

    @property
    def _url(self) -> str:
        return f"http://{self._listener.authority}{PATH}"

    def take(self, query: str) -> bool:
        """Take the code of a query; return ``False`` if this program has not requested it."""
        values = parse_qs(query)
        (state, *_), (code, *_) = values.get("state", [""]), values.get("code", [""])
        if not code or not compare_digest(state.encode(), self._state.encode()):
            return False
        self.code = self.code or code
        return True


class _Listener(socketserver.ThreadingTCPServer):
    """A port for the requests of the browser."""

    # A program with the same option could take the port over on Windows.
    allow_reuse_address = False
    daemon_threads = True

    def __init__(self, redirect: LoopbackRedirect, family: socket.AddressFamily, host: str) -> None:
        self.address_family = family
        self.redirect = redirect
        super().__init__((host, 0), _Handler)
        port = self.server_address[1]
        self.authority = f"[{host}]:{port}" if family == socket.AF_INET6 else f"{host}:{port}"


class _Handler(BaseHTTPRequestHandler):
    """Takes the code, and shows a page."""

    server: _Listener
    timeout = _REQUEST_SECONDS

    def do_GET(self) -> None:
        """Answer the browser. The program goes on only then, because its end stops the answer."""
        # Any page may send any text as a path, also one that is no URL.
        path, _, query = self.path.partition("?")
        if path != PATH:
            self.send_error(HTTPStatus.NOT_FOUND)
        elif self.server.redirect.take(query):
            self._show(HTTPStatus.OK, 0)
            self.server.redirect.answered.set()
        else:
            self._show(HTTPStatus.BAD_REQUEST, 1)

    def _show(self, status: HTTPStatus, text: int) -> None:
        language = "zh" if self.headers.get("Accept-Language", "").startswith("zh") else "en"
        content = _PAGE.format(language, "Strongroom", _TEXTS[language][text]).encode()
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Log nothing: the URL has the code."""


def _listening(redirect: LoopbackRedirect) -> _Listener:
    try:
        return _Listener(redirect, socket.AF_INET, "127.0.0.1")
    except OSError:
        return _Listener(redirect, socket.AF_INET6, "::1")
