"""What the code says of itself, in Markdown; where it says nothing, the build ends."""

import inspect
import re
import sys


def required(text: str | None, what: str) -> str:
    """Return what is said of something, or end the build where nothing is."""
    if not text:
        sys.exit(f"{what} is not documented where it is declared")
    return text


def prose(documented: object, name: str = "") -> str:
    """Return the part of a docstring before its sections, in Markdown."""
    text = (inspect.getdoc(documented) or "").partition("\n\nArgs:")[0]
    return code(required(text, name or str(documented)))


def code(text: str) -> str:
    """Return a text of a docstring with its code as Markdown has it."""
    return re.sub(r":\w+:`~?([^`]*)`|``([^`]*)``", lambda match: f"`{match[1] or match[2]}`", text)
