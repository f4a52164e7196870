"""The page behind the link, in English and Chinese. It loads nothing, from here or elsewhere."""

import secrets
from functools import lru_cache
from typing import Final

from flask import Response
from jinja2 import Environment, PackageLoader, Template

from strongroom.messages.templates import locale_of
from strongroom.web.requests import languages

_POLICY: Final = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)


def setup_page() -> Response:
    """Return the page, in the language that the browser prefers."""
    nonce = secrets.token_urlsafe(16)
    language = locale_of(languages())
    html = _template().render(language=language, nonce=nonce)
    response = Response(html, content_type="text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = _POLICY.format(nonce=nonce)
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Cache-Control"] = "no-store"
    return response


@lru_cache(maxsize=1)
def _template() -> Template:
    loader = PackageLoader("strongroom.setup")
    return Environment(loader=loader, autoescape=True, trim_blocks=True).get_template("setup.html")
