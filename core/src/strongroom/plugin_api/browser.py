"""Browsers that show pages of the server: one session for the pages of all plugins.

The session is in one sealed cookie, which pages read and the REST API ignores. It refers to a login, so
it ends when the login is revoked or the user is suspended. A page that changes something requires a form
of its own::

    session = host.browser.require_session()
    if request.method == "POST":
        host.browser.require_csrf()
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from strongroom.plugin_api.web import ApiError

# Printable ASCII without a backslash, which browsers read as a slash. Two slashes begin a host name.
_LOCAL_PATH: Final = re.compile(r"/(?!/)[!-\[\]-~]{0,1023}")
_LOOPBACK: Final = re.compile(
    r"(?P<origin>http://(?:127\.0\.0\.1|\[::1\]))(?::[0-9]{1,5})?(?P<path>/[!\"$-\[\]-~]{0,200})"
)


def is_local_path(text: str) -> bool:
    """Return whether a text is a path of this server, with or without a query.

    A page may redirect a browser to no other text of a request: it could lead to another site.
    """
    return _LOCAL_PATH.fullmatch(text) is not None


def loopback_redirect(url: str) -> str | None:
    """Return a redirect URI on the loopback interface without its port; ``None`` for any other URL.

    A native app declares its redirect URI without a port, and listens on any free one (RFC 8252,
    section 7.3). The name ``localhost`` is no loopback address (section 8.3).
    """
    match = _LOOPBACK.fullmatch(url)
    return match and match["origin"] + match["path"]


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """The session of a browser whose user is logged in.

    Args:
        user_id: the id of the user.
        auth_time: the time of the last proof, in milliseconds since the Unix epoch.
        token: an access token of the login, for :meth:`HostAPI.rest`. No page may contain it.
        actor_id: the administrator who impersonates the user; ``None``: the user is logged in.
        ends_at: the end of an impersonation, in milliseconds since the Unix epoch; ``None`` without one.
        name: the name of the user; empty without one.
        zone: the name of the time zone that the user has chosen, if any.
        contact: the e-mail address, the number or the username of the user; empty without one.
        login_id: the id of the login, or of the impersonation; other services may know it as ``sid``.
        acr: how strongly the login is proven, such as ``urn:strongroom:mfa``.
    """

    user_id: str
    auth_time: int
    token: str = field(repr=False)
    actor_id: str | None = None
    ends_at: int | None = None
    name: str = ""
    zone: str | None = None
    contact: str = ""
    login_id: str = ""
    acr: str = ""


class BrowserAPI(ABC):
    """The browser of the current request, for pages.

    A change sets the cookie of the response, whose size a browser limits to 4096 bytes.
    """

    @abstractmethod
    def session(self) -> BrowserSession | None:
        """Return the session of the browser, or ``None`` if its user is not logged in.

        Afterwards the user is the caller of ``host.files``, ``host.tenants`` and ``host.users``, as
        after :meth:`HostAPI.authenticate`. For pages only: routes of the REST API take tokens. A change
        needs :meth:`require_csrf`.
        """

    @abstractmethod
    def require_session(
        self,
        *,
        accepts_impersonation: bool = False,
        proven_since: int | None = None,
        acr: str | None = None,
        login_hint: str | None = None,
    ) -> BrowserSession:
        """Return the session of the browser, or lead the browser to the login and back.

        If the login is proven too long ago, or too weakly, the browser is led to the page for a fresh
        proof and back.

        Args:
            accepts_impersonation: whether the page also opens for an administrator who impersonates the
                user, and says so; see :meth:`begin_impersonation`. Only requests with the
                methods GET and HEAD are accepted.
            proven_since: when the login must have been proven at the earliest, in milliseconds since
                the Unix epoch. A page that requires a new proof stores the time of its first request.
            acr: how strongly the login must be proven, one of ``urn:strongroom:single``,
                ``urn:strongroom:mfa``, ``phr`` and ``phrh``; each includes the weaker ones before it.
            login_hint: the name that the login page fills in.

        Raises:
            HTTPException: the redirect to the login page; its ``get_response()`` is the response.
            ApiError: ``error.token-required``: a script sent the request, or there is no login page;
                ``error.step-up-required``: there is no page for a fresh proof, or the proof of a moment
                ago is too weak, so that the user has no stronger one; ``error.impersonation-refused``.
            ValueError: there is no such ``acr``.
        """

    @abstractmethod
    def login_path(self, resume: str | None = None, *, login_hint: str | None = None) -> str | None:
        """Return the path of the login page, with the base path; ``None`` without one.

        For pages that open without a session, too, and offer the login by a link.

        Args:
            resume: a path of this server, with the base path, that the login leads to.
            login_hint: the name that the page fills in.
        """

    @abstractmethod
    def step_up_path(self, resume: str) -> str | None:
        """Return the path of the page for a fresh proof; ``None`` without one.

        Lead the browser there after ``error.step-up-required`` or ``error.fresh-proof-required``.

        Args:
            resume: the path of the page with the form, with the base path, that the proof leads back to.
        """

    @abstractmethod
    def finish_login(
        self,
        method: str,
        proof: Mapping[str, str],
        *,
        resume: str | None = None,
        link: str | None = None,
    ) -> Any:
        """Log the browser in with a proof for a login method; return the Flask response.

        Limits, the user, the audit log and second factors are as in :meth:`LoginsAPI.log_in`. The
        response leads to the page that needs the login, to the pages for a second factor, or, after a
        failure, to the login page with the text of the error. The request must be the end of a login
        that this browser has begun: check that by :meth:`LoginsAPI.consume_state` before.

        Args:
            method: the name of the login method.
            proof: the proof for the method.
            resume: a path of this server, with the base path, that the login leads to; ``None``: what
                the login page was opened for. Any other text counts as ``None``.
            link: the name of the login link that it began with, which the page marks as the last one
                used; ``None``: the method's name.

        Raises:
            ApiError: ``error.not-implemented``: no plugin has login pages.
        """

    @abstractmethod
    def refuse_login(self, error: "ApiError") -> Any:
        """Lead a browser to the login page, which shows an error; return the Flask response.

        For a login of the pages that cannot begin, or whose state is refused. A browser that is logged
        in goes to the page of the account.

        Raises:
            ApiError: the error, for clients that do not navigate, and without login pages.
        """

    @abstractmethod
    def finish_connection(self, name: str, proof: Mapping[str, str] | None) -> Any:
        """Connect an account of another platform; return the Flask response.

        The response leads to a page that requires the user's own proof as :meth:`LoginsAPI.bind` does,
        and then binds. The request must be the end of what this browser and its user have begun: check
        that by :meth:`require_session` and :meth:`LoginsAPI.consume_state` with ``for_user`` before.

        Args:
            name: the name of the :class:`~strongroom.plugin_api.pages.Connection`.
            proof: the proof for its login method, at most 1 KB of JSON; ``None``: the user has refused
                it on the platform.

        Raises:
            ApiError: ``error.not-implemented``: no plugin has pages that connect accounts.
        """

    @property
    @abstractmethod
    def csrf(self) -> str:
        """The token that each form must contain, also before the login; a login ends its validity.

        Each response has another one, so compressed pages may have it. See :meth:`require_csrf`.
        """

    @property
    @abstractmethod
    def device_id(self) -> str:
        """The id of the browser, for ``X-Device-Id``: browsers of one network do not share limits."""

    @property
    @abstractmethod
    def language(self) -> str | None:
        """The language that the user has chosen in the pages, such as ``zh``."""

    @property
    @abstractmethod
    def zone(self) -> tzinfo:
        """The time zone of the person: the browser's, or the user's, or UTC."""

    @property
    @abstractmethod
    def values(self) -> Mapping[str, Any]:
        """The JSON values that the plugin has stored in the browser."""

    @abstractmethod
    def store(self, values: Mapping[str, Any]) -> None:
        """Replace the values of the plugin. They are sealed; the next login or logout drops them.

        Raises:
            ValueError: they are too large for a cookie.
        """

    @abstractmethod
    def require_csrf(self) -> None:
        """Require that one of the server's pages sent the request, and not a page of another site.

        The request presents :attr:`csrf` in the header ``X-CSRF`` of a script, in ``csrf`` of the query,
        or in the field ``csrf`` of a form, the first of which counts. A body of more than
        :data:`~strongroom.plugin_api.web.BODY_BYTES` needs one of the first two, because it is not read
        before. An application with neither Flask nor Werkzeug needs one of them, too.

        Raises:
            ApiError: ``error.form-refused``. The response leaves the cookie as it is, unless a page of
                this server has sent the form: its browser has lost the cookie, and gets a new one.
                ``error.payload-too-large`` for a larger form without the secret in the query.
        """

    @abstractmethod
    def begin_session(self, access_token: str) -> None:
        """Begin the session of a login, and end the former login's, with a new :attr:`csrf`.

        Raises:
            ApiError: ``error.token-invalid``.
        """

    @abstractmethod
    def replace_token(self, access_token: str) -> None:
        """Continue the session with a new access token of its login, such as after a step-up.

        Raises:
            ApiError: ``error.token-invalid``: also if the token is one of another login.
        """

    @abstractmethod
    def begin_impersonation(self, access_token: str) -> None:
        """Show pages as another user, with the token of ``POST /users/{id}/impersonation``.

        The session of the administrator continues when the impersonation ends: by
        :meth:`end_impersonation`, or by its time. Until then, only pages that call
        :meth:`BrowserAPI.require_session` with ``accepts_impersonation`` open; each of them must
        name the user that it shows. :attr:`csrf` changes.

        Raises:
            ApiError: ``error.token-invalid``: also if another user has begun the impersonation.
        """

    @abstractmethod
    def end_impersonation(self) -> None:
        """End the impersonation of the session, which returns to the administrator's own login.

        Nothing without one. It needs no :meth:`BrowserAPI.session`, which refuses the request.
        """

    @abstractmethod
    def logout_url(self, return_path: str) -> str | None:
        """Return the page of the platform that the session was logged in by, which ends that login too.

        ``None`` without a session, or if its login method has no such page. Ask for it before
        :meth:`end_session`; a page whose form logs out must allow its origin in ``form-action``.

        Args:
            return_path: the page of this server that the browser comes back to, below
                :attr:`HostAPI.public_url`.
        """

    @abstractmethod
    def end_session(self) -> None:
        """Log out: revoke the login, and forget everything but the language."""
