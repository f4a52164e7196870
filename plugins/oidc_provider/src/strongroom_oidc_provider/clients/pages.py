"""The pages of clients, for administrators of the server, in the frame of the console."""

import base64
from collections.abc import Mapping
from typing import Any, Final, cast

from flask import Blueprint, request
from werkzeug.exceptions import NotFound

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.page_lists import page_links, page_number, read_number
from strongroom.plugin_api.paging import read_records
from strongroom.plugin_api.visits import PageApplication, Visit, current_visit, is_form_error, join_path
from strongroom.plugin_api.web import LargeBody, MountedApplication, RestResponse
from strongroom_oidc_provider.clients.claim_forms import (
    FIELD_NAMES,
    PLACES,
    SOURCES,
    VALUES,
    make_rule,
    sentence_key,
)
from strongroom_oidc_provider.clients.clients import Clients
from strongroom_oidc_provider.clients.pictures import MAX_BYTES
from strongroom_oidc_provider.logins.pages import NAMED_SCOPES, ProviderPages, get_host

PREFIX: Final = "/applications"
"""The path of the pages, below the base path of the server."""

LANGUAGES: Final = {"en": "English", "zh": "中文"}
"""The languages of the preview."""

ENDS: Final = {"0": "ends-now", "3600": "ends-in-hour", "86400": "ends-in-day", "604800": "ends-in-week"}
"""The texts of the seconds for which the former secret is valid."""

WEB: Final = "secret"
APP: Final = "public"
DEVICE: Final = "device"
SERVICE: Final = "service"

_REST: Final = "/api/v1/clients"
_ACCOUNTS: Final = "/api/v1/service-accounts"
_TENANTS: Final = "/api/v1/tenants"
_PAGE_SIZE: Final = 50
_FORM_BYTES: Final = MAX_BYTES + 16 * 1024
_LINES: Final = ("redirectUris", "postLogoutRedirectUris", "resources")
_SWITCHES: Final = ("trusted", "deviceLogin")
_PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "look": ("name", "accent", "termsUrl", "privacyUrl"),
    "addresses": ("redirectUris", "postLogoutRedirectUris", "backchannelLogoutUri"),
    "rights": ("scopes", "resources"),
    "logins": _SWITCHES,
}
"""The members that the forms of the settings change, by their names."""

pages = Blueprint("application_pages", __name__)


class ClientVisit(Visit):
    """A request of an administrator for a page of clients."""

    field_names = FIELD_NAMES

    def show(self, template: str, *, status: int = 0, **values: Any) -> Any:
        """Return the response with a page in the frame of the console."""
        return self.page(
            template,
            status=status,
            policy={"frame-src": "'self'"},
            sections=self.host.pages.sections(),
            section=f"{self.root}/",
            get_host=get_host,
            **values,
        )


def make_application_pages(host: HostAPI) -> MountedApplication:
    """Return the application of the pages."""
    application = PageApplication(host, PREFIX, visit=ClientVisit)
    application.register_blueprint(pages)
    logo = LargeBody("POST", "/<client_id>/logo", _FORM_BYTES, is_form=True)
    return MountedApplication(PREFIX, application.wsgi_app, [logo])


@pages.get("/")
def list_clients() -> Any:
    """Show the clients, or those whose names a search finds."""
    visit, sought = _visit(), request.args.get("q", "").strip()[:255]
    if sought:
        words = sought.casefold().split()
        records = read_records(
            lambda cursor, size: visit.read(_REST, pageSize=size, cursor=cursor),
            visit.most_read,
            lambda item, _: all(word in _searched(item) for word in words),
        )
        return visit.show("clients.html", clients=records.data, sought_name=sought, links=None)
    page = visit.read(_REST, pageSize=_PAGE_SIZE, pageNumber=page_number())
    links = page_links(page["meta"])
    return visit.show("clients.html", clients=page["data"], sought_name="", links=links)


@pages.get("/new")
def show_new_client() -> Any:
    """Show the form of a new client."""
    return _show_new()


@pages.post("/new")
def create_client() -> Any:
    """Create a client, and show its secret, if it has one."""
    visit = _visit()
    response = visit.rest("POST", _REST, _new_client())
    if is_form_error(response):
        return _show_new(refusal=response)
    if response.error is not None:
        return visit.follow(response, "/new")
    client = response.json
    if client["secret"] is None:
        return visit.redirect(_path(client["id"]), "client-created")
    return visit.show("client_secret.html", client=client, secret=client["secret"])


def _show_new(**values: Any) -> Any:
    visit = _visit()
    accounts = visit.read_choices(_ACCOUNTS, lambda account, _: str(account["name"]))
    return visit.show("client_new.html", sent=request.form, accounts=accounts.data, **values)


def _new_client() -> Mapping[str, Any]:
    """Return the client of the form, with the members of its kind."""
    form = request.form
    kind = form.get("kind", WEB)
    has_browser = kind not in (DEVICE, SERVICE)
    return {
        "name": form.get("name", "").strip(),
        "public": kind in (APP, DEVICE),
        "trusted": "trusted" in form and kind != SERVICE,
        "deviceLogin": kind == DEVICE,
        "redirectUris": form.get("redirectUris", "").split() if has_browser else [],
        **({"serviceAccountId": form.get("serviceAccountId", "")} if kind == SERVICE else {}),
    }


@pages.get("/<client_id>/")
def show_client(client_id: str) -> Any:
    """Show a client with its settings, secrets and brand."""
    return _show(client_id)


@pages.post("/<client_id>/settings")
def update_client(client_id: str) -> Any:
    """Change the settings that one of the forms has."""
    names = _PARTS.get(request.form.get("part", ""))
    if names is None:
        raise NotFound
    return _change(client_id, {name: _setting(name) for name in names}, "client-saved")


