"""The stream of the server: reads the audit chain as events.

The chain is written in the transaction of each action, and its sequence has no gaps. So it is the outbox
of these events, and nothing is written twice. Only the listed members of a record become data: client
addresses, user agents and request ids stay in the audit log.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from sqlalchemy import Connection

from strongroom.activity.audit.models import FAILURE, SUCCESS, AuditRecord
from strongroom.activity.audit.service import newest_sequence, records_after
from strongroom.activity.events.streams import Batch
from strongroom.plugin_api.events import SERVER, Event, EventType

NO_TYPES: Final[Mapping[str, EventType]] = {}

Data = dict[str, Any]
Convert = Callable[[AuditRecord], Data]


def _actor(record: AuditRecord) -> Data:
    return {"actor": record.actor_id and {"$ref": record.actor_id}}


def _user(record: AuditRecord) -> Data:
    return {"userId": record.target_id, **_actor(record)}


def _registration(record: AuditRecord) -> Data:
    return {"userId": record.target_id, "userType": record.details["type"], **_actor(record)}


def _credential(record: AuditRecord) -> Data:
    return {"userId": record.target_id, "kind": record.details["kind"], **_actor(record)}


def _login(record: AuditRecord) -> Data:
    return {
        "userId": record.actor_id,
        "authorizationId": record.target_id,
        "method": record.details["method"],
    }


def _failed_login(record: AuditRecord) -> Data:
    return {"userId": record.target_id, "code": record.details["code"]}


def _revoked(reason: str) -> Convert:
    def convert(record: AuditRecord) -> Data:
        ids: Data = {"authorizationId": None, "userId": None}
        if record.target_type is not None:
            ids[f"{record.target_type}Id"] = record.target_id
        return {**ids, "reason": reason, **_actor(record)}

    return convert


def _factor(record: AuditRecord) -> Data:
    return {"userId": record.target_id, "factor": record.details["factor"], **_actor(record)}


def _grant(record: AuditRecord) -> Data:
    given = {
        name: record.details[name] for name in ("permission", "expiresAt") if name in record.details
    }
    return {
        "tenantId": record.details.get("tenant"),
        "fileId": record.target_id,
        "userId": record.details["user"],
        **given,
        **_actor(record),
    }


def _group_grant(record: AuditRecord) -> Data:
    given = {
        name: record.details[name] for name in ("permission", "expiresAt") if name in record.details
    }
    return {
        "tenantId": record.details["tenant"],
        "fileId": record.target_id,
        "groupId": record.details["group"],
        **given,
        **_actor(record),
    }


def _group(record: AuditRecord) -> Data:
    name = {"name": record.details["name"]} if "name" in record.details else {}
    return {
        "tenantId": record.details["tenant"],
        "groupId": record.target_id,
        **name,
        **_actor(record),
    }


def _group_member(record: AuditRecord) -> Data:
    return {**_group(record), "userId": record.details["user"]}


def _invitation(record: AuditRecord) -> Data:
    user = {"userId": record.details["user"]} if "user" in record.details else {}
    return {
        "tenantId": record.target_id,
        "invitationId": record.details["invitation"],
        "role": record.details["role"],
        **user,
        **_actor(record),
    }


def _tenant(record: AuditRecord) -> Data:
    return {"tenantId": record.target_id, **_actor(record)}


def _member(record: AuditRecord) -> Data:
    role = {"role": record.details["role"]} if "role" in record.details else {}
    return {"tenantId": record.target_id, "userId": record.details["user"], **role, **_actor(record)}


def _transfer(record: AuditRecord) -> Data:
    return {**_member(record), "toUserId": record.details["toUser"]}


def _access_key(record: AuditRecord) -> Data:
    return {"keyId": record.target_id, "userId": record.details["user"], **_actor(record)}


def _finding(record: AuditRecord) -> Data:
    kept = {name: record.details[name] for name in ("outcome", "scanner", "reason")}
    return {**_scanned(record), **kept, **_actor(record)}


def _hold(record: AuditRecord) -> Data:
    until = {"until": record.details["until"]} if "until" in record.details else {}
    # The reason may be confidential; it is in the audit log.
    return {**_scanned(record), **until, **_actor(record)}


def _override(record: AuditRecord) -> Data:
    file_id = record.target_id if record.target_type == "file" else None
    return {**_hold(record), "fileId": file_id}


def _release(record: AuditRecord) -> Data:
    return {**_scanned(record), **_actor(record)}


def _scanned(record: AuditRecord) -> Data:
    return {"fileId": record.target_id, "tenantId": record.details.get("tenant")}


_TYPES: Final[Mapping[tuple[str, str], tuple[str, Convert]]] = {
    ("user.create", SUCCESS): ("user.registered", _registration),
    ("user.change", SUCCESS): ("user.updated", _user),
    ("user.suspend", SUCCESS): ("user.suspended", _user),
    ("user.reinstate", SUCCESS): ("user.reinstated", _user),
    ("user.delete", SUCCESS): ("user.deleted", _user),
    ("credential.bind", SUCCESS): ("credential.bound", _credential),
    ("credential.unbind", SUCCESS): ("credential.unbound", _credential),
    ("password.change", SUCCESS): ("password.changed", _user),
    ("password.reset", SUCCESS): ("password.reset", _user),
    ("login", SUCCESS): ("login.succeeded", _login),
    ("login", FAILURE): ("login.failed", _failed_login),
    ("authorization.revoke", SUCCESS): ("authorization.revoked", _revoked("logout")),
    ("authorization.revoke-all", SUCCESS): ("authorization.revoked", _revoked("revoked-all")),
    ("refresh-token.reuse", FAILURE): ("authorization.revoked", _revoked("reuse")),
    ("factor.add", SUCCESS): ("factor.added", _factor),
    ("factor.remove", SUCCESS): ("factor.removed", _factor),
    ("factor.reset", SUCCESS): ("factor.removed", _factor),
    ("passkey.counter-regressed", FAILURE): ("passkey.counter_regressed", _user),
    ("access-key.create", SUCCESS): ("access_key.created", _access_key),
    ("access-key.rotate", SUCCESS): ("access_key.rotated", _access_key),
    ("access-key.revoke", SUCCESS): ("access_key.revoked", _access_key),
    ("access-key.leaked", SUCCESS): ("access_key.revoked", _access_key),
    ("service-account.create", SUCCESS): ("user.registered", _registration),
    ("service-account.delete", SUCCESS): ("user.deleted", _user),
    ("grant.put", SUCCESS): ("grant.set", _grant),
    ("grant.remove", SUCCESS): ("grant.removed", _grant),
    ("quota.exceed", FAILURE): ("quota.exceeded", lambda record: {"tenantId": record.target_id}),
    ("group.create", SUCCESS): ("group.created", _group),
    ("group.update", SUCCESS): ("group.updated", _group),
    ("group.delete", SUCCESS): ("group.deleted", _group),
    ("group-member.add", SUCCESS): ("group.member_added", _group_member),
    ("group-member.remove", SUCCESS): ("group.member_removed", _group_member),
    ("group-grant.put", SUCCESS): ("group_grant.set", _group_grant),
    ("group-grant.remove", SUCCESS): ("group_grant.removed", _group_grant),
    ("invitation.create", SUCCESS): ("invitation.created", _invitation),
    ("invitation.delete", SUCCESS): ("invitation.deleted", _invitation),
    ("invitation.accept", SUCCESS): ("invitation.accepted", _invitation),
    ("invitation.decline", SUCCESS): ("invitation.declined", _invitation),
    ("tenant.create", SUCCESS): ("tenant.created", _tenant),
    ("tenant.update", SUCCESS): ("tenant.updated", _tenant),
    ("tenant.delete", SUCCESS): ("tenant.deleted", _tenant),
    ("tenant.restore", SUCCESS): ("tenant.restored", _tenant),
    ("tenant.purge", SUCCESS): ("tenant.purged", _tenant),
    ("scan.infected", SUCCESS): ("scan.infected", _finding),
    ("quarantine.release", SUCCESS): ("quarantine.released", _release),
    ("hold.place", SUCCESS): ("hold.placed", _hold),
    ("hold.release", SUCCESS): ("hold.released", _hold),
    ("retention.set", SUCCESS): ("retention.changed", _tenant),
    ("retention.override", SUCCESS): ("retention.overridden", _override),
    ("member.put", SUCCESS): ("member.added", _member),
    ("member.transfer", SUCCESS): ("member.transferred", _transfer),
    ("tenant.transfer", SUCCESS): ("tenant.transferred", _transfer),
    ("member.remove", SUCCESS): ("member.removed", _member),
}
"""The type and the data of events, by action and outcome of audit records."""

WITHOUT_EVENT: Final = frozenset(
    {
        ("access-key.rename", SUCCESS),  # the name of a key is for its user only
        ("audit.prune", SUCCESS),  # maintenance
        ("authorization.refresh", SUCCESS),  # each client does it every few minutes
        ("authorization.step-up", FAILURE),  # nothing changed
        ("authorization.step-up", SUCCESS),  # the login was there before
        ("backup.restore", SUCCESS),  # maintenance
        ("business-file.delete", SUCCESS),  # business files belong to no tenant
        ("credential.bind", FAILURE),  # nothing changed
        ("factor.rename", SUCCESS),  # the name is for its user only
        ("invitation.resend", SUCCESS),  # the invitation was there before
        ("login.challenge", SUCCESS),  # half a login, which the second proof completes
        ("plugin.act-as", SUCCESS),  # what the plugin then does has events of its own
        ("quarantine.delete", SUCCESS),  # the deletion of the file is an event of its own
        ("secret.adopt", SUCCESS),  # maintenance
        ("setup-link.issue", SUCCESS),  # before the first user exists
        ("setup-link.redeem", FAILURE),  # likewise
        ("state.spend", FAILURE),  # nothing changed
        ("user.erase", SUCCESS),  # names no user
    }
)
"""Actions and outcomes that are recorded, but are no events."""

KNOWN_ACTIONS: Final = _TYPES.keys() | WITHOUT_EVENT


def event_of(record: AuditRecord, more: Mapping[str, EventType] = NO_TYPES) -> Event | None:
    """Return the event of an audit record, or ``None`` if it has none.

    Args:
        record: the record.
        more: the types of plugins by the action of their records.
    """
    found = _TYPES.get((record.action, record.outcome)) or _found(more.get(record.action))
    if found is None:
        return None
    event_type, convert = found
    data = convert(record)
    return Event(
        id=f"{SERVER}-{record.sequence}",
        type=event_type,
        stream=SERVER,
        sequence=record.sequence,
        subject=record.target_id or record.actor_id or SERVER,
        tenant_id=data.get("tenantId"),
        occurred_at=record.at,
        traceparent=record.traceparent,
        data=data,
    )


def _found(event_type: EventType | None) -> tuple[str, Convert] | None:
    if event_type is None:
        return None
    names = [field.name for field in event_type.fields]

    def convert(record: AuditRecord) -> Data:
        kept = {name: record.details[name] for name in names if name in record.details}
        return {**kept, **_actor(record)}

    return event_type.name, convert


class ServerStream:
    """The source of :data:`~strongroom.plugin_api.events.SERVER`.

    Args:
        more: the types of plugins by the action of their records.
    """

    def __init__(self, more: Mapping[str, EventType] = NO_TYPES) -> None:
        self._more = more

    def read(self, connection: Connection, stream: str, after: int, limit: int) -> Batch:  # noqa: ARG002
        """Return the events among the next ``limit`` records."""
        records = records_after(connection, after, limit)
        events = [event for record in records if (event := event_of(record, self._more)) is not None]
        last = records[-1].sequence if records else after
        return Batch(events, after, last, is_full=len(records) == limit)

    def newest(self, connection: Connection, stream: str) -> int:  # noqa: ARG002
        """Return the sequence of the newest record."""
        return newest_sequence(connection)

    def heads(self, connection: Connection, since: int | None) -> Mapping[str, int]:  # noqa: ARG002
        """Return the sequence of the newest record; finding it costs no more than checking its time."""
        return {SERVER: newest_sequence(connection)}
