"""Reads pictures into frames that are upright, in sRGB, and carry nothing but their pixels.

What a picture says of itself is checked before anything is decoded.
"""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from PIL import (
    AvifImagePlugin,
    ExifTags,
    GifImagePlugin,
    Image,
    ImageCms,
    ImageFile,
    JpegImagePlugin,
    PngImagePlugin,
    WebPImagePlugin,
)

from strongroom.errors import PictureTooLarge, PictureUnreadable

_PLUGINS: Final = (
    JpegImagePlugin.JpegImageFile,
    PngImagePlugin.PngImageFile,
    GifImagePlugin.GifImageFile,
    WebPImagePlugin.WebPImageFile,
    AvifImagePlugin.AvifImageFile,
)
FORMATS: Final = {f"image/{plugin.format.lower()}": plugin.format for plugin in _PLUGINS}
"""Pillow's formats by their media types. Nothing else is ever tried, whatever the content says."""

_LEAST_FRAME: Final = 10_000
"""Pixels that a frame counts for at the least: it costs something however small it is."""

_MOST_SCANS: Final = 100
"""A progressive JPEG has about ten; each costs as much as the whole picture."""

_TURNS: Final = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}

_SRGB: Final = "sRGB IEC61966-2.1"
_DEFAULT_DURATION: Final = 100


@dataclass(frozen=True, slots=True)
class Frame:
    """A picture, or one of an animation's, which is shown for so many milliseconds."""

    image: Image.Image
    duration: int


@dataclass(frozen=True, slots=True)
class Decoded:
    """A picture that was read.

    Args:
        frames: one, or those of an animation.
        loop: how often an animation is repeated, 0 for ever; ``None`` where nothing is said.
        hints: what helps to write it again as it was, by the name of Pillow's option.
    """

    frames: list[Frame]
    loop: int | None
    hints: dict[str, Any]


def decode(
    content: bytes,
    media_type: str,
    max_pixels: int,
    prepare: Callable[[ImageFile.ImageFile], None] = lambda _: None,
) -> Decoded:
    """Read a picture.

    Args:
        content: the whole file.
        media_type: one of :data:`FORMATS`.
        max_pixels: the most pixels that all frames together may have.
        prepare: called with the picture before it is decoded.

    Raises:
        PictureTooLarge: there are more pixels.
        Exception: whatever Pillow raises for what it cannot read.
    """
    if media_type == "image/jpeg" and content.count(b"\xff\xda") > _MOST_SCANS:
        raise PictureUnreadable.of_field("file", "too-many-scans", "It has too many scans.")
    try:
        image = Image.open(io.BytesIO(content), formats=[FORMATS[media_type]])
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_large(max_pixels) from error
    with image:
        if image.width * image.height > max_pixels:
            raise _too_large(max_pixels)
        hints = _hints(image, content)
        prepare(image)
        frames = list(_frames(image, media_type, max_pixels))
        return Decoded(frames, image.info.get("loop"), hints)


def _too_large(max_pixels: int) -> PictureTooLarge:
    message = f"All frames together may have {max_pixels} pixels."
    return PictureTooLarge.of_field("file", "too-many-pixels", message)


def _frames(image: ImageFile.ImageFile, media_type: str, max_pixels: int) -> Iterator[Frame]:
    profile = image.info.get("icc_profile")
    pixels = 0
    # Of several pictures in a JPEG the others are the camera's previews and depth maps.
    for index in range(1) if media_type == "image/jpeg" else count():
        try:
            image.seek(index)
        except EOFError:
            return
        # The first has been held against the bound; a canvas may still grow with a later one.
        pixels += max(image.width * image.height, _LEAST_FRAME if index else 0)
        if pixels > max_pixels:
            raise _too_large(max_pixels)
        image.load()
        duration = int(image.info.get("duration") or 0) or _DEFAULT_DURATION
        yield Frame(_plain(_in_srgb(_upright(image), profile)), duration)


def _upright(image: Image.Image) -> Image.Image:
    try:
        orientation = image.getexif().get(ExifTags.Base.Orientation)
    except Exception:
        orientation = None
    turn = _TURNS.get(orientation) if isinstance(orientation, int) else None
    # A copy in any case: the next frame is read into the same picture.
    return image.copy() if turn is None else image.transpose(turn)


def _in_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    if not profile:
        return image
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        if ImageCms.getProfileDescription(source).strip() == _SRGB:
            return image
        if image.mode in ("P", "LA", "PA"):
            image = image.convert("RGBA" if image.has_transparency_data else "RGB")
        mode = "RGBA" if image.mode == "RGBA" else "RGB"
        converted = ImageCms.profileToProfile(
            image, source, ImageCms.createProfile("sRGB"), outputMode=mode
        )
    except (ImageCms.PyCMSError, OSError, ValueError):
        # A profile that is damaged, or not of this picture: the pixels are all there is to go by.
        return image
    return converted or image


def _plain(image: Image.Image) -> Image.Image:
    """Return the picture in a mode that every format can be made from, without what it carries along."""
    if image.mode.startswith("I"):
        # 16 bits of grey; converting as such would cut the values off instead of scaling them.
        image = image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    elif image.mode not in ("1", "L", "LA", "P", "RGB", "RGBA"):
        image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    image.info = {key: image.info[key] for key in ("transparency",) if key in image.info}
    return image


def _hints(image: ImageFile.ImageFile, content: bytes) -> dict[str, Any]:
    if isinstance(image, JpegImagePlugin.JpegImageFile):
        return _jpeg_hints(image)
    if isinstance(image, WebPImagePlugin.WebPImageFile):
        lossless, lossy = content.find(b"VP8L"), content.find(b"VP8 ")
        return {"lossless": True} if lossless >= 0 and (lossy < 0 or lossless < lossy) else {}
    return {}


def _jpeg_hints(image: JpegImagePlugin.JpegImageFile) -> dict[str, Any]:
    tables = image.quantization
    hints: dict[str, Any] = {"progressive": bool(image.info.get("progressive"))}
    if tables and all(value <= 255 for table in tables.values() for value in table):  # noqa: PLR2004  8 bits
        sampling = JpegImagePlugin.get_sampling(image)
        hints |= {"qtables": tables, "subsampling": max(sampling, 0)}
    return hints
