"""Calls the configured scanners in order, and combines their verdicts."""

import io
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Final

from strongroom.content.scanning.states import QUARANTINED, ScanState
from strongroom.foundation.plugins.hook_calls import WrongResult, require_result
from strongroom.plugin_api.scanning import (
    HEAD_BYTES,
    ContentScanner,
    ScannerUnavailable,
    ScannerVersion,
    ScanOutcome,
    Verdict,
)
from strongroom.plugin_api.storage import ByteSource, StorageError
from strongroom.plugin_api.web import ErrorKind

logger = logging.getLogger(__name__)

_REASON_LENGTH: Final = 255
_VERSION_LENGTH: Final = 64
_NONE: Final = ScannerVersion("")


@dataclass(frozen=True, slots=True)
class ScanSubject:
    """The file to scan: its name, its size in bytes and its media type."""

    name: str
    size: int
    content_type: str


@dataclass(frozen=True, slots=True)
class ScanResult:
    """The combined result of all scanners.

    Args:
        state: the resulting state of the content.
        scanner: the scanner that decided; empty before a scan.
        version: the version of that scanner.
        reason: the signature, or why the content could not be scanned.
        kind: the error that a scanner rejected the content with.
    """

    state: ScanState
    scanner: str = ""
    version: ScannerVersion = _NONE
    reason: str = ""
    kind: ErrorKind | None = None


PENDING: Final = ScanResult(ScanState.PENDING)

Open = Callable[[], AbstractContextManager[ByteSource]]
"""Opens the content for one scanner."""


class Scanners:
    """The configured scanners.

    Args:
        scanners: the scanners in the order of use.
        refuse_unscannable: whether unscannable content is rejected.
        observe: called with the state of each finished scan and its duration in seconds.
    """

    def __init__(
        self,
        scanners: Sequence[ContentScanner[Any]],
        kinds: Mapping[str, ErrorKind],
        *,
        refuse_unscannable: bool = False,
        observe: Callable[[str, str, float], None] | None = None,
    ) -> None:
        self.scanners = tuple(scanners)
        self._kinds = kinds
        self._refuse_unscannable = refuse_unscannable
        self._observe = observe

    def scan_head(self, subject: ScanSubject, head: bytes) -> ScanResult:
        """Return the result of the scanners that need only the head.

        It is pending if they have no objection and other scanners need the whole content.

        Raises:
            ScannerUnavailable: one of them has no verdict now.
        """
        chosen = [scanner for scanner in self.scanners if scanner.head_only]
        result = self._combine(chosen, subject, lambda: _source(head))
        is_final = result.state in QUARANTINED or len(chosen) == len(self.scanners)
        return result if is_final else PENDING

    def scan(self, subject: ScanSubject, open_: Open) -> ScanResult:
        """Return the result of all scanners; the first that refuses the content ends the scan.

        Raises:
            ScannerUnavailable: a scanner has no verdict now.
            StorageError: the content cannot be read.
        """
        return self._combine(self.scanners, subject, open_)

    def _combine(
        self, scanners: Sequence[ContentScanner[Any]], subject: ScanSubject, open_: Open
    ) -> ScanResult:
        passed = ScanResult(ScanState.CLEAN)
        for scanner in scanners:
            result = self._scan_by(scanner, subject, open_)
            if result.state in QUARANTINED:
                return result
            # A scanner with signatures decides about later scans, so its version is the one to keep.
            if result.state is ScanState.UNSCANNABLE or passed.version == _NONE:
                passed = _worse(passed, result)
        return passed

    def _scan_by(self, scanner: ContentScanner[Any], subject: ScanSubject, open_: Open) -> ScanResult:
        begun = time.monotonic()
        with open_() as source:
            stream = _Head(source) if scanner.head_only else source
            verdict, version = self._call(scanner, subject, stream)
        result = self._result(scanner, verdict, version)
        if self._observe is not None:
            self._observe(scanner.name, result.state.value, time.monotonic() - begun)
        return result

    def _call(
        self, scanner: ContentScanner[Any], subject: ScanSubject, stream: ByteSource
    ) -> tuple[Verdict, ScannerVersion]:
        try:
            # Before the scan: a database that is updated meanwhile counts as the older one.
            version = scanner.version() or _NONE
            verdict = scanner.scan(
                stream, name=subject.name, size=subject.size, content_type=subject.content_type
            )
        except (ScannerUnavailable, StorageError):
            raise
        except Exception as error:
            logger.exception("The content scanner %s failed", scanner.name)
            raise ScannerUnavailable(f"{scanner.name} failed: {type(error).__name__}") from error
        self._check(scanner, verdict)
        return verdict, version

    def _check(self, scanner: ContentScanner[Any], verdict: Verdict) -> None:
        """Refuse a verdict that breaks the contract, so that it never passes content."""
        try:
            require_result(scanner, "scan", verdict, Verdict)
        except WrongResult as error:
            logger.error("%s", error)  # noqa: TRY400  the line has the plugin and the remedy
            raise ScannerUnavailable(f"{scanner.name} returned an invalid verdict") from error
        is_known = verdict.kind is None or self._kinds.get(verdict.kind.code) == verdict.kind
        is_rejection = verdict.outcome is ScanOutcome.REJECTED
        if not is_known or is_rejection != (verdict.kind is not None):
            logger.error("The content scanner %s rejects with an unregistered error", scanner.name)
            raise ScannerUnavailable(f"{scanner.name} returned an invalid verdict")

    def _result(
        self, scanner: ContentScanner[Any], verdict: Verdict, version: ScannerVersion
    ) -> ScanResult:
        state = ScanState(verdict.outcome.value)
        if state is ScanState.UNSCANNABLE and self._refuse_unscannable:
            state = ScanState.REJECTED
        stored = ScannerVersion(version.engine[:_VERSION_LENGTH], version.database[:_VERSION_LENGTH])
        reason = _printable(verdict.reason)[:_REASON_LENGTH]
        return ScanResult(state, scanner.name, stored, reason, verdict.kind)


def _worse(one: ScanResult, other: ScanResult) -> ScanResult:
    return one if one.state is ScanState.UNSCANNABLE else other


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text)


class _Head:
    """The first bytes of a stream."""

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._rest = HEAD_BYTES

    def read(self, size: int, /) -> bytes:
        chunk = self._source.read(min(size, self._rest)) if self._rest else b""
        self._rest -= len(chunk)
        return chunk


@contextmanager
def _source(content: bytes) -> Iterator[ByteSource]:
    yield io.BytesIO(content)
