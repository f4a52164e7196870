"""HTML pages: templates with a strict Content-Security-Policy, in the language of the browser.

The templates of a package are in its folder ``templates``, and the texts in ``messages``: one TOML file
per language, such as ``en.toml``, with a text for each key. ``{{ text("greeting", name=name) }}`` in a
template is the text of the page's language, with ``{name}`` replaced. English is the default of each
key. ``{% extends "strongroom/page.html" %}`` begins a page with the look of the server's own ones, whose
blocks are ``title``, ``style``, ``main`` and ``script``.
"""

import secrets
import tomllib
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from importlib.resources import files
from typing import Any, Final

import flask
from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined

from strongroom.foundation.locales import DEFAULT_LOCALE, locale_of
from strongroom.web.http.request import languages

_POLICY: Final[Mapping[str, str]] = {
    "default-src": "'none'",
    "script-src": "'nonce-{nonce}'",
    "style-src": "'nonce-{nonce}'",
    "connect-src": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
}
"""The policy of a page with inline scripts and styles only."""

Texts = Mapping[str, str]


class Pages:
    """The pages of a package.

    Args:
        package: its name; it has the folders ``templates`` and, unless it has no texts, ``messages``.
    """

    def __init__(self, package: str) -> None:
        self._package = package

    def render(
        self,
        template: str,
        *,
        status: int = 200,
        policy: Mapping[str, str] | None = None,
        language: str | None = None,
        **values: Any,
    ) -> flask.Response:
        """Return the response with a page, in the language that the browser prefers.

        Args:
            template: the file name of the template. It must mark scripts and styles by ``nonce``.
            policy: directives of the Content-Security-Policy that replace the strict ones, such as
                ``{"form-action": "'self'"}``; ``{nonce}`` in them is the page's nonce.
            language: the language that the user has chosen, which precedes those of the browser.
            values: the other variables of the template.
        """
        locales = (language, *languages()) if language else languages()
        language = locale_of(locales, known=self._catalogues.keys() | {DEFAULT_LOCALE})
        nonce = secrets.token_urlsafe(16)
        html = self._environment.get_template(template).render(
            nonce=nonce, language=language, text=self._text_of(language), **values
        )
        response = flask.Response(html, status, content_type="text/html; charset=utf-8")
        response.headers["Content-Security-Policy"] = _policy(policy or {}, nonce)
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cache-Control"] = "no-store"
        response.headers["Content-Language"] = language
        response.headers["Vary"] = "Accept-Language"
        return response

    @cached_property
    def _environment(self) -> Environment:
        # Created by the first page, because most processes render none.
        own, server = PackageLoader(self._package), PackageLoader("strongroom.web.http")
        loader = ChoiceLoader([PrefixLoader({"strongroom": server}), own])
        return Environment(loader=loader, autoescape=True, trim_blocks=True, undefined=StrictUndefined)

    @cached_property
    def _catalogues(self) -> Mapping[str, Texts]:
        """The texts of each language by their keys."""
        folder = files(self._package) / "messages"
        if not folder.is_dir():
            return {}
        catalogues = [item for item in folder.iterdir() if item.name.endswith(".toml")]
        return {
            item.name.removesuffix(".toml"): tomllib.loads(item.read_text("utf-8"))
            for item in catalogues
        }

    def _text_of(self, language: str) -> Callable[..., str]:
        texts = {**self._catalogues.get(DEFAULT_LOCALE, {}), **self._catalogues.get(language, {})}
        return partial(_filled, texts)


def _filled(texts: Texts, key: str, /, **values: object) -> str:
    return texts[key].format(**values)


def _policy(directives: Mapping[str, str], nonce: str) -> str:
    merged = {**_POLICY, **directives}
    return "; ".join(f"{name} {sources}" for name, sources in merged.items()).format(nonce=nonce)
