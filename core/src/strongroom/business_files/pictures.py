"""Cleans and scales pictures, each in a process of its own that is limited in memory and time."""

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from threading import Timer
from typing import Any, BinaryIO, Final

from strongroom.business_files.receiving import disk_faults
from strongroom.business_files.requests import NO_SPACE, PictureRequest, raise_refusal
from strongroom.business_files.slots import PictureSlots
from strongroom.errors import PictureTooLarge, PictureUnreadable, StorageFull, Unavailable

logger = logging.getLogger(__name__)

DEFAULT_MEMORY_BYTES: Final = 256 * 1024 * 1024
DEFAULT_SECONDS: Final = 5

_ALL_VARIANTS: Final = "variants"
_LOGGED: Final = 2000


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that carries nothing but its pixels. ``width`` and ``height`` are as it is shown."""

    content: bytes
    width: int
    height: int


class PictureProcessor:
    """Decodes and encodes pictures in worker processes.

    Args:
        slots: how many are worked on at once.
        memory_bytes: how much memory one picture may take, apart from the interpreter's.
        seconds: how long one picture may take.
    """

    def __init__(
        self,
        slots: PictureSlots,
        *,
        memory_bytes: int = DEFAULT_MEMORY_BYTES,
        seconds: int = DEFAULT_SECONDS,
    ) -> None:
        self._slots = slots
        self._memory_bytes = memory_bytes
        self._seconds = seconds

    def clean(self, file: BinaryIO, media_type: str, max_pixels: int, user: str) -> Picture:
        """Return a picture turned upright, in sRGB, without EXIF and all else that it carries.

        It is decoded and encoded again, so bytes after the pixels, metadata and other files hidden in
        the picture are lost.

        Args:
            file: the picture, from its position on.
            media_type: its type.
            max_pixels: the most pixels it may have.
            user: the caller's id; users share the slots.

        Raises:
            PictureTooLarge: it has too many pixels, or takes too much memory or time.
            PictureUnreadable: it cannot be decoded to its end.
            StorageFull: there is no room for the result.
            Unavailable: too many pictures are being worked on.
        """
        request = PictureRequest(media_type, self._memory_bytes, self._seconds, max_pixels=max_pixels)
        with self._slots.slot(user):
            head, content = self._run(request, file)
        return Picture(content, head["width"], head["height"])

    def scale(self, read: Callable[[], bytes], media_type: str, width: int) -> bytes:
        """Return a picture that was cleaned in a smaller width; all frames of an animation.

        Raises:
            PictureTooLarge: it takes too much memory or time.
            PictureUnreadable: it cannot be decoded any more.
            StorageFull: there is no room for the result.
            Unavailable: too many pictures are being worked on.
        """
        request = PictureRequest(media_type, self._memory_bytes, self._seconds, width=width)
        with self._slots.slot(_ALL_VARIANTS):
            return self._run(request, BytesIO(read()))[1]

    def _run(self, request: PictureRequest, source: BinaryIO) -> tuple[dict[str, Any], bytes]:
        with (
            disk_faults(),
            tempfile.TemporaryFile() as content,
            tempfile.TemporaryFile() as answer,
            tempfile.TemporaryFile() as errors,
        ):
            shutil.copyfileobj(source, content)
            content.seek(0)
            _judge(self._work(request, content, answer, errors), errors)
            answer.seek(0)
            head: dict[str, Any] = json.loads(answer.readline())
            if "error" in head:
                logger.info("A picture was refused: %s %s", head["detail"], head.get("cause", ""))
            raise_refusal(head)
            return head, answer.read()

    def _work(
        self, request: PictureRequest, content: BinaryIO, answer: BinaryIO, errors: BinaryIO
    ) -> int:
        """Run a worker to its end, and return its exit status."""
        command = [sys.executable, "-s", "-P", "-m", "strongroom.business_files.worker"]
        try:
            process = subprocess.Popen(  # noqa: S603  nothing in it comes from a client as a command
                [*command, json.dumps(asdict(request))],
                stdin=content,
                stdout=answer,
                stderr=errors,
                env=_environment(),
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            logger.exception("No picture worker can be started.")
            raise Unavailable(retry_after=self._seconds) from error
        timer = Timer(self._seconds, process.kill)
        timer.start()
        try:
            return process.wait()
        finally:
            timer.cancel()


def _environment() -> Mapping[str, str]:
    """Return what a worker needs to find the same packages; the server's own variables hold secrets."""
    passed = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    path = os.pathsep.join(str(Path(folder).absolute()) for folder in sys.path)
    # Each arena of malloc would take 64 MiB of address space, of which the memory limit is made.
    return {**passed, "PYTHONPATH": path, "LC_ALL": "C.UTF-8", "MALLOC_ARENA_MAX": "1"}


def _judge(status: int, errors: BinaryIO) -> None:
    """Pass if a worker has answered.

    Raises:
        PictureTooLarge: it ran into the limit of time.
        PictureUnreadable: it crashed.
        StorageFull: there was no room for its answer.
        Unavailable: it did not get as far as the picture.
    """
    if status == 0:
        return
    if status == NO_SPACE:
        raise StorageFull
    if status in (-signal.SIGKILL, -signal.SIGXCPU):
        message = "It takes too much time to decode."
        raise PictureTooLarge.of_field("file", "too-expensive", message)
    errors.seek(0)
    logger.error(
        "A picture worker ended with %d: %s", status, errors.read(_LOGGED).decode(errors="replace")
    )
    if status > 0:
        raise Unavailable(retry_after=DEFAULT_SECONDS)
    raise PictureUnreadable.of_field("file", "unreadable", "It cannot be decoded.")
