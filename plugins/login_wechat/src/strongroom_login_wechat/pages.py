"""The QR code pages. They load nothing of other servers, except WeChat's page in a frame."""

from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from flask import Response

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.request import current_host
from strongroom.plugin_api.visits import Visit
from strongroom_login_oauth.routes import begin_path, callback_path
from strongroom_login_wechat.method import WeChatLogin
from strongroom_login_wechat.website import LANGUAGES, WebApp, Website


class _PublicVisit(Visit):
    """A request for a page that other sites may embed: it has no form, and needs no cookie."""

    @property
    def csrf(self) -> str:
        return ""


def scan_page(login: WeChatLogin, name: str, app: Website) -> Response:
    """Return the page with WeChat's QR code page in a frame."""
    host = current_host()
    # The frame loads WeChat's page, which redirects it to redirect_uri.
    framed = {_origin(login.options.open_url), _origin(app.redirect_uri)}
    logs_in_by_redirect = leads_back(host, app) and host.browser.login_path() is not None
    visit = _PublicVisit(host, "")
    return _page(
        visit,
        "scan.html",
        login,
        framed=" ".join(sorted(framed)),
        app=name,
        platform_languages=LANGUAGES,
        begin_path=visit.base_path + begin_path(login, name) if logs_in_by_redirect else None,
    )


def callback_page(login: WeChatLogin) -> Response:
    """Return the page that logs in with the code in its URL and notifies the embedding page."""
    visit = _PublicVisit(current_host(), "")
    return _page(visit, "callback.html", login, framed="'none'", embedders=login.options.embedders)


def leads_back(host: HostAPI, app: WebApp) -> bool:
    """Return whether the redirects of an app lead to the callback of this server."""
    return app.redirect_uri == host.public_url + callback_path("wechat")


def _page(
    visit: _PublicVisit, template: str, login: WeChatLogin, *, framed: str, **values: Any
) -> Response:
    """Return a page with its Content-Security-Policy."""
    embedders = " ".join(("'self'", *login.options.embedders))
    policy = {"frame-src": framed, "frame-ancestors": embedders}
    response: Response = visit.render(template, status=HTTPStatus.OK, policy=policy, **values)
    return response


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
