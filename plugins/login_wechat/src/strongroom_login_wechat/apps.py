"""Creates the apps from the configuration."""

from strongroom_login_wechat.app import App
from strongroom_login_wechat.client import PlatformClient
from strongroom_login_wechat.mini_program import MiniProgram
from strongroom_login_wechat.options import OFFICIAL_ACCOUNT, WeChatApp, WeChatOptions
from strongroom_login_wechat.timing import Clock
from strongroom_login_wechat.website import OfficialAccount, Website


def make_apps(options: WeChatOptions, client: PlatformClient, *, clock: Clock) -> dict[str, App]:
    """Return the configured apps by name."""
    return {name: _make_app(app, options, client, clock) for name, app in options.apps.items()}


def _make_app(app: WeChatApp, options: WeChatOptions, client: PlatformClient, clock: Clock) -> App:
    if app.redirect_uri is not None:
        kind = OfficialAccount if app.kind == OFFICIAL_ACCOUNT else Website
        return kind(
            client,
            appid=app.appid,
            account=app.account,
            secret=app.secret,
            redirect_uri=app.redirect_uri,
            open_url=options.open_url,
        )
    return MiniProgram(
        client,
        appid=app.appid,
        account=app.account,
        secret=app.secret,
        data_max_age=options.data_max_age,
        clock=clock,
    )
