"""The session of a browser: one sealed cookie, and no row on the server.

The cookie is encrypted and authenticated, so a browser can neither read nor change it, and useless once
the login in it was revoked.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from strongroom.plugin_api.host import HostAPI

COOKIE: Final = "strongroom-account"


@dataclass(frozen=True, slots=True)
class ReturnRequest:
    """A front end that gets the login.

    Args:
        url: the URL to return to, one of the configured ones.
        state: returned as it is, so that the front end recognises its own request.
        code_challenge: the ``S256`` code challenge (RFC 7636).
    """

    url: str
    state: str
    code_challenge: str


@dataclass(frozen=True, slots=True)
class Session:
    """What the pages know about a browser.

    Args:
        csrf: the secret that every form must contain.
        device: the id of the browser, so that browsers of one network do not share limits.
        language: the language that the user has chosen.
        return_to: the front end that gets the login.
        challenge: ``id`` and ``methods`` of the challenge that the login has to meet.
        enrolment: ``id`` and ``kinds`` of the enrolment without which there is no login.
        token: the access token of the login.
        due: the time until which the user must set up a second factor, if any.
        notice: the key of a text that the next page shows once.
        removed: the id of a removed passkey, which the next page reports to its provider.
    """

    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    device: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    language: str | None = None
    return_to: ReturnRequest | None = None
    challenge: Mapping[str, Any] | None = field(default=None, repr=False)
    enrolment: Mapping[str, Any] | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    due: str | None = None
    notice: str | None = None
    removed: str | None = None

    def renewed(self, **members: Any) -> "Session":
        """Return a new session of the same browser, with its language."""
        return Session(device=self.device, language=self.language, **members)


class SessionCookie:
    """Reads and writes the cookie of a session."""

    def __init__(self, host: HostAPI) -> None:
        self._host = host

    def read(self, cookies: Mapping[str, str]) -> Session | None:
        """Return the session of a browser, or ``None`` without a valid cookie."""
        try:
            values = json.loads(self._host.unseal(cookies[self._name]))
            return_to = values.pop("return_to")
            return Session(**values, return_to=ReturnRequest(**return_to) if return_to else None)
        # Also a cookie of another installation, and one of another version of the plugin.
        except (KeyError, TypeError, ValueError):
            return None

    def write(self, response: Any, session: Session) -> None:
        """Set the cookie in a response. It lasts until the browser is closed."""
        response.set_cookie(
            self._name,
            self._host.seal(json.dumps(asdict(session))),
            secure=self._is_secure,
            httponly=True,
            # Not "Strict": front ends link to the login page from other sites.
            samesite="Lax",
        )

    @property
    def _is_secure(self) -> bool:
        return self._host.public_url.startswith("https:")

    @property
    def _name(self) -> str:
        # The prefix prevents servers of sibling domains from setting the cookie (RFC 6265bis, 4.1.3.2).
        return f"__Host-{COOKIE}" if self._is_secure else COOKIE
