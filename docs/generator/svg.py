"""Drawings as SVG: boxes with lines of text, which browsers and code hosts show without scripts."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

WIDTH: Final = 960
LINE: Final = 18
PADDING: Final = 12
_CHARACTER: Final = 6.6

# The reader's preference cannot be known on a code host, so the drawing has a background of its own.
_STYLE: Final = """
  .page { fill: #ffffff }
  .box { fill: #f4f6f9; stroke: #c3cbd6 }
  .chip { fill: #ffffff; stroke: #9aa7b8 }
  text { font: 12px ui-sans-serif, system-ui, sans-serif; fill: #1c2733 }
  .title { font-weight: 600; font-size: 14px }
  .note { fill: #56657a }
  @media (prefers-color-scheme: dark) {
    .page { fill: #12181f }
    .box { fill: #1b232d; stroke: #3a4757 }
    .chip { fill: #232e3a; stroke: #4d5d70 }
    text { fill: #e4eaf1 }
    .note { fill: #a3b1c2 }
  }
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a box: a name, and a note that is wrapped."""

    name: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """A titled list."""

    title: str
    note: str
    entries: Sequence[Entry] = ()


def drawing(title: str, height: int, parts: Iterable[str]) -> Iterator[str]:
    """Yield the document, ``WIDTH`` pixels wide."""
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n'
    yield f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n"
    yield f'<rect class="page" width="{WIDTH}" height="{height}"/>\n'
    yield from parts
    yield "</svg>\n"


def rectangle(kind: str, left: int, top: int, width: int, height: int) -> str:
    """Return a rectangle with round corners."""
    return f'<rect class="{kind}" x="{left}" y="{top}" width="{width}" height="{height}" rx="6"/>\n'


def text(left: int, top: int, words: str, kind: str = "") -> str:
    """Return a line of text, whose base line is at ``top``."""
    style = f' class="{kind}"' if kind else ""
    return f'<text{style} x="{left}" y="{top}">{escape(words)}</text>\n'


def wrapped(words: str, width: int) -> list[str]:
    """Return the lines of a text in a column of ``width`` pixels."""
    return textwrap.wrap(words, int(width / _CHARACTER)) if words else []


def box_height(box: Box, width: int) -> int:
    """Return the height of a box in pixels."""
    lines = len(wrapped(box.note, width - 2 * PADDING)) + 1
    lines += sum(max(1, len(_lines(entry, width))) for entry in box.entries)
    return lines * LINE + 2 * PADDING


def draw_box(box: Box, left: int, top: int, width: int) -> Iterator[str]:
    """Yield a box with its entries below each other."""
    yield rectangle("box", left, top, width, box_height(box, width))
    row = top + PADDING + LINE - 5
    yield text(left + PADDING, row, box.title, "title")
    for line in wrapped(box.note, width - 2 * PADDING):
        row += LINE
        yield text(left + PADDING, row, line, "note")
    for entry in box.entries:
        for number, line in enumerate(_lines(entry, width)):
            row += LINE
            yield _entry_line(entry, line, left + PADDING * (1 if number == 0 else 2), row)


def columns(boxes: Sequence[Box], count: int, top: int) -> tuple[list[str], int]:
    """Place boxes in columns, each in the shortest one; return the parts and their height."""
    width = (WIDTH - PADDING * (count + 1)) // count
    bottoms = [top] * count
    parts: list[str] = []
    for box in boxes:
        column = bottoms.index(min(bottoms))
        left = PADDING + column * (width + PADDING)
        parts += draw_box(box, left, bottoms[column], width)
        bottoms[column] += box_height(box, width) + PADDING
    return parts, max(bottoms)


def _lines(entry: Entry, width: int) -> list[str]:
    return wrapped(f"{entry.name}  {entry.note}".rstrip(), width - 3 * PADDING)


def _entry_line(entry: Entry, line: str, left: int, top: int) -> str:
    if not line.startswith(entry.name):
        return text(left, top, line, "note")
    note = escape(line.removeprefix(entry.name).lstrip())
    tail = f'<tspan class="note" dx="8">{note}</tspan>' if note else ""
    return f'<text x="{left}" y="{top}">{escape(entry.name)}{tail}</text>\n'
