"""``python -m bench``: run the benches that are named, or all."""

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from traceback import format_exc
from typing import Final

from bench import (
    bundles,
    busy,
    details,
    directories,
    downloads,
    drives,
    encryption,
    endurance,
    lists,
    login,
    orders,
    pages,
    passkeys,
    provider,
    releases,
    remote_bundles,
    scaling,
    searches,
    sizes,
    startup,
    transfer,
    trees,
    uploads,
    users,
    writes,
)
from bench.harness import QUICK, Plan, Row
from bench.report import as_json, line, markdown

Bench = Callable[[Plan], list[Row]]

RELEASE: Final = "release"
"""Compares with the last release, once there is one."""

# Uploads come first: a file system may be slow for minutes where much has just been deleted.
BENCHES: Final[dict[str, Bench]] = {
    "uploads": uploads.measure,
    "login": login.measure,
    "passkey": passkeys.measure,
    "provider": provider.measure,
    "busy": busy.measure,
    "details": details.measure,
    "scaling": scaling.measure,
    "writes": writes.measure,
    "pages": pages.measure,
    "downloads": downloads.measure,
    "transfer": transfer.measure,
    "drives": drives.measure,
    "encryption": encryption.measure,
    "bundles": bundles.measure,
    "remote-bundles": remote_bundles.measure,
    "startup": startup.measure,
    "lists": lists.measure,
    "searches": searches.measure,
    "orders": orders.measure,
    "users": users.measure,
    "directories": directories.measure,
    "endurance": endurance.measure,
    "sizes": sizes.measure,
    RELEASE: releases.measure,
}
RESULTS: Final = Path(__file__).with_name("results")


def main() -> None:
    """Measure, print the table, and write it with its figures."""
    options = _parser().parse_args()
    # Exit by an exception on SIGTERM, so that the servers are stopped first.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    plan = QUICK if options.quick else _plan(options)
    names = options.benches or [name for name in BENCHES if name != RELEASE or releases.last_release()]
    failed: list[str] = []
    if options.against:
        with releases.installed(options.against) as checkout:
            rows = trees.measure(plan, checkout, names)
    else:
        rows, failed = measured(names, plan)
    text, figures = markdown(rows, plan), as_json(rows, plan)
    print(text, end="")
    for path in options.json:
        path.write_text(figures)
    # The documentation has the results of one complete run.
    if not (options.benches or options.against or failed) and is_complete(plan):
        (RESULTS / "latest.md").write_text(text)
        (RESULTS / "latest.json").write_text(figures)
    if failed:
        sys.exit(f"without figures: {', '.join(failed)}")


def _plan(options: argparse.Namespace) -> Plan:
    return Plan(options.rounds, options.seconds, files=options.files, pairs=options.pairs)


def is_complete(plan: Plan) -> bool:
    """Return whether a plan measures at least as much as the documentation promises."""
    full = Plan()
    return plan.rounds >= full.rounds and plan.seconds >= full.seconds and plan.files >= full.files


def measured(names: Sequence[str], plan: Plan) -> tuple[list[Row], list[str]]:
    """Run benches, and print each row as soon as it is measured; the table follows at the end.

    A busy machine may break one bench, which must not cost the figures of all others: it is repeated
    once. Return the rows, and the names of the benches that failed twice.
    """
    rows: list[Row] = []
    failed: list[str] = []
    for number, name in enumerate(names, 1):
        _say(f"{name} ({number} of {len(names)}) ...")
        found = _attempt(name, plan) or _attempt(name, plan)
        for row in found or []:
            _say(f"  {line(row)}")
        rows += found or []
        failed += [] if found else [name]
    return rows, failed


def _attempt(name: str, plan: Plan) -> list[Row] | None:
    """Return the rows of a bench, or ``None`` if it failed."""
    try:
        return BENCHES[name](plan)
    except Exception:
        _say(f"  {name} failed:\n{format_exc()}")
        return None


def _say(text: str) -> None:
    # Not on standard output, which has the table.
    print(text, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("bench", description="Compare Strongroom with peers and limits.")
    parser.add_argument("benches", nargs="*", type=_bench, metavar="NAME", help=", ".join(BENCHES))
    parser.add_argument("--rounds", type=int, default=Plan().rounds, help="rounds for each side")
    parser.add_argument("--pairs", type=int, default=Plan().pairs, help="of servers of two versions")
    parser.add_argument("--seconds", type=float, default=Plan().seconds, help="of a measurement")
    parser.add_argument("--files", type=int, default=Plan().files, help="of a large tenant, or users")
    parser.add_argument(
        "--quick", action="store_true", help="as little as possible, to see that all benches run"
    )
    parser.add_argument(
        "--against", metavar="VERSION", help="compare with a commit, or a folder that has its own .venv"
    )
    parser.add_argument(
        "--json", type=Path, action="append", default=[], help="one more file of figures"
    )
    return parser


def _bench(name: str) -> str:
    if name not in BENCHES:
        raise argparse.ArgumentTypeError(f"no bench is called {name!r}; there are {', '.join(BENCHES)}")
    return name


if __name__ == "__main__":
    main()
