"""HTTP server of the simulator."""

import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from strongroom_simulators.oss.buckets import Bucket
from strongroom_simulators.oss.errors import OssError
from strongroom_simulators.oss.log import LoggedRequest, RequestLog
from strongroom_simulators.oss.request import CHUNK_SIZE, Request, read_body
from strongroom_simulators.oss.response import Response, error_response
from strongroom_simulators.oss.service import OssService
from strongroom_simulators.oss.signature import Account, SignatureVerifier
from strongroom_simulators.serving import ServingThread

Clock = Callable[[], datetime]

LARGEST_REQUEST = 5 * 1024**3


def system_clock() -> datetime:
    """Return the current time."""
    return datetime.now(UTC)


class OssSimulator(ServingThread):
    """A local OSS server; as a context manager it serves from a thread.

    Args:
        buckets: the names of the buckets to create.
        account: the account that may use them.
        region: the region required in signatures.
        host: the address to listen on.
        port: the port to listen on; 0 selects a free one.
        clock: the time for signatures and objects.
        largest_request: the maximum size of an upload or copy request, in bytes.
    """

    def __init__(
        self,
        buckets: Sequence[str],
        *,
        account: Account | None = None,
        region: str = "cn-hangzhou",
        host: str = "127.0.0.1",
        port: int = 0,
        clock: Clock = system_clock,
        largest_request: int = LARGEST_REQUEST,
    ) -> None:
        self.account = account or Account()
        self.region = region
        self.requests = RequestLog()
        self.buckets = {name: Bucket(name) for name in buckets}
        self._folder = Path(tempfile.mkdtemp(prefix="oss-simulator-"))
        verifier = SignatureVerifier(self.account, region)
        service = OssService(self._folder, self.buckets, verifier, largest=largest_request)
        super().__init__(_Server((host, port), service, self.requests, clock))

    @property
    def endpoint(self) -> str:
        """The URL to configure as ``endpoint``."""
        return f"http://{self.address}"

    def close(self) -> None:
        """Stop the server and remove all objects."""
        super().close()
        shutil.rmtree(self._folder)


class _Server(ThreadingHTTPServer):
    request_queue_size = 128

    def __init__(
        self, address: tuple[str, int], service: OssService, log: RequestLog, clock: Clock
    ) -> None:
        super().__init__(address, _Handler)
        self.service = service
        self.log = log
        self.clock = clock

    def handle_error(self, request: object, client_address: object) -> None:
        # Clients disconnect all the time; any other error is a bug and is printed.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "AliyunOSS"
    sys_version = ""
    disable_nagle_algorithm = True
    server: _Server

    def _serve(self) -> None:
        if not self.headers.get("Content-Length", "0").isdecimal():
            self.send_error(HTTPStatus.BAD_REQUEST)
            return
        body = read_body(self.headers, self.rfile)
        request = Request(self.command, self.path, self.headers, body, self.server.clock())
        request_id = secrets.token_hex(12).upper()
        try:
            response = self.server.service.answer(request)
        except OssError as error:
            response = error_response(error, request_id)
        self._skip_rest_of_body(request)
        operation = self.server.service.operation_name(request)
        self.server.log.append(LoggedRequest(operation, self.path, response.status))
        self._send(response, request_id)

    do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _serve  # noqa: N815  http.server looks for these

    def _skip_rest_of_body(self, request: Request) -> None:
        # Unread bytes would be parsed as the next request on this connection.
        try:
            while request.body.read(CHUNK_SIZE):
                continue
        except OssError:
            self.close_connection = True

    def _send(self, response: Response, request_id: str) -> None:
        self.send_response(response.status)
        headers = {"x-oss-request-id": request_id, "Content-Length": str(response.length)}
        for name, value in (headers | response.headers).items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command == "HEAD":
            return
        for piece in response.body:
            self.wfile.write(piece)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing: requests are recorded in the request log."""
