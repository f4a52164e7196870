"""A front end on an origin of its own: a few static pages over HTTP."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class _Handler(BaseHTTPRequestHandler):
    """Serves pages by their paths."""

    def __init__(self, pages: Mapping[str, str], *args: Any) -> None:
        self._pages = pages
        super().__init__(*args)

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        content = self._pages.get(path)
        self.send_response(404 if content is None else 200)
        kind = "text/javascript" if path.endswith((".js", ".mjs")) else "text/html"
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.end_headers()
        self.wfile.write((content or "").encode())

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@contextmanager
def front_end(port: int, pages: Mapping[str, str]) -> Iterator[None]:
    """Serve pages on a port of this machine until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", port), partial(_Handler, pages))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
