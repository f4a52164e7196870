"""The scanner with Debian's clamd."""

import io
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support import clamd

from strongroom.plugin_api.scanning import ScannerUnavailable, ScanOutcome, Verdict
from strongroom.testing.scanning import ContentScannerContract, Sample, eicar, scan, zipped
from strongroom.testing.server import free_port
from strongroom_scan_clamd.options import ClamdOptions
from strongroom_scan_clamd.scanner import ClamdScanner

pytestmark = pytest.mark.skipif(not clamd.is_installed(), reason="clamd is not installed")

MIB = 1024 * 1024


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short path, for Unix sockets."""
    path = Path(tempfile.mkdtemp(prefix="clamd"))
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def daemon() -> Iterator[clamd.Clamd]:
    with tempfile.TemporaryDirectory(prefix="clamd") as name, clamd.running(Path(name)) as daemon:
        yield daemon


def scanner_of(path: Path, **options: Any) -> ClamdScanner:
    return ClamdScanner(ClamdOptions(socket=str(path), **options))


class TestClamdScanner(ContentScannerContract):
    @pytest.fixture
    def scanner(self, daemon: clamd.Clamd) -> ClamdScanner:
        return scanner_of(daemon.socket)

    @pytest.fixture
    def unreachable_scanner(self, folder: Path) -> ClamdScanner:
        return scanner_of(folder / "nothing")

    @pytest.fixture
    def hanging_scanner(self, folder: Path) -> Iterator[ClamdScanner]:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(folder / "hanging"))
            listener.listen()
            yield scanner_of(folder / "hanging", timeout_seconds=1)

    def test_the_version_has_the_engine_and_its_database(self, scanner: ClamdScanner) -> None:
        version = scanner.version()
        assert version.engine.startswith("ClamAV 1.")
        assert "/" not in version.database

    def test_the_signature_is_the_reason(self, scanner: ClamdScanner) -> None:
        verdict = scan(scanner, Sample("eicar.com", eicar()))
        assert verdict == Verdict.infected("Eicar-Test-Signature.UNOFFICIAL")


def test_content_over_our_limit_is_not_sent(daemon: clamd.Clamd) -> None:
    scanner = scanner_of(daemon.socket, max_bytes=1000)
    stream = io.BytesIO(bytes(1001))
    verdict = scanner.scan(stream, name="a", size=1001, content_type="text/plain")
    assert verdict.outcome is ScanOutcome.UNSCANNABLE
    assert stream.tell() == 0


def test_content_over_the_limits_of_clamd_is_unscannable(folder: Path) -> None:
    with clamd.running(folder, stream_max=3, file_max=1) as daemon:
        scanner = scanner_of(daemon.socket)
        # clamd reads the stream, but scans no file of more than MaxFileSize.
        heuristic = scan(scanner, Sample("a", bytes(2 * MIB)))
        # clamd stops reading, so sending fails in the middle.
        refused = scan(scanner, Sample("a", bytes(64 * MIB)))
        small = scan(scanner, Sample("a", eicar()))
    assert heuristic == Verdict.unscannable("Heuristics.Limits.Exceeded.MaxFileSize")
    assert refused == Verdict.unscannable("larger than StreamMaxLength of clamd")
    assert small.outcome is ScanOutcome.INFECTED


def test_an_encrypted_archive_is_unscannable(daemon: clamd.Clamd) -> None:
    # The flag of encryption is bit 0 of the general purpose flags, in both headers.
    archive = bytearray(zipped("a.txt", b"content"))
    archive[6] |= 1
    archive[archive.index(b"PK\x01\x02") + 8] |= 1
    verdict = scan(scanner_of(daemon.socket), Sample("a.zip", bytes(archive)))
    assert verdict.outcome is ScanOutcome.UNSCANNABLE
    assert verdict.reason.startswith("Heuristics.Encrypted")


def test_a_daemon_that_is_killed_in_the_middle_is_unavailable(folder: Path) -> None:
    with clamd.running(folder) as daemon:

        class KillingSource:
            """Kills the daemon after the first piece."""

            def __init__(self) -> None:
                self._pieces = [bytes(1000)] * 1000

            def read(self, size: int, /) -> bytes:
                if len(self._pieces) == 900:
                    daemon.kill()
                return self._pieces.pop() if self._pieces else b""

        scanner = scanner_of(daemon.socket, timeout_seconds=5)
        with pytest.raises(ScannerUnavailable):
            scanner.scan(KillingSource(), name="a", size=1_000_000, content_type="text/plain")
        with pytest.raises(ScannerUnavailable):
            scan(scanner, Sample("a", b"a"))


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\0",
        b"stream: \0",
        b"OK FOUND?\0",
        b"stream: UNKNOWN COMMAND\0",
        b"stream: x ERROR\0",
        b"stream: OK",
    ],
)
def test_only_a_whole_ok_is_clean(folder: Path, answer: bytes) -> None:
    path = folder / "odd"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                # The scanner may have given up, if the machine stood still.
                while (piece := connection.recv(4096)) and not piece.endswith(b"\0\0\0\0"):
                    pass
                if piece:
                    connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(ScannerUnavailable):
            scan(scanner_of(path, timeout_seconds=5), Sample("a", b"content"))
        thread.join()


def test_the_host_replaces_the_socket(folder: Path) -> None:
    port = free_port()
    with clamd.running(folder, more=f"TCPSocket {port}\nTCPAddr 127.0.0.1"):
        scanner = ClamdScanner(ClamdOptions(host="127.0.0.1", port=port))
        assert scan(scanner, Sample("a", b"content")) == Verdict.clean()
        assert scan(scanner, Sample("a", eicar())).outcome is ScanOutcome.INFECTED
