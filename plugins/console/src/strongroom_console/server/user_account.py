"""The account of a user: profile, status, contacts, first password and deletion."""

from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.visits import current_visit
from strongroom_console.server.forms import field, fields, is_checked, times_of, whole_number
from strongroom_console.server.people import page_path, person_page, rest_path

user_account: Final = Blueprint("user_account", __name__, url_prefix="/server/users/<user_id>")

CONTACTS: Final = ("email", "mobile", "username")


@user_account.get("/")
def show_user(user_id: str) -> Any:
    """Show the account of a user."""
    return _page(user_id)


@user_account.post("/profile")
def change_profile(user_id: str) -> Any:
    """Change the name, the language, the type, and the id in another system."""
    visit = current_visit()
    person = visit.read(rest_path(user_id))
    sent = {
        "name": field("name"),
        "locale": field("locale") or None,
        "type": field("type"),
        "externalId": field("externalId") or None,
    }
    # A member that is sent may need a fresh proof, also if it does not change.
    changes = {key: text for key, text in sent.items() if key in request.form and text != person[key]}
    if not changes:
        return visit.redirect(page_path(user_id), "user-saved")
    response = visit.rest("PATCH", rest_path(user_id), changes)
    if response.error == "error.validation-failed":
        return _page(user_id, refusal=response, form=request.form)
    return visit.follow(response, page_path(user_id), "user-saved")


@user_account.post("/suspension")
def suspend(user_id: str) -> Any:
    """Suspend the user, perhaps until a time; a suspended user is logged out everywhere."""
    visit = current_visit()
    body = times_of(fields("reason", "until"), "until")
    response = visit.rest("POST", f"{rest_path(user_id)}/suspension", body)
    return visit.follow(response, page_path(user_id), "user-suspended")


@user_account.post("/reinstatement")
def reinstate(user_id: str) -> Any:
    """End the suspension."""
    visit = current_visit()
    response = visit.rest("DELETE", f"{rest_path(user_id)}/suspension")
    return visit.follow(response, page_path(user_id), "user-reinstated")


@user_account.post("/contacts/<any(email, mobile, username):kind>")
def set_contact(user_id: str, kind: str) -> Any:
    """Set a contact; remove it if the form leaves it empty."""
    visit = current_visit()
    path, value = f"{rest_path(user_id)}/contacts/{kind}", field("value")
    if not value:
        return visit.follow(visit.rest("DELETE", path), page_path(user_id), "contact-removed")
    response = visit.rest("PUT", path, {"value": value, "verified": is_checked("verified")})
    if response.error in ("error.validation-failed", "error.credential-taken"):
        return _page(user_id, refusal=response, kind=kind, value=value)
    return visit.follow(response, page_path(user_id), "contact-saved")


@user_account.post("/temporary-password")
def give_password(user_id: str) -> Any:
    """Give a temporary password, and show it once."""
    visit = current_visit()
    response = visit.rest("POST", f"{rest_path(user_id)}/temporary-password")
    if response.error is not None:
        return visit.follow(response, page_path(user_id))
    return person_page(visit, "server/user_secret.html", user_id, secret=response.json)


@user_account.post("/links")
def create_link(user_id: str) -> Any:
    """Send a link by which the user chooses a password, or show it once."""
    visit = current_visit()
    is_sent = is_checked("send")
    body = {"kind": field("kind"), "send": is_sent}
    response = visit.rest("POST", f"{rest_path(user_id)}/links", body)
    if is_sent or response.error is not None:
        return visit.follow(response, page_path(user_id, "sessions"), "link-sent")
    return person_page(visit, "server/user_secret.html", user_id, secret=response.json)


@user_account.post("/impersonation")
def impersonate(user_id: str) -> Any:
    """Show the console as the user sees it."""
    visit = current_visit()
    body = {"reason": field("reason"), "minutes": whole_number("minutes")}
    response = visit.rest("POST", f"{rest_path(user_id)}/impersonation", body)
    if response.error is not None:
        return visit.follow(response, page_path(user_id))
    visit.host.browser.begin_impersonation(response.json["accessToken"])
    return visit.redirect("/")


@user_account.get("/deletion")
def confirm_deletion(user_id: str) -> Any:
    """Show the question before the deletion."""
    return person_page(current_visit(), "server/user_deletion.html", user_id)


@user_account.post("/deletion")
def delete_user(user_id: str) -> Any:
    """Delete the user."""
    visit = current_visit()
    response = visit.rest("DELETE", rest_path(user_id))
    if response.error is not None:
        return visit.follow(response, page_path(user_id, "deletion"))
    return visit.redirect("/server/users/", "user-deleted")


def _page(user_id: str, **values: Any) -> Any:
    shown = {"form": {}, "kind": "", "value": "", **values}
    return person_page(current_visit(), "server/user.html", user_id, **shown)
