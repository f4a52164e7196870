"""What the server knows about a browser that shows its pages: one sealed cookie, and no row.

The cookie is encrypted and authenticated, so a browser can neither read nor change it. A row per browser
would let any client fill the database by opening pages.
"""

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Final, NoReturn
from urllib.parse import quote

from flask import Response, abort, after_this_request, redirect, request

from strongroom.foundation.errors import FormRefused, StepUpRequired, TokenRequired
from strongroom.foundation.locales import LOCALES
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.plugin_api.pages import LoginPages
from strongroom.web.http.cookies import HostCookie
from strongroom.web.http.request import current_environ, header, method, request_path
from strongroom.web.pages.form_secrets import is_token, masked, new_secret
from strongroom.web.pages.page_parameters import CHOICE

MAX_COOKIE: Final = 4000
"""The maximum length of the sealed state; browsers drop cookies of more than 4096 bytes."""

_PURPOSE: Final = "browser-session"
_SAFE_METHODS: Final = ("GET", "HEAD")
_VISIT: Final = "strongroom.browser"


@dataclass(frozen=True, slots=True)
class BrowserState:
    """The content of the cookie.

    Args:
        csrf: the secret of forms, for which each page has a token.
        device: the id of the browser.
        language: the language that the user has chosen.
        authorization_id: the login of the session; ``None`` without one.
        token: an access token of that login, perhaps expired.
        own_authorization_id: the administrator's own login, to which an impersonation returns; ``None``
            without an impersonation.
        values: what plugins have stored, by their names.
    """

    csrf: str = field(default_factory=new_secret, repr=False)
    device: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    language: str | None = None
    authorization_id: str | None = None
    token: str | None = field(default=None, repr=False)
    own_authorization_id: str | None = None
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)

    def begun(
        self,
        authorization_id: str | None = None,
        token: str | None = None,
        own_authorization_id: str | None = None,
    ) -> "BrowserState":
        """Return the state of the same browser with another login, or with none.

        The secret of forms is a new one, because another person may have used the browser before.
        """
        return BrowserState(
            device=self.device,
            language=self.language,
            authorization_id=authorization_id,
            token=token,
            own_authorization_id=own_authorization_id,
        )


class BrowserVisit:
    """The browser of one request, and its state for the next one.

    Args:
        stored: the state that the request has sent; ``None`` without a valid cookie.
        seal: returns the value of the cookie with a state.
    """

    def __init__(self, stored: BrowserState | None, seal: Callable[[BrowserState], str]) -> None:
        self._stored = self._state = stored
        self._seal = seal
        self._is_refused = False
        self._token: str | None = None
        self.session: Any = None
        """The verified session of the login, once it is known."""

    @property
    def is_known(self) -> bool:
        """Whether the browser has a state, or gets one."""
        return self._state is not None

    @property
    def state(self) -> BrowserState:
        """The state, created if the browser has none."""
        if self._state is None:
            self._state = BrowserState()
        return self._state

    @property
    def csrf(self) -> str:
        """The token that each form must contain: the same in the whole response, and in no other one."""
        if self._token is None:
            self._token = masked(self.state.csrf)
        return self._token

    @property
    def authorization_id(self) -> str | None:
        """The login of the session, which may have ended."""
        return self._state.authorization_id if self._state else None

    def update(self, **changes: Any) -> None:
        """Change members of the state.

        Raises:
            ValueError: the state is too large for a cookie.
        """
        changed = replace(self.state, **changes)
        if len(self._seal(changed)) > MAX_COOKIE:
            raise ValueError(f"the values of the browser need a cookie of more than {MAX_COOKIE} bytes")
        self._state = changed

    def begin(
        self,
        authorization_id: str | None = None,
        token: str | None = None,
        own_authorization_id: str | None = None,
    ) -> None:
        """Begin the session of a login or of an impersonation, or a state without one."""
        self._state = self.state.begun(authorization_id, token, own_authorization_id)
        self._token = self.session = None

    def require_csrf(self, site: str | None, value: str | None) -> None:
        """Require that one of the server's pages sent the form.

        Args:
            site: the header ``Sec-Fetch-Site``. Browsers always send it, and no script can change it;
                other programs need no protection.
            value: the token in the form.

        Raises:
            FormRefused: another page sent it, or the session is another one.
        """
        if (site or "same-origin") != "same-origin" or not is_token(self.state.csrf, value):
            # A forged request has no cookie, and must not replace the browser's. A request of our
            # own page is not forged: its browser has lost the cookie, and the next form needs one.
            self._is_refused = site != "same-origin"
            raise FormRefused

    def cookie(self) -> str | None:
        """Return the new value of the cookie; ``None`` if it stays as it is."""
        if self._state is None or self._state == self._stored or self._is_refused:
            return None
        return self._seal(self._state)


