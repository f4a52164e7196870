"""Cleans and scales pictures, a bounded number at a time."""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import BoundedSemaphore
from typing import BinaryIO, Final

from PIL import Image, ImageFile

from strongroom.business_files.decoding import Decoded, decode
from strongroom.business_files.encoding import encode_kept, encode_smaller
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
        with self._slot(), _explained():
            decoded = decode(file.read(), media_type, max_pixels)
            first = decoded.frames[0].image
            return Picture(encode_kept(decoded, media_type), first.width, first.height)

    def scale(self, read: Callable[[], bytes], media_type: str, width: int) -> bytes:
        """Return a picture that was cleaned in a smaller width; all frames of an animation.

        Raises:
            Unavailable: too many wait.
        """
        with self._slot():
            content = read()
            picture = decode(content, media_type, max_pixels=1 << 62, prepare=_draft(width))
            frames = [replace(frame, image=_scaled(frame.image, width)) for frame in picture.frames]
            return encode_smaller(Decoded(frames, picture.loop, picture.hints), media_type)

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


def _draft(width: int) -> Callable[[ImageFile.ImageFile], None]:
    """Return what lets a JPEG be decoded at about the size that is wanted, which costs less."""

    def draft(image: ImageFile.ImageFile) -> None:
        image.draft(None, (width, _height(image, width)))

    return draft


def _height(image: Image.Image, width: int) -> int:
    return max(1, round(image.height * width / image.width))


def _scaled(image: Image.Image, width: int) -> Image.Image:
    if image.mode in ("1", "P", "LA") or "transparency" in image.info:
        image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    return image.resize((width, _height(image, width)), Image.Resampling.LANCZOS, reducing_gap=2.0)
