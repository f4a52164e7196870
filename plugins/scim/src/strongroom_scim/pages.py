"""The pages of directories, of a space and of the server, in the frame of the console."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from flask import Blueprint, request
from werkzeug.exceptions import NotFound

from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.tenants import TenantInfo
from strongroom.plugin_api.visits import PageApplication, Visit, current_visit, is_form_error, join_path
from strongroom.plugin_api.web import MountedApplication, RestResponse
from strongroom_scim.paths import TENANTS, get_resource

PREFIX: Final = "/directories"
"""The path of the pages, below the base path of the server."""

SPACE_PATH: Final = f"{PREFIX}/of/{{tenant}}/"
"""The path of the page of a space."""

REASONS: Final[Mapping[str, str]] = {
    "uniqueness": "error-taken",
    "invalidValue": "error-value",
    "invalidPath": "error-request",
    "invalidSyntax": "error-request",
    "noTarget": "error-request",
    "mutability": "error-request",
}
"""The texts of errors by their kinds in SCIM."""

OTHER_REASONS: Final[Mapping[int, str]] = {
    404: "error-unknown",
    409: "error-conflict",
    412: "error-version",
    413: "error-large",
}
"""The texts of errors without a kind, by their statuses."""

OTHER_REASON: Final = "error-request"
SUBJECTS: Final[Mapping[str, str]] = {"user": "of-user", "group": "of-group"}

_PAGE_SIZE: Final = 50
_ACCOUNT: Final = "accountId"

pages = Blueprint("directory_pages", __name__)


class DirectoryVisit(Visit):
    """A request of an administrator for a page of directories."""

    @property
    def tenant(self) -> TenantInfo | None:
        """The space; ``None``: the pages are about the server."""
        tenant_id = self.tenant_id
        return None if tenant_id is None else self.host.tenants.get(tenant_id)

    @property
    def tenant_id(self) -> str | None:
        """The id of the space; ``None``: the pages are about the server."""
        return (request.view_args or {}).get("tenant_id")

    @property
    def area(self) -> str:
        """The path of the list, below the path of the pages."""
        return "/" if self.tenant_id is None else join_path("/of", self.tenant_id, "")

    def path(self, directory_id: str) -> str:
        """Return the path of the page of a directory, below the path of the pages."""
        return join_path(self.area.rstrip("/"), directory_id, "")

    def rest_path(self, *names: str) -> str:
        """Return a path in the REST API, of the space or the server."""
        if self.tenant_id is None:
            return join_path("/api/v1", *names)
        return join_path("/api/v1/tenants", self.tenant_id, *names)

    def keys_path(self, account_id: str) -> str:
        """Return the path of the keys of a service account in the REST API."""
        if self.tenant_id is None:
            return join_path("/users", account_id, "access-keys")
        return self.rest_path("service-accounts", account_id, "access-keys")

    @property
    def address(self) -> str:
        """The URL that an administrator enters in the directory."""
        base = get_resource(self.host)
        return base if self.tenant_id is None else f"{base}/{TENANTS}/{self.tenant_id}"

    def show(self, template: str, **values: Any) -> Any:
        """Return the response with a page in the frame of the console."""
        tenant = self.tenant
        area = f"{self.root}{self.area}"
        return self.page(
            template,
            tenant=tenant,
            area=area,
            sections=self.host.pages.sections(tenant),
            section=area,
            address=self.address,
            **values,
        )


def make_directory_pages(host: HostAPI) -> MountedApplication:
    """Return the application of the pages."""
    application = PageApplication(host, PREFIX, visit=DirectoryVisit)
    for prefix in ("/", "/of/<tenant_id>"):
        name = "of_server" if prefix == "/" else "of_space"
        application.register_blueprint(pages, url_prefix=prefix, name=name)
    return MountedApplication(PREFIX, application.wsgi_app)


@pages.get("/")
def list_directories(**_: str) -> Any:
    """Show the directories, with the form of a new one."""
    return _show_list()


@pages.post("/")
def connect_directory(**_: str) -> Any:
    """Create a service account, register it as a directory, and show its key once."""
    visit = _visit()
    name = request.form.get("name", "").strip()
    account = visit.rest("POST", visit.rest_path("service-accounts"), {"name": name})
    if account.error is not None:
        return _refuse(account)
    account_id = account.json["id"]
    registered = visit.rest("POST", visit.rest_path("directories"), _request(name, account_id))
    response = registered
    if response.error is None:
        response = visit.rest("POST", visit.keys_path(account_id), _key(name))
        if response.error is None:
            return _show_key(registered.json, response)
        visit.rest("DELETE", visit.rest_path("directories", registered.json["id"]))
    visit.rest("DELETE", visit.rest_path("service-accounts", account_id))
    return _refuse(response)


@pages.get("/<directory_id>/")
def show_directory(directory_id: str, **_: str) -> Any:
    """Show a directory with its settings and errors."""
    return _show(directory_id)


@pages.post("/<directory_id>/settings")
def change_directory(directory_id: str, **_: str) -> Any:
    """Change the name, the account, the right to write and the successor of a directory."""
    visit = _visit()
    body = _request(request.form.get("name", "").strip(), request.form.get(_ACCOUNT, ""))
    response = visit.rest("PUT", visit.rest_path("directories", directory_id), body)
    if is_form_error(response):
        return _show(directory_id, response)
    return visit.follow(response, visit.path(directory_id), "directory-saved")


@pages.get("/<directory_id>/keys")
def leave_key(directory_id: str, **_: str) -> Any:
    """Lead from the address of a key, which is shown once, to its directory."""
    visit = _visit()
    return visit.redirect(visit.path(directory_id))


@pages.post("/<directory_id>/keys")
def create_key(directory_id: str, **_: str) -> Any:
    """Create another key of the account of a directory, and show it once."""
    visit = _visit()
    directory = _find(directory_id)
    response = visit.rest("POST", visit.keys_path(str(directory[_ACCOUNT])), _key(directory["name"]))
    if response.error is not None:
        return visit.follow(response, visit.path(directory_id))
    return _show_key(directory, response)


@pages.get("/<directory_id>/removal")
def ask_about_removal(directory_id: str, **_: str) -> Any:
    """Ask whether a directory is to be removed."""
    return _visit().show("directory_removal.html", directory=_find(directory_id))


@pages.post("/<directory_id>/removal")
def remove_directory(directory_id: str, **_: str) -> Any:
    """Remove a directory. Its users, its groups and its service account stay."""
    visit = _visit()
    response = visit.rest("DELETE", visit.rest_path("directories", directory_id))
    if response.error is not None:
        return visit.follow(response, visit.path(directory_id))
    return visit.redirect(visit.area, "directory-removed")


def reason_key(error: Mapping[str, Any]) -> str:
    """Return the text that says why a user or a group was refused."""
    return REASONS.get(error["scimType"] or "") or OTHER_REASONS.get(error["status"], OTHER_REASON)


def _visit() -> DirectoryVisit:
    return cast("DirectoryVisit", current_visit())


def _show_list(refusal: RestResponse | None = None) -> Any:
    visit = _visit()
    path = visit.rest_path("directories")
    page = visit.read(path, pageSize=_PAGE_SIZE, pageNumber=page_number())
    return visit.show(
        "directories.html",
        refusal=refusal,
        directories=page["data"],
        links=page_links(page["meta"]),
        sent=request.form,
        members=_read_members(),
        names=_read_accounts(),
    )


def _refuse(response: RestResponse) -> Any:
    """Return the list with the errors of the form of a new directory."""
    if is_form_error(response):
        return _show_list(response)
    return _visit().follow(response, _visit().area)


def _show(directory_id: str, refusal: RestResponse | None = None) -> Any:
    visit = _visit()
    directory = _find(directory_id)
    path = visit.rest_path("directories", directory_id, "errors")
    page = visit.read(path, pageSize=_PAGE_SIZE, pageNumber=page_number())
    return visit.show(
        "directory.html",
        refusal=refusal,
        directory=directory,
        here_root=f"{visit.root}{visit.path(directory_id)}",
        errors=page["data"],
        reason_key=reason_key,
        subjects=SUBJECTS,
        links=page_links(page["meta"]),
        members=_read_members(),
        accounts=_offered(_read_accounts(), directory[_ACCOUNT]),
    )


def _show_key(directory: Mapping[str, Any], created: RestResponse) -> Any:
    """Return the page with a new key; neither a URL nor a cookie has it."""
    visit = _visit()
    following = f"{visit.root}{visit.path(directory['id'])}"
    key = created.json["key"]
    return visit.show("directory_key.html", directory=directory, key=key, following=following)


def _find(directory_id: str) -> Mapping[str, Any]:
    visit = _visit()
    listed = visit.read_all(visit.rest_path("directories")).data
    directory = next((item for item in listed if item["id"] == directory_id), None)
    if directory is None:
        raise NotFound
    return directory


def _read_members() -> Sequence[tuple[str, str]]:
    """Return the ids and names of those who can take over files; none for the server."""
    visit = _visit()
    if visit.tenant_id is None:
        return []

    def name(item: Any, included: Any) -> str:
        user_id = item["user"]["$ref"]
        return str(included.get(user_id, {}).get("name") or user_id)

    listed = visit.read_choices(visit.rest_path("members"), name)
    return [(item["user"]["$ref"], name(item, listed.included)) for item in listed.data]


def _read_accounts() -> Mapping[str, str]:
    """Return the names of the service accounts by their ids."""
    visit = _visit()
    listed = visit.read_all(visit.rest_path("service-accounts")).data
    return {item["id"]: item["name"] for item in listed}


def _offered(accounts: Mapping[str, str], current: str | None) -> Sequence[tuple[str, str]]:
    """Return the accounts of the form, with the current one, which may be one of the server."""
    missing = [] if current is None or current in accounts else [(current, current)]
    return [*accounts.items(), *missing]


def _request(name: str, account_id: str) -> Mapping[str, Any]:
    form = request.form
    return {
        "name": name,
        _ACCOUNT: account_id,
        "mayWrite": "mayWrite" in form,
        "successorId": form.get("successorId") or None,
    }


def _key(name: str) -> Mapping[str, Any]:
    return {"name": name, "scopes": [Scope.USERS_WRITE.value]}