@dataclass(slots=True, eq=False, repr=False)
class Browsers:
    """Finds the browser of a request.

    Args:
        cookie: the cookie of the state.
    """

    _keys: SecretKeys
    _cookie: HostCookie

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach the server by HTTPS, so that its cookies need it."""
        return self._cookie.is_secure

    def current(self) -> BrowserVisit:
        """Return the browser of the current request; its response sets the cookie after a change."""
        environ = current_environ()
        visit: BrowserVisit | None = environ.get(_VISIT)
        if visit is None:
            visit = environ[_VISIT] = BrowserVisit(self._read(environ), self._sealed)
            if (language := request.args.get(CHOICE)) in LOCALES:
                visit.update(language=language)
            after_this_request(partial(self._finish, visit))
        return visit

    def _read(self, environ: Mapping[str, Any]) -> BrowserState | None:
        value = self._cookie.read(environ)
        if value is None:
            return None
        try:
            return BrowserState(**json.loads(self._keys.unseal(_PURPOSE, value)))
        # Also a cookie of another installation, and one of another version.
        except (TypeError, ValueError):
            return None

    def _sealed(self, state: BrowserState) -> str:
        # Without escapes, by which a Chinese sign takes more than twice its bytes in the cookie.
        return self._keys.seal(_PURPOSE, json.dumps(asdict(state), ensure_ascii=False))

    def _finish(self, visit: BrowserVisit, response: Response) -> Response:
        if (value := visit.cookie()) is not None:
            self._cookie.write(response, value)
        # The response depends on the session, so no other site may frame it.
        response.headers.setdefault("Content-Security-Policy", "frame-ancestors 'none'")
        return response


def go_to_login(login_path: Callable[[str | None], str] | None) -> NoReturn:
    """Lead the browser to the login and back.

    Args:
        login_path: returns the path of the login page that leads to a path afterwards; ``None`` without
            a login page.

    Raises:
        HTTPException: the redirect.
        TokenRequired: there is no login page, or a script sent the request, which follows redirects.
    """
    if login_path is None or not _is_followed():
        raise TokenRequired
    abort(redirect(login_path(_resumed_path()), 303))


def go_to_step_up(
    pages: LoginPages | None, refusal: StepUpRequired, *, is_useless: bool = False
) -> NoReturn:
    """Lead the browser to the page for a fresh proof and back.

    Args:
        pages: the pages on which browsers log in, if there are any.
        is_useless: whether a fresh proof would change nothing.

    Raises:
        HTTPException: the redirect.
        StepUpRequired: the refusal, because there is no such page, a script sent the request, or the
            proof is useless.
    """
    path = pages.step_up_path(_resumed_path() or "") if pages and not is_useless else None
    if path is None or not _is_followed():
        raise refusal
    abort(redirect(path, 303))


def _is_followed() -> bool:
    """Return whether a person sees the page that a redirect leads to."""
    return (header("Sec-Fetch-Mode") or "navigate") == "navigate"


def _resumed_path() -> str | None:
    # A form cannot be sent again, so its page is not returned to.
    return _own_path() if method() in _SAFE_METHODS else None


def _own_path() -> str:
    query = current_environ().get("QUERY_STRING", "")
    return quote(request_path()) + (f"?{query}" if query else "")
