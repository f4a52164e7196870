"""Exports traces by the SDK of OpenTelemetry, with OTLP over HTTP.

This module is imported only if traces are exported, because importing the SDK takes as long as starting
the server. The SDK's own tracer needs about 30 microseconds per span, more than many requests take. So
spans are made here, in about 4 microseconds, and the SDK batches, encodes and sends them in its thread.
"""

import re
import time
from collections.abc import Callable, Mapping
from random import getrandbits, random
from typing import Final

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, Status, StatusCode, TraceFlags
from opentelemetry.trace import SpanKind as SdkKind

from strongroom.extensions.observability.trace_export import QUEUE_SPANS, CollectorExporter
from strongroom.foundation.config.server_settings import TracingSettings
from strongroom.plugin_api.tracing import Attributes, SpanKind, Tracer, TraceSpan, install
from strongroom.version import __version__

_NONE: Final[Attributes] = {}
_NANOSECONDS: Final = 1_000_000_000
_SAMPLED: Final = TraceFlags(TraceFlags.SAMPLED)
_KINDS: Final[Mapping[SpanKind, SdkKind]] = {kind: SdkKind[kind.name] for kind in SpanKind}
_UNSET: Final = Status()
_FAILED: Final = Status(StatusCode.ERROR)

# W3C Trace Context, section 3.2: later versions may append fields, and "ff" is invalid.
_TRACEPARENT = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?"
)


class _HashedResource(Resource):
    """A resource whose hash is computed once: the encoder needs it per span, and makes JSON for it."""

    def __init__(self, resource: Resource) -> None:
        super().__init__(resource.attributes, resource.schema_url)
        self._hash = super().__hash__()

    def __hash__(self) -> int:
        return self._hash


class _Pipeline:
    """Gives spans that have ended to the SDK."""

    def __init__(self, exporter: CollectorExporter, resource: Resource, version: str) -> None:
        self._exporter = exporter
        self._processor = BatchSpanProcessor(exporter, max_queue_size=QUEUE_SPANS)
        self._resource = resource
        self._scope = InstrumentationScope("strongroom", version)

    def export(
        self,
        name: str,
        kind: SpanKind,
        context: SpanContext,
        parent: SpanContext | None,
        attributes: Attributes,
        times: tuple[int, int],
        error: BaseException | str | None,
    ) -> None:
        if not self._exporter.reserve():
            return
        if error is not None:
            # Only the class: the text of an error may contain names and addresses.
            failure = error if isinstance(error, str) else type(error).__qualname__
            attributes = {**attributes, "error.type": failure}
        began, ended = times
        span = ReadableSpan(
            name,
            context,
            parent,
            self._resource,
            attributes,
            kind=_KINDS[kind],
            instrumentation_scope=self._scope,
            status=_UNSET if error is None else _FAILED,
            start_time=began,
            end_time=ended,
        )
        self._processor.on_end(span)

    def close(self) -> None:
        """Export the remaining spans, unless the collector is unavailable, and stop."""
        self._exporter.give_up()
        self._processor.shutdown()  # type: ignore[no-untyped-call]  # the SDK is partly typed


class OpenTelemetrySpan(TraceSpan):
    """A span that is exported when it ends."""

    __slots__ = ("_attributes", "_began", "_context", "_kind", "_name", "_parent", "_pipeline")

    def __init__(
        self, pipeline: _Pipeline, name: str, kind: SpanKind, trace_id: int, parent: SpanContext | None
    ) -> None:
        self._pipeline = pipeline
        self._name = name
        self._kind = kind
        self._context = _context(trace_id)
        self._parent = parent
        self._attributes: Attributes = _NONE
        self._began = time.time_ns()

    @property
    def trace_id(self) -> str:
        return f"{self._context.trace_id:032x}"

    @property
    def span_id(self) -> str:
        return f"{self._context.span_id:016x}"

    def child(self, name: str, kind: SpanKind = SpanKind.INTERNAL) -> "OpenTelemetrySpan":
        return OpenTelemetrySpan(self._pipeline, name, kind, self._context.trace_id, self._context)

    def record(
        self,
        name: str,
        seconds: float,
        attributes: Attributes = _NONE,
        error: BaseException | None = None,
        kind: SpanKind = SpanKind.CLIENT,
    ) -> None:
        now, context = time.time_ns(), _context(self._context.trace_id)
        times = (now - int(seconds * _NANOSECONDS), now)
        self._pipeline.export(name, kind, context, self._context, attributes, times, error)

    def rename(self, name: str) -> None:
        self._name = name

    def set(self, attributes: Attributes) -> None:
        self._attributes = {**self._attributes, **attributes} if self._attributes else attributes

    def end(self, error: BaseException | str | None = None) -> None:
        times = (self._began, time.time_ns())
        self._pipeline.export(
            self._name, self._kind, self._context, self._parent, self._attributes, times, error
        )


class OpenTelemetryTracer(Tracer):
    """Starts and exports spans.

    Args:
        settings: the keys ``[tracing]``.
        exporter: sends the spans; by default one for ``settings``.
    """

    def __init__(
        self,
        settings: TracingSettings,
        service_version: str = __version__,
        exporter: CollectorExporter | None = None,
    ) -> None:
        resource = Resource.create(
            {"service.name": settings.service_name, "service.version": service_version}
        )
        self._exporter = exporter or CollectorExporter(settings)
        self._pipeline = _Pipeline(self._exporter, _HashedResource(resource), service_version)
        self._ratio = settings.sample_ratio

    def start(
        self,
        name: str,
        kind: SpanKind = SpanKind.INTERNAL,
        traceparent: str | None = None,
        *,
        always: bool = False,
    ) -> OpenTelemetrySpan | None:
        parent = _TRACEPARENT.fullmatch(traceparent) if traceparent is not None else None
        if parent is not None:
            return self._continue(name, kind, parent)
        if not always and random() >= self._ratio:  # noqa: S311  no secret
            return None
        return OpenTelemetrySpan(self._pipeline, name, kind, getrandbits(128) or 1, None)

    def report_drops(self, report: Callable[[str, int], None]) -> None:
        """Pass the reason and number of dropped spans to a function, earlier ones included."""
        self._exporter.report_drops(report)

    def close(self) -> None:
        """Export the remaining spans, unless the collector is unavailable, and stop."""
        self._pipeline.close()

    def _continue(self, name: str, kind: SpanKind, parent: re.Match[str]) -> OpenTelemetrySpan | None:
        trace_id, span_id, flags = (int(part, 16) for part in parent.groups()[:3])
        if not flags & _SAMPLED:
            return None
        remote = SpanContext(trace_id, span_id, is_remote=True, trace_flags=_SAMPLED)
        return OpenTelemetrySpan(self._pipeline, name, kind, trace_id, remote)


def start_tracing(settings: TracingSettings) -> OpenTelemetryTracer:
    """Export the traces of this process from now on.

    Call it after the fork of the process, because the exporter has a thread.
    """
    tracer = OpenTelemetryTracer(settings)
    install(tracer)
    return tracer


def _context(trace_id: int) -> SpanContext:
    # An id of zeros is invalid.
    return SpanContext(trace_id, getrandbits(64) or 1, is_remote=False, trace_flags=_SAMPLED)
