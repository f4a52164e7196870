"""Shows rows: as a table to read, and as JSON to compute with."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from bench.harness import Plan, Row, Spread

_HEADINGS: Final = ("", "Strongroom", "beside", "", "ratio", "spread")
_NOTHING: Final = "-"


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table that is aligned in plain text too."""
    lines = [_HEADINGS, *map(_cells, rows)]
    widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(_HEADINGS))]
    rule = tuple("-" * width for width in widths)
    return "\n".join(_line(cells, widths) for cells in (lines[0], rule, *lines[1:]))


def markdown(rows: Sequence[Row], plan: Plan) -> str:
    """Return the table with what it takes to read it."""
    machine = _machine()
    return (
        f"Medians of {plan.rounds} rounds in which both sides took turns, on {machine['cores']} cores "
        f"with Python {machine['python']}.\n"
        f"A ratio above 1 is better than what stands beside it: a peer, or a limit that leaves nothing "
        f"out but the work.\nThe spread is the lowest and the highest ratio of a round.\n"
        f"\n{table(rows)}\n"
    )


def as_json(rows: Sequence[Row], plan: Plan) -> str:
    """Return every figure that was taken, and what the table makes of them."""
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
    """Return three digits of a figure, and all before the point."""
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
