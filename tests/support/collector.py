"""A collector of traces: receives OTLP over HTTP, and keeps the spans."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


@dataclass(frozen=True)
class CollectedSpan:
    """A span as it arrived."""

    name: str
    kind: int
    trace_id: str
    span_id: str
    parent_id: str
    began: int
    ended: int
    attributes: Mapping[str, Any]
    has_failed: bool
    service: str


@dataclass
class Collector:
    """The spans that have arrived, and the headers of the requests."""

    url: str
    spans: list[CollectedSpan] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    status: int = 200
    released: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        """Answer at once, until a test clears the event."""
        self.released.set()

    def of_trace(self, trace_id: str) -> list[CollectedSpan]:
        """Return the spans of a trace by the time of their beginning."""
        found = [span for span in self.spans if span.trace_id == trace_id]
        return sorted(found, key=lambda span: span.began)

    def named(self, name: str) -> list[CollectedSpan]:
        """Return the spans with a name."""
        return [span for span in self.spans if span.name == name]


class _Server(ThreadingHTTPServer):
    collector: Collector


class _Export(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        collector = self.server.collector
        collector.released.wait()
        collector.headers.append(headers)
        if collector.status == 200:
            collector.spans += _spans(ExportTraceServiceRequest.FromString(body))
        self.send_response(collector.status)
        self.send_header("Content-Type", "application/x-protobuf")
        self.end_headers()
        self.wfile.write(ExportTraceServiceResponse().SerializeToString())

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@contextmanager
def collecting(port: int = 0) -> Iterator[Collector]:
    """Run a collector on a port, by default a free one."""
    server = _Server(("127.0.0.1", port), _Export)
    server.collector = Collector(f"http://127.0.0.1:{server.server_port}/v1/traces")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.collector
    finally:
        server.collector.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _spans(request: ExportTraceServiceRequest) -> Iterator[CollectedSpan]:
    for resource in request.resource_spans:
        service = _values(resource.resource.attributes).get("service.name", "")
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield CollectedSpan(
                    span.name,
                    span.kind,
                    span.trace_id.hex(),
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    span.start_time_unix_nano,
                    span.end_time_unix_nano,
                    _values(span.attributes),
                    span.status.code == span.status.STATUS_CODE_ERROR,
                    service,
                )


def _values(attributes: Any) -> dict[str, Any]:
    return {item.key: getattr(item.value, item.value.WhichOneof("value")) for item in attributes}
