"""Configuration options."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from strongroom.plugin_api import option
from strongroom.plugin_api.browser import loopback_redirect

_LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class LoginPagesOptions:
    """The keys of the section ``[plugins.login_pages]``."""

    return_urls: tuple[str, ...] = option(
        (),
        help="The URLs of front ends to which the login page may return, compared exactly.",
    )
    app_return_urls: tuple[str, ...] = option(
        ("http://127.0.0.1/strongroom-client", "http://[::1]/strongroom-client"),
        help="The URLs of programs on the user's computer that may get a login, with any port.",
        advanced=True,
    )
    login_links: tuple[str, ...] | None = option(
        None,
        help="The login links of other plugins on the login page in their order; absent: all of them.",
        advanced=True,
    )

    def __post_init__(self) -> None:
        for url in self.return_urls:
            parts = urlsplit(url)
            is_secure = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOCAL)
            if not (is_secure and parts.hostname) or parts.fragment or parts.username:
                raise ValueError(f"return_urls: {url!r} must be an https URL without a fragment")
        for url in self.app_return_urls:
            if loopback_redirect(url) != url:
                raise ValueError(f"app_return_urls: {url!r} must be like 'http://127.0.0.1/app'")
