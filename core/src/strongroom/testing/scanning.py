"""Contract tests for content scanners."""

import io
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import pytest

from strongroom.plugin_api.scanning import (
    HEAD_BYTES,
    ContentScanner,
    ScannerUnavailable,
    ScannerVersion,
    ScanOutcome,
    Verdict,
)
from strongroom.plugin_api.storage import ByteSource, StorageUnavailable

# Two halves, joined when the tests run, so that no scanner finds the whole string in a file of this
# package, compiled ones included.
_FIRST_HALF: Final = b"X5O!P%@AP[4\\PZX54(P^)7CC)7}$"
_SECOND_HALF: Final = b"EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"

_BIG: Final = 24 * 1024 * 1024
_LARGEST_READ: Final = 4 * 1024 * 1024


def eicar() -> bytes:
    """Return the EICAR test file: harmless, and reported by all virus scanners."""
    return b"".join((_FIRST_HALF, _SECOND_HALF))


def zipped(name: str, content: bytes) -> bytes:
    """Return a ZIP archive with one file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


@dataclass(frozen=True, slots=True)
class Sample:
    """A file to scan."""

    name: str
    content: bytes
    content_type: str = "application/octet-stream"


@dataclass(slots=True, eq=False, repr=False)
class Zeros:
    """A source of zeros that checks how much is read at once."""

    _rest: int

    def read(self, size: int, /) -> bytes:
        assert 0 < size <= _LARGEST_READ, "read in pieces of at most 4 MiB"
        piece = bytes(min(size, self._rest, 64 * 1024))
        self._rest -= len(piece)
        return piece


class BreakingSource:
    """A source whose storage becomes unavailable after some bytes."""

    def __init__(self, size: int, error: Exception) -> None:
        self._source = Zeros(size)
        self._error = error
        self.has_broken = False

    def read(self, size: int, /) -> bytes:
        if piece := self._source.read(size):
            return piece
        self.has_broken = True
        raise self._error


class ContentScannerContract:
    """The contract of content scanners. Provide the fixture ``scanner``.

    A scanner that uses a service provides ``unreachable_scanner`` and ``hanging_scanner`` as well. A
    scanner that looks for something other than malicious content overrides ``refused``.
    """

    finds_in_archives = True
    """Whether the scanner finds content in ZIP archives."""

    @pytest.fixture
    def scanner(self) -> ContentScanner[Any]:
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def unreachable_scanner(self) -> ContentScanner[Any] | None:
        """The same kind of scanner, whose service does not run; ``None`` without a service."""
        return None

    @pytest.fixture
    def hanging_scanner(self) -> ContentScanner[Any] | None:
        """The same kind of scanner, whose service never answers, with a time limit of a second."""
        return None

    @pytest.fixture
    def refused(self) -> Sample:
        """A file that the scanner refuses."""
        return Sample("eicar.com", eicar())

    @pytest.fixture
    def passed(self) -> Sample:
        """A file that the scanner passes."""
        return Sample("notes.txt", b"Nothing to see here.\n", "text/plain")

    @pytest.fixture(autouse=True)
    def closed_at_the_end(
        self,
        scanner: ContentScanner[Any],
        unreachable_scanner: ContentScanner[Any] | None,
        hanging_scanner: ContentScanner[Any] | None,
    ) -> Iterator[None]:
        yield
        for item in (scanner, unreachable_scanner, hanging_scanner):
            if item is not None:
                item.close()

    def test_a_version_is_text(self, scanner: ContentScanner[Any]) -> None:
        version = scanner.version()
        if version is not None:
            assert isinstance(version, ScannerVersion)
            assert version.engine
            assert version == scanner.version()

    def test_a_good_file_is_clean(self, scanner: ContentScanner[Any], passed: Sample) -> None:
        assert scan(scanner, passed) == Verdict.clean()

    def test_a_bad_file_is_refused_with_a_reason(
        self, scanner: ContentScanner[Any], refused: Sample
    ) -> None:
        verdict = scan(scanner, refused)
        assert verdict.outcome in (ScanOutcome.INFECTED, ScanOutcome.REJECTED)
        assert verdict.reason
        assert (verdict.kind is not None) == (verdict.outcome is ScanOutcome.REJECTED)

    def test_a_verdict_is_stable(
        self, scanner: ContentScanner[Any], refused: Sample, passed: Sample
    ) -> None:
        for sample in (refused, passed):
            assert len({scan(scanner, sample) for _ in range(5)}) == 1

    @pytest.mark.parametrize("size", [0, 1, HEAD_BYTES, HEAD_BYTES + 1])
    def test_small_content_has_a_verdict(
        self, scanner: ContentScanner[Any], passed: Sample, size: int
    ) -> None:
        assert scan(scanner, Sample(passed.name, b"a" * size)) == Verdict.clean()

    def test_big_content_is_read_in_pieces(self, scanner: ContentScanner[Any], passed: Sample) -> None:
        verdict = _scan(scanner, passed, Zeros(_BIG), _BIG)
        assert verdict.outcome in (ScanOutcome.CLEAN, ScanOutcome.UNSCANNABLE)

    @pytest.mark.parametrize("depth", [1, 2])
    def test_archives_are_searched(
        self, scanner: ContentScanner[Any], refused: Sample, depth: int
    ) -> None:
        if not self.finds_in_archives:
            pytest.skip("this scanner does not search archives")
        content = refused.content
        for level in range(depth):
            content = zipped(f"{level}.zip" if level else refused.name, content)
        verdict = scan(scanner, Sample("archive.zip", content, "application/zip"))
        assert verdict.outcome in (ScanOutcome.INFECTED, ScanOutcome.REJECTED)

    @pytest.mark.parametrize("name", ["", "-", "a\nb", "x" * 255, "验证码.txt", "../../etc/passwd"])
    def test_no_name_breaks_it(self, scanner: ContentScanner[Any], passed: Sample, name: str) -> None:
        assert isinstance(scan(scanner, Sample(name, passed.content)), Verdict)

    def test_errors_of_the_stream_are_raised_unchanged(
        self, scanner: ContentScanner[Any], passed: Sample, refused: Sample
    ) -> None:
        error = StorageUnavailable("the store is unavailable")
        source = BreakingSource(1024 * 1024, error)
        raised: list[Exception] = []
        try:
            _scan(scanner, passed, source, 2 * 1024 * 1024)
        except StorageUnavailable as problem:
            raised.append(problem)
        # A scanner need not read everything, but may not ignore an error.
        assert raised == ([error] if source.has_broken else [])
        assert scan(scanner, passed) == Verdict.clean()
        assert scan(scanner, refused) != Verdict.clean()

    def test_threads_do_not_disturb_each_other(
        self, scanner: ContentScanner[Any], passed: Sample, refused: Sample
    ) -> None:
        samples: Sequence[Sample] = [passed, refused] * 8
        with ThreadPoolExecutor(8) as pool:
            verdicts = list(pool.map(lambda sample: scan(scanner, sample), samples))
        assert [verdict.outcome is ScanOutcome.CLEAN for verdict in verdicts] == [True, False] * 8

    def test_a_service_that_does_not_run_is_unavailable(
        self, unreachable_scanner: ContentScanner[Any] | None, passed: Sample
    ) -> None:
        if unreachable_scanner is None:
            pytest.skip("this scanner has no service")
        with pytest.raises(ScannerUnavailable):
            scan(unreachable_scanner, passed)

    def test_a_service_that_hangs_is_unavailable(
        self, hanging_scanner: ContentScanner[Any] | None, passed: Sample
    ) -> None:
        if hanging_scanner is None:
            pytest.skip("this scanner has no service")
        with pytest.raises(ScannerUnavailable):
            scan(hanging_scanner, passed)


def scan(scanner: ContentScanner[Any], sample: Sample) -> Verdict:
    """Return the verdict on a file."""
    content = sample.content[:HEAD_BYTES] if scanner.head_only else sample.content
    return _scan(scanner, sample, io.BytesIO(content), len(sample.content))


def _scan(scanner: ContentScanner[Any], sample: Sample, source: ByteSource, size: int) -> Verdict:
    return scanner.scan(source, name=sample.name, size=size, content_type=sample.content_type)
