"""The QR code pages, in English and Chinese. They load no other resources except the QR code's frame."""

import secrets
from typing import Any, Final
from urllib.parse import urlsplit

from flask import Response, request
from jinja2 import Environment, PackageLoader

from strongroom_login_wechat.options import WeChatOptions
from strongroom_login_wechat.website import Website

LANGUAGES: Final = {"en": "en", "zh": "cn"}
"""The languages of the pages, with WeChat's codes for them."""


class Pages:
    """Renders the pages with their Content-Security-Policy."""

    def __init__(self, options: WeChatOptions) -> None:
        self._options = options
        self._environment = Environment(
            loader=PackageLoader("strongroom_login_wechat"), autoescape=True, trim_blocks=True
        )

    def scan(self, app: str, website: Website) -> Response:
        """Return the page with WeChat's QR code page in a frame."""
        # The frame loads WeChat's page, which redirects it to redirect_uri.
        framed = {_origin(self._options.open_url), _origin(website.redirect_uri)}
        return self._page("scan.html", framed=" ".join(sorted(framed)), app=app)

    def callback(self) -> Response:
        """Return the page that logs in with the code in its URL and notifies the embedding page."""
        return self._page("callback.html", framed="'none'")

    def _page(self, template: str, *, framed: str, **values: Any) -> Response:
        language = _preferred_language()
        nonce = secrets.token_urlsafe(16)
        html = self._environment.get_template(template).render(
            language=language,
            platform_language=LANGUAGES[language],
            nonce=nonce,
            embedders=self._options.embedders,
            **values,
        )
        response = Response(html, content_type="text/html; charset=utf-8")
        embedders = " ".join(("'self'", *self._options.embedders))
        response.headers["Content-Security-Policy"] = (
            f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
            f"connect-src 'self'; frame-src {framed}; frame-ancestors {embedders}; "
            "base-uri 'none'; form-action 'none'"
        )
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cache-Control"] = "no-store"
        response.headers["Content-Language"] = language
        response.headers["Vary"] = "Accept-Language"
        return response


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _preferred_language() -> str:
    """Return the browser's preferred language among the supported ones, ignoring its region."""
    for language, quality in request.accept_languages:
        primary = language.partition("-")[0].lower()
        if quality > 0 and primary in LANGUAGES:
            return primary
    return "en"
