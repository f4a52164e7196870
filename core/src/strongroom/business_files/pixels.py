"""Cleans and scales pictures within the worker process."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from PIL import Image, ImageFile

from strongroom.business_files.decoding import Decoded, decode
from strongroom.business_files.encoding import encode_kept, encode_smaller

_ANY: Final = 1 << 62
"""No pixel limit: a stored picture was checked against the limit at its upload."""


def clean(content: bytes, media_type: str, max_pixels: int) -> tuple[bytes, int, int]:
    """Return a picture upright, in sRGB and without metadata, with its width and height in pixels.

    Raises:
        PictureTooLarge: it has more pixels than ``max_pixels`` allows (see :func:`decode`).
        PictureUnreadable: a JPEG has too many scans.
        Exception: any exception of Pillow for content that it cannot decode completely.
    """
    decoded = decode(content, media_type, max_pixels)
    first = decoded.frames[0].image
    return encode_kept(decoded, media_type), first.width, first.height


def scale(content: bytes, media_type: str, width: int) -> bytes:
    """Return a cleaned picture scaled to a smaller width, including all frames of an animation."""
    picture = decode(content, media_type, max_pixels=_ANY, prepare=_draft(width))
    frames = [replace(frame, image=_scaled(frame.image, width)) for frame in picture.frames]
    return encode_smaller(Decoded(frames, picture.loop, picture.hints), media_type)


def _draft(width: int) -> Callable[[ImageFile.ImageFile], None]:
    """Return a function that makes Pillow decode a JPEG at about the target size, which costs less."""

    def draft(image: ImageFile.ImageFile) -> None:
        image.draft(None, (width, _height(image, width)))

    return draft


def _height(image: Image.Image, width: int) -> int:
    return max(1, round(image.height * width / image.width))


def _scaled(image: Image.Image, width: int) -> Image.Image:
    # Resampling needs colour and alpha channels, not palette indexes or a transparent colour.
    if image.mode in ("1", "P", "LA") or "transparency" in image.info:
        image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    return image.resize((width, _height(image, width)), Image.Resampling.LANCZOS, reducing_gap=2.0)
