"""Makes pictures of documents in worker processes, a bounded number at a time."""

import json
import logging
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from threading import BoundedSemaphore
from typing import BinaryIO, Final, cast

from werkzeug.exceptions import ServiceUnavailable, UnprocessableEntity

from strongroom.plugin_api.confinement import run_confined
from strongroom_console.pdf.requests import PdfRequest

logger = logging.getLogger(__name__)

MAX_DOCUMENT_BYTES: Final = 32 * 1024 * 1024
"""The maximum size of a document that has a picture."""

_REQUEST: Final = PdfRequest(memory_bytes=512 * 1024 * 1024, seconds=10, width=1000, pages=4)
_SLOTS: Final = BoundedSemaphore(2)
_WAIT_SECONDS: Final = 5
_LOGGED: Final = 2000


def picture_of_document(write: Callable[[BinaryIO], object], request: PdfRequest = _REQUEST) -> bytes:
    """Return a picture, a JPEG, of the first pages of a document.

    Args:
        write: writes the document to a file; called once a slot is free.

    Raises:
        ServiceUnavailable: too many pictures are being made.
        UnprocessableEntity: the document cannot be read, or takes too much memory or time.
    """
    with (
        _slot(),
        tempfile.TemporaryFile() as content,
        tempfile.TemporaryFile() as answer,
        tempfile.TemporaryFile() as errors,
    ):
        write(cast("BinaryIO", content))
        content.seek(0)
        status = run_confined(
            "strongroom_console.pdf.worker",
            json.dumps(asdict(request)),
            content=cast("BinaryIO", content),
            answer=cast("BinaryIO", answer),
            errors=cast("BinaryIO", errors),
            seconds=request.seconds,
        )
        if status != 0:
            errors.seek(0)
            reason = errors.read(_LOGGED).decode(errors="replace")
            logger.info("No picture of a document: worker exited with %d: %s", status, reason)
            raise UnprocessableEntity
        answer.seek(0)
        return answer.read()


@contextmanager
def _slot() -> Iterator[None]:
    if not _SLOTS.acquire(timeout=_WAIT_SECONDS):
        raise ServiceUnavailable
    try:
        yield
    finally:
        _SLOTS.release()
