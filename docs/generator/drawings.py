"""The drawings of the page about the architecture: wings, processes, tables."""

import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

from generator.svg import LINE, PADDING, WIDTH, Box, Entry, columns, drawing, rectangle, text

_ROOT: Final = Path(__file__).parents[2]
_CORE: Final = _ROOT / "core/src/strongroom"
_CHIP_GAP: Final = 8
_LABEL: Final = 150
_TABLE: Final = re.compile(r'= Table\(\s*"(\w+)"')

PROCESSES: Final = (
    Box(
        "check",
        "Started by “strongroom serve”; builds every service once, and ends before the server begins.",
    ),
    Box(
        "master",
        "Holds the listening sockets, replaces workers that end, drains on SIGTERM, reloads on SIGHUP.",
        (Entry("ready", "reports to the service manager"),),
    ),
    Box(
        "management",
        "Forked from the master, if the interface is on: metrics of all processes, health checks.",
        (Entry("readiness, readiness-shared", "run the checks, each with a time limit"),),
    ),
    Box(
        "worker (one per core)",
        "Forked from the master, so that the workers share the memory of the imported modules. "
        "Granian's own threads, in Rust, read and write the sockets.",
        (
            Entry("requests", "the pool that runs the WSGI application; a transfer holds a thread"),
            Entry("deadlines", "ends connections that are too slow"),
            Entry("callback", "runs what waits for a client that reads slowly"),
            Entry("messages", "sends e-mails and SMS"),
            Entry("audit-sealer", "appends committed audit events to their chain"),
            Entry("events", "polls for new events; one thread per sink delivers them"),
            Entry("jobs, job-lease", "runs jobs that no other process has; renews their leases"),
            Entry("scan-N", "passes new content to scanners"),
            Entry("user-imports", "imports users from the lines that were received"),
            Entry("heartbeat", "records that the instance serves"),
            Entry("sha256", "hashes an upload while its next piece arrives"),
            Entry("file-sink", "stores what a plugin writes"),
            Entry("ahead", "reads the next files of a bundle"),
            Entry("quota-alerts", "records that a tenant is nearly full"),
            Entry("database-probe", "tests a database that hangs, for all threads"),
            Entry("readiness, readiness-shared", "run the checks of /readyz"),
            Entry("outbound-resolver", "resolves names of webhooks, with a time limit"),
        ),
    ),
    Box(
        "picture",
        "One per picture: decodes hostile content without secrets, with limited memory and time, and "
        "can open neither files nor connections.",
    ),
    Box(
        "command",
        "“strongroom ...”: uses the same services without a server, in one process.",
        (Entry("progress", "draws the progress of a long command"),),
    ),
)


def wings_drawing() -> Iterator[str]:
    """Yield the wings from top to bottom, each with its purpose and its packages."""
    parts, top = [], PADDING
    for layer in _layers():
        for wing in layer.split(" : "):
            chips, height = _chips(_packages(wing), top + PADDING + LINE + 8)
            purpose = (import_module(f"strongroom.{wing}").__doc__ or "").partition("\n")[0]
            parts += [rectangle("box", PADDING, top, WIDTH - 2 * PADDING, height + LINE + 2 * PADDING)]
            parts += [text(2 * PADDING, top + PADDING + LINE - 4, wing, "title")]
            parts += [text(_LABEL, top + PADDING + LINE - 4, purpose, "note"), *chips]
            top += height + LINE + 2 * PADDING + 6
    return drawing("The wings of the core; each imports only wings below it", top + PADDING, parts)


def processes_drawing() -> Iterator[str]:
    """Yield the processes with their threads."""
    parts, height = columns(PROCESSES, 2, PADDING)
    return drawing("The processes of a server, and their threads", height, parts)


def tables_drawing() -> Iterator[str]:
    """Yield the tables by package, each with the tables that its rows refer to."""
    boxes = [Box(package, "", entries) for package, entries in _tables().items()]
    boxes.sort(key=lambda box: -len(box.entries))
    parts, height = columns(boxes, 3, PADDING)
    return drawing("The tables of the core, and the tables that their rows refer to", height, parts)


def _layers() -> list[str]:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    wings = next(contract for contract in contracts if contract.get("containers") == ["strongroom"])
    return list(wings["layers"])


def _packages(wing: str) -> list[str]:
    return sorted(path.parent.name for path in (_CORE / wing).glob("*/__init__.py"))


def _chips(names: list[str], top: int) -> tuple[list[str], int]:
    """Return the packages as small boxes in a row, and the height of the row in pixels."""
    parts, left = [], _LABEL
    for name in names:
        width = int(len(name) * 7.2) + 16
        parts += [rectangle("chip", left, top, width, LINE + 4), text(left + 8, top + LINE - 3, name)]
        left += width + _CHIP_GAP
    return parts, LINE + 10 if names else 0


def _tables() -> dict[str, tuple[Entry, ...]]:
    import_module("strongroom.assembly.container")  # imports the modules of all tables
    metadata = import_module("strongroom.foundation.database.metadata").metadata
    packages: dict[str, list[Entry]] = {}
    for package, name in _definitions(set(metadata.tables)):
        targets = {key.column.table.name for key in metadata.tables[name].foreign_keys} - {name}
        note = f"→ {', '.join(sorted(targets))}" if targets else ""
        packages.setdefault(package, []).append(Entry(name, note))
    return {package: tuple(entries) for package, entries in packages.items()}


def _definitions(names: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the package and the name of each table."""
    for path in sorted(_CORE.rglob("*.py")):
        for name in _TABLE.findall(path.read_text(encoding="utf-8")):
            if name in names and "migrations" not in path.parts:
                yield "/".join(path.relative_to(_CORE).parts[:2]), name
