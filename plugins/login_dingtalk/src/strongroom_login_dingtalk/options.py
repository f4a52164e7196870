"""Configuration options."""

import re
from dataclasses import dataclass

from strongroom.plugin_api import option
from strongroom_login_oauth.options import AppOptions, OAuthOptions, require_private


@dataclass(frozen=True, slots=True, kw_only=True)
class DingTalkApp(AppOptions):
    """The keys of a section ``[login.dingtalk.apps.NAME]``: one internal app of a company."""

    client_id: str = option(help="The Client ID of the app, formerly AppKey.")
    client_secret: str = option(secret=True, help="The Client Secret of the app, formerly AppSecret.")
    members_only: bool = option(
        True, help="Whether only members of the company can log in, and lose access when they leave."
    )
    exclusive_corp_id: str | None = option(
        None,
        help="The CorpId of the company, if only accounts that it owns can log in; others are refused.",
    )
    trust_mobile: bool = option(
        False,
        help="Whether a login joins the user of the mobile number. The numbers of accounts that a "
        "company owns do not count, because its administrators enter them.",
    )
    organization: str = option(
        "main",
        help="Your name for the company of the app; apps of the same company share unionIds.",
    )

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9_-]{1,32}", self.organization):
            raise ValueError("organization: must be lowercase letters, digits, hyphens and underscores")


@dataclass(frozen=True, slots=True, kw_only=True)
class DingTalkOptions(OAuthOptions):
    """The keys of the section ``[login.dingtalk]``."""

    apps: dict[str, DingTalkApp] = option(help="The apps for login, each under a name of your choice.")
    login_url: str = option("https://login.dingtalk.com", help="The base URL of the login page.")
    api_url: str = option("https://api.dingtalk.com", help="The base URL of the new interfaces.")
    oapi_url: str = option("https://oapi.dingtalk.com", help="The base URL of the old interfaces.")

    def __post_init__(self) -> None:
        OAuthOptions.__post_init__(self)
        for name in ("login_url", "api_url", "oapi_url"):
            require_private(name, getattr(self, name))
