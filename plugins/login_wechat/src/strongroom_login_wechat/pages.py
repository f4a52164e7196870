"""The QR code pages. They load nothing of other servers, except WeChat's page in a frame."""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from flask import Response

from strongroom.plugin_api.web import HostAPI
from strongroom_login_wechat.options import WeChatOptions
from strongroom_login_wechat.website import WebApp, Website

LANGUAGES: Final = {"en": "en", "zh": "cn"}
"""The languages of the pages, with WeChat's codes for them."""

CALLBACK: Final = "/api/v1/wechat-authorizations/callback"
BEGIN: Final = "/api/v1/wechat-authorizations/begin"


@dataclass(slots=True, eq=False, repr=False)
class Pages:
    """Renders the pages with their Content-Security-Policy."""

    _host: HostAPI
    _options: WeChatOptions

    def scan(self, app: str, website: Website) -> Response:
        """Return the page with WeChat's QR code page in a frame."""
        # The frame loads WeChat's page, which redirects it to redirect_uri.
        framed = {_origin(self._options.open_url), _origin(website.redirect_uri)}
        return self._page(
            "scan.html",
            framed=" ".join(sorted(framed)),
            app=app,
            platform_languages=LANGUAGES,
            begin_path=self._begin_path(app) if self._logs_in_by_redirect(website) else None,
        )

    def callback(self) -> Response:
        """Return the page that logs in with the code in its URL and notifies the embedding page."""
        return self._page("callback.html", framed="'none'", embedders=self._options.embedders)

    def _logs_in_by_redirect(self, website: Website) -> bool:
        return leads_back(self._host, website) and self._host.browser.login_path() is not None

    def _begin_path(self, app: str) -> str:
        return urlsplit(self._host.public_url).path + begin_path(app)

    def _page(self, template: str, *, framed: str, **values: Any) -> Response:
        embedders = " ".join(("'self'", *self._options.embedders))
        response: Response = self._host.page(
            template, policy={"frame-src": framed, "frame-ancestors": embedders}, **values
        )
        return response


def begin_path(app: str, **query: str) -> str:
    """Return the path that leads a browser to WeChat's page and back, without the base path."""
    return f"{BEGIN}?{urlencode({'app': app, **query})}"


def leads_back(host: HostAPI, app: WebApp) -> bool:
    """Return whether the redirects of an app lead to the callback of this server."""
    return app.redirect_uri == host.public_url + CALLBACK


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
