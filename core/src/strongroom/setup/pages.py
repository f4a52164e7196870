"""The setup page, in English and Chinese."""

from functools import lru_cache

from flask import Response
from jinja2 import Environment, PackageLoader, Template

from strongroom.messages.templates import locale_of
from strongroom.web.pages import html_page
from strongroom.web.requests import languages


def setup_page() -> Response:
    """Return the page in the browser's preferred language."""
    return html_page(_template(), language=locale_of(languages()))


@lru_cache(maxsize=1)
def _template() -> Template:
    loader = PackageLoader("strongroom.setup")
    return Environment(loader=loader, autoescape=True, trim_blocks=True).get_template("setup.html")
