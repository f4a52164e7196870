"""The QR code pages. They load nothing of other servers, except WeChat's page in a frame."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from flask import Response

from strongroom.plugin_api.web import HostAPI
from strongroom_login_oauth.routes import begin_path, callback_path
from strongroom_login_wechat.method import WeChatLogin
from strongroom_login_wechat.website import LANGUAGES, WebApp, Website


@dataclass(slots=True, eq=False, repr=False)
class Pages:
    """Renders the pages with their Content-Security-Policy."""

    _host: HostAPI
    _login: WeChatLogin

    def scan(self, app: str, website: Website) -> Response:
        """Return the page with WeChat's QR code page in a frame."""
        # The frame loads WeChat's page, which redirects it to redirect_uri.
        framed = {_origin(self._login.options.open_url), _origin(website.redirect_uri)}
        return self._page(
            "scan.html",
            framed=" ".join(sorted(framed)),
            app=app,
            platform_languages=LANGUAGES,
            begin_path=self._begin_path(app) if self._logs_in_by_redirect(website) else None,
        )

    def callback(self) -> Response:
        """Return the page that logs in with the code in its URL and notifies the embedding page."""
        return self._page("callback.html", framed="'none'", embedders=self._login.options.embedders)

    def _logs_in_by_redirect(self, website: Website) -> bool:
        return leads_back(self._host, website) and self._host.browser.login_path() is not None

    def _begin_path(self, app: str) -> str:
        return urlsplit(self._host.public_url).path + begin_path(self._login, app)

    def _page(self, template: str, *, framed: str, **values: Any) -> Response:
        embedders = " ".join(("'self'", *self._login.options.embedders))
        response: Response = self._host.pages.render(
            template, policy={"frame-src": framed, "frame-ancestors": embedders}, **values
        )
        return response


def leads_back(host: HostAPI, app: WebApp) -> bool:
    """Return whether the redirects of an app lead to the callback of this server."""
    return app.redirect_uri == host.public_url + callback_path("wechat")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
