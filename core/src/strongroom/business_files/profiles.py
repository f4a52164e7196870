"""Profiles: accepted types, limits and visibility of the kinds of business files."""

from collections.abc import Mapping
from dataclasses import dataclass

from strongroom.config.files import BusinessFilesSettings, FilesProfile, PicturesProfile
from strongroom.errors import UnsupportedMediaType, ValidationFailed

PICTURES = ("photos", "figures", "covers", "avatars")
FILES = "files"


@dataclass(frozen=True, slots=True)
class Profile:
    """Rules for one kind of business files.

    Args:
        name: name in the configuration.
        max_bytes: maximum size of a file, in bytes.
        types: accepted media types; ``image/*`` and ``*/*`` are wildcards.
        is_public: whether downloads need no token.
        max_pixels: maximum number of pixels of a picture, all frames together; 0 for other files.
        widths: available widths of scaled variants, in pixels.
    """

    name: str
    max_bytes: int
    types: tuple[str, ...]
    is_public: bool
    max_pixels: int = 0
    widths: tuple[int, ...] = ()

    def require_type(self, media_type: str) -> None:
        """Check that the profile accepts a media type.

        Raises:
            UnsupportedMediaType: it does not.
        """
        essence = media_type.partition(";")[0]
        kind = essence.partition("/")[0]
        if not {essence, f"{kind}/*", "*/*"} & set(self.types):
            message = f"Must be one of: {', '.join(self.types)}; detected {essence}."
            raise UnsupportedMediaType.of_field("file", "type-not-allowed", message)

    def require_width(self, width: int) -> None:
        """Check that the profile offers variants of a width.

        Raises:
            ValidationFailed: it does not.
        """
        if width not in self.widths:
            allowed = ", ".join(map(str, sorted(self.widths)))
            message = f"Must be one of: {allowed}." if allowed else "Not available for these files."
            raise ValidationFailed.of_field("width", "not-allowed", message)


def profiles_of(settings: BusinessFilesSettings) -> Mapping[str, Profile]:
    """Return all profiles by name."""
    return {
        FILES: _profile(FILES, settings.files),
        **{name: _picture_profile(name, getattr(settings, name)) for name in PICTURES},
    }


def _profile(name: str, values: FilesProfile) -> Profile:
    return Profile(name, values.max_bytes, values.types, values.visibility == "public")


def _picture_profile(name: str, values: PicturesProfile) -> Profile:
    is_public = values.visibility == "public"
    return Profile(name, values.max_bytes, values.types, is_public, values.max_pixels, values.widths)
