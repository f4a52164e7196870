"""New users, with a first way to log in that is shown once."""

from collections.abc import Mapping
from typing import Any, Final

from flask import Blueprint, request
from marshmallow import Schema
from marshmallow import fields as texts

from strongroom.plugin_api.page_forms import SchemaForm
from strongroom.plugin_api.visits import Visit, current_visit
from strongroom.plugin_api.web import RestResponse
from strongroom_console.server.forms import field, fields, is_checked
from strongroom_console.server.frame import server_page
from strongroom_console.server.people import USERS, page_path, person_page, rest_path

new_user: Final = Blueprint("new_user", __name__, url_prefix="/server/users/new")

_SENT: Final = "sent"


_MEMBERS: Final = ("name", "email", "mobile", "username")


class NewUser(Schema):
    """The fields of the form; the REST API checks the rest."""

    name = texts.String(required=True)
    username = texts.String()
    email = texts.String()
    mobile = texts.String()
    locale = texts.String()
    email_verified = texts.String(data_key="emailVerified")
    mobile_verified = texts.String(data_key="mobileVerified")
    access = texts.String(load_default="password")


@new_user.get("")
def show_form() -> Any:
    """Show the form of a new user."""
    return _page(SchemaForm(NewUser()))


@new_user.post("")
def create_user() -> Any:
    """Create a user; show the temporary password or the link once."""
    visit = current_visit()
    form = SchemaForm(NewUser(), request.form)
    if form.faults:
        return _page(form)
    created = visit.rest("POST", "/users", _described(form))
    if form.refuse(created):
        return _page(form)
    if created.error is not None:
        is_taken = created.error == "error.credential-taken"
        return _page(form, created) if is_taken else visit.follow(created, "/server/users/new")
    user_id = created.json["id"]
    secret = _first_secret(visit, user_id)
    changed = _change(visit, user_id)
    for response in (secret, changed):
        if response is not None and response.error is not None:
            return visit.follow(response, page_path(user_id))
    if secret is None:
        return visit.redirect(page_path(user_id), "user-created")
    return person_page(visit, "server/user_secret.html", user_id, secret=secret.json, created=True)


def _page(form: SchemaForm, refusal: RestResponse | None = None) -> Any:
    return server_page(current_visit(), "server/new_user.html", USERS, form=form, refusal=refusal)


def _described(form: SchemaForm) -> Mapping[str, Any]:
    members = {name: form.values[name] for name in _MEMBERS if name in form.values}
    return {
        **members,
        "emailVerified": is_checked("emailVerified"),
        "mobileVerified": is_checked("mobileVerified"),
        "invite": field("access") == _SENT,
    }


def _first_secret(visit: Visit, user_id: str) -> RestResponse | None:
    match field("access"):
        case "password":
            return visit.rest("POST", f"{rest_path(user_id)}/temporary-password")
        case "link":
            body = {"kind": "invite", "send": False}
            return visit.rest("POST", f"{rest_path(user_id)}/links", body)
        case _:
            return None


def _change(visit: Visit, user_id: str) -> RestResponse | None:
    """Set what a new user cannot have yet.

    Not the type: it would void the temporary password or the link. Users who have set a password become
    administrators.
    """
    changes = fields("locale")
    return visit.rest("PATCH", rest_path(user_id), changes) if changes else None
