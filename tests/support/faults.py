"""A proxy in front of a store that makes every exchange fail in one way."""

import re
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from strongroom.testing.server import free_port

TRICKLE_SECONDS = 1.0
POLL_SECONDS = 0.02


class Fault(StrEnum):
    """The faults between a server and its store."""

    NONE = "none"
    REFUSED = "refused"
    RESET_BEFORE = "reset before the answer"
    RESET_AFTER = "reset after the store has done it"
    ERROR_500 = "500"
    TRICKLE = "1 byte a second"
    TRUNCATED = "truncated"
    WRONG_ETAG = "wrong ETag"


class FaultProxy:
    """Passes requests on to a store, and lets :attr:`fault` happen to each."""

    def __init__(self, endpoint: str) -> None:
        self._fault = Fault.NONE
        self._store = urlsplit(endpoint).netloc
        self._ended = threading.Event()
        # Not one that the system assigns: another connection might have it while this proxy refuses.
        self._port = free_port()
        self._listen()
        self.endpoint = f"http://127.0.0.1:{self._port}"

    @property
    def fault(self) -> Fault:
        """What happens to each exchange."""
        return self._fault

    @fault.setter
    def fault(self, fault: Fault) -> None:
        if Fault.REFUSED in {fault, self._fault} and fault is not self._fault:
            self._close() if fault is Fault.REFUSED else self._listen()
        self._fault = fault

    @contextmanager
    def running(self) -> Iterator["FaultProxy"]:
        """Serve until the block ends."""
        yield self
        self.fault = Fault.NONE
        self._ended.set()
        self._close()

    def _listen(self) -> None:
        proxy = self

        class Handler(_Handler):
            def exchange(self, body: bytes) -> None:
                proxy.exchange(self, body)

        self._server = _Server(("127.0.0.1", self._port), Handler)
        poll = {"poll_interval": POLL_SECONDS}
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs=poll)
        self._thread.start()

    def _close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def exchange(self, handler: "_Handler", body: bytes) -> None:
        """Answer one request, or do not."""
        if self.fault is Fault.RESET_BEFORE:
            handler.reset()
        elif self.fault is Fault.ERROR_500:
            handler.connection.sendall(
                b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
        else:
            self._give(handler, self._forward(handler, body))

    def _forward(self, handler: "_Handler", body: bytes) -> bytes:
        """Pass a request on, and return the store's answer as it goes over the wire."""
        hop_by_hop = {"connection", "transfer-encoding", "expect", "content-length"}
        headers = {
            name: value for name, value in handler.headers.items() if name.lower() not in hop_by_hop
        }
        if handler.command in ("PUT", "POST"):
            headers["Content-Length"] = str(len(body))
        store = HTTPConnection(self._store, timeout=60)
        store.request(handler.command, handler.path, body or None, headers)
        answer = store.getresponse()
        content = answer.read()
        store.close()
        kept = {name.lower(): value for name, value in answer.getheaders()}
        kept.pop("transfer-encoding", None)
        kept = {"content-length": str(len(content)), **kept, "connection": "close"}
        lines = [f"HTTP/1.1 {answer.status} {answer.reason}"]
        lines += [f"{name}: {value}" for name, value in kept.items()]
        return "\r\n".join([*lines, "", ""]).encode() + content

    def _give(self, handler: "_Handler", answer: bytes) -> None:
        connection = handler.connection
        if self.fault is Fault.RESET_AFTER:
            handler.reset()
        elif self.fault is Fault.TRUNCATED:
            head, _, content = answer.partition(b"\r\n\r\n")
            kept = len(head) + 4 + len(content) // 2 if content else len(head) // 2
            connection.sendall(answer[:kept])
        elif self.fault is Fault.TRICKLE:
            for byte in answer:
                connection.sendall(bytes([byte]))
                if self._ended.wait(TRICKLE_SECONDS) or self.fault is not Fault.TRICKLE:
                    break
        elif self.fault is Fault.WRONG_ETAG:
            connection.sendall(re.sub(rb'(?i)(etag: "?)[0-9a-f]{4}', rb"\g<1>0bad", answer))
        else:
            connection.sendall(answer)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    block_on_close = False

    def handle_error(self, *_: object) -> None:
        """Ignore errors: clients that meet a fault close their connection."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def exchange(self, body: bytes) -> None:
        raise NotImplementedError

    def serve(self) -> None:
        self.close_connection = True
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            body = b"".join(self._chunks())
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.exchange(body)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = serve  # noqa: N815  http.server looks for these

    def reset(self) -> None:
        """End the connection by RST, like a machine that has lost its state."""
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        return

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
