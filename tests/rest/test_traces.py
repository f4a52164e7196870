"""Traces of requests in this process: the sampling, and the content of a trace."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support.api import Api, Person
from tests.support.collector import CollectedSpan, Collector, collecting
from tests.support.databases import make_unavailable

from strongroom.extensions.observability.tracing import OpenTelemetryTracer, start_tracing
from strongroom.foundation.config.server_settings import LoggingSettings, TracingSettings
from strongroom.foundation.logs import JsonFormatter, configure
from strongroom.plugin_api import tracing
from strongroom.testing.clock import ManualClock
from strongroom.web.http.request import current_request_id

SERVER_KIND = 2
TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE_ID}-b7ad6b7169203331-01"
PROXY = {"environ_overrides": {"REMOTE_ADDR": "192.0.2.1"}}
STRANGER = {"environ_overrides": {"REMOTE_ADDR": "198.51.100.1"}}
NOT_SAMPLED = f"00-{TRACE_ID}-b7ad6b7169203331-00"


@dataclass
class Traced:
    """An API whose requests are traced."""

    api: Api
    tracer: OpenTelemetryTracer
    collector: Collector
    alice: Person
    tenant: str

    def spans(self) -> list[CollectedSpan]:
        """Export and return all spans."""
        self.tracer.close()
        return self.collector.spans

    def children(self, name: str) -> list[str]:
        """Return the names of the spans within those with this name."""
        ids = {span.span_id for span in self.spans() if span.name == name}
        return [span.name for span in self.spans() if span.parent_id in ids]


@pytest.fixture
def ratio() -> float:
    return 1.0


pytestmark = pytest.mark.config({"server": {"trusted_proxies": ["192.0.2.0/24"]}})


@pytest.fixture
def traced(config: Path, clock: ManualClock, ratio: float) -> Iterator[Traced]:
    with collecting() as collector:
        tracer = start_tracing(TracingSettings(collector.url, sample_ratio=ratio))
        try:
            with Api.running(config, clock) as api:
                alice = api.person()
                yield Traced(api, tracer, collector, alice, api.tenant(alice))
        finally:
            tracing.install(None)
            tracer.close()


def test_a_download_is_traced_to_its_last_byte(traced: Traced) -> None:
    api, alice = traced.api, traced.alice
    content = bytes(300_000)
    name = {"Content-Disposition": 'attachment; filename="a.bin"'}
    node = api.post(f"{traced.tenant}/files", by=alice, data=content, headers=name).json
    api.get(f"{traced.tenant}/files/{node['id']}/download", by=alice)
    route = "/api/v1/tenants/<tenant_id>/files"
    assert "storage put" in traced.children(f"POST {route}")
    assert "storage open" in traced.children(f"GET {route}/<file_id>/download")


def test_statements_are_named_by_their_constants(traced: Traced) -> None:
    traced.api.get(f"{traced.tenant}/owners/me/files", by=traced.alice)
    names = {span.name for span in traced.spans() if span.name.startswith("statement ")}
    assert "statement files.listing.folder" in names
    # SQLite appends a record to the chain at once, PostgreSQL later.
    assert names & {"statement audit.chain.append", "statement audit.service.record"}
    assert not [name for name in names if name.endswith(".statement")]
    assert not [name for name in names if "<" in name]


def test_a_trace_of_a_trusted_proxy_is_continued(traced: Traced) -> None:
    traced.api.get("/livez", headers={"traceparent": PARENT}, **PROXY)
    (span,) = traced.spans()[-1:]
    assert (span.trace_id, span.parent_id) == (TRACE_ID, PARENT.split("-")[2])


def test_a_proxy_decides_what_is_not_sampled(traced: Traced) -> None:
    traced.api.get("/readyz", headers={"traceparent": NOT_SAMPLED}, **PROXY)
    assert not [span for span in traced.spans() if span.name == "GET /readyz"]


@pytest.mark.parametrize("claimed", [PARENT, NOT_SAMPLED])
def test_a_client_does_not_choose_the_trace(traced: Traced, claimed: str) -> None:
    traced.api.get("/livez", headers={"traceparent": claimed}, **STRANGER)
    (span,) = [span for span in traced.spans() if span.name == "GET /livez"]
    assert (span.trace_id != TRACE_ID, span.parent_id) == (True, "")


@pytest.mark.parametrize(
    "malformed",
    [
        "",
        "00",
        PARENT[:-1],
        PARENT.replace("00-", "ff-", 1),
        PARENT.replace(TRACE_ID, "0" * 32),
        "x" * 999,
    ],
)
def test_a_malformed_header_counts_as_none(traced: Traced, malformed: str) -> None:
    traced.api.get("/livez", headers={"traceparent": malformed}, **PROXY)
    (span,) = [span for span in traced.spans() if span.name == "GET /livez"]
    assert span.parent_id == ""


def test_unknown_methods_and_paths_have_one_name(traced: Traced) -> None:
    traced.api.request("BREW", "/a-secret-path")
    traced.api.get("/another-secret")
    names = {span.name for span in traced.spans()}
    assert {"OTHER -", "GET -"} <= names
    assert not [name for name in names if "secret" in name]


def test_a_failed_request_is_marked_without_its_text(
    traced: Traced, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_unavailable(monkeypatch)
    assert traced.api.get(f"{traced.tenant}/owners/me/files", by=traced.alice).status_code == 503
    (span,) = [
        span for span in traced.spans() if span.attributes.get("http.response.status_code") == 503
    ]
    assert span.has_failed
    assert span.attributes["error.type"] == "503"


def test_messages_belong_to_the_request_that_sent_them(traced: Traced) -> None:
    traced.api.code("dave@example.com", "register")
    assert "message email" in traced.children("POST /verification-codes")


def test_a_line_of_the_log_names_the_trace() -> None:
    record = logging.LogRecord("a", logging.WARNING, "", 0, "text", (), None)
    with collecting() as collector:
        tracer = OpenTelemetryTracer(TracingSettings(collector.url, sample_ratio=1))
        begun = tracer.start("HTTP")
        assert begun is not None
        root = logging.getLogger()
        handlers, level = root.handlers[:], root.level
        configure(LoggingSettings(format="json"), current_request_id, tracing.current_trace_ids)
        (handler,) = root.handlers
        root.handlers[:], root.level = handlers, level
        with tracing.within(begun):
            handler.filter(record)
        tracer.close()
    text = JsonFormatter().format(record)
    assert f'"traceId": "{begun.trace_id}", "spanId": "{begun.span_id}"' in text


class TestWithoutSampling:
    """Requests that are not sampled."""

    @pytest.fixture
    def ratio(self) -> float:
        return 0.0

    def test_nothing_is_recorded(self, traced: Traced) -> None:
        traced.api.get(f"{traced.tenant}/owners/me/files", by=traced.alice)
        assert traced.spans() == []

    def test_a_proxy_may_request_a_trace(self, traced: Traced) -> None:
        traced.api.get("/livez", headers={"traceparent": PARENT}, **PROXY)
        assert [span.name for span in traced.spans()] == ["GET /livez"]

    def test_work_without_a_request_is_always_traced(self, traced: Traced) -> None:
        with tracing.root_span("job core.prune"), tracing.span("step"):
            pass
        assert traced.children("job core.prune") == ["step"]


def test_without_a_tracer_a_span_is_nothing() -> None:
    with tracing.span("step") as inner, tracing.root_span("job") as job:
        assert (inner, job) == (None, None)
        assert tracing.traceparent() is None
    with tracing.span("delivery", parent=PARENT) as delivery:
        assert delivery is None


def test_a_thread_continues_the_span_that_was_carried_to_it(traced: Traced) -> None:
    begun = traced.tracer.start("HTTP")
    assert begun is not None
    with tracing.within(begun):
        carried = tracing.carry(tracing.traceparent)
    assert tracing.traceparent() is None
    assert carried() == begun.traceparent
