"""The files of a brand: pictures, a font and a style sheet, read when the server starts.

Their types are taken from their content, because the name of a file can be wrong.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from strongroom.foundation.config import Configuration
from strongroom.foundation.config.page_settings import PagesSettings
from strongroom.plugin_api.pictures import find_picture_type

MAX_BYTES: Final = 500_000

_WOFF2: Final = b"wOF2"
_NAMES: Final[Mapping[str, str]] = {
    ".css": "a style sheet in UTF-8",
    ".ico": "ICO",
    ".jpg": "JPEG",
    ".png": "PNG",
    ".svg": "SVG",
    ".webp": "WebP",
    ".woff2": "WOFF2",
}
_PICTURES: Final = (".png", ".jpg", ".webp", ".svg")
KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "logo": _PICTURES,
    "logo_dark": _PICTURES,
    "favicon": (".png", ".svg", ".ico"),
    "background_image": (".png", ".jpg", ".webp"),
    "font_file": (".woff2",),
    "css_file": (".css",),
}
"""The suffixes of each setting's file."""


@dataclass(frozen=True, slots=True)
class BrandFile:
    """A file of a brand.

    Args:
        name: the name that it is served by, with the suffix of the content's type.
    """

    name: str
    content: bytes

    @property
    def is_for_mails(self) -> bool:
        """Whether mail programs show the picture."""
        return self.name.endswith((".png", ".jpg"))


def read_brand_files(configuration: Configuration) -> dict[str, BrandFile]:
    """Return the files of the brand by their settings.

    Raises:
        ConfigurationError: a file cannot be read or is of another type.
    """
    files = {}
    for key, path in _paths(configuration.settings.pages).items():
        try:
            files[key] = read_brand_file(key, path)
        except ValueError as error:
            configuration.add_error(("pages", key), str(error))
    configuration.raise_if_invalid()
    return files


def read_brand_file(key: str, path: Path) -> BrandFile:
    """Return the file of a setting.

    Raises:
        ValueError: it cannot be read, is too large, or of another type.
    """
    content = _content(path)
    if len(content) > MAX_BYTES:
        raise ValueError(f"{path} has more than {MAX_BYTES} bytes; make it smaller")
    suffix = next((suffix for suffix in KINDS[key] if _has_type(suffix, content)), None)
    if suffix is None:
        names = " or ".join(_NAMES[suffix] for suffix in KINDS[key])
        raise ValueError(f"{path} must be {names}, by its content")
    return BrandFile(f"own-{key.replace('_', '-')}{suffix}", content)


def _paths(brand: PagesSettings) -> dict[str, Path]:
    paths = {key: getattr(brand, key) for key in KINDS}
    return {key: path for key, path in paths.items() if path is not None}


def _content(path: Path) -> bytes:
    try:
        # A device or a pipe would never end.
        if path.exists() and not path.is_file():
            raise ValueError(f"{path} is no file; name one")
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}; name a readable file") from error


def _has_type(suffix: str, content: bytes) -> bool:
    if suffix == ".css":
        return _is_text(content)
    if suffix == ".woff2":
        return content.startswith(_WOFF2)
    return find_picture_type(content, (suffix,)) is not None


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode("utf-8")
    except UnicodeDecodeError:
        return False
