"""Traces: the steps of a request, a job or a delivery, and how long each took.

The server exports traces by OpenTelemetry if ``[tracing] endpoint`` is set. A plugin adds a step of its
own, and continues the trace of the request that caused an event::

    with span("thumbnail"):
        ...
    with span("thumbnail", parent=event.traceparent):
        ...

Without tracing, and in the requests that are not sampled, a span costs almost nothing and records
nothing. Names and attributes must not contain names of files or users, addresses, tokens or other input
of clients.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final, TypeVar

T = TypeVar("T")

Attributes = Mapping[str, str | int | float | bool]

_NONE: Final[Attributes] = {}


class SpanKind(Enum):
    """The role of a span, as in OpenTelemetry."""

    INTERNAL = auto()
    """A step within the server."""
    SERVER = auto()
    """A request that the server answers."""
    CLIENT = auto()
    """A call of another server, such as the database."""


class TraceSpan(ABC):
    """A step that is recorded."""

    @property
    @abstractmethod
    def trace_id(self) -> str:
        """The id of the trace: 32 hexadecimal digits."""

    @property
    @abstractmethod
    def span_id(self) -> str:
        """The id of the span: 16 hexadecimal digits."""

    @property
    def traceparent(self) -> str:
        """The header that continues the trace in another process (W3C Trace Context, section 3.2)."""
        return f"00-{self.trace_id}-{self.span_id}-01"

    @abstractmethod
    def child(self, name: str, kind: SpanKind = SpanKind.INTERNAL) -> "TraceSpan":
        """Start a span within this one."""

    @abstractmethod
    def record(
        self,
        name: str,
        seconds: float,
        attributes: Attributes = _NONE,
        error: BaseException | None = None,
        kind: SpanKind = SpanKind.CLIENT,
    ) -> None:
        """Add a span within this one that ends now and has lasted for ``seconds``."""

    @abstractmethod
    def rename(self, name: str) -> None:
        """Change the name, which may be known only after the start."""

    @abstractmethod
    def set(self, attributes: Attributes) -> None:
        """Add attributes."""

    @abstractmethod
    def end(self, error: BaseException | str | None = None) -> None:
        """End the span; an error marks it as failed, by its class only."""


class Tracer(ABC):
    """Starts the spans of a process and exports them. The core has one if tracing is configured."""

    @abstractmethod
    def start(
        self,
        name: str,
        kind: SpanKind = SpanKind.INTERNAL,
        traceparent: str | None = None,
        *,
        always: bool = False,
    ) -> TraceSpan | None:
        """Start a span without a span of this process around it; return ``None`` if it is not sampled.

        Args:
            name: the name.
            kind: the role of the span.
            traceparent: the span of another process that this one continues. Its sampling decision
                applies. An invalid one counts as none.
            always: whether the span is sampled whatever the configured ratio, if there is no
                ``traceparent``.
        """


class _Process:
    """The tracer of this process."""

    tracer: Tracer | None = None


_CURRENT: Final[ContextVar[TraceSpan | None]] = ContextVar("strongroom_span", default=None)


def install(tracer: Tracer | None) -> None:
    """Set the tracer of this process; for the core only."""
    _Process.tracer = tracer


def process_tracer() -> Tracer | None:
    """Return the tracer of this process, or ``None`` if traces are not exported."""
    return _Process.tracer


current_span: Final[Callable[[], TraceSpan | None]] = _CURRENT.get
"""Returns the span around the caller, or ``None`` if nothing is recorded."""


def current_trace_ids() -> Mapping[str, str]:
    """Return ``traceId`` and ``spanId`` of the current span for the log, or nothing."""
    current = _CURRENT.get()
    return {"traceId": current.trace_id, "spanId": current.span_id} if current else {}


def traceparent() -> str | None:
    """Return the value of the header ``traceparent`` for a request to another server, if any."""
    current = _CURRENT.get()
    return current.traceparent if current else None


@contextmanager
def span(
    name: str,
    attributes: Attributes = _NONE,
    *,
    kind: SpanKind = SpanKind.INTERNAL,
    parent: str | None = None,
) -> Iterator[TraceSpan | None]:
    """Record the block as a span; yield ``None`` if it is not recorded.

    Args:
        name: the name; from a small set, without client input.
        attributes: further facts; see the warning of this module.
        kind: the role of the span.
        parent: the ``traceparent`` of another process or of an event, to continue its trace. By default,
            the span is within the current one, if there is one.
    """
    current = _CURRENT.get()
    if parent is not None and _Process.tracer is not None:
        child = _Process.tracer.start(name, kind, parent)
    else:
        child = current.child(name, kind) if current else None
    if child is None:
        yield None
        return
    child.set(attributes)
    with within(child):
        yield child


@contextmanager
def root_span(name: str, *, kind: SpanKind = SpanKind.INTERNAL) -> Iterator[TraceSpan | None]:
    """Record the block as a new trace, whatever the ratio of sampled requests; for rare work."""
    tracer = _Process.tracer
    root = tracer.start(name, kind, always=True) if tracer else None
    if root is None:
        yield None
        return
    with within(root):
        yield root


@contextmanager
def within(begun: TraceSpan) -> Iterator[None]:
    """Make a span the current one during the block, and end it with the block."""
    failure: BaseException | None = None
    try:
        with attached(begun):
            yield
    except BaseException as error:
        failure = error
        raise
    finally:
        begun.end(failure)


@dataclass(slots=True, eq=False, repr=False)
class _Attached:
    """The context manager of :func:`attached`. Not a generator, which costs three times as much."""

    _begun: TraceSpan
    _token: Token[TraceSpan | None] = field(init=False)

    def __enter__(self) -> None:
        self._token = _CURRENT.set(self._begun)

    def __exit__(self, *_failure: object) -> None:
        _CURRENT.reset(self._token)


def attached(begun: TraceSpan) -> AbstractContextManager[None]:
    """Make a span the current one during the block, without ending it."""
    return _Attached(begun)


def carry(function: Callable[..., T]) -> Callable[..., T]:
    """Return a function for another thread whose spans belong to the current span of this thread."""
    current = _CURRENT.get()
    if current is None:
        return function

    def carried(*arguments: object) -> T:
        with attached(current):
            return function(*arguments)

    return carried
