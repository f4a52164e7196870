"""How a user logs in: the sessions, the second factors and the access keys."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from flask import Blueprint

from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.user_agents import device_name
from strongroom.plugin_api.visits import current_visit, join_path
from strongroom_console.lists import PAGE_SIZE
from strongroom_console.server.people import page_path, person_page, rest_path

user_logins: Final = Blueprint("user_logins", __name__, url_prefix="/server/users/<user_id>")

FACTORS: Final[Mapping[str, str]] = {
    "totp": "factor-totp",
    "passkey": "factor-passkey",
    "recovery-code": "factor-recovery-code",
    "email": "factor-email",
    "sms": "factor-sms",
}
"""The keys of the names of the kinds of second factors."""


def kind_of_factor(kind: str, text: Callable[[str], str]) -> str:
    """Return the name of a kind of second factors; the kind itself if a plugin of others has it."""
    return text(FACTORS[kind]) if kind in FACTORS else kind


def _remove(user_id: str, page: str, rest: str, notice: str) -> Any:
    visit = current_visit()
    return visit.follow(visit.rest("DELETE", rest), page_path(user_id, page), notice)


@user_logins.get("/sessions")
def list_sessions(user_id: str) -> Any:
    """Show how the user logs in, and where the user is logged in."""
    visit, path = current_visit(), rest_path(user_id)
    page = visit.read(f"{path}/authorizations", pageSize=PAGE_SIZE, pageNumber=page_number())
    sessions = [{**item, "device_name": device_name(item["userAgent"] or "")} for item in page["data"]]
    return person_page(
        visit,
        "server/user_sessions.html",
        user_id,
        "sessions",
        items=sessions,
        included=page["included"],
        links=page_links(page["meta"]),
        factors=visit.read_all(f"{path}/factors").data,
        kind_of_factor=kind_of_factor,
    )


@user_logins.post("/sessions/end")
def end_sessions(user_id: str) -> Any:
    """End all sessions of the user."""
    return _remove(user_id, "sessions", f"{rest_path(user_id)}/authorizations", "sessions-ended")


@user_logins.post("/sessions/<session_id>/end")
def end_session(user_id: str, session_id: str) -> Any:
    """End one session of the user."""
    path = join_path("/authorizations", session_id)
    return _remove(user_id, "sessions", path, "session-ended")


@user_logins.post("/factors/reset")
def reset_factors(user_id: str) -> Any:
    """Remove all second factors of the user."""
    return _remove(user_id, "sessions", f"{rest_path(user_id)}/factors", "factors-reset")


@user_logins.post("/factors/<factor_id>/removal")
def remove_factor(user_id: str, factor_id: str) -> Any:
    """Remove one second factor of the user."""
    path = join_path(rest_path(user_id), "factors", factor_id)
    return _remove(user_id, "sessions", path, "factor-removed")


@user_logins.get("/keys")
def list_keys(user_id: str) -> Any:
    """Show the access keys of the user."""
    visit, path = current_visit(), f"{rest_path(user_id)}/access-keys"
    page = visit.read(path, pageSize=PAGE_SIZE, pageNumber=page_number())
    links = page_links(page["meta"])
    values = {"items": page["data"], "included": page["included"], "links": links}
    return person_page(visit, "server/user_keys.html", user_id, "keys", **values)


@user_logins.post("/keys/<key_id>/revocation")
def revoke_key(user_id: str, key_id: str) -> Any:
    """Revoke an access key of the user."""
    path = join_path(rest_path(user_id), "access-keys", key_id)
    return _remove(user_id, "keys", path, "key-revoked")
