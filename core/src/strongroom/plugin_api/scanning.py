"""Content scanners: decide whether uploaded content may be read.

A scanner examines content and returns a verdict. The core decides when to call it, holds content back
until it has a verdict, repeats scans after a failure, and keeps refused content in quarantine.
"""

from abc import abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final

from strongroom.plugin_api.backoff import RETRY_AFTER_SECONDS
from strongroom.plugin_api.extension import Extension, OptionsT
from strongroom.plugin_api.storage import ByteSource
from strongroom.plugin_api.web import ErrorKind

HEAD_BYTES: Final = 8192
"""How many of the first bytes a scanner with :attr:`ContentScanner.head_only` receives at most."""


class ScanOutcome(StrEnum):
    """The outcome of a scan."""

    CLEAN = "clean"
    INFECTED = "infected"
    UNSCANNABLE = "unscannable"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a scan. Create it with one of the class methods.

    Args:
        outcome: what the scanner found.
        reason: the signature that matched, or why the content cannot be scanned; for administrators.
        kind: the error response to a rejected upload.
    """

    outcome: ScanOutcome
    reason: str = ""
    kind: ErrorKind | None = None

    @classmethod
    def clean(cls) -> "Verdict":
        """The scanner has no objection."""
        return cls(ScanOutcome.CLEAN)

    @classmethod
    def infected(cls, signature: str) -> "Verdict":
        """The content is malicious. ``signature`` is the name of the finding."""
        return cls(ScanOutcome.INFECTED, signature)

    @classmethod
    def unscannable(cls, reason: str) -> "Verdict":
        """The content is too large, encrypted or damaged; a repeated scan would return the same."""
        return cls(ScanOutcome.UNSCANNABLE, reason)

    @classmethod
    def rejected(cls, kind: ErrorKind) -> "Verdict":
        """The content breaks a rule of the installation.

        ``kind`` is an error that the plugin has registered by ``register_errors``.
        """
        return cls(ScanOutcome.REJECTED, kind.code, kind)


@dataclass(frozen=True, slots=True)
class ScannerVersion:
    """The version of a scanner. ``database`` is empty for a scanner without signatures."""

    engine: str
    database: str = ""


class ScannerUnavailable(Exception):
    """The scanner has no verdict now, but a repeated scan may have one.

    The core repeats the scan later; ``[scanning] on_unavailable`` decides whether the content can be
    read until then.

    Args:
        message: a line for the operator's log.
        retry_after: seconds for which the core does not call the scanner.
    """

    def __init__(self, message: str, *, retry_after: int = RETRY_AFTER_SECONDS) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ContentScanner(Extension[OptionsT]):
    """Examines uploaded content. All threads of a process share one instance.

    Only :class:`ScannerUnavailable` may be raised; a driver's own exceptions must not escape. The core
    takes any other exception for a failure of the scanner.
    """

    head_only: ClassVar[bool] = False
    """Whether the name, the media type and the first :data:`HEAD_BYTES` bytes are enough.

    Such a scanner is called before an upload of any size is stored, so that it is refused at once.
    Others receive the whole content, which for large files happens after the upload.
    """

    @abstractmethod
    def scan(self, stream: ByteSource, *, name: str, size: int, content_type: str) -> Verdict:
        """Return the verdict on a file.

        Memory use must not depend on the size. The call must return within two minutes after the last
        read; otherwise another process may begin the same scan.

        Args:
            stream: the content. Reading all of it is not required. Its errors must be raised unchanged.
            name: the file name, as given by the uploading client.
            size: the size of the file in bytes, also if the stream is its head.
            content_type: the media type that the core detected from the content.

        Raises:
            ScannerUnavailable: there is no verdict now.
        """

    def version(self) -> ScannerVersion | None:
        """Return the version that :meth:`scan` uses now, or ``None`` for a scanner without versions.

        Stored with each verdict, so that ``strongroom files scan --since`` finds the files that an older
        database has passed. Called once per scan.

        Raises:
            ScannerUnavailable: the version is not known now.
        """
        return None
