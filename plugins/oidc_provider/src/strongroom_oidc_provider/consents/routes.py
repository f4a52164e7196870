"""The routes and pages of what users have consented to."""

from dataclasses import asdict
from typing import Any, Final

from strongroom.plugin_api.request import current_host, get_service
from strongroom.plugin_api.schemas import DoneSchema
from strongroom.plugin_api.visits import join_path
from strongroom.plugin_api.web import Access, Blueprint
from strongroom_oidc_provider.consents.client_page import show_client
from strongroom_oidc_provider.consents.consents import Consents
from strongroom_oidc_provider.errors import CONSENT_UNKNOWN
from strongroom_oidc_provider.limits import count
from strongroom_oidc_provider.logins.pages import ProviderVisit
from strongroom_oidc_provider.schemas import ConsentsSchema

Json = dict[str, Any]

_ROOT: Final = "/api/v1/users/<user_id>/consents"
_PAGE: Final = "/oauth2/consents"
_MINE: Final = "/api/v1/users/me/consents"
_HTML: Final = {
    "responses": {
        "200": {"description": "The page", "content": {"text/html": {"schema": {"type": "string"}}}},
        "303": {"description": "The way to the login, or to the page that follows"},
    }
}

routes = Blueprint(
    "consents",
    description="What users have let clients do.",
    parameters={"client_id": "The `id` of the consent"},
)


@routes.operation("GET", _ROOT, access=Access.USER, returns=ConsentsSchema)
def list_consents(user_id: str) -> Json:
    """List the clients that a user has let do something, by name.

    For the user, and for administrators. Trusted clients need no consent.
    """
    consents, user = get_service(Consents), _resolve(user_id)
    uses = consents.last_uses(user)
    items = [
        {**asdict(item), "key": item.key, "last_used_at": uses.get(item.client_id)}
        for item in consents.of_user(user)
    ]
    return {"data": items}


@routes.operation(
    "DELETE",
    f"{_ROOT}/<client_id>",
    access=Access.USER,
    returns=DoneSchema,
    errors=(CONSENT_UNKNOWN,),
)
def withdraw_consent(user_id: str, client_id: str) -> Json:
    """Withdraw the consent to a client, whose tokens for the user end at once.

    For the user, and for administrators.
    """
    get_service(Consents).withdraw(_resolve(user_id), client_id)
    return {"success": True}


@routes.operation("GET", _PAGE, access=Access.PUBLIC, limit=count, document=_HTML)
def show_consents() -> Any:
    """Show the page of the clients that the user has consented to."""
    visit = ProviderVisit(current_host())
    return visit.account_page("consents.html", apps=_read(visit))


@routes.operation(
    "GET",
    f"{_PAGE}/<client_id>",
    access=Access.PUBLIC,
    limit=count,
    any_query=True,
    document=_HTML,
)
def show_connected_client(client_id: str) -> Any:
    """Show what a client may do for the user, and what it did."""
    visit = ProviderVisit(current_host())
    consents = [item for item in visit.read(_MINE)["data"] if item["id"] == client_id]
    return show_client(visit, consents) if consents else visit.redirect("/consents")


@routes.operation(
    "GET", f"{_PAGE}/<client_id>/removal", access=Access.PUBLIC, limit=count, document=_HTML
)
def show_withdrawal(client_id: str) -> Any:
    """Ask whether the consent to a client is to be withdrawn."""
    visit = ProviderVisit(current_host())
    app = next((app for app in _read(visit) if app["id"] == client_id), None)
    if app is None:
        return visit.redirect("/consents")
    return visit.account_page("consent_removal.html", app=app)


@routes.operation(
    "POST",
    f"{_PAGE}/<client_id>/removal",
    access=Access.PUBLIC,
    limit=count,
    any_query=True,
    document=_HTML,
)
def withdraw_consent_by_form(client_id: str) -> Any:
    """Withdraw the consent to a client by the form of its page."""
    visit = ProviderVisit(current_host())
    _ = visit.session
    visit.host.browser.require_csrf()
    response = visit.rest("DELETE", join_path(_MINE, client_id))
    return visit.follow(response, "/consents", "withdrawn")


def _resolve(user_id: str) -> str:
    """Return the id of a user that the caller may read; ``me`` is the caller."""
    users = current_host().users
    return (users.me() if user_id == "me" else users.get(user_id)).id


def _read(visit: ProviderVisit) -> list[Json]:
    """Return the consents of the user, one of each client."""
    consents: list[Json] = visit.read(_MINE)["data"]
    return list({item["clientId"]: item for item in reversed(consents)}.values())[::-1]
