"""The health of the server: the findings of the doctor, and the chain of audit records."""

from collections.abc import Sequence
from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.server import ServerFinding, ServerFindings
from strongroom.plugin_api.times import iso_format
from strongroom.plugin_api.visits import current_visit
from strongroom_console.server.frame import server_page

health: Final = Blueprint("health", __name__, url_prefix="/server/health")

_LONGEST_TIME: Final = 15
_MANY: Final = 3


def faults_in(examination: ServerFindings) -> Sequence[ServerFinding]:
    """Return the findings that need an administrator."""
    return [finding for finding in examination.findings if finding.state != "ok"]


def group_faults(faults: Sequence[ServerFinding]) -> Sequence[Sequence[ServerFinding]]:
    """Return groups of findings: the ones of a part and a state together if they are many."""
    groups: dict[tuple[str, str], list[ServerFinding]] = {}
    for finding in faults:
        groups.setdefault((finding.part, finding.state), []).append(finding)
    return [
        part
        for group in groups.values()
        for part in ([group] if len(group) >= _MANY else [[finding] for finding in group])
    ]


@health.get("/")
def show_health() -> Any:
    """Show the findings; with ``since``, of an examination that is not older."""
    visit = current_visit()
    examination = visit.host.server.findings(since=_since())
    faults = faults_in(examination)
    return server_page(
        visit,
        "server/health.html",
        "health/",
        faults=faults,
        groups=group_faults(faults),
        healthy=[finding for finding in examination.findings if finding.state == "ok"],
        examined_at=iso_format(examination.examined_at),
        now=visit.host.clock.now(),
    )


@health.post("/audit")
def verify_audit() -> Any:
    """Verify the chain of audit records, and show how far it is valid."""
    visit = current_visit()
    chain = visit.host.server.audit_chain()
    if chain.broken is not None:
        return visit.refuse("/server/health/", f"{chain.reason}")
    notice = "audit-valid" if chain.is_complete else "audit-part-valid"
    return visit.redirect(
        "/server/health/", notice, through=str(chain.through), newest=str(chain.newest)
    )


def _since() -> int | None:
    text = request.args.get("since", "")
    is_time = text.isascii() and text.isdigit() and len(text) <= _LONGEST_TIME
    return int(text) if is_time else None
