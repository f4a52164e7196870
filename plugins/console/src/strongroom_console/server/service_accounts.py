"""The service accounts of the server, and their keys, which are shown once."""

from typing import Any, Final

from flask import Blueprint, request
from marshmallow import Schema
from marshmallow import fields as texts

from strongroom.plugin_api.page_forms import SchemaForm
from strongroom.plugin_api.visits import current_visit, is_form_error, join_path
from strongroom_console.lists import read_matching
from strongroom_console.scopes import SCOPES
from strongroom_console.server.forms import field, fields, filters, times_of
from strongroom_console.server.frame import server_page
from strongroom_console.server.people import rest_path
from strongroom_console.server.questions import Question, ask

service_accounts: Final = Blueprint(
    "server_service_accounts", __name__, url_prefix="/server/service-accounts"
)

_SECTION: Final = "service-accounts/"
_ACCOUNTS: Final = "/api/v1/service-accounts"


class NewAccount(Schema):
    """The form of a new service account."""

    name = texts.String(required=True)


@service_accounts.get("/")
def list_accounts() -> Any:
    """Show the service accounts of the server."""
    return _list(SchemaForm(NewAccount()))


@service_accounts.post("/")
def create_account() -> Any:
    """Create a service account, and show its page."""
    visit = current_visit()
    form = SchemaForm(NewAccount(), request.form)
    response = visit.send_form(form, "POST", _ACCOUNTS)
    if response is None:
        return _list(form)
    if response.error is not None:
        return visit.follow(response, _path())
    return visit.follow(response, _path(response.json["id"]), "server-account-created")


@service_accounts.get("/<account_id>/")
def show_account(account_id: str) -> Any:
    """Show a service account and its keys."""
    return _show(account_id)


@service_accounts.post("/<account_id>/name")
def rename_account(account_id: str) -> Any:
    """Rename a service account."""
    visit = current_visit()
    response = visit.rest("PATCH", _rest(account_id), {"name": field("name")})
    return visit.follow(response, _path(account_id), "server-account-renamed")


@service_accounts.get("/<account_id>/deletion")
def ask_about_deletion(account_id: str) -> Any:
    """Show the question before the deletion."""
    account = current_visit().read(_rest(account_id))
    question = Question(
        heading="server-delete-account-named",
        name=account["name"],
        hint="server-delete-account-hint",
        button="server-delete-account",
        action=f"{_path(account_id)}deletion",
        back=_path(account_id),
    )
    return ask(_SECTION, question)


@service_accounts.post("/<account_id>/deletion")
def delete_account(account_id: str) -> Any:
    """Delete a service account with its keys."""
    visit = current_visit()
    response = visit.rest("DELETE", _rest(account_id))
    if response.error is not None:
        return visit.follow(response, f"{_path(account_id)}deletion")
    return visit.redirect(_path(), "server-account-deleted")


@service_accounts.post("/<account_id>/keys")
def create_key(account_id: str) -> Any:
    """Create a key, and show it once."""
    visit = current_visit()
    addresses = [text for text in field("addresses").replace(",", " ").split() if text]
    body = {
        "name": field("name"),
        "scopes": request.form.getlist("scopes"),
        "addresses": addresses,
        **times_of(fields("expiresAt"), "expiresAt"),
    }
    response = visit.rest("POST", f"{rest_path(account_id)}/access-keys", body)
    if response.error is not None:
        is_wrong = is_form_error(response)
        return (
            _show(account_id, refusal=response)
            if is_wrong
            else visit.follow(response, _path(account_id))
        )
    return _show(account_id, "server/service_account_key.html", created=response.json)


@service_accounts.post("/<account_id>/keys/<key_id>/revocation")
def revoke_key(account_id: str, key_id: str) -> Any:
    """Revoke a key."""
    visit = current_visit()
    path = join_path(rest_path(account_id), "access-keys", key_id)
    return visit.follow(visit.rest("DELETE", path), _path(account_id), "key-revoked")


def _path(account_id: str = "") -> str:
    return join_path("/server/service-accounts", *((account_id, "") if account_id else ("",)))


def _rest(account_id: str) -> str:
    return join_path(_ACCOUNTS, account_id)


def _list(form: SchemaForm) -> Any:
    visit = current_visit()
    query = filters("q")
    accounts, included, links = read_matching(
        visit, _ACCOUNTS, query.get("q", ""), lambda account, _: str(account["name"])
    )
    return server_page(
        visit,
        "server/service_accounts.html",
        _SECTION,
        accounts=accounts,
        included=included,
        links=links,
        query=query,
        form=form,
    )


def _show(account_id: str, template: str = "server/service_account.html", **values: Any) -> Any:
    visit = current_visit()
    account = visit.read(_rest(account_id))
    keys = visit.read_all(f"{rest_path(account_id)}/access-keys")
    return server_page(
        visit,
        template,
        _SECTION,
        account=account,
        account_root=f"{visit.root}{_path(account_id)}",
        keys=keys.data,
        scopes=SCOPES,
        form=request.form,
        chosen=request.form.getlist("scopes"),
        **values,
    )
