"""Processes pictures in worker processes, a bounded number at a time."""

import io
import json
import logging
import os
import shutil
import signal
import tempfile
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from errno import EDQUOT, ENOSPC
from functools import partial
from threading import Condition, Lock
from time import monotonic
from typing import Any, BinaryIO, Final, Generic, TypeVar, cast

from strongroom.content.storage.streams import MeteredSource
from strongroom.extensions.business_files.requests import NO_SPACE, PictureRequest, raise_refusal
from strongroom.foundation.cache import ContentCache
from strongroom.foundation.errors import PictureTooLarge, PictureUnreadable, StorageFull, Unavailable
from strongroom.plugin_api.confinement import run_confined
from strongroom.plugin_api.storage import ByteSource

WAIT_SECONDS: Final = 5
"""Maximum time to wait for a slot, in seconds: the default time limit of a picture."""

_MAX_WAITING: Final = 16
"""Maximum number of waiting requests. Each blocks a thread, so further ones fail immediately."""


class PictureSlots:
    """Slots for picture processing in one server process.

    With more than one slot, one user never holds all of them. So expensive pictures of one user do not
    block the others.

    Args:
        total: number of slots; 0 means one per core, but at least two.
        on_wait: receives the seconds that each request has waited for a slot.
    """

    def __init__(self, total: int = 0, on_wait: Callable[[float], None] = lambda _seconds: None) -> None:
        self._on_wait = on_wait
        self._free = total or max(2, os.cpu_count() or 1)
        self._share = max(1, self._free - 1)
        self._waiting = 0
        self._held: Counter[str] = Counter()
        self._changed = Condition()

    @contextmanager
    def slot(self, user: str) -> Iterator[None]:
        """Hold a slot during the block.

        Args:
            user: the user's id; all requests for variants count as one user.

        Raises:
            Unavailable: no slot became free in time, or too many requests are waiting.
        """
        self._acquire(user)
        try:
            yield
        finally:
            self._release(user)

    def _acquire(self, user: str) -> None:
        began = monotonic()
        with self._changed:
            if not self._is_free(user):
                self._wait(user)
            self._on_wait(monotonic() - began)
            self._free -= 1
            self._held[user] += 1

    def _wait(self, user: str) -> None:
        if self._waiting >= _MAX_WAITING:
            raise Unavailable(retry_after=WAIT_SECONDS)
        self._waiting += 1
        try:
            if not self._changed.wait_for(lambda: self._is_free(user), WAIT_SECONDS):
                raise Unavailable(retry_after=WAIT_SECONDS)
        finally:
            self._waiting -= 1

    def _release(self, user: str) -> None:
        with self._changed:
            self._free += 1
            self._held[user] -= 1
            if not self._held[user]:
                del self._held[user]
            self._changed.notify_all()

    def _is_free(self, user: str) -> bool:
        return self._free > 0 and self._held[user] < self._share


_IN_MEMORY: Final = 1024 * 1024
_CHUNK: Final = 256 * 1024


@contextmanager
def received_file(source: ByteSource, max_bytes: int) -> Iterator[tuple[BinaryIO, MeteredSource]]:
    """Read a source completely, and yield the file at position 0 and the metered source.

    Raises:
        PayloadTooLarge: the content exceeds ``max_bytes``.
        StorageFull: the disk is full.
    """
    metered = MeteredSource(source, max_bytes)
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
        while chunk := metered.read(_CHUNK):
            with disk_faults():
                file.write(chunk)
        file.seek(0)
        yield cast("BinaryIO", file), metered


def as_source(content: bytes) -> ByteSource:
    """Return bytes as the source type that storages read."""
    return io.BytesIO(content)


