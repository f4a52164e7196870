"""Configuration options."""

import re
from dataclasses import dataclass
from typing import Final

from strongroom.plugin_api import option
from strongroom_login_oauth.options import AppOptions, OAuthOptions, require_private

MAINLAND: Final = "cn"
GLOBAL: Final = "global"

_ACCOUNTS: Final = {MAINLAND: "https://accounts.feishu.cn", GLOBAL: "https://accounts.larksuite.com"}
_OPEN: Final = {MAINLAND: "https://open.feishu.cn", GLOBAL: "https://open.larksuite.com"}
_TENANT: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FeishuApp(AppOptions):
    """The keys of a section ``[login.feishu.apps.NAME]``: one app registered with Feishu or Lark."""

    app_id: str = option(help="The App ID of the app.")
    app_secret: str = option(secret=True, help="The App Secret of the app.")
    allowed_tenants: tuple[str, ...] = option(
        (), help="The tenant keys of the companies whose members can log in."
    )
    members_only: bool = option(
        True, help="Whether only members of `allowed_tenants` can log in; false accepts any company."
    )
    region: str = option(
        MAINLAND, choices=(MAINLAND, GLOBAL), help="`cn` for Feishu, `global` for Lark."
    )
    check_leavers: bool = option(
        True,
        help="Whether the contacts are read to find people who have left; false for store apps.",
    )
    scopes: tuple[str, ...] = option((), help="Permissions that people are asked for at the login.")
    accounts_url: str | None = option(
        None, help="The base URL of the page and of its tokens; by default, the region's."
    )
    open_url: str | None = option(
        None, help="The base URL of the open platform; by default, the region's."
    )

    def __post_init__(self) -> None:
        if self.members_only and not self.allowed_tenants:
            raise ValueError("allowed_tenants: required, unless members_only is false")
        for tenant in self.allowed_tenants:
            if not _TENANT.fullmatch(tenant):
                raise ValueError('allowed_tenants: must be like "736588c9260f175d"')
        require_private("accounts_url", self.accounts_base)
        require_private("open_url", self.open_base)

    @property
    def accounts_base(self) -> str:
        """The base URL of the page that begins a login."""
        return (self.accounts_url or _ACCOUNTS[self.region]).rstrip("/")

    @property
    def open_base(self) -> str:
        """The base URL of the open platform."""
        return (self.open_url or _OPEN[self.region]).rstrip("/")

    @property
    def is_lark(self) -> bool:
        """Whether it is Lark, whose tokens come from version 2 of the interface."""
        return self.region == GLOBAL


@dataclass(frozen=True, slots=True, kw_only=True)
class FeishuOptions(OAuthOptions):
    """The keys of the section ``[login.feishu]``."""

    apps: dict[str, FeishuApp] = option(help="The apps for login, each under a name of your choice.")
