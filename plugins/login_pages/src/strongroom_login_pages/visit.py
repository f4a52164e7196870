"""One request of a browser for a page."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from http import HTTPStatus
from typing import Any, Final, Protocol, cast
from urllib.parse import SplitResult, urlsplit

from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import HTTPException
from werkzeug.utils import redirect
from werkzeug.wrappers import Request

from strongroom.plugin_api.forms import FactorPartName, FactorView, PagePart
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.login import LoginOptions, VerificationCode
from strongroom.plugin_api.pages import Connection, PageLink
from strongroom.plugin_api.paging import Records
from strongroom.plugin_api.visits import Flash, Refused, Visit, current_visit
from strongroom.plugin_api.web import ApiError, RestResponse
from strongroom_login_pages.flow import Flow

PREFIX: Final = "/account"
"""The path of the pages, below the base path of the server."""

View = Callable[..., Any]
"""Returns the response to a visit; the parameters of the path follow by name."""

Routes = Mapping[tuple[str, str], View]
"""Views by method and path, below the path of the pages."""


class Area(Protocol):
    """The pages of a subject."""

    def routes(self) -> Routes:
        """Return the views by method and path."""


class FormMalformed(HTTPException):
    """A script has filled in a field that is missing or no JSON."""

    code = 400


class LoginVisit(Visit):
    """A request of a browser, whose user need not be logged in.

    Args:
        request: ``None``: the current request of Flask.
    """

    most_read = 10_000

    def __init__(self, host: HostAPI, prefix: str = PREFIX, request: Request | None = None) -> None:
        super().__init__(host, prefix, request)
        self.flow = Flow.of_values(host.browser.values)

    @property
    def token(self) -> str | None:
        """An access token of the user who is logged in, if any."""
        session = self.host.browser.session()
        return session.token if session else None

    @property
    def is_proven(self) -> bool:
        """Whether the user who is logged in has given a proof within the last 10 minutes."""
        session = self.host.browser.session()
        return session is not None and self.now - session.auth_time < _FRESH

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach the server by HTTPS."""
        return self.host.public_url.startswith("https:")

    @property
    def now(self) -> int:
        """The time in milliseconds since the Unix epoch."""
        return self.host.clock.now()

    @property
    def login_options(self) -> LoginOptions:
        """How users can log in."""
        return self.host.logins.options

    @property
    def form(self) -> MultiDict[str, str]:
        """The fields of the form."""
        return self.request.form

    def json_field(self, name: str) -> Any:
        """Return a field that a script has filled in.

        Raises:
            FormMalformed: it is missing or no JSON.
        """
        try:
            return json.loads(self.form[name])
        except (KeyError, ValueError, RecursionError) as error:
            raise FormMalformed from error

    def update(self, **changes: Any) -> None:
        """Change members of the flow, or of the flash: ``notice``, its ``names``, and ``problem``."""
        members = ("notice", "names", "problem")
        shown = {name: changes.pop(name) for name in members if name in changes}
        changed = replace(self.flow, **changes)
        if changed != self.flow:
            self.flow = changed
            self.host.browser.store(changed.values(self.host.browser.values))
        if shown:
            self.flash(Flash(**shown))

    def proceed(self, step: str, data: Mapping[str, Any] | None = None, **changes: Any) -> None:
        """Go on to a step of the login, and drop the data of the step before."""
        self.update(attempt=self.flow.attempt.at(step, data), **changes)

    def switch(self, **changes: Any) -> None:
        """Drop every proof and challenge of the login, which then takes another way."""
        self.update(attempt=self.flow.attempt.switched(), **changes)

    def log_in(self, token: str, **members: Any) -> None:
        """Begin the session of a login, and a flow with some members."""
        self.host.browser.begin_session(token)
        self._restart(members)

    def log_out(self, **members: Any) -> None:
        """End the session, and begin a flow with some members."""
        self.host.browser.end_session()
        self._restart(members)

    def platform_logout_url(self) -> str | None:
        """Return where the login at the platform ends that the session was logged in by, if anywhere."""
        return self.host.browser.logout_url(f"{PREFIX}/login")

    def continue_session(self, token: str) -> None:
        """Continue the session with the access token of a step-up."""
        self.host.browser.replace_token(token)

    def _restart(self, members: Mapping[str, Any]) -> None:
        self.flow = Flow()
        self.update(**members)

    def seal(self, text: str) -> str:
        """Return a text that only this server can read."""
        return self.host.secrets.seal(text)

    def unseal(self, sealed: str) -> str:
        """Return a sealed text.

        Raises:
            ValueError: it was not sealed by this server.
        """
        return self.host.secrets.unseal(sealed)

    def captcha(self, purpose: str) -> PagePart | None:
        """Return a captcha for a form, or ``None`` if the client has requested too many."""
        return self.host.pages.forms.captcha(purpose)

    def captcha_answer(self, purpose: str) -> Mapping[str, str] | None:
        """Return the answer to the captcha of the form, if it has one."""
        return self.host.pages.forms.captcha_answer(self.form, purpose)

    def factor_views(self) -> Sequence[FactorView]:
        """Return the enabled second factors."""
        return self.host.pages.forms.factors()

    def factor_view(self, kind: str) -> FactorView | None:
        """Return an enabled second factor by its kind."""
        return next((view for view in self.factor_views() if view.kind == kind), None)

    def factor_part(
        self, kind: str, part: FactorPartName, shown: Mapping[str, Any], **values: Any
    ) -> PagePart | None:
        """Return a part of the form of a second factor."""
        return self.host.pages.forms.factor(
            kind,
            part,
            shown,
            device=self.host.browser.device_id,
            api=self.base_path,
            **values,
        )

    def factor_answer(self, view: FactorView) -> Any:
        """Return the answer of a form to a second factor.

        Raises:
            FormMalformed: the form has none, or a script has filled in no JSON.
        """
        if view.is_json:
            return self.json_field(view.field)
        if view.field not in self.form:
            raise FormMalformed
        return self.form[view.field].strip()

    def login_links(self) -> Sequence[PageLink]:
        """Return the buttons that plugins add to the login page."""
        return self.host.pages.login_links()

    def read_all(self, path: str, **query: Any) -> Records:
        """Return all records of a list of the user's own; none if the user may not see it."""
        try:
            return super().read_all(path, **query)
        except Refused:
            return Records((), {}, 0)

    def bind(
        self,
        connection: Connection,
        proof: Mapping[str, str],
        *,
        held_code: Mapping[str, str] | None,
        password: str | None,
    ) -> RestResponse:
        """Connect an account of another platform to the user who is logged in.

        Returns:
            the response that the REST API would give.
        """
        # It makes the user the caller of the host.
        self.host.browser.require_session()
        try:
            self.host.logins.bind(
                "me",
                connection.method,
                proof,
                replaced=connection.replaced,
                held_code=VerificationCode(**held_code) if held_code else None,
                current_password=password,
            )
        except ApiError as error:
            refusal = self.host.error_response(error)
            return RestResponse(refusal.status_code, refusal.get_json())
        return RestResponse(HTTPStatus.CREATED, None)

    def page(
        self, template: str, *, status: int = 200, form_targets: Sequence[str] = (), **values: Any
    ) -> Any:
        """Return the response with a page; 503 for a refused form, if a service is unavailable.

        Args:
            form_targets: URLs of other servers that the forms of the page may lead to.
        """
        # Browsers apply it to the redirect after the form, too.
        policy = {"form-action": " ".join(("'self'", *self._origins(form_targets)))}
        return self.render(
            template,
            status=status,
            policy=policy,
            device=self.host.browser.device_id,
            page_brand=None if "sections" in values else self.host.pages.find_brand(self.flow.resume),
            **values,
        )

    def missing(self) -> Any:
        """Return the page for what does not exist, or is not the user's."""
        return self.fail(HTTPStatus.NOT_FOUND)

    def fail(self, status: int, title: str | None = None, remedy: str | None = None) -> Any:
        """Return the page about a failure, which leads to the account or the login.

        Args:
            title: the key of the text on what has happened; ``None``: the title of the status.
            remedy: the key of the text on what to do; ``None``: the text of the status.
        """
        is_known = self.token is not None
        return self.page("error.html", status=status, title=title, remedy=remedy, is_known=is_known)

    def redirect_to_login(self) -> Any:
        """Return a redirect to the login, which leads back to this page.

        Raises:
            ApiError: a script sent the request, which would follow the redirect.
        """
        if self.request.headers.get("Sec-Fetch-Mode", "navigate") != "navigate":
            self.host.browser.require_session()
        if self.request.method == "GET" and self.request.path != "/":
            self.update(return_to=None, resume=f"{self.root}{self.request.path}")
        return self.redirect("/login")

    def redirect_within(self, path: str) -> Any:
        """Return a redirect to any page of the server."""
        return redirect(path, 303)

    def redirect_to(self, url: str) -> Any:
        """Return a redirect to a front end."""
        response = redirect(url, 303)
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    def _origins(self, form_targets: Sequence[str]) -> list[str]:
        returns = [self.flow.return_to.url] if self.flow.return_to else []
        parts = [urlsplit(url) for url in (*returns, *form_targets)]
        return [_source(part) for part in parts]


def _source(target: SplitResult) -> str:
    """Return the expression that allows a URL; a host of CSP is no address of IPv6 (CSP 3, 6.7.2.8)."""
    return f"{target.scheme}:" if "[" in target.netloc else f"{target.scheme}://{target.netloc}"


_FRESH: Final = 10 * 60 * 1000
"""Milliseconds for which the REST API takes a login or step-up as a proof."""


def logged_in(view: View) -> View:
    """Require a login for a view, which is a method of pages."""

    @wraps(view)
    def guarded(pages: Any, visit: LoginVisit, **parameters: str) -> Any:
        if visit.token is None:
            return visit.redirect_to_login()
        return view(pages, visit, **parameters)

    return guarded


def login_visit() -> LoginVisit:
    """Return the visit of the current request of the pages."""
    return cast("LoginVisit", current_visit())
