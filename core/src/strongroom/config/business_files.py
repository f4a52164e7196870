"""The keys of ``[business_files]``: one profile for each endpoint that takes business files."""

import re
from dataclasses import dataclass

from strongroom.plugin_api import option

_MEBIBYTE = 1024 * 1024
_PUBLIC, _USERS = "public", "users"
_VISIBILITIES = (_PUBLIC, _USERS)
_WIDEST = 16_383
_TYPE = re.compile(r"\*/\*|[a-z]+/(\*|[a-z0-9][a-z0-9.+-]*)")

PICTURE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp", "image/avif")
"""The pictures that can be read and written."""

_SIZE_HELP = "The largest file, in bytes, that is accepted."
_VISIBILITY_HELP = "Who may see them: anybody who knows the name, or any logged-in user."
_PICTURES_HELP = "The media types that are accepted, told by the content."
_PIXELS_HELP = (
    "The most pixels of a picture. WebP and animations may have half as many, AVIF a third, all frames "
    "together, because they take more memory and time."
)
_WIDTHS_HELP = "The widths, in pixels, that ?width= may ask for; each is made once, and kept."


@dataclass(frozen=True, slots=True)
class FilesProfile:
    """What ``POST /api/v1/files`` takes."""

    max_bytes: int = option(100 * _MEBIBYTE, minimum=1, help=_SIZE_HELP)
    types: tuple[str, ...] = option(
        ("*/*",),
        help='The media types that are accepted, told by the content; "image/*" stands for many.',
    )
    visibility: str = option(_USERS, choices=_VISIBILITIES, help=_VISIBILITY_HELP)

    def __post_init__(self) -> None:
        for text in self.types:
            if not _TYPE.fullmatch(text):
                raise ValueError(f'types: "{text}" is not like image/png, image/* or */*')


@dataclass(frozen=True, slots=True)
class PicturesProfile:
    """What all profiles of pictures have."""

    max_bytes: int = option(25 * _MEBIBYTE, minimum=1, help=_SIZE_HELP)
    types: tuple[str, ...] = option(PICTURE_TYPES, help=_PICTURES_HELP)
    visibility: str = option(_PUBLIC, choices=_VISIBILITIES, help=_VISIBILITY_HELP)
    max_pixels: int = option(25_000_000, minimum=1, maximum=89_000_000, help=_PIXELS_HELP)
    widths: tuple[int, ...] = option((320, 640, 1280, 1920), help=_WIDTHS_HELP)

    def __post_init__(self) -> None:
        for text in self.types:
            if text not in PICTURE_TYPES:
                raise ValueError(f'types: "{text}" is none of: {", ".join(PICTURE_TYPES)}')
        for width in self.widths:
            if not 1 <= width <= _WIDEST:
                raise ValueError(f"widths: each must be from 1 to {_WIDEST}")


@dataclass(frozen=True, slots=True)
class PhotosProfile(PicturesProfile):
    """What ``POST /api/v1/files/photos`` takes."""


@dataclass(frozen=True, slots=True)
class FiguresProfile(PicturesProfile):
    """What ``POST /api/v1/files/figures`` takes."""


@dataclass(frozen=True, slots=True)
class CoversProfile(PicturesProfile):
    """What ``POST /api/v1/files/covers`` takes."""


@dataclass(frozen=True, slots=True)
class AvatarsProfile(PicturesProfile):
    """What ``POST /api/v1/files/avatars`` takes."""

    max_bytes: int = option(10 * _MEBIBYTE, minimum=1, help=_SIZE_HELP)
    max_pixels: int = option(12_000_000, minimum=1, maximum=89_000_000, help=_PIXELS_HELP)
    widths: tuple[int, ...] = option((48, 96, 192, 384), help=_WIDTHS_HELP)


@dataclass(frozen=True, slots=True)
class BusinessFilesSettings:
    """Photos, illustrations, covers, logos and other files that are shown by their name alone."""

    pictures_in_flight: int = option(
        0,
        minimum=0,
        maximum=64,
        help="Pictures that a process decodes at once; 0: one for each core, and at least two.",
    )
    picture_memory_bytes: int = option(
        256 * _MEBIBYTE,
        minimum=32 * _MEBIBYTE,
        help="The memory that decoding and encoding one picture may take; a picture that needs more "
        "is refused.",
    )
    picture_seconds: int = option(
        5,
        minimum=1,
        maximum=300,
        help="How long decoding and encoding one picture may take; one that needs more is refused.",
    )
    files: FilesProfile = option(default_factory=FilesProfile, help="Files of any kind.")
    photos: PhotosProfile = option(default_factory=PhotosProfile, help="Photos.")
    figures: FiguresProfile = option(default_factory=FiguresProfile, help="Illustrations.")
    covers: CoversProfile = option(default_factory=CoversProfile, help="Covers.")
    avatars: AvatarsProfile = option(default_factory=AvatarsProfile, help="Logos.")
