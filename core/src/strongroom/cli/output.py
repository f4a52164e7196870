"""What commands print: names of users cannot control a terminal, or reorder a line."""

import json
import re
from typing import Any, Final

import click

from strongroom.foundation.text_direction import with_shown_controls

_JSON_CONTROLS: Final = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def echo(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text, with control characters as symbols."""
    click.echo(with_shown_controls(str(text)), err=err, nl=nl)


def echo_json(value: Any, indent: int | None = None) -> None:
    """Print a value as JSON, with control characters as escapes."""
    click.echo(terminal_json(value, indent))


def terminal_json(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON for a terminal, which is the same data."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _JSON_CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
