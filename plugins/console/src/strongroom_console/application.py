"""The WSGI application: areas of pages, sessions, and the defence against forged requests."""

from functools import partial
from http import HTTPStatus
from typing import Any, Final

from flask import Blueprint, g, request
from werkzeug.exceptions import HTTPException

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.visits import SAFE_METHODS, PageApplication, Refused, show_refusal
from strongroom.plugin_api.web import ApiError, LargeBody
from strongroom_console import my_files, server, tenant
from strongroom_console.design_page import design
from strongroom_console.find import find
from strongroom_console.home import home
from strongroom_console.impersonation import end_impersonation
from strongroom_console.visit import PREFIX, ConsoleVisit, console_visit

AREAS: Final[tuple[Blueprint, ...]] = (home, find, design, *my_files.AREAS, *tenant.AREAS, *server.AREAS)
"""The areas of the console, each with its pages."""

LARGE_BODIES: Final = (
    LargeBody("POST", "/tenants/<tenant_id>/upload", is_form=True),
    LargeBody("POST", "/tenants/<tenant_id>/uploads"),
    LargeBody("PATCH", "/tenants/<tenant_id>/uploads/<upload_id>"),
    LargeBody("POST", "/server/imports/", 256 * 1024**2, is_form=True),
    # Two JSON texts of 16 KiB each, before and after, indented and percent-encoded.
    LargeBody("POST", "/server/users/<user_id>/metadata/<kind>", 400 * 1024, is_form=True),
    LargeBody("POST", "/server/users/<user_id>/metadata/<kind>/rows", 400 * 1024, is_form=True),
)
"""The routes of uploads and of large forms."""

_END: Final = "end_impersonation"


def create_application(host: HostAPI) -> PageApplication:
    """Return the application, which is mounted below :data:`~strongroom_console.visit.PREFIX`."""
    # The session of an impersonation only reads, so its end would be refused.
    application = PageApplication(host, PREFIX, visit=ConsoleVisit, public=frozenset({_END}))
    application.register_error_handler(Refused, _show_refusal)
    application.register_error_handler(ApiError, _show_error)
    application.register_error_handler(HTTPException, _show_fault)
    application.add_url_rule(
        "/impersonation/end", _END, partial(end_impersonation, host), methods=["POST"]
    )
    for area in AREAS:
        application.register_blueprint(area)
    return application


def _show_refusal(refused: Refused) -> Any:
    response = refused.response
    if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        show_refusal(refused)
    visit = console_visit()
    return _login_after(response.error, response.status) or visit.page(
        "fault.html", status=response.status, text_of_fault=visit.problem_text(response)
    )


def _login_after(error: str | None, status: int) -> Any:
    """Return the redirect to the proof that a login lacks for a page, such as a strict tenant's."""
    visit = console_visit()
    page = visit.here.removeprefix(visit.root)
    return visit.login_after(error, status, page) if request.method in SAFE_METHODS else None


def _show_error(error: ApiError) -> Any:
    if not _is_page() or error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        # The server's own answer: to a script, to a form of another site, or while a part of the server
        # is unavailable.
        raise error
    return _login_after(error.code, error.status) or console_visit().page(
        "fault.html", status=error.status, text_of_fault=str(error)
    )


def _show_fault(fault: HTTPException) -> Any:
    if not _is_page():
        return fault
    status = fault.code or HTTPStatus.BAD_REQUEST
    return console_visit().page("fault.html", status=status, text_of_fault=None)


def _is_page() -> bool:
    """Return whether a page of the console can show a fault."""
    if request.endpoint == _END or "visit" not in g:
        return False
    return request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate"
