"""``python -m bench.stub_s3``: an S3 server that stores sizes instead of bytes and responds at once.

The difference between two figures taken against it is the clients' own work. Its argument delays each
response by as many milliseconds, as a remote store would. The content of an object is zeros, except for
objects of up to 1 KiB, such as the owner marker of a store, which are stored. A key that ends in
``zeros-N`` exists with N zeros. It prints its port, lists the methods of requests at ``/requests``, and
ends when its standard input does.
"""

import os
import re
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import parse_qs, quote, unquote, urlsplit

from bench.harness import MEBIBYTE

LARGEST: Final = 2048 * MEBIBYTE
STORED_BYTES: Final = 1024
XML: Final = {
    "uploads": "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>",
    "uploadId": "<CompleteMultipartUploadResult><ETag>1</ETag></CompleteMultipartUploadResult>",
}


class StubS3(ThreadingHTTPServer):
    """The server and its state."""

    daemon_threads = True

    def __init__(self, wait_seconds: float = 0.0) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.wait_seconds = wait_seconds
        self.sizes: dict[str, int] = {}
        self.contents: dict[str, bytes] = {}
        self.lock = threading.Lock()
        self.requests: list[str] = []
        self.zeros = tempfile.TemporaryFile()  # noqa: SIM115  as long as the process
        os.truncate(self.zeros.fileno(), LARGEST)

    def size(self, path: str) -> int | None:
        """Return the size of an object."""
        unstored = re.search(r"zeros-(\d+)$", path)
        return int(unstored[1]) if unstored else self.sizes.get(path)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: StubS3

    def do_GET(self) -> None:
        """Give zeros."""
        if self.path == "/requests":
            # Remove it before the response, because a client may send the next request right after that.
            arrived, self.server.requests = self.server.requests, []
            self._answer(200, "\n".join(arrived).encode())
            return
        self.server.requests.append(self.command)
        time.sleep(self.server.wait_seconds)
        url = urlsplit(self.path)
        if "list-type" in url.query:
            self._answer(200, self._listing(url.path, parse_qs(url.query).get("prefix", [""])[0]))
            return
        size = self.server.size(url.path)
        if size is None:
            self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
            return
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        start = int(wanted[1]) if wanted else 0
        stop = min(int(wanted[2]) + 1, size) if wanted and wanted[2] else size
        headers = {"Content-Range": f"bytes {start}-{stop - 1}/{size}"} if wanted else {}
        self._head(206 if wanted else 200, stop - start, headers)
        if self.command == "GET" and url.path in self.server.contents:
            self.wfile.write(self.server.contents[url.path][start:stop])
        elif self.command == "GET":
            self._send_zeros(stop - start)

    do_HEAD = do_GET  # noqa: N815  http.server looks for it

    def do_PUT(self) -> None:
        """Take an object, or a part."""
        self.server.requests.append(self.command)
        url = urlsplit(self.path)
        size = int(self.headers.get("Content-Length", "0"))
        if size <= STORED_BYTES and "partNumber" not in url.query:
            self.server.contents[url.path] = self.rfile.read(size)
        else:
            self._drain()
        with self.server.lock:
            known = self.server.sizes.get(url.path, 0) if "partNumber" in url.query else 0
            self.server.sizes[url.path] = known + size
        self._answer(200, b"")

    def do_POST(self) -> None:
        """Begin or end a multipart upload."""
        self.server.requests.append(self.command)
        self._drain()
        url = urlsplit(self.path)
        name = "uploadId" if "uploadId" in url.query else "uploads"
        if name == "uploads":
            self.server.sizes[url.path] = 0
        self._answer(200, XML[name].encode())

    def do_DELETE(self) -> None:
        """Forget an object."""
        self.server.requests.append(self.command)
        self.server.sizes.pop(self.path, None)
        self.server.contents.pop(self.path, None)
        self._head(204, 0, {})

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Suppress the access log."""

    def _listing(self, bucket: str, prefix: str) -> bytes:
        start = f"{bucket.rstrip('/')}/{quote(prefix)}"
        with self.server.lock:
            found = sorted((path, size) for path, size in self.server.sizes.items())
        entries = "".join(
            f"<Contents><Key>{unquote(path[len(bucket.rstrip('/')) + 1 :])}</Key><Size>{size}</Size>"
            '<LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>"1"</ETag></Contents>'
            for path, size in found
            if path.startswith(start)
        )
        return f"<ListBucketResult><IsTruncated>false</IsTruncated>{entries}</ListBucketResult>".encode()

    def _drain(self) -> int:
        buffer, left = bytearray(MEBIBYTE), int(self.headers.get("Content-Length", "0"))
        size = left
        while left and (count := self.rfile.readinto(memoryview(buffer)[:left])):
            left -= count
        return size

    def _send_zeros(self, size: int) -> None:
        sent = 0
        try:
            while sent < size:
                sent += os.sendfile(
                    self.connection.fileno(), self.server.zeros.fileno(), sent, size - sent
                )
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _answer(self, status: int, body: bytes) -> None:
        self._head(status, len(body), {})
        if self.command != "HEAD":
            self.wfile.write(body)

    def _head(self, status: int, length: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(length), "ETag": '"1"', **headers}.items():
            self.send_header(name, value)
        self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        self.end_headers()


if __name__ == "__main__":
    server = StubS3(float(sys.argv[1]) / 1000 if len(sys.argv) > 1 else 0.0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()