@contextmanager
def disk_faults() -> Iterator[None]:
    """Convert the operating system's error for a full disk.

    Raises:
        StorageFull: the disk is full, or the disk quota of the server's user is exhausted.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (ENOSPC, EDQUOT):
            raise StorageFull from error
        raise


logger = logging.getLogger(__name__)

DEFAULT_MEMORY_BYTES: Final = 256 * 1024 * 1024
DEFAULT_SECONDS: Final = 5

_PREVIEW_BYTES: Final = 32 * 1024 * 1024
"""Maximum size of the previews that each process keeps in memory."""

REFUSED_SECONDS: Final = 3600
"""For how long the refusal of a picture is remembered."""

MAX_REFUSED: Final = 4096
"""How many refusals each process remembers."""

_ALL_VARIANTS: Final = "variants"
_LOGGED: Final = 2000


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture without metadata. ``width`` and ``height`` are in pixels, after rotation."""

    content: bytes
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class OriginalPicture:
    """A stored picture.

    Args:
        key: identifies the content.
        media_type: media type of the picture.
        max_pixels: maximum number of pixels.
        write: writes the content to a file.
    """

    key: str
    media_type: str
    max_pixels: int
    write: Callable[[BinaryIO], object]


_Refusal = PictureTooLarge | PictureUnreadable
KeyT = TypeVar("KeyT", bound=Hashable)


