"""Runs kinds of faults one after another on one site."""

import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.faults.kinds import KINDS, Kind
from tests.faults.layouts import Layout
from tests.faults.ledger import Breach, Fault, Ledger
from tests.faults.sites import Site
from tests.faults.verdicts import judge
from tests.support.waiting import wait_until

RECOVERY_SECONDS: Final = 90

Result = dict[str, Any]


@dataclass(frozen=True)
class Pace:
    """How much happens.

    Args:
        rate: operations per second.
        users: how many users there are.
        seconds: how long each fault lasts; ``None``: as its kind says.
        calm: seconds without a fault before it and after the recovery.
    """

    rate: int
    users: int
    seconds: float | None = None
    calm: float = 4.0


def run_campaign(layout: Layout, only: str, folder: Path, pace: Pace) -> list[Result]:
    """Return a result for each kind, and print it as soon as it is there."""
    results = []
    place = folder / layout.name
    place.mkdir(mode=0o755)
    with Site.running(layout, place, pace.users) as site:
        for kind in KINDS:
            if kind.applies_to(site) and re.search(only, kind.name):
                results.append(run_kind(site, kind, pace))
                _print(results[-1])
    return results


def run_kind(site: Site, kind: Kind, pace: Pace) -> Result:
    """Inject a fault under load, heal it, and judge."""
    site.ledger.clear()
    broken: list[Fault] = []
    with site.traffic(pace.rate).running():
        time.sleep(pace.calm)
        began = time.monotonic()
        heal = kind.inject(site)
        time.sleep(max(0.0, (pace.seconds or kind.seconds) - (time.monotonic() - began)))
        healed = time.monotonic()
        heal()
        if not _is_whole_again(site):
            broken.append(Fault(Breach.OTHER, f"not whole within {RECOVERY_SECONDS} s"))
        time.sleep(pace.calm)
    span = Span(began, healed, time.monotonic())
    result = {"layout": site.layout.name, "kind": kind.name, **_measure(site.ledger, span)}
    try:
        broken += judge(site)
    except AssertionError as error:
        broken.append(Fault(Breach.OTHER, f"no verdict: {error}"))
    return {**result, **_count(broken), "broken": [f"{fault.breach}: {fault.text}" for fault in broken]}


def _count(broken: Sequence[Fault]) -> dict[str, int]:
    counts = Counter(fault.breach for fault in broken)
    return {breach.value: counts[breach] for breach in Breach}


@dataclass(frozen=True)
class Span:
    """The moments of a fault: its begin, its end, and when the site had recovered."""

    began: float
    healed: float
    end: float


def _measure(ledger: Ledger, span: Span) -> Result:
    statuses = ledger.statuses()
    return {
        "seconds": round(span.healed - span.began, 1),
        "requests": len(ledger.outcomes),
        "no_change": round(ledger.longest_gap(span.began, span.end, changes=True), 1),
        "no_read": round(ledger.longest_gap(span.began, span.end, changes=False), 1),
        "refused": round(ledger.refused_share(span.began, span.healed), 3),
        "lost_sessions": len(ledger.lost_sessions),
        "statuses": {f"{status} {code}".strip(): number for (status, code), number in statuses.items()},
    }


def table(results: Sequence[Result]) -> str:
    """Return the results as a table of Markdown."""
    lines = [
        "| layout | fault | lost | doubled | error 500 | other | no change for | no read for | of |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for result in results:
        counts = " | ".join(str(result[breach]) for breach in Breach)
        gaps = " | ".join(f"{result[name]:.1f} s" for name in ("no_change", "no_read", "seconds"))
        lines.append(f"| {result['layout']} | {result['kind']} | {counts} | {gaps} |")
    return "\n".join([*lines, ""])


def _is_whole_again(site: Site) -> bool:
    """Wait until every instance is ready, and return whether that is soon."""
    try:
        wait_until(site.is_whole, RECOVERY_SECONDS)
    except AssertionError:
        return False
    return True


def _print(result: Result) -> None:
    shown = {**result, "broken": [len(result["broken"]), *result["broken"][:6]]}
    sys.stdout.write(f"{shown}\n")
    sys.stdout.flush()


def copy_logs(folder: Path, logs: Path) -> None:
    """Copy the logs of all programs."""
    logs.mkdir(exist_ok=True)
    for log in folder.glob("*/*/*.log"):
        shutil.copy(log, logs / f"{log.parent.name}-{log.name}")
