"""The doctor's check of content scanners."""

import io
from collections.abc import Iterator
from typing import Any, Final

from strongroom.clock import Clock
from strongroom.observability.doctor import CheckResult, failed, ok, warning
from strongroom.plugin_api.scanning import ContentScanner, ScannerUnavailable
from strongroom.scanning.rescans import Rescans
from strongroom.scanning.scanners import Scanners

TOLERATED: Final = 60 * 60 * 1000
"""Milliseconds that a file may wait for its scan without a warning."""

_CONTENT: Final = b"strongroom doctor"


class ScannersCheck:
    """Scans a harmless text with each scanner, and looks for files that wait for too long."""

    def __init__(self, scanners: Scanners, rescans: Rescans, clock: Clock) -> None:
        self._scanners = scanners
        self._rescans = rescans
        self._clock = clock

    def __call__(self) -> Iterator[CheckResult]:
        """Yield the findings."""
        for scanner in self._scanners.scanners:
            yield _examine(scanner)
        yield from self._examine_due()

    def _examine_due(self) -> Iterator[CheckResult]:
        part, (count, oldest) = "scanning", self._rescans.due()
        if not count or oldest is None:
            return
        message = f"{count} files wait for a scan"
        if not self._scanners.scanners:
            yield warning(part, f"{message}, but no scanner is configured", "see scanning.scanners")
        elif self._clock.now() - oldest > TOLERATED:
            hours = (self._clock.now() - oldest) // TOLERATED
            yield warning(
                part,
                f"{message}, the oldest for {hours} h",
                "see the log of the servers, or raise scanning.threads",
            )
        else:
            yield ok(part, message)


def _examine(scanner: ContentScanner[Any]) -> CheckResult:
    part = f"scanning.{scanner.name}"
    try:
        version = scanner.version()
        scanner.scan(
            io.BytesIO(_CONTENT), name="doctor.txt", size=len(_CONTENT), content_type="text/plain"
        )
    except ScannerUnavailable as error:
        remedy = f"start its service, or correct [{part}]; until then, new files are held back"
        return failed(part, f"is unavailable: {error}", remedy)
    except Exception as error:
        return failed(
            part, f"failed: {type(error).__name__}", "see the log; it is a fault of the plugin"
        )
    if version is None:
        return ok(part, "scans")
    return ok(part, f"scans with {version.engine}, database {version.database or 'unknown'}")
