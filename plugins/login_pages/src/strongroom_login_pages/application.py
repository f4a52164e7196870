"""The WSGI application: routes, sessions, and the defence against forged requests."""

import hmac
from collections.abc import Iterable
from importlib.resources import files
from typing import Any, Final
from wsgiref.types import StartResponse, WSGIEnvironment

from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.routing import Map, Rule
from werkzeug.wrappers import Request, Response

from strongroom.plugin_api.host import HostAPI
from strongroom_login_pages.account import AccountPages
from strongroom_login_pages.codes import LoginCodes
from strongroom_login_pages.login import LoginPages
from strongroom_login_pages.session import Session, SessionCookie
from strongroom_login_pages.visit import FormRefused, Visit

LANGUAGES: Final = ("en", "zh")


class FormRequest(Request):
    """A request whose form is short: the longest one has the answer of a passkey."""

    max_content_length = 64 * 1024


class LoginPagesApplication:
    """Serves the pages below ``/account``."""

    def __init__(self, host: HostAPI, codes: LoginCodes) -> None:
        login = LoginPages(host.options, codes)
        self._host = host
        self._cookie = SessionCookie(host)
        self._routes = _routes(login, AccountPages(login))

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request = FormRequest(environ)
        session = self._cookie.read(request.cookies)
        visit = Visit(self._host, request, session or Session())
        if (language := request.args.get("lang")) in LANGUAGES:
            visit.update(language=language)
        try:
            response = self._view(visit)
            if visit.session != session:
                self._cookie.write(response, visit.session)
        except HTTPException as error:
            # Without a new cookie: a forged request must not end the session of the browser.
            response = visit.page("error.html", status=error.code or 400, reason=_reason(error))
        answer: Iterable[bytes] = response(environ, start_response)
        return answer

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
            _require_own_form(visit)
        return view(visit, **parameters)


def _routes(login: LoginPages, account: AccountPages) -> Map:
    pages = {
        ("GET", "/login"): login.show_login,
        ("POST", "/login"): login.log_in,
        ("GET", "/challenge"): login.show_challenge,
        ("POST", "/challenge"): login.meet_challenge,
        ("GET", "/enrolment"): login.show_enrolment,
        ("GET", "/"): account.show,
        ("POST", "/totp"): account.begin_totp,
        ("POST", "/totp/confirmation"): account.confirm_totp,
        ("POST", "/passkeys"): account.begin_passkey,
        ("POST", "/passkeys/confirmation"): account.confirm_passkey,
        ("POST", "/recovery-codes"): account.create_recovery_codes,
        ("POST", "/factors/<factor_id>/name"): account.rename,
        ("POST", "/factors/<factor_id>/removal"): account.remove,
        ("GET", "/step-up"): account.show_step_up,
        ("POST", "/step-up"): account.step_up,
        ("POST", "/logout"): account.log_out,
        ("GET", "/pages.js"): _script,
    }
    rules = [Rule(path, methods=[method], endpoint=view) for (method, path), view in pages.items()]
    return Map(rules, strict_slashes=False, merge_slashes=False)


def _require_own_form(visit: Visit) -> None:
    """Require that one of our pages sent the form, and not a page of another site."""
    # Browsers always send the header, and no script can change it; other programs need no protection.
    site = visit.request.headers.get("Sec-Fetch-Site", "same-origin")
    given = visit.form.get("csrf", "").encode()
    if site != "same-origin" or not hmac.compare_digest(given, visit.session.csrf.encode()):
        raise FormRefused


def _script(_visit: Visit) -> Response:
    script = (files("strongroom_login_pages") / "static" / "pages.js").read_text("utf-8")
    headers = {"Cache-Control": "no-cache"}
    return Response(script, headers=headers, content_type="text/javascript; charset=utf-8")


def _reason(error: HTTPException) -> str:
    return "form-refused" if isinstance(error, FormRefused) else "not-found"
