"""What happened, for administrators."""

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from strongroom.audit.listing import AuditFilter, AuditListing
from strongroom.audit.models import AuditRecord
from strongroom.audit.schemas import AuditEventSchema, AuditQuery
from strongroom.errors import Forbidden
from strongroom.web.blueprint import Blueprint
from strongroom.web.components import use
from strongroom.web.envelope import collection_of, envelope, paging, reference
from strongroom.web.guard import Access

blueprint = Blueprint(
    "audit", __name__, url_prefix="/audit-events", description="What happened, and who did it."
)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


@blueprint.operation(
    "GET",
    "",
    access=Access.ADMIN,
    query=AuditQuery,
    returns=collection_of(AuditEventSchema),
    errors=(Forbidden,),
)
def list_audit_events(query: dict[str, Any]) -> dict[str, Any]:
    """List what happened, newest first; all filters that are given must apply."""
    page, included = use(AuditListing).page(_filter(query), paging(query))
    return envelope(page, _present, included)


def _filter(query: dict[str, Any]) -> AuditFilter:
    wanted = {name: query[name] for name in AuditFilter.__slots__ if name in query}
    for name in wanted.keys() & {"since", "until"}:
        wanted[name] = _milliseconds(wanted[name])
    return AuditFilter(**wanted)


def _milliseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MILLISECOND


def _present(record: AuditRecord) -> dict[str, Any]:
    has_target = record.target_id is not None
    return {
        **asdict(record),
        "actor": reference(record.actor_id) if record.actor_id else None,
        "target": {"type": record.target_type, "id": record.target_id} if has_target else None,
    }
