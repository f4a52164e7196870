"""Writes frames as a picture that holds nothing else."""

import io
from collections.abc import Mapping
from typing import Any, Final

from PIL import Image

from strongroom.business_files.decoding import FORMATS, Decoded

_KEPT: Final[Mapping[str, dict[str, Any]]] = {
    "image/jpeg": {"quality": 92, "optimize": True},
    "image/png": {"compress_level": 3},
    "image/gif": {},
    "image/webp": {"quality": 90, "exact": True, "method": 2},
    "image/avif": {"quality": 85, "speed": 9, "max_threads": 1},
}
"""Options of a picture that is kept as it came, which its own override.

The efforts of PNG, WebP and AVIF are below Pillow's: a quarter of the time, and hardly larger.
"""

_SMALLER: Final[Mapping[str, dict[str, Any]]] = {
    "image/jpeg": {"quality": 85, "optimize": True, "progressive": True},
    "image/png": {"optimize": True},
    "image/gif": {"optimize": True},
    "image/webp": {"quality": 82},
    "image/avif": {"quality": 70, "speed": 9, "max_threads": 1},
}

_OF_ANIMATIONS: Final[Mapping[str, dict[str, Any]]] = {
    # Each frame is whole: what was transparent in it must not show the one before.
    "image/gif": {"disposal": 2},
    "image/png": {"disposal": 0, "blend": 0},
}

_MODES: Final[Mapping[str, tuple[str, ...]]] = {
    "image/jpeg": ("L", "RGB"),
    "image/png": ("1", "L", "LA", "P", "RGB", "RGBA"),
    "image/gif": ("1", "L", "P", "RGB", "RGBA"),
    "image/webp": ("RGB", "RGBA"),
    "image/avif": ("RGB", "RGBA"),
}


def encode_kept(picture: Decoded, media_type: str) -> bytes:
    """Return a picture in the type it came in, as near to what it was as the type allows."""
    return _encode(picture, media_type, {**_KEPT[media_type], **picture.hints})


def encode_smaller(picture: Decoded, media_type: str) -> bytes:
    """Return a picture for showing, small in bytes."""
    lossless = {key: value for key, value in picture.hints.items() if key == "lossless"}
    return _encode(picture, media_type, {**_SMALLER[media_type], **lossless})


def _encode(picture: Decoded, media_type: str, options: dict[str, Any]) -> bytes:
    images = [_in_mode(frame.image, media_type) for frame in picture.frames]
    if len(images) > 1:
        options = {**options, **_OF_ANIMATIONS.get(media_type, {}), **_animation(picture, images)}
    if "qtables" in options:
        options = {key: value for key, value in options.items() if key != "quality"}
    target = io.BytesIO()
    images[0].save(target, FORMATS[media_type], **options)
    return target.getvalue()


def _animation(picture: Decoded, images: list[Image.Image]) -> dict[str, Any]:
    options: dict[str, Any] = {
        "save_all": True,
        "append_images": images[1:],
        "duration": [frame.duration for frame in picture.frames],
    }
    # In a GIF, no word of it means once.
    return options if picture.loop is None else {**options, "loop": picture.loop}


def _in_mode(image: Image.Image, media_type: str) -> Image.Image:
    if image.mode in _MODES[media_type]:
        return image
    if media_type == "image/jpeg":
        return image.convert("L" if image.mode in ("1", "LA") else "RGB")
    return image.convert("RGBA" if image.has_transparency_data else "RGB")
