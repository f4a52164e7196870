"""All types of events: the source of docs/reference/events.md and of their JSON Schemas."""

from collections.abc import Mapping
from typing import Any, Final

from strongroom.plugin_api.events import ACTOR, EventField, EventType

_TEXT: Final[Mapping[str, Any]] = {"type": "string"}
_NUMBER: Final[Mapping[str, Any]] = {"type": "integer"}
_NULLABLE: Final[Mapping[str, Any]] = {"type": ["string", "null"]}


def _text(name: str, description: str, *, required: bool = True) -> EventField:
    return EventField(name, description, _TEXT, required)


_ACTOR: Final = ACTOR
_USER: Final = _text("userId", "The user")
_TENANT: Final = _text("tenantId", "The tenant")
_GROUP: Final = _text("groupId", "The group")
_GROUP_NAME: Final = _text("name", "Its name after the event")
_INVITATION: Final = _text("invitationId", "The invitation")
_ROLE: Final = _text("role", "`admin`, `member` or `records`")
_SUCCESSOR: Final = _text("toUserId", "The user who takes over")
_HOLD_END: Final = _text("until", "When the hold ends, if it has an end", required=False)
_METHOD: Final = _text("method", "The login method")
_KIND: Final = _text("kind", "The kind of the credential, such as `email`")
_FACTOR: Final = _text("factor", "The factor, such as `totp`, or `all`")
_KEY: Final = _text("keyId", "The access key")
_LOGIN: Final = _text("authorizationId", "The login")

_NODE: Final = (
    _text("fileId", "The file or folder"),
    EventField("parentId", "Its folder after the event, or null at the top level", _NULLABLE),
    _text("name", "Its name after the event"),
    EventField("revision", "Its revision after the event", _NUMBER),
    EventField("size", "Its size in bytes, 0 for a folder", _NUMBER),
    _ACTOR,
)
_PREVIOUS_PARENT: Final = EventField(
    "previousParentId", "The folder that it was moved from, or null for the top level", _NULLABLE
)


def _of_tenant(name: str, description: str, *more: EventField) -> EventType:
    return EventType(name, description, (*_NODE, *more), is_of_tenant_stream=True)


def _of_server(name: str, description: str, *fields: EventField) -> EventType:
    return EventType(name, description, fields, is_of_tenant_stream=False)


