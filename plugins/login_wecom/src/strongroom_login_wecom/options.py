"""Configuration options."""

import re
from dataclasses import dataclass

from strongroom.plugin_api import option
from strongroom_login_oauth.options import AppOptions, OAuthOptions, require_private


@dataclass(frozen=True, slots=True, kw_only=True)
class WeComApp(AppOptions):
    """The keys of a section ``[login.wecom.apps.NAME]``: one app of a corporation's own (自建应用)."""

    corpid: str = option(help="The id of the corporation (企业ID).")
    agentid: int = option(minimum=1, help="The AgentId of the app.")
    secret: str = option(secret=True, help="The Secret of the app.")
    members_only: bool = option(
        True,
        help="Whether only members of the corporation in the visible range of the app log in.",
    )
    contact_data: bool = option(
        False,
        help="Whether to ask members in WeCom for the mobile number and the corporate mailbox, by which "
        "a login joins the user who has verified them.",
    )

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", self.corpid):
            raise ValueError('corpid: must be like "ww0123456789abcdef"')


@dataclass(frozen=True, slots=True, kw_only=True)
class WeComOptions(OAuthOptions):
    """The keys of the section ``[login.wecom]``."""

    apps: dict[str, WeComApp] = option(help="The apps for login, each under a name of your choice.")
    login_url: str = option(
        "https://login.work.weixin.qq.com",
        help="The base URL of the page with the QR code.",
        advanced=True,
    )
    open_url: str = option(
        "https://open.weixin.qq.com",
        help="The base URL of the page for the browser of WeCom.",
        advanced=True,
    )
    api_url: str = option(
        "https://qyapi.weixin.qq.com", help="The base URL of the WeCom API.", advanced=True
    )

    def __post_init__(self) -> None:
        # Without arguments, super() fails in a dataclass with slots.
        OAuthOptions.__post_init__(self)
        for name in ("login_url", "open_url", "api_url"):
            require_private(name, getattr(self, name))
