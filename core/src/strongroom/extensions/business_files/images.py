"""Decodes, cleans, scales and encodes images.

The dimensions in the header are checked before any pixel is decoded.
"""

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import count
from typing import Any, Final

from PIL import ExifTags, Image, ImageFile

from strongroom.foundation.errors import PictureTooLarge, PictureUnreadable

_PLUGINS: Final = {
    "image/jpeg": "Jpeg",
    "image/png": "Png",
    "image/gif": "Gif",
    "image/webp": "WebP",
    "image/avif": "Avif",
}
FORMATS: Final = {media_type: name.upper() for media_type, name in _PLUGINS.items()}
"""Pillow's formats by media type. Pillow tries no other decoder."""

_MIN_FRAME_PIXELS: Final = 10_000
"""Minimum number of pixels that a frame counts for, because even a tiny frame has a fixed cost."""

_PIXEL_COST: Final = {"image/webp": 2, "image/avif": 3}
"""Weight of a pixel, because these types need more memory and time per pixel."""

_ANIMATION_COST: Final = 2

_MOST_SCANS: Final = 100
"""Maximum number of scans. A progressive JPEG has about ten, and each costs a pass over all pixels."""

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
    """A still picture or a frame of an animation. ``duration`` is in milliseconds."""

    image: Image.Image
    duration: int


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded picture.

    Args:
        frames: one frame, or the frames of an animation.
        loop: number of repetitions of an animation, 0 is endless; ``None`` if the file has none.
        hints: Pillow's save options that preserve the original encoding.
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
    """Decode a picture.

    Args:
        media_type: one of :data:`FORMATS`.
        max_pixels: maximum number of pixels of a still JPEG, PNG or GIF. The limit is half of it for
            WebP and animations, a third for AVIF, all frames together.
        prepare: called with the opened picture before it is decoded.

    Raises:
        PictureTooLarge: the picture has more pixels.
        PictureUnreadable: a JPEG has more than 100 scans.
        Exception: any exception of Pillow for content that it cannot decode.
    """
    # Counting start-of-scan markers in the raw bytes may overcount, but needs no decoding.
    if media_type == "image/jpeg" and content.count(b"\xff\xda") > _MOST_SCANS:
        raise PictureUnreadable.of_field("file", "too-many-scans", "The JPEG has too many scans.")
    load_codec(media_type)
    try:
        image = Image.open(io.BytesIO(content), formats=[FORMATS[media_type]])
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_large(max_pixels) from error
    is_animated = media_type != "image/jpeg" and getattr(image, "is_animated", False)
    max_pixels //= max(_PIXEL_COST.get(media_type, 1), _ANIMATION_COST if is_animated else 1)
    with image:
        if image.width * image.height > max_pixels:
            raise _too_large(max_pixels)
        hints = _hints(image, content)
        prepare(image)
        frames = list(_frames(image, max_pixels)) if is_animated else [_still(image)]
        return Decoded(frames, image.info.get("loop"), hints)


def load_codec(media_type: str) -> None:
    """Import only Pillow's plugin of a media type, so the other decoders stay unreachable."""
    module: Any = import_module(f"PIL.{_PLUGINS[media_type]}ImagePlugin")
    if media_type == "image/avif":
        # Threads would add to the address space that the memory limit counts.
        module.DEFAULT_MAX_THREADS = 1


def _too_large(max_pixels: int) -> PictureTooLarge:
    message = f"Must have at most {max_pixels} pixels, all frames together."
    return PictureTooLarge.of_field("file", "too-many-pixels", message)


def _still(image: ImageFile.ImageFile) -> Frame:
    # Only the first picture of a multi-picture JPEG: the others are camera previews and depth maps.
    image.load()
    turn, profile = _turn(image), image.info.get("icc_profile")
    pixels = _without_decoder(image)
    # Free the decoder's buffers before pixels are copied, to lower the peak memory use.
    image.close()
    return Frame(_plain(_upright(_in_srgb(pixels, profile), turn)), _DEFAULT_DURATION)


def _frames(image: ImageFile.ImageFile, max_pixels: int) -> Iterator[Frame]:
    profile = image.info.get("icc_profile")
    pixels = 0
    for index in count():
        try:
            image.seek(index)
        except EOFError:
            return
        # The first frame is already checked, but a later one may enlarge the canvas.
        pixels += max(image.width * image.height, _MIN_FRAME_PIXELS if index else 0)
        if pixels > max_pixels:
            raise _too_large(max_pixels)
        image.load()
        duration = int(image.info.get("duration") or 0) or _DEFAULT_DURATION
        # A copy, because Pillow decodes the next frame into the same image.
        yield Frame(_plain(_upright(_in_srgb(image.copy(), profile), _turn(image))), duration)


def _without_decoder(image: Image.Image) -> Image.Image:
    """Return an image that shares the pixels of another without its decoder; copies no pixels."""
    return image._new(image.im)  # noqa: SLF001  Pillow has no public method without a copy


