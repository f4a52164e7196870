"""HTML pages with a strict Content-Security-Policy. They load nothing from other origins."""

import secrets
from typing import Any, Final

from flask import Response
from jinja2 import Template

STRICT_POLICY: Final = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
"""The policy of a page with inline scripts and styles only."""


def html_page(template: Template, policy: str = STRICT_POLICY, **values: Any) -> Response:
    """Render a template that marks its scripts and styles with ``nonce``.

    Args:
        template: the page.
        policy: its Content-Security-Policy, with ``{nonce}`` where the nonce belongs.
        values: the other variables of the template.
    """
    nonce = secrets.token_urlsafe(16)
    response = Response(template.render(nonce=nonce, **values), content_type="text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = policy.format(nonce=nonce)
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Cache-Control"] = "no-store"
    return response