class Refusals(Generic[KeyT]):
    """Remembers which pictures were refused, so that each request does not decode them again.

    A time limit may have been exceeded because the machine was busy, so a refusal ends after
    :data:`REFUSED_SECONDS`. At most :data:`MAX_REFUSED` are kept. Thread-safe.

    Args:
        clock: seconds of any origin.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = Lock()
        self._kept: OrderedDict[KeyT, tuple[float, _Refusal]] = OrderedDict()

    @contextmanager
    def remembered(self, key: KeyT) -> Iterator[None]:
        """Raise the refusal of a picture that is kept, else remember the one that the block raises.

        Raises:
            PictureTooLarge, PictureUnreadable: the picture was refused.
        """
        self.require_unknown(key)
        try:
            yield
        except (PictureTooLarge, PictureUnreadable) as refusal:
            self._put(key, refusal)
            raise

    def require_unknown(self, key: KeyT) -> None:
        """Raise the refusal of a picture that is kept."""
        with self._lock:
            ends, refusal = self._kept.get(key, (0.0, None))
        if refusal is not None and self._clock() < ends:
            # A new object, because an exception has the traceback of its request.
            raise type(refusal)(details=refusal.details)

    def _put(self, key: KeyT, refusal: _Refusal) -> None:
        with self._lock:
            self._kept.pop(key, None)
            self._kept[key] = (self._clock() + REFUSED_SECONDS, refusal.with_traceback(None))
            while len(self._kept) > MAX_REFUSED:
                self._kept.popitem(last=False)


class PictureProcessor:
    """Decodes and encodes pictures in worker processes.

    Args:
        memory_bytes: memory limit per picture, in addition to the interpreter's.
        seconds: time limit per picture, for both elapsed and CPU time.
        clock: seconds of any origin, for the end of refusals.
    """

    def __init__(
        self,
        slots: PictureSlots,
        *,
        memory_bytes: int = DEFAULT_MEMORY_BYTES,
        seconds: int = DEFAULT_SECONDS,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._slots = slots
        self._memory_bytes = memory_bytes
        self._seconds = seconds
        self._previews: ContentCache[tuple[str, str, int]] = ContentCache(_PREVIEW_BYTES)
        self._refusals: Refusals[tuple[str, str, int]] = Refusals(clock)

    def clean(self, file: BinaryIO, media_type: str, max_pixels: int, user: str) -> Picture:
        """Return a picture upright and in sRGB, without EXIF and other metadata.

        It is decoded and re-encoded, which removes trailing bytes, metadata and embedded files.

        Args:
            file: the picture, read from the current position.
            media_type: media type of the picture.
            max_pixels: maximum number of pixels; see
                :func:`~strongroom.extensions.business_files.images.decode`.
            user: the caller's id, because slots are shared fairly between users.

        Raises:
            PictureTooLarge: the picture has too many pixels, or needs too much memory or time.
            PictureUnreadable: the picture cannot be decoded completely.
            StorageFull: the disk is full.
            Unavailable: too many pictures are being processed, or no worker can be started.
        """
        request = PictureRequest(media_type, self._memory_bytes, self._seconds, max_pixels=max_pixels)
        with self._slots.slot(user):
            head, content = self._run(request, partial(shutil.copyfileobj, file))
        return Picture(content, head["width"], head["height"])

    def preview(self, original: OriginalPicture, width: int, user: str) -> bytes:
        """Return a picture without metadata, at most as wide as ``width``; kept in a bounded cache.

        The original is read once a slot is free, and never into memory.

        Raises:
            PictureTooLarge: the picture has too many pixels, or needs too much memory or time.
            PictureUnreadable: the picture cannot be decoded completely.
            StorageFull: the disk is full.
            Unavailable: too many pictures are being processed, or no worker can be started.
        """
        key = (original.key, original.media_type, width)
        content = (original.key, original.media_type, original.max_pixels)
        kept = self._previews.get(key)
        if kept is not None:
            return kept
        self._refusals.require_unknown(content)
        with self._slots.slot(user), self._refusals.remembered(content):
            # Another request may have made it while this one waited.
            made = self._previews.get(key) or self._make_preview(original, width)
            # Before the slot is free: the next request looks into the cache as soon as it has the slot.
            self._previews.put(key, made)
        return made

    def _make_preview(self, original: OriginalPicture, width: int) -> bytes:
        limits = (original.media_type, self._memory_bytes, self._seconds)
        # Cleaned first: a preview must not contain the place where the picture was taken.
        request = PictureRequest(*limits, max_pixels=original.max_pixels)
        head, cleaned = self._run(request, original.write)
        if head["width"] <= width:
            return cleaned
        return self._run(PictureRequest(*limits, width=width), lambda file: file.write(cleaned))[1]

    def scale(self, read: Callable[[], bytes], media_type: str, width: int) -> bytes:
        """Return a cleaned picture scaled to a smaller width, including all frames of an animation.

        Args:
            read: reads the picture; called only once a slot is free.
            media_type: media type of the picture.
            width: new width in pixels.

        Raises:
            PictureTooLarge: the picture needs too much memory or time.
            PictureUnreadable: the picture can no longer be decoded.
            StorageFull: the disk is full.
            Unavailable: too many pictures are being processed, or no worker can be started.
        """
        request = PictureRequest(media_type, self._memory_bytes, self._seconds, width=width)
        with self._slots.slot(_ALL_VARIANTS):
            return self._run(request, lambda file: file.write(read()))[1]

    def _run(
        self, request: PictureRequest, write: Callable[[BinaryIO], object]
    ) -> tuple[dict[str, Any], bytes]:
        # Files instead of pipes, so that neither process blocks on a full pipe.
        with (
            disk_faults(),
            tempfile.TemporaryFile() as content,
            tempfile.TemporaryFile() as answer,
            tempfile.TemporaryFile() as errors,
        ):
            write(cast("BinaryIO", content))
            content.seek(0)
            _check_status(self._work(request, content, answer, errors), errors)
            answer.seek(0)
            head: dict[str, Any] = json.loads(answer.readline())
            if "error" in head:
                logger.info("Picture rejected: %s %s", head["detail"], head.get("cause", ""))
            raise_refusal(head)
            return head, answer.read()

    def _work(
        self, request: PictureRequest, content: BinaryIO, answer: BinaryIO, errors: BinaryIO
    ) -> int:
        """Run a worker until it ends or times out, and return its exit status."""
        try:
            return run_confined(
                "strongroom.extensions.business_files.worker",
                json.dumps(asdict(request)),
                content=content,
                answer=answer,
                errors=errors,
                seconds=self._seconds,
            )
        except OSError as error:
            logger.exception("Cannot start a picture worker")
            raise Unavailable(retry_after=self._seconds) from error


def _check_status(status: int, errors: BinaryIO) -> None:
    """Check that a worker ended with a result."""
    if status == 0:
        return
    if status == NO_SPACE:
        raise StorageFull
    if status in (-signal.SIGKILL, -signal.SIGXCPU):
        message = "Decoding the picture takes too long."
        raise PictureTooLarge.of_field("file", "too-expensive", message)
    errors.seek(0)
    logger.error(
        "Picture worker exited with %d: %s", status, errors.read(_LOGGED).decode(errors="replace")
    )
    if status > 0:
        raise Unavailable(retry_after=DEFAULT_SECONDS)
    raise PictureUnreadable.of_field("file", "unreadable", "The picture cannot be decoded.")
