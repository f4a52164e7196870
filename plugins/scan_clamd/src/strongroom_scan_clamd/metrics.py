"""The metrics that only clamd knows; the core measures the duration and the outcome of scans."""

from typing import Final

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.metrics import Gauge, Metric
from strongroom_scan_clamd.protocol import CONNECTION_WAIT
from strongroom_scan_clamd.scanner import ClamdScanner

_SIGNATURES: Final = (
    "When the signatures of clamd were published, by its local time as if it were UTC, in seconds "
    "since the Unix epoch."
)


def make_metrics(host: HostAPI) -> list[Metric]:
    """Return the metrics of one server."""

    def signatures_at() -> float | None:
        scanner = host.extension(ClamdScanner)
        return scanner.signatures_at() if scanner else None

    return [
        CONNECTION_WAIT,
        Gauge("signatures_timestamp", _SIGNATURES, signatures_at, unit="seconds"),
    ]
