"""How a user logs in: sessions, second factors and access keys."""

from typing import Any, Final
from urllib.parse import quote

from flask import Blueprint

from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.visits import current_visit
from strongroom_console.lists import PAGE_SIZE
from strongroom_console.server.people import page_path, person_page, rest_path

user_logins: Final = Blueprint("user_logins", __name__, url_prefix="/server/users/<user_id>")


def _list(user_id: str, page: str, rest: str) -> Any:
    visit = current_visit()
    listing = visit.read(f"{rest_path(user_id)}/{rest}", pageSize=PAGE_SIZE, pageNumber=page_number())
    return person_page(
        visit,
        f"server/user_{page}.html",
        user_id,
        page,
        items=listing["data"],
        included=listing["included"],
        links=page_links(listing["meta"]),
    )


def _remove(user_id: str, page: str, rest: str, notice: str) -> Any:
    visit = current_visit()
    return visit.follow(visit.rest("DELETE", rest), page_path(user_id, page), notice)


@user_logins.get("/sessions")
def list_sessions(user_id: str) -> Any:
    """Show where the user is logged in."""
    return _list(user_id, "sessions", "authorizations")


@user_logins.post("/sessions/end")
def end_sessions(user_id: str) -> Any:
    """End all sessions of the user."""
    return _remove(user_id, "sessions", f"{rest_path(user_id)}/authorizations", "sessions-ended")


@user_logins.post("/sessions/<session_id>/end")
def end_session(user_id: str, session_id: str) -> Any:
    """End one session of the user."""
    path = f"/authorizations/{quote(session_id, safe='')}"
    return _remove(user_id, "sessions", path, "session-ended")


@user_logins.get("/factors")
def list_factors(user_id: str) -> Any:
    """Show the second factors of the user."""
    return _list(user_id, "factors", "factors")


@user_logins.post("/factors/reset")
def reset_factors(user_id: str) -> Any:
    """Remove all second factors of the user."""
    return _remove(user_id, "factors", f"{rest_path(user_id)}/factors", "factors-reset")


@user_logins.post("/factors/<factor_id>/removal")
def remove_factor(user_id: str, factor_id: str) -> Any:
    """Remove one second factor of the user."""
    path = f"{rest_path(user_id)}/factors/{quote(factor_id, safe='')}"
    return _remove(user_id, "factors", path, "factor-removed")


@user_logins.get("/keys")
def list_keys(user_id: str) -> Any:
    """Show the access keys of the user."""
    return _list(user_id, "keys", "access-keys")


@user_logins.post("/keys/<key_id>/revocation")
def revoke_key(user_id: str, key_id: str) -> Any:
    """Revoke an access key of the user."""
    path = f"{rest_path(user_id)}/access-keys/{quote(key_id, safe='')}"
    return _remove(user_id, "keys", path, "key-revoked")
