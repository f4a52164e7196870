"""The buttons of the login page."""

from dataclasses import replace

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.pages import LoginLink
from strongroom_login_oauth.links import distinct_labels, login_link
from strongroom_login_wechat.method import WeChatLogin
from strongroom_login_wechat.pages import leads_back
from strongroom_login_wechat.website import OfficialAccount, WebApp, Website


def login_links(host: HostAPI, login: WeChatLogin) -> list[LoginLink]:
    """Return a button for each app whose redirects lead to the callback of this server."""
    accounts = _links(host, login, OfficialAccount, "wechat_account")
    # The REST API has QR codes only.
    return [
        *_links(host, login, Website, "wechat"),
        *(replace(link, request=None) for link in accounts),
    ]


def _links(host: HostAPI, login: WeChatLogin, kind: type[WebApp], label: str) -> list[LoginLink]:
    """Return the buttons of the apps of a kind; the names of several are numbered."""
    apps = {name: app for name, app in login.find_apps(kind).items() if leads_back(host, app)}
    labels = distinct_labels(apps)
    return [
        replace(
            login_link(login, name, app, labels[name]),
            name=label if len(apps) == 1 else f"{label}_{number}",
        )
        for number, (name, app) in enumerate(apps.items(), 1)
    ]
