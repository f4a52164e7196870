"""Cleans and scales pictures, a bounded number at a time."""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import BinaryIO, Final

from strongroom.errors import PictureUnreadable, StrongroomError, Unavailable

logger = logging.getLogger(__name__)

WAIT_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that carries nothing but its pixels. ``width`` and ``height`` are as it is shown."""

    content: bytes
    width: int
    height: int


class PictureWorks:
    """Whatever decodes goes through here, so that memory and processors are enough for the rest.

    Args:
        in_flight: pictures worked on at once; 0: one for each two cores.
    """

    def __init__(self, in_flight: int = 0) -> None:
        self._slots = BoundedSemaphore(in_flight or max(1, (os.cpu_count() or 1) // 2))

    def clean(self, file: BinaryIO, media_type: str, max_pixels: int) -> Picture:
        """Return a picture turned upright, in sRGB, without EXIF and all else that it carries.

        It is decoded and written anew: what follows the pixels, hides between them or is no picture
        at all does not come through.

        Raises:
            PictureTooLarge: it has more pixels than ``max_pixels``, all frames together.
            PictureUnreadable: it cannot be decoded to its end.
            Unavailable: too many wait.
        """
        # Imported late: it takes a while, and a server begins to serve without.
        from strongroom.business_files.pixels import clean

        with self._slot(), _explained():
            return Picture(*clean(file.read(), media_type, max_pixels))

    def scale(self, read: Callable[[], bytes], media_type: str, width: int) -> bytes:
        """Return a picture that was cleaned in a smaller width; all frames of an animation.

        Raises:
            Unavailable: too many wait.
        """
        from strongroom.business_files.pixels import scale

        with self._slot():
            return scale(read(), media_type, width)

    @contextmanager
    def _slot(self) -> Iterator[None]:
        if not self._slots.acquire(timeout=WAIT_SECONDS):
            raise Unavailable(retry_after=WAIT_SECONDS)
        try:
            yield
        finally:
            self._slots.release()


@contextmanager
def _explained() -> Iterator[None]:
    """Tell the client that its picture is bad, whatever a decoder makes of it."""
    try:
        yield
    except StrongroomError:
        raise
    except MemoryError as error:
        raise Unavailable(retry_after=WAIT_SECONDS) from error
    except Exception as error:
        logger.info("A picture was refused: %s", type(error).__name__)
        raise PictureUnreadable.of_field("file", "unreadable", "It cannot be decoded.") from error
