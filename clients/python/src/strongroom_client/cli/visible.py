"""Text of the server, as a terminal may show it."""

import unicodedata
from typing import Final

_ESCAPED: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS: Final = frozenset("\u200c\u200d")
"""Words of Persian and Indian languages, and emojis, need them; they move nothing."""


def visible(text: str) -> str:
    r"""Return a text with control and formatting characters as ``\u`` escapes, as in JSON.

    Control characters command the terminal. Bidirectional ones let ``exe.pdf`` look like ``fdp.exe``
    (Unicode Technical Report 36, section 2.7). The result is on one line.
    """
    return "".join(_escaped(character) if _is_hidden(character) else character for character in text)


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _ESCAPED and character not in _JOINERS


def _escaped(character: str) -> str:
    # JSON escapes characters beyond the basic plane by their UTF-16.
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))
