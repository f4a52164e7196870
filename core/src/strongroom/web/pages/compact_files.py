"""Scripts and style sheets without what only their authors read."""

import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Final

_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
_SPACE: Final = re.compile(r"\s*([{};,>])\s*|(?<=[\w-])(:)\s+|\s+")
_COMMENT_LINE: Final = re.compile(r"^[ \t]*//.*\n|(?<=[;{}\],]) // .*|^[ \t]+", re.MULTILINE)

_OF_OTHERS: Final = "vendor"
"""The folder of files that are sent as they were published."""


def minified(sheet: str) -> str:
    """Return a style sheet without comments and needless space.

    Its strings must not contain braces, or spaces after punctuation.
    """
    compact = _SPACE.sub(lambda match: match[1] or match[2] or " ", _COMMENT.sub("", sheet))
    return compact.replace(";}", "}").strip()


def without_comments(script: str) -> str:
    """Return a script without comments after statements or on their own lines, and without indentation.

    Its literals must not span lines, nor contain such a comment.
    """
    return _COMMENT_LINE.sub("", script)


_COMPACTORS: Final[Mapping[str, Callable[[str], str]]] = {".css": minified, ".js": without_comments}


def compact_file(name: str, content: bytes) -> bytes:
    """Return the content of a file as it is sent: scripts and style sheets are compacted."""
    path = PurePosixPath(name)
    compact = None if _OF_OTHERS in path.parts else _COMPACTORS.get(path.suffix)
    return content if compact is None else compact(content.decode()).encode()
