"""A content scanner that tests control, and the plugin that registers it."""

import sys
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

import pytest

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.scanning import (
    ContentScanner,
    ScannerUnavailable,
    ScannerVersion,
    Verdict,
)
from strongroom.plugin_api.storage import ByteSource
from strongroom.plugin_api.web import ErrorKind
from tests.support.config import Table
from tests.support.distributions import install

API_VERSION = "2.0"

VIRUS = b"this-is-malicious"
LOCKED = b"this-cannot-be-scanned"
REFUSED = ErrorKind(422, "error.refused-by-test", "Refused by the test.")

SCANNING: Table = {
    "plugins": {"enabled": ["storage_local", "scan_words"]},
    "scanning": {"scanners": ["words"]},
    "advanced": {"scan_inline_max_bytes": 1000},
}


class WordScanner(ContentScanner[Any]):
    """Looks for words. Its class attributes are its service."""

    name = "words"
    is_available = True
    database = "1"
    words: ClassVar[set[bytes]] = {VIRUS}
    scanned: ClassVar[list[str]] = []
    _lock = Lock()

    @classmethod
    def reset(cls) -> None:
        """Restore the initial state."""
        cls.is_available, cls.database, cls.words, cls.scanned = True, "1", {VIRUS}, []

    def scan(self, stream: ByteSource, *, name: str, size: int, content_type: str) -> Verdict:
        self._require_available()
        content = b""
        while piece := stream.read(64 * 1024):
            content += piece
            self._require_available()
        with self._lock:
            self.scanned.append(name)
        assert len(content) == size
        if any(word in content for word in self.words):
            return Verdict.infected("Test-Virus")
        if name.endswith(".exe"):
            return Verdict.rejected(REFUSED)
        return Verdict.unscannable("locked") if LOCKED in content else Verdict.clean()

    def version(self) -> ScannerVersion:
        return ScannerVersion("Words 1.0", self.database)

    def _require_available(self) -> None:
        if not self.is_available:
            raise ScannerUnavailable("away", retry_after=7)


@hookimpl
def register_content_scanners() -> list[type[ContentScanner[Any]]]:
    return [WordScanner]


@hookimpl
def register_errors() -> list[ErrorKind]:
    return [REFUSED]


def install_word_scanner(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Install the plugin ``scan_words`` for this process."""
    folder.mkdir(exist_ok=True)
    install(folder, "scan_words", f"from {__name__} import *\n")
    patch.syspath_prepend(folder)
    # The module of another test's folder.
    sys.modules.pop("acme_scan_words", None)
    WordScanner.reset()
