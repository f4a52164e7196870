"""The options that all login methods by redirect have."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from strongroom.plugin_api import option
from strongroom.plugin_api.addresses import is_loopback
from strongroom.plugin_api.browser import loopback_redirect

SUSPEND: Final = "suspend"
LOG_OUT: Final = "log-out"

_ORIGIN = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?")
_PRIVATE_SCHEME = re.compile(r"[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:/[!-\[\]-~]{0,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformOptions:
    """The keys of every section ``[login.NAME]``. Derived classes need ``kw_only=True``, too."""

    register: bool = option(True, help="Whether the first login of an unknown person creates a user.")
    connect_timeout: float = option(3.0, minimum=0.1, maximum=60, help="Connection timeout in seconds.")
    read_timeout: float = option(
        8.0, minimum=0.1, maximum=60, help="Time for a complete answer, in seconds."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthOptions(PlatformOptions):
    """The keys of the sections of methods with the routes of this library."""

    return_origins: tuple[str, ...] = option(
        (), help="Origins of front ends to which logins of the REST API may return."
    )
    app_redirects: tuple[str, ...] = option(
        (),
        help="Redirect URIs of native apps: a private-use scheme, or loopback without a port.",
    )
    on_leave: str = option(
        SUSPEND,
        choices=(SUSPEND, LOG_OUT),
        help="What happens to users who have left the organisation, where the platform reports it.",
    )

    def __post_init__(self) -> None:
        for origin in self.return_origins:
            if not _ORIGIN.fullmatch(origin):
                raise ValueError(
                    'return_origins: must be like "https://app.example.org", without a path'
                )
        for redirect in self.app_redirects:
            if not (_PRIVATE_SCHEME.fullmatch(redirect) or loopback_redirect(redirect) == redirect):
                raise ValueError(
                    'app_redirects: must be like "org.example.app:/login" or "http://127.0.0.1/login"'
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class AppOptions:
    """The keys of the section of every app or provider. Derived classes need ``kw_only=True``, too."""

    shared_redirect_uri: bool = option(
        False,
        help="Whether the redirect URI has no name at its end, so that one of the platforms that share "
        "it can log in as users of another.",
        advanced=True,
    )


def require_private(name: str, url: str) -> None:
    """Require that requests to a URL are encrypted or stay on this machine.

    Raises:
        ValueError: it must begin with ``https://``; the message begins with ``name``.
    """
    if not is_private(url):
        raise ValueError(f"{name}: must begin with https://, because it receives secrets")


def is_private(url: str) -> bool:
    """Return whether requests to a URL are encrypted or stay on this machine."""
    parts = urlsplit(url)
    if parts.scheme == "https":
        return bool(parts.hostname)
    return parts.scheme == "http" and is_loopback(parts.hostname or "")