def _turn(image: Image.Image) -> Image.Transpose | None:
    try:
        orientation = image.getexif().get(ExifTags.Base.Orientation)
    # Damaged EXIF data does not make a picture unreadable.
    except Exception:
        return None
    return _TURNS.get(orientation) if isinstance(orientation, int) else None


def _upright(image: Image.Image, turn: Image.Transpose | None) -> Image.Image:
    return image if turn is None else image.transpose(turn)


def _in_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    if not profile:
        return image
    # Imported lazily: most pictures have no profile, and the colour engine is slow to load.
    from PIL import ImageCms

    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        if ImageCms.getProfileDescription(source).strip() == _SRGB:
            return image
        if image.mode in ("P", "LA", "PA"):
            image = image.convert("RGBA" if image.has_transparency_data else "RGB")
        mode = "RGBA" if image.mode == "RGBA" else "RGB"
        converted = ImageCms.profileToProfile(
            image,
            source,
            ImageCms.createProfile("sRGB"),
            outputMode=mode,
            inPlace=image.mode == mode,
        )
    except (ImageCms.PyCMSError, OSError, ValueError):
        # The profile is damaged or does not match the picture; use the pixels unconverted.
        return image
    return converted or image


def _plain(image: Image.Image) -> Image.Image:
    """Return the picture without metadata, in a mode from which every format can be encoded."""
    if image.mode.startswith("I"):
        # 16-bit grey: Pillow's conversion to 8 bits clips values, so they are scaled first.
        image = image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    elif image.mode not in ("1", "L", "LA", "P", "RGB", "RGBA"):
        image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    image.info = {key: image.info[key] for key in ("transparency",) if key in image.info}
    return image


def _hints(image: ImageFile.ImageFile, content: bytes) -> dict[str, Any]:
    if image.format in ("JPEG", "MPO"):
        return _jpeg_hints(image)
    if image.format == "WEBP":
        # Pillow does not report whether a WebP is lossless; the first chunk type does.
        lossless, lossy = content.find(b"VP8L"), content.find(b"VP8 ")
        return {"lossless": True} if lossless >= 0 and (lossy < 0 or lossless < lossy) else {}
    return {}


def _jpeg_hints(image: ImageFile.ImageFile) -> dict[str, Any]:
    from PIL.JpegImagePlugin import JpegImageFile, get_sampling

    hints: dict[str, Any] = {"progressive": bool(image.info.get("progressive"))}
    tables = image.quantization if isinstance(image, JpegImageFile) else None
    if tables and all(value <= 255 for table in tables.values() for value in table):  # noqa: PLR2004  8 bits
        hints |= {"qtables": tables, "subsampling": max(get_sampling(image), 0)}
    return hints


_ORIGINAL: Final[Mapping[str, dict[str, Any]]] = {
    "image/jpeg": {"quality": 92, "optimize": True},
    "image/png": {"compress_level": 3},
    "image/gif": {},
    "image/webp": {"quality": 90, "exact": True, "method": 2},
    "image/avif": {"quality": 85, "speed": 9, "max_threads": 1},
}
"""Save options of a picture in its original size; the picture's own hints override them.

The effort for PNG, WebP and AVIF is below Pillow's default: a quarter of the time, hardly larger files.
"""

_SMALLER: Final[Mapping[str, dict[str, Any]]] = {
    "image/jpeg": {"quality": 85, "optimize": True, "progressive": True},
    "image/png": {"optimize": True},
    "image/gif": {"optimize": True},
    "image/webp": {"quality": 82},
    "image/avif": {"quality": 70, "speed": 9, "max_threads": 1},
}

_OF_ANIMATIONS: Final[Mapping[str, dict[str, Any]]] = {
    # Each frame is complete, so transparent pixels must not show the previous frame.
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
    """Return a picture encoded in its original type, as close to the original as possible."""
    return _encode(picture, media_type, {**_ORIGINAL[media_type], **picture.hints})


def encode_smaller(picture: Decoded, media_type: str) -> bytes:
    """Return a picture encoded for display, with a small file size."""
    lossless = {key: value for key, value in picture.hints.items() if key == "lossless"}
    # After resizing, only the hint "lossless" applies.
    return _encode(picture, media_type, {**_SMALLER[media_type], **lossless})


def _encode(picture: Decoded, media_type: str, options: dict[str, Any]) -> bytes:
    images = [_in_mode(frame.image, media_type) for frame in picture.frames]
    if len(images) > 1:
        options = {**options, **_OF_ANIMATIONS.get(media_type, {}), **_animation(picture, images)}
    # The original quantization tables replace the quality setting.
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
    # A GIF without a loop count plays once.
    return options if picture.loop is None else {**options, "loop": picture.loop}


def _in_mode(image: Image.Image, media_type: str) -> Image.Image:
    if image.mode in _MODES[media_type]:
        return image
    if media_type == "image/jpeg":
        return image.convert("L" if image.mode in ("1", "LA") else "RGB")
    return image.convert("RGBA" if image.has_transparency_data else "RGB")


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
