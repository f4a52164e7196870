"""The pages around the QR code, in English and Chinese. They load nothing, from here or elsewhere."""

import secrets
from typing import Any, Final
from urllib.parse import urlsplit

from flask import Response, request
from jinja2 import Environment, PackageLoader

from strongroom_login_wechat.options import WeChatOptions
from strongroom_login_wechat.website import Website

LANGUAGES: Final = {"en": "en", "zh": "cn"}
"""The languages of the pages, with WeChat's names for them."""


class Pages:
    """Makes the pages.

    Args:
        options: who may embed them, and where the platform is.
    """

    def __init__(self, options: WeChatOptions) -> None:
        self._options = options
        self._environment = Environment(
            loader=PackageLoader("strongroom_login_wechat"), autoescape=True, trim_blocks=True
        )

    def scan(self, app: str, website: Website) -> Response:
        """Return the page that frames the platform's page with the QR code."""
        # The frame goes to the platform, and comes back to where it sends browsers.
        framed = {_origin(self._options.open_url), _origin(website.redirect_uri)}
        return self._page("scan.html", framed=" ".join(sorted(framed)), app=app)

    def callback(self) -> Response:
        """Return the page that logs in with what its own URL says, and tells whoever embeds it."""
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
        return response


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _preferred_language() -> str:
    """Return the language that the browser likes best of those that we speak, whatever its region."""
    for language, quality in request.accept_languages:
        primary = language.partition("-")[0].lower()
        if quality > 0 and primary in LANGUAGES:
            return primary
    return "en"
