"""What a deployer may set."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from strongroom.plugin_api import option

WEBSITE = "website"
MINI_PROGRAM = "mini_program"


@dataclass(frozen=True, slots=True)
class WeChatApp:
    """The keys of a section ``[login.wechat.apps.NAME]``: one app registered with WeChat."""

    kind: str = option(choices=(WEBSITE, MINI_PROGRAM), help="What the app is registered as.")
    appid: str = option(help="The AppID that WeChat gave the app.")
    secret: str = option(secret=True, help="The AppSecret that WeChat gave the app.")
    redirect_uri: str | None = option(
        None,
        help="The URL that WeChat sends a browser back to, on the app's approved domain; websites only.",
    )
    account: str = option(
        "main",
        help="A name of yours for the open-platform account; apps of one share their people's unionids.",
    )

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9_-]{1,32}", self.account):
            raise ValueError("account: must be lowercase letters, digits, hyphens and underscores")
        if (self.kind == WEBSITE) != (self.redirect_uri is not None):
            raise ValueError(
                "redirect_uri is required of a website, and means nothing to a mini program"
            )
        if self.redirect_uri is not None and not re.match(r"https?://[^/?#]", self.redirect_uri):
            raise ValueError('redirect_uri: must be like "https://files.example.org/..."')


@dataclass(frozen=True, slots=True)
class WeChatOptions:
    """The keys of the section ``[login.wechat]``."""

    apps: dict[str, WeChatApp] = option(
        help="The apps people may log in by, each under a name of yours."
    )
    register: bool = option(True, help="Whether a person who is new here becomes a user by logging in.")
    embedders: tuple[str, ...] = option(
        (),
        help="The origins, beside the server's own, whose pages may embed the scan page and get tokens.",
    )
    open_url: str = option(
        "https://open.weixin.qq.com", help="The base URL of the page that shows the QR code."
    )
    api_url: str = option("https://api.weixin.qq.com", help="The base URL of the platform's interfaces.")
    connect_timeout: float = option(
        3.0, minimum=0.1, maximum=60, help="The time in seconds to reach the platform in."
    )
    read_timeout: float = option(
        8.0, minimum=0.1, maximum=60, help="The time in seconds to wait for the platform's answer."
    )
    attempts: int = option(
        3, minimum=1, maximum=10, help="The number of times to ask a platform that says it is busy."
    )
    data_max_age: int = option(
        300, minimum=1, help="The age in seconds past which data encrypted by a mini program is refused."
    )

    def __post_init__(self) -> None:
        for origin in self.embedders:
            if not re.fullmatch(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?", origin):
                raise ValueError('embedders: must be like "https://app.example.org", without a path')
        for name, url in (("open_url", self.open_url), ("api_url", self.api_url)):
            if not _is_private(url):
                raise ValueError(f"{name}: must begin with https://, for secrets go there")


def _is_private(url: str) -> bool:
    """Return whether nobody on the way can read what is sent to a URL."""
    parts = urlsplit(url)
    if parts.scheme == "https":
        return bool(parts.hostname)
    return parts.scheme == "http" and _is_loopback(parts.hostname or "")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
