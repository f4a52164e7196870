"""The pages of logins at providers, and a stage with many providers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.support.browser_pages import Screen, Visitor
from tests.support.config import Table
from tests.support.screens.stage import Stage, full_stage
from tests.support.screens.steps import own, path

_APP: Final = {"client_id": "strongroom", "client_secret": "a-secret"}
_PRESETS: Final = ("google", "microsoft", "github", "gitlab", "gitee", "qq")
_METHODS: Final = ("password", "email_code", "wechat", "wecom", "feishu", "oidc")
_OPTIONS: Final[Table] = {
    "login": {
        "methods": [*_METHODS],
        "wecom": {"apps": {"main": {"corpid": "ww00", "agentid": 1000002, "secret": "a-secret"}}},
        "feishu": {
            "apps": {
                "main": {"app_id": "cli_00", "app_secret": "a-secret", "allowed_tenants": ["00"]},
            }
        },
        "oidc": {"providers": {name: {"preset": name, **_APP} for name in _PRESETS}},
    },
    "users": {"require_terms": False},
}


@contextmanager
def provider_stage(folder: Path) -> Iterator[Stage]:
    """Run a server with many providers, of which WeChat is simulated."""
    more = ("login_wecom", "login_feishu", "login_oidc")
    with full_stage(folder, _OPTIONS, more=more) as stage:
        yield stage


def show_in_app(visitor: Visitor) -> None:
    visitor.page.set_extra_http_headers({"User-Agent": "Mozilla/5.0 Mobile wxwork/4.1 MicroMessenger/7"})
    visitor.go("/account/login")


def show_all(visitor: Visitor) -> None:
    visitor.go("/account/login")
    visitor.page.locator("details summary").first.click()


def refuse(visitor: Visitor) -> None:
    visitor.go("/account/login")
    visitor.press("a[href*='/wechat-authorizations/']")
    visitor.page.get_by_role("button", name="Deny").click()
    visitor.page.wait_for_url("**/account/login")


def come_back_late(visitor: Visitor) -> None:
    visitor.go("/account/login")
    visitor.press("a[href*='/wechat-authorizations/']")
    visitor.page.get_by_label("Ada").check()
    visitor.page.context.clear_cookies()
    visitor.page.get_by_role("button", name="Confirm").click()
    visitor.page.wait_for_url("**/account/login")


def show_only_way(visitor: Visitor) -> None:
    visitor.go("/account/login")
    visitor.press("a[href*='/wechat-authorizations/']")
    visitor.page.get_by_label("Ada").check()
    visitor.page.get_by_role("button", name="Confirm").click()
    visitor.page.wait_for_url("**/account/")


_LOGIN: Final = "login_pages/sign_in/login"
NAMES: Final = "Google|Microsoft|GitHub|GitLab|Gitee|QQ|Lark|OpenID Connect|shop"

PROVIDERS: Final = (
    Screen("login with many providers", _LOGIN, path("/account/login"), names=NAMES),
    Screen("login with all providers", _LOGIN, show_all, names=NAMES),
    Screen("login in the app of a provider", _LOGIN, show_in_app, names=NAMES),
    Screen("login that was refused at the provider", _LOGIN, refuse, names=NAMES),
    Screen("login that began in another browser", _LOGIN, come_back_late, names=NAMES),
    Screen("accounts to connect", "login_pages/account/security", own("/account/"), names=NAMES),
    Screen("only way to log in", "login_pages/account/security", show_only_way, names=NAMES),
)
