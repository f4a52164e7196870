"""Creates the apps from the configuration."""

from collections.abc import Callable

from strongroom.plugin_api.web import HostAPI
from strongroom_login_wechat.api import WeChatApi
from strongroom_login_wechat.app import App
from strongroom_login_wechat.mini_program import MiniProgram
from strongroom_login_wechat.options import OFFICIAL_ACCOUNT, WeChatApp, WeChatOptions
from strongroom_login_wechat.timing import Clock
from strongroom_login_wechat.website import OfficialAccount, Website


def make_apps(
    options: WeChatOptions, api: WeChatApi, *, clock: Clock, host: Callable[[], HostAPI]
) -> dict[str, App]:
    """Return the configured apps by name.

    Args:
        host: returns the server, which exists wherever an app sends requests.
    """
    return {name: _make_app(app, options, api, clock, host) for name, app in options.apps.items()}


def _make_app(
    app: WeChatApp,
    options: WeChatOptions,
    api: WeChatApi,
    clock: Clock,
    host: Callable[[], HostAPI],
) -> App:
    if app.redirect_uri is not None:
        kind = OfficialAccount if app.kind == OFFICIAL_ACCOUNT else Website
        return kind(
            api,
            appid=app.appid,
            account=app.account,
            secret=app.secret,
            redirect_uri=app.redirect_uri,
            open_url=options.open_url,
        )
    return MiniProgram(
        api,
        appid=app.appid,
        account=app.account,
        secret=app.secret,
        data_max_age=options.data_max_age,
        clock=clock,
        host=host,
    )
