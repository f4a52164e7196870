"""Resources of SCIM from records of the server, and back."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from scim2_models import InvalidValueException, Meta, Resource
from scim2_server.conditions import opaque_tag

from strongroom.plugin_api.names import readable_name
from strongroom.plugin_api.provisioning import (
    GroupRecord,
    MemberSummary,
    ProvisionedGroupInfo,
    ProvisionedUserInfo,
    UserRecord,
)

_NOT_STORED: Final = frozenset(
    {"id", "meta", "userName", "externalId", "active", "groups", "password", "schemas"}
)
"""What the server keeps itself. A password is neither set nor stored: users log in as others do."""

_UNSAID: Final = "#active"
"""The member of a profile whose directory does not say whether the user is active."""

_LOCALE: Final = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")
_MAX_NAME: Final = 255
_MILLISECONDS: Final = 1000


def make_user(
    model: type[Resource[Any]], user: ProvisionedUserInfo, groups: Sequence[MemberSummary]
) -> Resource[Any]:
    """Return the resource of a user."""
    payload = {
        **{key: value for key, value in user.profile.items() if key != _UNSAID},
        "schemas": [model.__schema__, *(key for key in user.profile if key.startswith("urn:"))],
        "id": user.id,
        "userName": user.login_name,
        "externalId": user.external_id,
        # A directory that does not say whether the user is active gets back what it said.
        "active": None if user.is_active and _UNSAID in user.profile else user.is_active,
        "groups": [
            {"value": group.id, "$ref": f"Groups/{group.id}", "display": group.name, "type": "direct"}
            for group in groups
        ]
        or None,
    }
    resource = model.model_validate(payload)
    resource.meta = _make_meta("User", user.created_at, user.updated_at, user.version)
    return resource


def make_group(
    model: type[Resource[Any]], group: ProvisionedGroupInfo, members: Sequence[MemberSummary]
) -> Resource[Any]:
    """Return the resource of a group."""
    payload = {
        "schemas": [model.__schema__],
        "id": group.id,
        "displayName": group.name,
        "externalId": group.external_id,
        "members": [
            {"value": member.id, "$ref": f"Users/{member.id}", "type": "User"} for member in members
        ]
        or None,
    }
    resource = model.model_validate(payload)
    resource.meta = _make_meta("Group", group.created_at, group.updated_at, group.version)
    return resource


def read_user(resource: Resource[Any]) -> UserRecord:
    """Return what a resource says of a user.

    Raises:
        InvalidValueException: it has no name of a user.
    """
    payload = resource.model_dump(mode="json")
    profile = {key: value for key, value in payload.items() if key not in _NOT_STORED}
    login_name = str(payload.get("userName") or "")
    if not login_name:
        raise InvalidValueException(detail="userName: Required.")
    # Without "active", the user is (RFC 7643, section 4.1.1, leaves it to the server).
    is_active = payload.get("active")
    if is_active is None:
        profile[_UNSAID] = True
    locale = str(payload.get("locale") or payload.get("preferredLanguage") or "").replace("_", "-")
    return UserRecord(
        login_name=login_name,
        name=_choose_name(payload, login_name),
        external_id=payload.get("externalId") or None,
        email=_choose_email(payload, login_name),
        locale=locale if _LOCALE.fullmatch(locale) else None,
        is_active=is_active is not False,
        profile=profile,
    )


def read_group(resource: Resource[Any], *, has_members: bool = True) -> GroupRecord:
    """Return what a resource says of a group."""
    payload = resource.model_dump(mode="json")
    members = [str(member.get("value") or "") for member in payload.get("members") or ()]
    return GroupRecord(
        name=str(payload.get("displayName") or ""),
        external_id=payload.get("externalId") or None,
        member_ids=frozenset(members) if has_members else None,
    )


def make_version(version: str) -> str:
    """Return the entity tag of a version, a weak one (RFC 7644, section 3.14)."""
    return f'W/"{version}"'


def read_version(tag: str | None) -> str | None:
    """Return the version of an entity tag."""
    return None if tag is None else opaque_tag(tag)


def _make_meta(kind: str, created_at: int, updated_at: int, version: str) -> Meta:
    return Meta(
        resource_type=kind,
        created=datetime.fromtimestamp(created_at / _MILLISECONDS, UTC),
        last_modified=datetime.fromtimestamp(updated_at / _MILLISECONDS, UTC),
        version=make_version(version),
    )


def _choose_name(payload: Mapping[str, Any], login_name: str) -> str:
    parts = payload.get("name") or {}
    both = " ".join(filter(None, (parts.get("givenName"), parts.get("familyName"))))
    candidates = (payload.get("displayName"), parts.get("formatted"), both, login_name)
    names = (readable_name(str(text))[:_MAX_NAME] for text in candidates if text)
    return next(filter(None, names), login_name)


def _choose_email(payload: Mapping[str, Any], login_name: str) -> str | None:
    """Return the address: the primary one, else the one of the type ``work``, else the first one.

    Entra has no address of a user without a mailbox; the name of the user is then like one.
    """
    emails = [item for item in payload.get("emails") or () if item.get("value")]
    ranked = sorted(emails, key=lambda item: (not item.get("primary"), item.get("type") != "work"))
    if ranked:
        return str(ranked[0]["value"])
    return login_name if "@" in login_name else None
