"""The first page: the tenants of the user."""

from http import HTTPStatus
from typing import Any, Final

from flask import Blueprint, redirect, request

from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom_console.lists import PAGE_SIZE
from strongroom_console.visit import console_visit

home: Final = Blueprint("home", __name__)

MOST_SPACES: Final = 100
"""The spaces of the switcher; the page of all spaces has the others."""

_TENANTS: Final = "/api/v1/tenants"


@home.get("/")
def show_home() -> Any:
    """Show the tenants; the files of the only one."""
    visit = console_visit()
    tenants = visit.read(_TENANTS, pageSize=PAGE_SIZE, pageNumber=page_number())
    if tenants["meta"]["totalCount"] == 1 == len(tenants["data"]) and not visit.is_administrator:
        return visit.redirect(f"/tenants/{tenants['data'][0]['id']}/files/")
    return visit.page("home.html", tenants=tenants["data"], links=page_links(tenants["meta"]))


@home.get("/spaces")
def list_spaces() -> Any:
    """Return the list of the switcher: the spaces, without a page around them."""
    visit = console_visit()
    tenants = visit.host.tenants.list(size=MOST_SPACES)
    return visit.render("spaces.html", status=HTTPStatus.OK, tenants=tenants.items)


@home.post("/tenants")
def create_tenant() -> Any:
    """Create a tenant, and open its files."""
    visit = console_visit()
    response = visit.rest("POST", _TENANTS, {"name": request.form.get("name", "").strip()})
    if response.error is not None:
        return visit.follow(response, "/")
    return visit.follow(response, f"/tenants/{response.json['id']}/files/", "tenant-created")


@home.post("/logout")
def log_out() -> Any:
    """End the session, and that at the platform that the user has logged in by."""
    visit = console_visit()
    login = visit.host.browser.login_path() or "/"
    platform = visit.host.browser.logout_url(login.removeprefix(visit.base_path))
    visit.host.browser.end_session()
    return redirect(platform or login, 303)
