"""The types of pictures, which are taken from their content, because the name of a file can be wrong."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

_MARK: Final = b"\xef\xbb\xbf"
# Without an internal subset of the document type, which defines entities.
_SVG: Final = re.compile(rb"(?:\s+|<\?xml.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*>)*<svg[\s>]", re.DOTALL)
_MAGIC: Final[Mapping[str, bytes]] = {
    ".ico": rb"\x00\x00\x01\x00",
    ".jpg": rb"\xff\xd8\xff",
    ".png": rb"\x89PNG\r\n\x1a\n",
    ".webp": rb"RIFF....WEBP",
}


def find_picture_type(content: bytes, suffixes: Iterable[str]) -> str | None:
    """Return the suffix of the type that a picture has, such as ``.png``; ``None`` if it has none.

    Args:
        suffixes: the types that are accepted: some of ``.ico``, ``.jpg``, ``.png``, ``.svg`` and
            ``.webp``.
    """
    return next((suffix for suffix in suffixes if _has_type(suffix, content)), None)


def _has_type(suffix: str, content: bytes) -> bool:
    if suffix == ".svg":
        return _is_text(content) and _SVG.match(content.removeprefix(_MARK)) is not None
    magic = _MAGIC.get(suffix)
    return magic is not None and re.match(magic, content, re.DOTALL) is not None


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode("utf-8")
    except UnicodeDecodeError:
        return False
