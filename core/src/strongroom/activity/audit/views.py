"""The REST API of audit events, for administrators, and of what clients have done for a user."""

from dataclasses import asdict
from typing import Any

from strongroom.activity.audit import operations
from strongroom.activity.audit.client_actions import ClientActions
from strongroom.activity.audit.models import AuditRecord
from strongroom.activity.audit.schemas import AuditEventSchema, AuditQuery
from strongroom.activity.audit.service import AuditFilter, AuditListing
from strongroom.foundation.errors import Forbidden
from strongroom.foundation.json_text import encode_json
from strongroom.plugin_api.schemas import PagingQuery, collection_schema
from strongroom.web.http.access import Access, current_identity, own_id
from strongroom.web.http.paging import envelope, paging, reference
from strongroom.web.http.request import get_service
from strongroom.web.http.routing import Blueprint

blueprint = Blueprint(
    "audit", url_prefix="/audit-events", description="Audit events, for administrators."
)
client_actions = Blueprint(
    "client-actions",
    url_prefix="/users",
    description="What clients have done for a user, for the user.",
    parameters={"client_id": "Id of the client, the `client_id` of OAuth"},
)


@blueprint.operation(
    "GET",
    "",
    access=Access.ADMIN,
    rule=operations.LIST_EVENTS,
    query=AuditQuery,
    returns=collection_schema(AuditEventSchema),
    compress=True,
    errors=(Forbidden,),
)
def list_audit_events(query: dict[str, Any]) -> dict[str, Any]:
    """List audit events, newest first; an event must match all given filters.

    For administrators of the server. A record has the actor, the target and the address of the client,
    as far as they are known.
    """
    page, included = get_service(AuditListing).page(_filter(query), paging(query))
    return envelope(page, _serialize, included)


@client_actions.operation(
    "GET",
    "/<user_id>/client-actions/<client_id>",
    access=Access.USER,
    query=PagingQuery,
    returns=collection_schema(AuditEventSchema),
    errors=(Forbidden,),
)
def list_client_actions(user_id: str, client_id: str, query: dict[str, Any]) -> dict[str, Any]:
    """List what a client has done for the caller (`me`), newest first.

    The audit log has these records; the newest 10,000 actions of the caller are searched.
    """
    page, included = get_service(ClientActions).page(
        current_identity(), own_id(user_id), client_id, paging(query)
    )
    return envelope(page, _serialize, included)


def _filter(query: dict[str, Any]) -> AuditFilter:
    return AuditFilter(**{name: query[name] for name in AuditFilter.__slots__ if name in query})


def _serialize(record: AuditRecord) -> dict[str, Any]:
    has_target = record.target_id is not None
    return {
        **asdict(record),
        "actor": reference(record.actor_id) if record.actor_id else None,
        "target": {"type": record.target_type, "id": record.target_id} if has_target else None,
        "details": {name: _detail(value) for name, value in record.details.items()},
    }


def _detail(value: Any) -> str:
    """Return a detail as text. Plugins' details may be any JSON values, which their events need."""
    return value if isinstance(value, str) else encode_json(value)
