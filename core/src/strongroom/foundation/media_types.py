"""Detects the media type of a file from its content; the name only selects the subtype of text."""

import codecs
import mimetypes
import re
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
_CONTROLS: Final = bytes({*range(32), 127} - set(b"\t\n\r\f"))
# The control characters that are two bytes in UTF-8.
_C1_CONTROLS: Final = re.compile("[\x80-\x9f]")


def sniff(head: bytes, name: str = "") -> str:
    """Return the media type of content that begins with ``head``.

    Args:
        head: the first bytes of the content.
        name: the file name; without one, any text is ``text/plain``.
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


def get_extension(media_type: str) -> str:
    """Return the file extension of a media type, with its dot; ``.bin`` if it is unknown."""
    essence = media_type.partition(";")[0]
    # filetype also uses application/octet-stream for some fonts, whose extension would be wrong.
    kind = filetype.get_type(mime=essence) if essence != BINARY else None
    if kind is not None:
        return f".{kind.extension}"
    return _known_to_python().guess_extension(essence) or ".bin"


@cache
def _known_to_python() -> mimetypes.MimeTypes:
    """Return Python's built-in table of types, which is the same on every machine.

    Cached, because the constructor reads the machine's tables even though the instance ignores them.
    """
    return mimetypes.MimeTypes()


def _is_text(head: bytes) -> bool:
    # Each step is one call that loops in C: uploads pass here.
    if len(head.translate(None, _CONTROLS)) < len(head):
        return False
    try:
        # Incremental, because the head may end in the middle of a character.
        text = codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return text.isascii() or _C1_CONTROLS.search(text) is None
