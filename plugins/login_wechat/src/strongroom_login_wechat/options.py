"""Configuration options."""

import re
from dataclasses import dataclass

from strongroom.plugin_api import option
from strongroom_login_oauth.options import PlatformOptions, require_private

WEBSITE = "website"
MINI_PROGRAM = "mini_program"
OFFICIAL_ACCOUNT = "official_account"


@dataclass(frozen=True, slots=True)
class WeChatApp:
    """The keys of a section ``[login.wechat.apps.NAME]``: one app registered with WeChat."""

    kind: str = option(choices=(WEBSITE, MINI_PROGRAM, OFFICIAL_ACCOUNT), help="The type of app.")
    appid: str = option(help="The AppID of the app.")
    secret: str = option(secret=True, help="The AppSecret of the app.")
    redirect_uri: str | None = option(
        None,
        help="The URL to which WeChat redirects browsers, on the app's domain; not for mini programs.",
    )
    account: str = option(
        "main",
        help="Your name for the open-platform account; apps of the same account share unionids.",
    )
    trust_mobile: bool = option(
        False,
        help="Whether a login joins the user of the mobile number that a mini program has asked for.",
    )

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9_-]{1,32}", self.account):
            raise ValueError("account: must be lowercase letters, digits, hyphens and underscores")
        if (self.kind == MINI_PROGRAM) != (self.redirect_uri is None):
            raise ValueError("redirect_uri is required, but not allowed for a mini program")
        if self.redirect_uri is not None and not re.match(r"https?://[^/?#]", self.redirect_uri):
            raise ValueError('redirect_uri: must be like "https://files.example.org/..."')


@dataclass(frozen=True, slots=True, kw_only=True)
class WeChatOptions(PlatformOptions):
    """The keys of the section ``[login.wechat]``."""

    apps: dict[str, WeChatApp] = option(help="The apps for login, each under a name of your choice.")
    embedders: tuple[str, ...] = option(
        (),
        help="Further origins whose pages may embed the scan page and get tokens.",
    )
    open_url: str = option("https://open.weixin.qq.com", help="The base URL of the QR code page.")
    api_url: str = option("https://api.weixin.qq.com", help="The base URL of the WeChat API.")
    attempts: int = option(
        3, minimum=1, maximum=10, help="Maximum attempts while WeChat reports that it is busy."
    )
    data_max_age: int = option(
        300, minimum=1, help="Maximum age of a mini program's encrypted data, in seconds."
    )

    def __post_init__(self) -> None:
        for origin in self.embedders:
            if not re.fullmatch(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?", origin):
                raise ValueError('embedders: must be like "https://app.example.org", without a path')
        for name, url in (("open_url", self.open_url), ("api_url", self.api_url)):
            require_private(name, url)
