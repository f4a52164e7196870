"""Configuration options."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from strongroom.plugin_api import option

_LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class LoginPagesOptions:
    """The keys of the section ``[plugins.login_pages]``."""

    return_urls: tuple[str, ...] = option(
        (),
        help="The URLs of front ends to which the login page may return, compared exactly.",
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
