"""The content scanner: translates the answers of clamd to verdicts."""

import time
from calendar import timegm
from collections.abc import Callable
from typing import Final

from strongroom.plugin_api.scanning import ContentScanner, ScannerUnavailable, ScannerVersion, Verdict
from strongroom.plugin_api.storage import ByteSource
from strongroom_scan_clamd.options import ClamdOptions
from strongroom_scan_clamd.protocol import ClamdClient

_FOUND: Final = " FOUND"
_ERROR: Final = " ERROR"
# Alerts that mean "not scanned completely", see AlertExceedsMax and AlertEncrypted in clamd.conf(5).
_LIMITS: Final = ("Heuristics.Limits.Exceeded", "Heuristics.Encrypted")
_TOO_LARGE: Final = "INSTREAM size limit exceeded"
_VERSION_SECONDS: Final = 10.0


class ClamdScanner(ContentScanner[ClamdOptions]):
    """Scans uploads with ClamAV's daemon clamd."""

    name = "clamd"
    options_type = ClamdOptions

    def __init__(self, options: ClamdOptions, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(options)
        self._client = ClamdClient(options)
        self._now = now
        self._answer: tuple[float, str] | None = None

    def scan(self, stream: ByteSource, *, name: str, size: int, content_type: str) -> Verdict:  # noqa: ARG002
        # clamd reports content over its own limits as clean, unless AlertExceedsMax is set.
        if size > self.options.max_bytes:
            return Verdict.unscannable(f"larger than {self.options.max_bytes} bytes")
        return _verdict(self._client.scan(stream))

    def version(self) -> ScannerVersion:
        return _parse_version(self._version_answer())

    def signatures_at(self) -> float | None:
        """Return when the signatures were published, in seconds since the Unix epoch, if there are any.

        Raises:
            ScannerUnavailable: clamd does not answer.
        """
        return _parse_time(self._version_answer())

    def _version_answer(self) -> str:
        # clamd reloads its database every few minutes at most, and a small scan takes as long as a
        # query of the version.
        known = self._answer
        if known is None or self._now() >= known[0]:
            known = (self._now() + _VERSION_SECONDS, self._client.version())
            self._answer = known
        return known[1]


def _verdict(answer: str) -> Verdict:
    """Return the verdict of an answer; only ``OK`` is clean."""
    text = answer.removeprefix("stream: ")
    if text == "OK":
        return Verdict.clean()
    if text.endswith(_FOUND):
        signature = text.removesuffix(_FOUND)
        if signature.startswith(_LIMITS):
            return Verdict.unscannable(signature)
        return Verdict.infected(signature)
    if text.startswith(_TOO_LARGE):
        return Verdict.unscannable("larger than StreamMaxLength of clamd")
    raise ScannerUnavailable(f"clamd answered: {text.removesuffix(_ERROR)[:200]}")


def _parse_version(answer: str) -> ScannerVersion:
    """Parse ``ClamAV 1.4.6/27001/Sun Nov 22 08:00:00 2026``; the database may be missing."""
    engine, _, rest = answer.partition("/")
    return ScannerVersion(engine, rest.partition("/")[0])


def _parse_time(answer: str) -> float | None:
    """Return the time of the database, the third part of such an answer; clamd names no time zone."""
    text = answer.split("/", 2)[2:]
    try:
        return float(timegm(time.strptime(text[0], "%a %b %d %H:%M:%S %Y"))) if text else None
    except ValueError:
        return None
