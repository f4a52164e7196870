"""Reads the file names that clients send in the header Content-Disposition, and in parts of forms."""

import re
from typing import Final

from werkzeug.http import parse_options_header

from strongroom.foundation.errors import InvalidName

_REPLACEMENT: Final = "\ufffd"
_ENCODED_REPLACEMENT: Final = "%ef%bf%bd"

# As long as the next parameter or the end of the line: old versions of curl send quotes within.
_FORM_NAME: Final = re.compile(r';\s*filename="(.*?)"\s*(?=;|\Z)', re.DOTALL)
_ESCAPES: Final = {"%22": '"', "%0D": "\r", "%0A": "\n"}
_ESCAPE: Final = re.compile("|".join(_ESCAPES), re.IGNORECASE)
_QUOTED_PAIR: Final = re.compile(r'\\(["\\])')
_CHARSET: Final = re.compile(r"filename\*\s*=\s*(?!utf-8'|iso-8859-1'|us-ascii')", re.IGNORECASE)


def name_in_header(value: str) -> str | None:
    """Return the file name in a Content-Disposition header (RFC 6266), or ``None`` without one.

    Raises:
        InvalidName: the name is not in UTF-8. Browsers and ``curl`` send its bytes as they are.
    """
    try:
        return _parsed_name(value.encode("latin-1").decode())
    except UnicodeError as error:
        raise InvalidName from error


def name_in_form(disposition: str) -> str | None:
    """Return the file name in the Content-Disposition of a part of a form, or ``None`` without one.

    Browsers encode quotes and line ends only, so a backslash is a part of the name (WHATWG HTML,
    "multipart form data").

    Raises:
        InvalidName: the name is not in UTF-8.
    """
    match = None if "filename*" in disposition.lower() else _FORM_NAME.search(disposition)
    if match is None:
        return _parsed_name(disposition)
    name = match[1]
    # A browser would have encoded the quote, so another client has escaped it.
    if '"' in name:
        name = _QUOTED_PAIR.sub(r"\1", name)
    return _ESCAPE.sub(lambda escape: _ESCAPES[escape[0].upper()], name)


def _parsed_name(disposition: str) -> str | None:
    """Return the name, of which no character stands for bytes that could not be decoded."""
    if _CHARSET.search(disposition):
        raise InvalidName
    name = parse_options_header(disposition)[1].get("filename")
    sent = disposition.lower()
    if name and _REPLACEMENT in name and not (_REPLACEMENT in sent or _ENCODED_REPLACEMENT in sent):
        raise InvalidName
    return name
