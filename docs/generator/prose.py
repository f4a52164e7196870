"""Converts docstrings and help texts to Markdown; missing documentation ends the build."""

import inspect
import re
import sys


def required(text: str | None, what: str) -> str:
    """Return the documentation of an item, or end the build if there is none."""
    if not text:
        sys.exit(f"{what} is not documented where it is declared")
    return text


def prose(documented: object, name: str = "") -> str:
    """Return the part of a docstring before its ``Args:`` section, in Markdown."""
    text = (inspect.getdoc(documented) or "").partition("\n\nArgs:")[0]
    return code(required(text, name or str(documented)))


def code(text: str) -> str:
    """Convert reStructuredText roles and literals in a docstring to Markdown code."""
    return re.sub(r":\w+:`~?([^`]*)`|``([^`]*)``", lambda match: f"`{match[1] or match[2]}`", text)


def cell(text: str) -> str:
    """Return a text for a cell of a table: one line, without its separator."""
    return " ".join(text.split()).replace("|", "\\|")
