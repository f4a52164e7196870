"""People who join a tenant: users who are added, and addresses and numbers that are invited."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from flask import request

from strongroom.plugin_api.visits import Visit
from strongroom.plugin_api.web import RestResponse
from strongroom_console.tenant.frame import tenant_path
from strongroom_console.tenant.member_list import ROLES
from strongroom_console.visit import ConsoleVisit

_MOST_OFFERED: Final = 20
_INVITE: Final = "invite:"
"""The beginning of the value of a choice that is an address or a number."""

Json = Mapping[str, Any]


def read_joining(visit: ConsoleVisit, tenant_id: str) -> dict[str, Any]:
    """Return the variables of the window in which administrators of the tenant add and invite people."""
    groups = visit.read_choices(tenant_path(tenant_id, "groups"), lambda group, _: str(group["name"]))
    return {
        "users": _offered_users(visit),
        "groups": groups.data,
        "roles": ROLES,
        "sent": request.form,
        "invited": request.form.get("user", "").removeprefix(_INVITE) if _is_invitation() else "",
    }


def _offered_users(visit: ConsoleVisit) -> Sequence[Json]:
    """Return the users who can be added: those that administrators of the server search for."""
    if not visit.is_administrator:
        return ()
    sought = {"q": visit.sought} if visit.sought else {}
    return visit.find("/users", pageSize=_MOST_OFFERED, **sought)


def send_joining(visit: ConsoleVisit, tenant_id: str) -> tuple[RestResponse, str]:
    """Add the user of the form, or invite its address; return the response and the invited address."""
    typed = request.form.get("typed", "").strip()
    user = request.form.get("user", "").strip() or typed
    if _is_invitation():
        address = user.removeprefix(_INVITE)
        return send_invitation(visit, tenant_id, address), address
    user_id = _find_user_id(visit, user)
    if user_id == typed and _is_contact(typed):
        return send_invitation(visit, tenant_id, typed), typed
    return _add(visit, tenant_id, user_id), ""


def send_invitation(visit: Visit, tenant_id: str, contact: str) -> RestResponse:
    """Invite an e-mail address or a mobile number, with the role and the groups of the form."""
    body = {
        "email" if "@" in contact else "mobile": contact,
        "role": request.form.get("role", "member"),
        "groups": request.form.getlist("group"),
    }
    return visit.rest("POST", tenant_path(tenant_id, "invitations"), body)


def _add(visit: Visit, tenant_id: str, user_id: str) -> RestResponse:
    """Add a user, also to the groups of the form; return the response of the first refusal, if any."""
    role = {"role": request.form.get("role", "")}
    response = visit.rest("PUT", tenant_path(tenant_id, "members", user_id), role)
    for group in request.form.getlist("group"):
        if response.error is None:
            response = visit.rest("PUT", tenant_path(tenant_id, "groups", group, "members", user_id))
    return response


def _is_invitation() -> bool:
    return request.form.get("user", "").startswith(_INVITE)


def _is_contact(text: str) -> bool:
    return "@" in text or text.startswith("+")


def _find_user_id(visit: ConsoleVisit, text: str) -> str:
    """Return the id of the user with a contact, which only administrators of the server may search for.

    Any other text is an id, which the REST API verifies.
    """
    if visit.is_administrator:
        kind = "email" if "@" in text else "mobile" if text.startswith("+") else "username"
        response = visit.rest("GET", f"/users?{urlencode({kind: text})}")
        if response.error is None and response.json["data"]:
            return str(response.json["data"][0]["id"])
    return text or "-"
