"""The WSGI application: areas of pages, sessions, and the defence against forged requests."""

from functools import partial
from http import HTTPStatus
from typing import Any, Final, NoReturn

from flask import Blueprint, Flask, g, request
from werkzeug.exceptions import HTTPException
from werkzeug.routing import Rule

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError, ErrorKind, LargeBody, RestResponse
from strongroom_console import my_files, server, tenant
from strongroom_console.home import home
from strongroom_console.impersonation import end_impersonation
from strongroom_console.visit import Refused, Visit, current_visit, problem_of

AREAS: Final[tuple[Blueprint, ...]] = (home, *my_files.AREAS, *tenant.AREAS, *server.AREAS)
"""The areas of the console, each with its pages."""

LARGE_BODIES: Final = (
    LargeBody("POST", "/tenants/<tenant_id>/upload", is_form=True),
    LargeBody("POST", "/tenants/<tenant_id>/uploads"),
    LargeBody("PATCH", "/tenants/<tenant_id>/uploads/<upload_id>"),
    LargeBody("POST", "/server/imports/", 256 * 1024**2, is_form=True),
    # Two JSON texts of 16 KiB each, before and after, indented and percent-encoded.
    LargeBody("POST", "/server/users/<user_id>/metadata/<kind>", 400 * 1024, is_form=True),
)
"""The routes of uploads and of large forms."""

_END: Final = "end_impersonation"
_SAFE_METHODS: Final = ("GET", "HEAD", "OPTIONS")


class _Rule(Rule):
    """A rule without functions for ``url_for``, which no page uses.

    Compiling them for all routes took six sevenths of the time of :func:`create_application`, which
    each process of a server spends at its start.
    """

    def _compile_builder(self, append_unknown: bool = True) -> Any:  # noqa: ARG002  the signature of Werkzeug
        def refuse(_rule: Rule, /, **_values: Any) -> NoReturn:
            raise NotImplementedError("the console writes its URLs itself")

        return refuse


class _Application(Flask):
    url_rule_class = _Rule


def create_application(host: HostAPI) -> Flask:
    """Return the application, which is mounted below :data:`~strongroom_console.visit.PREFIX`."""
    application = _Application("strongroom_console", static_folder=None, template_folder=None)
    # Errors that are no answers to the browser are logged and counted by the server, as those of routes.
    application.config["PROPAGATE_EXCEPTIONS"] = True

    @application.before_request
    def begin() -> None:
        if request.endpoint != _END:
            # The session precedes the body, so that a client without one has none parsed. That of an
            # impersonation only reads, and would be refused.
            g.visit = Visit(host, host.browser.require_session(admits_impersonation=True))
        if request.method not in _SAFE_METHODS:
            host.browser.require_csrf()

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
        raise _fault_of(response)
    return _login_after(response.error, response.status) or current_visit().page(
        "fault.html", status=response.status, text_of_fault=problem_of(response)
    )


def _fault_of(response: RestResponse) -> ApiError:
    member = response.json["error"]
    kind = ErrorKind(response.status, member["code"], member["message"], response.retry_after)
    return ApiError(kind)


def _login_after(error: str | None, status: int) -> Any:
    """Return the redirect to what the login lacks for a page, such as that of a tenant with demands."""
    visit = current_visit()
    page = visit.here.removeprefix(visit.root)
    return visit.login_after(error, status, page) if request.method in _SAFE_METHODS else None


def _show_error(error: ApiError) -> Any:
    if "visit" not in g or not _is_page() or error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        # The server's own answer, such as that to a script, or to a form of another site. A page of the
        # console reads the user, which fails for the same reason as the request.
        raise error
    return _login_after(error.code, error.status) or current_visit().page(
        "fault.html", status=error.status, text_of_fault=str(error)
    )


def _show_fault(fault: HTTPException) -> Any:
    if "visit" not in g or not _is_page():
        return fault
    status = fault.code or HTTPStatus.BAD_REQUEST
    return current_visit().page("fault.html", status=status, text_of_fault=None)


def _is_page() -> bool:
    return request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate"
