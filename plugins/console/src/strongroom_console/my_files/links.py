"""The links of a file or folder, for visitors without an account: the plugin ``share_links``."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import segno
from flask import request

from strongroom.plugin_api.times import shown_day
from strongroom.plugin_api.visits import Visit, current_visit
from strongroom.plugin_api.web import RestResponse
from strongroom_console.my_files.ends import requested_end
from strongroom_console.my_files.nodes import node_path
from strongroom_console.numbers import form_number
from strongroom_console.tenant.frame import tenant_path

KINDS: Final = {
    "read": "link-read",
    "preview": "link-preview",
    "drop": "link-drop",
    "write": "link-write",
}
"""The keys of what visitors may do."""

AUDIENCES: Final = {
    "anyone": "for-anyone",
    "logged-in": "for-logged-in",
    "members": "for-members",
    "users": "for-users",
}
"""The keys of who may open a link."""

STATES: Final = {
    "active": "link-active",
    "expired": "link-expired",
    "exhausted": "link-exhausted",
    "disabled": "link-disabled",
    "maker-gone": "link-maker-gone",
    "not-managed": "link-not-managed",
    "file-gone": "link-file-gone",
    "closed": "link-closed",
}
"""The keys of the states of links."""

_PICTURES: Final = 5
"""The links of a file that are shown with a QR code: each takes milliseconds."""

_REQUIRED: Final = "required"
_OF_FOLDERS: Final = frozenset({"drop", "write"})


NEW_RULES: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("kind", "label", "until", "end", "maxDownloads"), ""),
    "audience": "anyone",
    "userIds": (),
    "notify": False,
}
"""The rules in the form of a new link."""


def links_of_node(visit: Visit, node: Mapping[str, Any], *, is_refused: bool) -> Mapping[str, Any]:
    """Return the variables of the section with the links of a node; without the plugin, no ``shares``.

    Args:
        is_refused: whether the form of a new link was refused, so that it keeps its input.
    """
    path = f"{node_path(node['tenantId'], node['id'])}/shares"
    if not visit.host.pages.has_route("GET", path):
        return {"shares": None}
    policy = visit.read(f"{tenant_path(node['tenantId'])}/share-policy")
    shares = visit.read_all(path).data
    return {
        "shares": [
            {
                **share,
                "picture": picture_of(share["url"]) if share["url"] and place < _PICTURES else None,
            }
            for place, share in enumerate(shares)
        ],
        "needs_password": policy["password"] == _REQUIRED,
        "kinds": _kinds(policy, node),
        "kind_names": KINDS,
        "audiences": AUDIENCES,
        "states": STATES,
        "rules": given_rules() if is_refused else NEW_RULES,
    }


def _kinds(policy: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the kinds of links that the policy allows for a node; none if it forbids links."""
    is_file = node["type"] == "file"
    allowed = policy["kinds"] if policy["enabled"] and policy["who"] != "nobody" else ()
    return {
        kind: key
        for kind, key in KINDS.items()
        if kind in allowed and not (is_file and kind in _OF_FOLDERS)
    }


def given_rules() -> Mapping[str, Any]:
    """Return the rules in a form as they are, for the form again after it was refused."""
    form = request.form
    texts = {name: form.get(name, "") for name in ("kind", "label", "until", "end", "maxDownloads")}
    people = form.getlist("userIds")
    return {**texts, **_choices(form.get("audience"), people, notify=form.get("notify") == "true")}


def rules_of(share: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the rules of a link, for the form that changes it."""
    zone = current_visit().host.browser.zone
    end, audience = share["expiresAt"] or "", share["audience"]
    people = audience["userIds"] if isinstance(audience, dict) else []
    texts = {
        "kind": share["kind"],
        "label": share["label"],
        "until": shown_day(end, zone) if end else "",
        "end": end,
    }
    choices = _choices("users" if people else audience, people, notify=share["notify"])
    return {**texts, "maxDownloads": share["maxDownloads"] or "", **choices}


def _choices(audience: str | None, people: Sequence[str], *, notify: bool) -> Mapping[str, Any]:
    return {"audience": audience or "anyone", "userIds": people, "notify": notify}


def requested_rules() -> dict[str, Any]:
    """Return the rules of a link that a form has."""
    form = request.form
    audience = form.get("audience", "anyone")
    return {
        "label": form.get("label", "").strip(),
        "expiresAt": requested_end(),
        "maxDownloads": form_number("maxDownloads"),
        "audience": {"userIds": form.getlist("userIds")} if audience == "users" else audience,
        "notify": form.get("notify") == "true",
    }


def requested_rule() -> Mapping[str, Any]:
    """Return the one rule of a link that a form changes."""
    rule = request.form.get("rule")
    if rule == "password":
        return requested_password()
    return (
        {"expiresAt": requested_end()}
        if rule == "until"
        else {"maxDownloads": form_number("maxDownloads")}
    )


def requested_password() -> Mapping[str, str | None]:
    """Return the change of the password: a new one, none, or no change."""
    if request.form.get("withoutPassword") == "true":
        return {"password": None}
    password = request.form.get("password")
    return {"password": password} if password else {}


def create_link(visit: Visit, tenant_id: str, node_id: str) -> RestResponse:
    """Create the link that a form describes."""
    password = request.form.get("password") or None
    body = {"kind": request.form.get("kind", ""), "password": password, **requested_rules()}
    return visit.rest("POST", f"{node_path(tenant_id, node_id)}/shares", body)


def picture_of(url: str) -> str:
    """Return the QR code of a URL, as the URL of a picture."""
    uri: str = segno.make(url, error="m").svg_data_uri(scale=4, border=2)
    return uri
