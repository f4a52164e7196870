"""Tells a file's type by its content; its name only chooses among kinds of text."""

import codecs
import mimetypes
import unicodedata
from functools import cache
from typing import Final

import filetype

BINARY: Final = "application/octet-stream"
TEXT: Final = "text/plain"

_TEXT_APPLICATIONS: Final = frozenset(
    {
        "application/json",
        "application/xml",
        "application/javascript",
        "application/toml",
        "application/yaml",
    }
)
_ALLOWED_CONTROLS: Final = frozenset("\t\n\r\f")


def sniff(head: bytes, name: str = "") -> str:
    """Return the media type of content that begins with ``head``.

    Args:
        head: the beginning.
        name: what it is called; without one, all text is plain.
    """
    kind = filetype.guess(head) if head else None
    if kind is not None:
        return str(kind.mime)
    if not _is_text(head):
        return BINARY
    guessed, encoding = mimetypes.guess_type(name, strict=True)
    is_textual = guessed is not None and (
        guessed.startswith("text/")
        or guessed in _TEXT_APPLICATIONS
        or guessed.endswith(("+xml", "+json"))
    )
    media_type = guessed if guessed and is_textual and encoding is None else TEXT
    return f"{media_type}; charset=utf-8"


def extension_of(media_type: str) -> str:
    """Return the extension, with its dot, that files of a media type have."""
    essence = media_type.partition(";")[0]
    # filetype knows fonts that it calls so, too.
    kind = filetype.get_type(mime=essence) if essence != BINARY else None
    if kind is not None:
        return f".{kind.extension}"
    return _known_to_python().guess_extension(essence) or ".bin"


@cache
def _known_to_python() -> mimetypes.MimeTypes:
    """Return what Python itself knows, whatever the machine's own tables say; it reads them to begin."""
    return mimetypes.MimeTypes()


def _is_text(head: bytes) -> bool:
    try:
        # The end of the head may cut a character in two.
        text = codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return all(char in _ALLOWED_CONTROLS or unicodedata.category(char) != "Cc" for char in text)
