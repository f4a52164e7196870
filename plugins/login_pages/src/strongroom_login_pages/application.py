"""The WSGI application: routes, sessions, and the defence against forged requests."""

from collections.abc import Iterable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode, urlsplit
from wsgiref.types import StartResponse, WSGIEnvironment

from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.wrappers import Request

from strongroom.plugin_api.browser import is_local_path
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.pages import LoginPages
from strongroom.plugin_api.visits import PageApplication
from strongroom.plugin_api.web import ApiError, RestResponse
from strongroom_login_pages.account import account_areas
from strongroom_login_pages.account.connections import begin_confirmation
from strongroom_login_pages.account.frame import refuse
from strongroom_login_pages.front_ends.codes import LoginCodes
from strongroom_login_pages.front_ends.returns import FrontEnds
from strongroom_login_pages.registration.invitations import InvitationLinks
from strongroom_login_pages.registration.register import RegistrationPages
from strongroom_login_pages.registration.terms import TermsOfLogin
from strongroom_login_pages.reset.contact_restoration import RestoredContacts
from strongroom_login_pages.reset.forgotten_password import ForgottenPassword
from strongroom_login_pages.reset.password_links import PasswordLinks
from strongroom_login_pages.sign_in.code_links import CodeLinks
from strongroom_login_pages.sign_in.code_login import CodeLogin
from strongroom_login_pages.sign_in.links import LinkOrder
from strongroom_login_pages.sign_in.login import HINT, MAX_HINT, Login
from strongroom_login_pages.sign_in.progress import LoginProgress
from strongroom_login_pages.sign_in.second_factor import SecondFactor
from strongroom_login_pages.sign_in.step_up import StepUp
from strongroom_login_pages.visit import (
    PREFIX,
    Area,
    FormMalformed,
    LoginVisit,
    View,
    login_visit,
)


class LoginPagesApplication(LoginPages):
    """Serves the pages below ``/account``, and finishes logins that other plugins begin."""

    def __init__(self, host: HostAPI, codes: LoginCodes) -> None:
        self._host = host
        front_ends = FrontEnds(host.options.return_urls, host.options.app_return_urls, codes)
        self._progress = LoginProgress(front_ends)
        self._login = Login(self._progress, front_ends, LinkOrder(host.options.login_links))
        self._root = urlsplit(host.public_url).path + PREFIX
        self.pages = self._create_pages()

    def login_path(self, resume: str | None, *, login_hint: str | None = None) -> str:
        query = {"resume": resume} if resume and is_local_path(resume) else {}
        query |= {HINT: login_hint[:MAX_HINT]} if login_hint else {}
        return f"{self._root}/login{'?' + urlencode(query) if query else ''}"

    def account_path(self) -> str:
        return f"{self._root}/"

    def change_password_path(self) -> str:
        return f"{self._root}/password"

    def step_up_path(self, resume: str) -> str | None:
        query = f"?{urlencode({'resume': resume})}" if is_local_path(resume) else ""
        return f"{self._root}/step-up{query}"

    def finish(
        self, login: RestResponse, resume: str | None, *, method: str, link: str | None = None
    ) -> Any:
        visit = LoginVisit(self._host, request=Request({}))
        return self._login.finish(visit, login, resume, link or method)

    def refuse(self, login: RestResponse) -> Any:
        visit = LoginVisit(self._host, request=Request({}))
        if visit.token is not None:
            return refuse(visit, login, "/")
        return self._progress.begin_again(visit, login)

    def finish_connection(self, name: str, proof: Mapping[str, str] | None) -> Any:
        return begin_confirmation(LoginVisit(self._host, request=Request({})), name, proof)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return self.pages(environ, start_response)

    def _create_pages(self) -> PageApplication:
        pages = PageApplication(self._host, PREFIX, visit=LoginVisit, public=None)
        pages.url_map.strict_slashes = pages.url_map.merge_slashes = False
        for area in _areas(self._login, self._progress):
            for (method, path), view in area.routes().items():
                options: Any = {"methods": [method], "provide_automatic_options": False}
                pages.add_url_rule(path, f"{method} {path}", partial(_respond, view), **options)
        pages.register_error_handler(HTTPException, _show_fault)
        pages.register_error_handler(MethodNotAllowed, lambda _error: login_visit().redirect("/"))
        pages.register_error_handler(ApiError, self._show_error)
        return pages

    def _show_error(self, error: ApiError) -> Any:
        """Return the page that follows a form without the secret of the browser's session."""
        if error.code != "error.form-refused":
            raise error
        visit = login_visit()
        # The form of our own page, in a browser that has lost the session or got another one.
        is_ours = visit.request.headers.get("Sec-Fetch-Site") == "same-origin"
        if is_ours and visit.request.path == "/login":
            return self._login.show_expired(visit)
        return visit.fail(error.status, "form-refused", "form-refused-hint")


def _respond(view: View, **parameters: str) -> Any:
    return view(login_visit(), **parameters)


def _show_fault(fault: HTTPException) -> Any:
    visit, status = login_visit(), fault.code or HTTPStatus.BAD_REQUEST
    if isinstance(fault, FormMalformed):
        return visit.fail(status, "form-refused", "form-refused-hint")
    return visit.fail(status)


def _areas(login: Login, progress: LoginProgress) -> tuple[Area, ...]:
    # One area per line, so that the pages of an area stand together.
    return (
        login,
        CodeLogin(progress),
        CodeLinks(progress),
        SecondFactor(progress),
        StepUp(),
        RegistrationPages(progress),
        InvitationLinks(),
        ForgottenPassword(),
        PasswordLinks(),
        RestoredContacts(),
        TermsOfLogin(progress),
        *account_areas(progress),
    )