def _setting(name: str) -> Any:
    form = request.form
    if name in _SWITCHES:
        return name in form
    if name in _LINES:
        return form.get(name, "").split()
    if name == "scopes":
        return form.getlist(name)
    text = form.get(name, "").strip()
    return text if text or name == "name" else None


def _change(client_id: str, changes: Mapping[str, Any], notice: str) -> Any:
    revision = request.form.get("revision", "")
    # The REST API refuses another text.
    number = read_number(revision)
    body = {**changes, "revision": revision if number is None else number}
    return _follow(_visit().rest("PATCH", _rest(client_id), body), client_id, notice)


@pages.post("/<client_id>/claims")
def add_claim(client_id: str) -> Any:
    """Add the rule of a claim."""
    rules = [*_visit().read(_rest(client_id))["claims"], make_rule(request.form)]
    return _change(client_id, {"claims": rules}, "claim-added")


@pages.post("/<client_id>/claims/removal")
def remove_claim(client_id: str) -> Any:
    """Remove the rule of a claim."""
    name = request.form.get("name", "")
    rules = [rule for rule in _visit().read(_rest(client_id))["claims"] if rule["name"] != name]
    return _change(client_id, {"claims": rules}, "claim-removed")


@pages.post("/<client_id>/logo")
def set_logo(client_id: str) -> Any:
    """Set the logo of a client."""
    visit, file = _visit(), request.files.get("picture")
    content = b"" if file is None else file.read(MAX_BYTES + 1)
    body = {"picture": base64.b64encode(content).decode()}
    return _follow(visit.rest("PUT", f"{_rest(client_id)}/logo", body), client_id, "client-saved")


@pages.post("/<client_id>/logo/removal")
def remove_logo(client_id: str) -> Any:
    """Remove the logo of a client."""
    response = _visit().rest("DELETE", f"{_rest(client_id)}/logo")
    return _follow(response, client_id, "client-saved")


@pages.post("/<client_id>/secret")
def rotate_secret(client_id: str) -> Any:
    """Create a new secret, and show it once."""
    visit = _visit()
    seconds = request.form.get("overlap", "")
    body = {"overlapSeconds": int(seconds) if seconds in ENDS else 0}
    response = visit.rest("POST", f"{_rest(client_id)}/rotate-secret", body)
    if response.error is not None:
        return visit.follow(response, _path(client_id))
    client = visit.read(_rest(client_id))
    return visit.show("client_secret.html", client=client, secret=response.json["secret"])


@pages.post("/<client_id>/enabling")
def enable_client(client_id: str) -> Any:
    """Enable a client."""
    response = _visit().rest("POST", f"{_rest(client_id)}/enable")
    return _follow(response, client_id, "client-enabled")


@pages.get("/<client_id>/<any(disabling, deletion):change>")
def ask_about_change(client_id: str, change: str) -> Any:
    """Show the question before a client is disabled or deleted."""
    visit = _visit()
    usage = visit.read(f"{_rest(client_id)}/usage")
    client = visit.read(_rest(client_id))
    return visit.show("client_question.html", client=client, change=change, usage=usage)


@pages.post("/<client_id>/disabling")
def disable_client(client_id: str) -> Any:
    """Disable a client."""
    response = _visit().rest("POST", f"{_rest(client_id)}/disable")
    return _follow(response, client_id, "client-disabled")


@pages.post("/<client_id>/deletion")
def delete_client(client_id: str) -> Any:
    """Delete a client."""
    visit = _visit()
    response = visit.rest("DELETE", _rest(client_id))
    if response.error is not None:
        return visit.follow(response, _path(client_id))
    return visit.redirect("/", "client-deleted")


@pages.get("/<client_id>/preview")
def preview_consent(client_id: str) -> Any:
    """Show the page of a consent as the users of the client see it, for a frame of its page."""
    visit = _visit()
    client = visit.host.get_service(Clients).get(client_id)
    logins = visit.host.get_service(ProviderPages)
    return logins.preview(client, visit.viewer()["name"], _preview_language())


def _visit() -> ClientVisit:
    return cast("ClientVisit", current_visit())


def _show(client_id: str) -> Any:
    visit = _visit()
    client = visit.read(_rest(client_id))
    tenants = visit.read_choices(_TENANTS, lambda tenant, _: str(tenant["name"]), all="true").data
    return visit.show(
        "application.html",
        client=client,
        sources=SOURCES,
        claim_values=VALUES,
        claim_places=PLACES,
        sentence_key=sentence_key,
        spaces={tenant["id"]: tenant["name"] for tenant in tenants},
        client_root=f"{visit.root}{_path(client_id)}",
        usage=visit.read(f"{_rest(client_id)}/usage"),
        named_scopes=NAMED_SCOPES,
        other_scopes=[scope for scope in client["scopes"] if scope not in NAMED_SCOPES],
        languages=LANGUAGES,
        preview_language=_preview_language(),
        ends=ENDS,
    )


def _follow(response: RestResponse, client_id: str, notice: str) -> Any:
    return _visit().follow(response, _path(client_id), notice)


def _preview_language() -> str | None:
    """Return the language that is chosen for the preview; ``None``: the page's."""
    chosen = request.args.get("preview", "")
    return chosen if chosen in LANGUAGES else None


def _searched(client: Mapping[str, Any]) -> str:
    return " ".join([client["name"], client["id"], *client["redirectUris"]]).casefold()


def _path(client_id: str) -> str:
    return join_path("", client_id, "")


def _rest(client_id: str) -> str:
    return join_path(_REST, client_id)
