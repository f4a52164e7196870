"""HTTP server of the simulator."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from strongroom_simulators.serving import ServingThread
from strongroom_simulators.sms.gateway import Gateway
from strongroom_simulators.sms.messages import ApiRequest, ApiResponse

DELIVERIES_PATH = "/simulator/deliveries"


class Line(Enum):
    """Network faults of SendSms: the connection may break before or after the gateway has acted."""

    WORKS = auto()
    LOSES_REQUESTS = auto()
    LOSES_ANSWERS = auto()


class SmsSimulator(ServingThread):
    """Serves a gateway over HTTP; as a context manager, from a thread.

    The API is at ``/``, like the vendor's. ``GET /simulator/deliveries`` lists the deliveries, and
    ``DELETE`` removes them.

    Args:
        gateway: the gateway to serve; default: one with the default account.
        host: the address to listen on.
        port: the port to listen on; 0 selects a free one.
    """

    def __init__(
        self, gateway: Gateway | None = None, *, host: str = "127.0.0.1", port: int = 0
    ) -> None:
        self.gateway = gateway or Gateway()
        self.line = Line.WORKS
        super().__init__(_Server((host, port), self))

    @property
    def endpoint(self) -> str:
        """``host:port``, for a client's configuration."""
        return self.address

    @property
    def deliveries_url(self) -> str:
        """The URL of the list of deliveries."""
        return f"http://{self.endpoint}{DELIVERIES_PATH}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], simulator: SmsSimulator) -> None:
        super().__init__(address, _Handler)
        self.simulator = simulator


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        if urlsplit(self.path).path == DELIVERIES_PATH:
            deliveries = [asdict(delivery) for delivery in self.server.simulator.gateway.deliveries]
            self._respond(ApiResponse(200, {"deliveries": deliveries}))
        else:
            self._call_api()

    def do_POST(self) -> None:
        self._call_api()

    def do_DELETE(self) -> None:
        known = urlsplit(self.path).path == DELIVERIES_PATH
        if known:
            self.server.simulator.gateway.clear()
        self._respond(ApiResponse(200 if known else 404, {}))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log no requests, because their URLs contain the code."""

    def _call_api(self) -> None:
        request = self._read()
        simulator = self.server.simulator
        action = request.headers.get("x-acs-action") or request.parameters.get("Action")
        line = simulator.line if action == "SendSms" else Line.WORKS
        if line is Line.LOSES_REQUESTS:
            return
        response = simulator.gateway.handle(request)
        if line is Line.WORKS:
            self._respond(response)

    def _read(self) -> ApiRequest:
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        is_form = self.headers.get_content_type() == "application/x-www-form-urlencoded"
        return ApiRequest(
            method=self.command,
            path=url.path or "/",
            query=_pairs(url.query),
            form=_pairs(body.decode(errors="replace")) if is_form else {},
            headers={name.lower(): value for name, value in self.headers.items()},
            body=body,
        )

    def _respond(self, response: ApiResponse) -> None:
        content = json.dumps(response.body, ensure_ascii=False).encode()
        self.send_response(response.status)
        self.send_header("Content-Type", "application/json;charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _pairs(text: str) -> Mapping[str, str]:
    return dict(parse_qsl(text, keep_blank_values=True))
