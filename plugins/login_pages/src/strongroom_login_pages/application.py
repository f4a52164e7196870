"""The WSGI application: routes, sessions, and the defence against forged requests."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit
from wsgiref.types import StartResponse, WSGIEnvironment

from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.routing import Map, Rule
from werkzeug.wrappers import Request

from strongroom.plugin_api.browser import is_local_path
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.pages import LoginPages
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
from strongroom_login_pages.sign_in.login import Login
from strongroom_login_pages.sign_in.progress import LoginProgress
from strongroom_login_pages.sign_in.second_factor import SecondFactor
from strongroom_login_pages.sign_in.step_up import StepUp
from strongroom_login_pages.visit import PREFIX, Area, FormMalformed, Visit


class LoginPagesApplication(LoginPages):
    """Serves the pages below ``/account``, and finishes logins that other plugins begin."""

    def __init__(self, host: HostAPI, codes: LoginCodes) -> None:
        self._host = host
        front_ends = FrontEnds(host.options.return_urls, host.options.app_return_urls, codes)
        self._progress = LoginProgress(front_ends)
        self._login = Login(self._progress, front_ends, LinkOrder(host.options.login_links))
        self._routes = _url_map(self._login, self._progress)
        self._root = urlsplit(host.public_url).path + PREFIX

    def login_path(self, resume: str | None) -> str:
        query = f"?{urlencode({'resume': resume})}" if resume and is_local_path(resume) else ""
        return f"{self._root}/login{query}"

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
        visit = Visit(self._host, Request({}), self._root)
        return self._login.finish(visit, login, resume, link or method)

    def refuse(self, login: RestResponse) -> Any:
        visit = Visit(self._host, Request({}), self._root)
        if visit.token is not None:
            return refuse(visit, login, "/")
        return self._progress.begin_again(visit, login)

    def finish_connection(self, name: str, proof: Mapping[str, str] | None) -> Any:
        return begin_confirmation(Visit(self._host, Request({}), self._root), name, proof)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        visit = Visit(self._host, Request(environ), self._root)
        try:
            response = self._view(visit)
        except HTTPException as error:
            reason = "form-refused" if isinstance(error, FormMalformed) else "not-found"
            response = visit.page("error.html", status=error.code or 400, reason=reason)
        except ApiError as error:
            if error.code != "error.form-refused":
                raise
            response = self._refused_form(visit, error)
        answer: Iterable[bytes] = response(environ, start_response)
        return answer

    def _refused_form(self, visit: Visit, error: ApiError) -> Any:
        """Return the page that follows a form without the secret of the browser's session."""
        # The form of our own page, in a browser that has lost the session or got another one.
        is_ours = visit.request.headers.get("Sec-Fetch-Site") == "same-origin"
        if is_ours and visit.request.path == "/login":
            return self._login.show_expired(visit)
        return visit.page("error.html", status=error.status, reason="form-refused")

    def _view(self, visit: Visit) -> Any:
        # The path within the mount; "/account" itself is the account page.
        request = visit.request
        adapter = self._routes.bind("", path_info=request.path or "/", default_method=request.method)
        try:
            view, parameters = adapter.match()
        except MethodNotAllowed:
            # A form was reloaded, or its page in another language was opened.
            return visit.redirect("/")
        if request.method == "POST":
            self._host.browser.require_csrf()
        return view(visit, **parameters)


def _url_map(login: Login, progress: LoginProgress) -> Map:
    # One area per line, so that the pages of an area stand together.
    areas: tuple[Area, ...] = (
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
    rules = [
        Rule(path, methods=[method], endpoint=view)
        for area in areas
        for (method, path), view in area.routes().items()
    ]
    return Map(rules, strict_slashes=False, merge_slashes=False)
