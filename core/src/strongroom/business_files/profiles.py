"""Profiles: what an endpoint for business files takes, and who may see it."""

from collections.abc import Mapping
from dataclasses import dataclass

from strongroom.config.business_files import BusinessFilesSettings, FilesProfile, PicturesProfile
from strongroom.errors import UnsupportedMediaType, ValidationFailed

PICTURES = ("photos", "figures", "covers", "avatars")
FILES = "files"


@dataclass(frozen=True, slots=True)
class Profile:
    """What a kind of business files may be.

    Args:
        name: as it stands in the configuration.
        max_bytes: the largest file.
        types: media types; ``*`` after the slash, or on both sides of it, stands for any.
        is_public: whether they are shown to who is not logged in.
        max_pixels: the most pixels of a picture, all frames together; 0 for files of any kind.
        widths: the widths that pictures are also given in.
    """

    name: str
    max_bytes: int
    types: tuple[str, ...]
    is_public: bool
    max_pixels: int = 0
    widths: tuple[int, ...] = ()

    def require_type(self, media_type: str) -> None:
        """Pass if files of a type are taken.

        Raises:
            UnsupportedMediaType: they are not.
        """
        essence = media_type.partition(";")[0]
        kind = essence.partition("/")[0]
        if not {essence, f"{kind}/*", "*/*"} & set(self.types):
            message = f"It is {essence}, and must be one of: {', '.join(self.types)}."
            raise UnsupportedMediaType.of_field("file", "type-not-allowed", message)

    def require_width(self, width: int) -> None:
        """Pass if pictures are given in a width.

        Raises:
            ValidationFailed: they are not.
        """
        if width not in self.widths:
            allowed = ", ".join(map(str, sorted(self.widths)))
            message = f"Must be one of: {allowed}." if allowed else "These are given as they are."
            raise ValidationFailed.of_field("width", "not-allowed", message)


def profiles_of(settings: BusinessFilesSettings) -> Mapping[str, Profile]:
    """Return all profiles by their names."""
    return {
        FILES: _profile(FILES, settings.files),
        **{name: _picture_profile(name, getattr(settings, name)) for name in PICTURES},
    }


def _profile(name: str, values: FilesProfile) -> Profile:
    return Profile(name, values.max_bytes, values.types, values.visibility == "public")


def _picture_profile(name: str, values: PicturesProfile) -> Profile:
    is_public = values.visibility == "public"
    return Profile(name, values.max_bytes, values.types, is_public, values.max_pixels, values.widths)