EVENT_TYPES: Final[Mapping[str, EventType]] = {
    item.name: item
    for item in (
        _of_tenant("folder.created", "A folder was created."),
        _of_tenant("file.created", "A file was uploaded."),
        _of_tenant("file.replaced", "The content of a file was replaced."),
        _of_tenant("file.renamed", "A file or folder was renamed."),
        _of_tenant("file.moved", "A file or folder was moved, and perhaps renamed.", _PREVIOUS_PARENT),
        _of_tenant(
            "file.deleted", "A file, or a folder with its content, was deleted, perhaps to the trash."
        ),
        _of_tenant("file.restored", "A file, or a folder with its content, came back from the trash."),
        _of_tenant(
            "file.purged",
            "The permanent removal from the trash began. The actor of a scheduled removal is the user "
            "who deleted the file or folder.",
        ),
        _of_server(
            "user.registered",
            "A user was created.",
            _USER,
            _text("userType", "`USER`, `ADMIN` or `SERVICE`"),
            _ACTOR,
        ),
        _of_server("user.updated", "The profile of a user was changed.", _USER, _ACTOR),
        _of_server("user.suspended", "A user was suspended.", _USER, _ACTOR),
        _of_server("user.reinstated", "A suspended user was reinstated.", _USER, _ACTOR),
        _of_server("user.deleted", "A user was deleted.", _USER, _ACTOR),
        _of_server("credential.bound", "A credential was added to a user.", _USER, _KIND, _ACTOR),
        _of_server("credential.unbound", "A credential of a user was removed.", _USER, _KIND, _ACTOR),
        _of_server("password.changed", "A user changed the password.", _USER, _ACTOR),
        _of_server("password.reset", "A user set a new password by a code.", _USER, _ACTOR),
        _of_server("factor.added", "A user enrolled a second factor.", _USER, _FACTOR, _ACTOR),
        _of_server(
            "factor.removed",
            "A user removed a second factor, or an administrator removed all of a user.",
            _USER,
            _FACTOR,
            _ACTOR,
        ),
        _of_server(
            "passkey.counter_regressed",
            "An answer of a passkey was refused, because its counter went back: there may be a copy.",
            _USER,
            _ACTOR,
        ),
        _of_server("login.succeeded", "A user logged in.", _USER, _LOGIN, _METHOD),
        _of_server(
            "login.failed",
            "A login was refused.",
            EventField("userId", "The user, or null if there is none of the name", _NULLABLE),
            _text("code", "The error code of the response"),
        ),
        _of_server(
            "authorization.revoked",
            "One login, all logins of a user, or all logins of all users were revoked.",
            EventField("authorizationId", "The login, or null if several were revoked", _NULLABLE),
            EventField(
                "userId", "The user whose logins were revoked, or null for one login or all", _NULLABLE
            ),
            _text("reason", "`logout`, `revoked-all`, or `reuse` of a refresh token"),
            _ACTOR,
        ),
        _of_server("access_key.created", "An access key was created.", _KEY, _USER, _ACTOR),
        _of_server("access_key.rotated", "An access key got a new secret.", _KEY, _USER, _ACTOR),
        _of_server(
            "access_key.revoked",
            "An access key was revoked, by its user or because it was reported as leaked.",
            _KEY,
            _USER,
            _ACTOR,
        ),
        _of_server(
            "grant.set",
            "A user was granted a permission on a file or folder, or the permission was changed.",
            _TENANT,
            _text("fileId", "The file or folder"),
            _text("userId", "The user who holds the permission"),
            _text("permission", "`read`, `write` or `manage`"),
            EventField(
                "expiresAt",
                "When the permission ends",
                {"type": "string", "format": "date-time"},
                is_required=False,
            ),
            _ACTOR,
        ),
        _of_server(
            "grant.removed",
            "A permission on a file or folder was revoked.",
            _TENANT,
            _text("fileId", "The file or folder"),
            _text("userId", "The user who held the permission"),
            _ACTOR,
        ),
        _of_server(
            "quota.exceeded",
            "An upload was refused because it would exceed the quota of its tenant. Each process "
            "reports at most one refusal per tenant and hour.",
            _TENANT,
        ),
        _of_server(
            "group_grant.set",
            "A group was granted a permission on a file or folder, or the permission was changed.",
            _TENANT,
            _text("fileId", "The file or folder"),
            _GROUP,
            _text("permission", "`read`, `write` or `manage`"),
            EventField(
                "expiresAt",
                "When the permission ends",
                {"type": "string", "format": "date-time"},
                is_required=False,
            ),
            _ACTOR,
        ),
        _of_server(
            "group_grant.removed",
            "A group's permission on a file or folder was revoked.",
            _TENANT,
            _text("fileId", "The file or folder"),
            _GROUP,
            _ACTOR,
        ),
        _of_server("group.created", "A group was created.", _TENANT, _GROUP, _GROUP_NAME, _ACTOR),
        _of_server("group.updated", "A group was renamed.", _TENANT, _GROUP, _GROUP_NAME, _ACTOR),
        _of_server(
            "group.deleted",
            "A group was deleted with its memberships and grants.",
            _TENANT,
            _GROUP,
            _GROUP_NAME,
            _ACTOR,
        ),
        _of_server("group.member_added", "A user was added to a group.", _TENANT, _GROUP, _USER, _ACTOR),
        _of_server(
            "group.member_removed", "A user was removed from a group.", _TENANT, _GROUP, _USER, _ACTOR
        ),
        _of_server(
            "invitation.created",
            "An e-mail address or a mobile number was invited to a tenant.",
            _TENANT,
            _INVITATION,
            _ROLE,
            _ACTOR,
        ),
        _of_server(
            "invitation.deleted", "An invitation was withdrawn.", _TENANT, _INVITATION, _ROLE, _ACTOR
        ),
        _of_server(
            "invitation.accepted",
            "A user became a member by an invitation.",
            _TENANT,
            _INVITATION,
            _USER,
            _ROLE,
            _ACTOR,
        ),
        _of_server(
            "invitation.declined",
            "A user declined an invitation.",
            _TENANT,
            _INVITATION,
            _ROLE,
            _ACTOR,
        ),
        _of_server("tenant.created", "A tenant was created.", _TENANT, _ACTOR),
        _of_server("tenant.updated", "The name or quota of a tenant was changed.", _TENANT, _ACTOR),
        _of_server("tenant.deleted", "A tenant was hidden; it can be restored.", _TENANT, _ACTOR),
        _of_server("tenant.restored", "A deleted tenant was restored.", _TENANT, _ACTOR),
        _of_server("tenant.purged", "A deleted tenant was removed with its files.", _TENANT, _ACTOR),
        _of_server(
            "member.added",
            "A user became a member of a tenant, or the role of a member was changed.",
            _TENANT,
            _USER,
            _ROLE,
            _ACTOR,
        ),
        _of_server(
            "scan.infected",
            "A content scanner refused an upload, or found a stored file, which is now in quarantine.",
            EventField("fileId", "The file or business file, or null for a refused upload", _NULLABLE),
            EventField("tenantId", "The tenant of the file, or null without one", _NULLABLE),
            _text("outcome", "`refused` or `quarantined`"),
            _text("scanner", "The name of the scanner"),
            _text("reason", "The signature that matched, or why the content was refused"),
            _ACTOR,
        ),
        _of_server(
            "quarantine.released",
            "An administrator released a file from quarantine.",
            _text("fileId", "The file or business file"),
            EventField("tenantId", "The tenant of the file, or null without one", _NULLABLE),
            _ACTOR,
        ),
        _of_server(
            "hold.placed",
            "A hold was placed on a file, or on a folder with its content, or was changed.",
            _text("fileId", "The file or folder"),
            _TENANT,
            _HOLD_END,
            _ACTOR,
        ),
        _of_server(
            "hold.released",
            "A hold was released.",
            _text("fileId", "The file or folder"),
            _TENANT,
            _HOLD_END,
            _ACTOR,
        ),
        _of_server("retention.changed", "The retention of a tenant was changed.", _TENANT, _ACTOR),
        _of_server(
            "retention.overridden",
            "An administrator removed retained content, or deleted a tenant with such content.",
            EventField("fileId", "The file or folder, or null for a tenant", _NULLABLE),
            _TENANT,
            _text("until", "When its retention would have ended"),
            _ACTOR,
        ),
        _of_server(
            "member.transferred",
            "The files, folders and grants of a user were transferred to a member of the tenant.",
            _TENANT,
            _USER,
            _SUCCESSOR,
            _ACTOR,
        ),
        _of_server(
            "tenant.transferred",
            "A tenant was handed over: one user became its administrator, and another ceased to be.",
            _TENANT,
            _USER,
            _SUCCESSOR,
            _ACTOR,
        ),
        _of_server("member.removed", "A member of a tenant was removed.", _TENANT, _USER, _ACTOR),
    )
}
