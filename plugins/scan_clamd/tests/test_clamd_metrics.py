"""The metrics, with a socket that answers the version as clamd does."""

import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from strongroom.plugin_api.scanning import ScannerUnavailable, ScannerVersion
from strongroom.testing.metrics import MetricsContract, record_metrics
from strongroom.testing.state import OpenedPlugin, opened_plugin
from strongroom_scan_clamd.options import ClamdOptions
from strongroom_scan_clamd.scanner import ClamdScanner

ANSWER = "ClamAV 1.4.6/27001/Sun Nov  1 08:00:00 2026"
PUBLISHED = 1_793_520_000
SIGNATURES = "signatures_timestamp_seconds"


@contextmanager
def answering(answer: str) -> Iterator[Path]:
    """Answer each command on a socket with a short path."""
    folder = Path(tempfile.mkdtemp(prefix="clamd"))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "socket"))
        listener.listen()

        def serve() -> None:
            while True:
                connection, _ = listener.accept()
                with connection:
                    if not connection.recv(4096):
                        return
                    connection.sendall(answer.encode() + b"\0")

        thread = threading.Thread(target=serve)
        thread.start()
        yield folder / "socket"
        with socket.socket(socket.AF_UNIX) as last:
            last.connect(str(folder / "socket"))
        thread.join()
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def clamd() -> Iterator[Path]:
    with answering(ANSWER) as path:
        yield path


@pytest.fixture
def opened(tmp_path: Path, clamd: Path) -> Iterator[OpenedPlugin]:
    settings = {"scanning": {"scanners": ["clamd"], "clamd": {"socket": str(clamd)}}}
    with opened_plugin(tmp_path, "scan_clamd", settings=settings) as opened:
        yield opened


class TestMetrics(MetricsContract):
    """The metrics."""


def test_the_time_of_the_signatures_is_read(opened: OpenedPlugin) -> None:
    recorded = record_metrics(opened)
    assert recorded.read(SIGNATURES) == {(): PUBLISHED}
    assert len(recorded.values("connection_wait_seconds")) == 1


def test_without_the_scanner_there_are_no_signatures(tmp_path: Path) -> None:
    with opened_plugin(tmp_path, "scan_clamd") as opened:
        assert record_metrics(opened).read(SIGNATURES) == {}


@pytest.mark.parametrize(
    ("answer", "version"),
    [
        ("ClamAV 1.4.6", ScannerVersion("ClamAV 1.4.6")),
        ("ClamAV 1.4.6/27001/lately", ScannerVersion("ClamAV 1.4.6", "27001")),
    ],
)
def test_a_version_without_a_time_has_none(answer: str, version: ScannerVersion) -> None:
    with answering(answer) as path:
        scanner = ClamdScanner(ClamdOptions(socket=str(path)))
        assert scanner.signatures_at() is None
        assert scanner.version() == version


def test_a_clamd_that_is_away_has_no_time(tmp_path: Path) -> None:
    scanner = ClamdScanner(ClamdOptions(socket=str(tmp_path / "nothing")))
    with pytest.raises(ScannerUnavailable):
        scanner.signatures_at()
