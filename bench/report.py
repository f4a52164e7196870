"""Formats rows as a Markdown table and as JSON."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from bench.harness import Plan, Row, Spread

_HEADINGS: Final = ("", "Strongroom", "reference", "", "ratio", "spread")
_NOTHING: Final = "-"


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table that is aligned in plain text too."""
    lines = [_HEADINGS, *map(_cells, rows)]
    widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(_HEADINGS))]
    rule = tuple("-" * width for width in widths)
    return "\n".join(_line(cells, widths) for cells in (lines[0], rule, *lines[1:]))


def line(row: Row) -> str:
    """Return a row as one line of text."""
    name, measured, *reference = _cells(row)
    return f"{name}: {measured}" + (f"; {reference[1]}: {reference[0]}" if row.limit else "")


def markdown(rows: Sequence[Row], plan: Plan) -> str:
    """Return the table with an explanation."""
    machine = _machine()
    return (
        f"Medians of {plan.rounds} rounds in which both sides alternated, on {machine['cores']} cores "
        f"with Python {machine['python']}.\n"
        f"A ratio above 1 is better than the reference: a peer, or a limit that does only the bare "
        f"operation.\nThe spread is the lowest and the highest ratio of a round; next to another "
        f"version,\nof {plan.pairs} pairs of fresh servers.\n"
        f"\n{table(rows)}\n"
    )


def as_json(rows: Sequence[Row], plan: Plan) -> str:
    """Return every measured figure, and the medians and ratios of the table."""
    document = {"machine": _machine(), "plan": asdict(plan), "rows": [_record(row) for row in rows]}
    return json.dumps(document, indent=2) + "\n"


def _cells(row: Row) -> tuple[str, ...]:
    measured = f"{_figure(Spread.of(row.values).median)} {row.unit}"
    if row.limit is None or row.ratio is None:
        return (row.name, measured, _NOTHING, "", _NOTHING, _NOTHING)
    ratio = row.ratio
    return (
        row.name,
        measured,
        f"{_figure(Spread.of(row.limit.values).median)} {row.unit}",
        row.limit.name,
        f"{ratio.median:.2f}",
        f"{ratio.low:.2f} to {ratio.high:.2f}",
    )


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f"| {' | '.join(padded)} |"


def _figure(value: float) -> str:
    """Format a figure with three significant digits, and all digits before the decimal point."""
    return f"{value:,.{max(0, 3 - len(str(int(value))))}f}"


def _record(row: Row) -> dict[str, Any]:
    return {
        **asdict(row),
        "median": Spread.of(row.values).median,
        "ratio": asdict(row.ratio) if row.ratio else None,
    }


def _machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "python": platform.python_version(),
    }
