"""HTML pages: templates with a strict Content-Security-Policy, in the language of the browser.

The templates of a package are in its folder ``templates``, and the texts in ``messages``: TOML files
such as ``en.toml``, or ``account.en.toml`` for a part of the pages, with a text for each key.
``{{ text("greeting", name=name) }}`` in a template is the text of the page's language, with ``{name}``
replaced. English is the default of each key. ``{% extends "strongroom/frame.html" %}`` begins a page in
the design of the server, whose blocks are ``heading``, ``content``, ``style`` and ``scripts``. The
macros of ``strongroom/parts.html`` are its parts. The filters ``moment`` and ``day`` show a point in
time of the REST API in the time zone of the page, whose name is ``strongroom.zone``: ``day`` for forms,
and ``strongroom.date(time)`` for people, in the words of the page's language.
"""

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import flask
from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined, Template

from strongroom.foundation.locales import choose_locale
from strongroom.foundation.text_direction import with_shown_direction
from strongroom.plugin_api.forms import PagePart
from strongroom.plugin_api.rendering import PageCompression
from strongroom.plugin_api.times import shown_day, shown_moment, zone_name
from strongroom.web.http.content_coding import note_page
from strongroom.web.http.languages import translator
from strongroom.web.http.request import current_environ, get_service, request_id
from strongroom.web.pages.avatars import avatar_color, initial, initials
from strongroom.web.pages.brand_styles import accent_sheet
from strongroom.web.pages.design import (
    TEXTS,
    FrameLink,
    LanguageChoice,
    PageDesign,
    ThemeChoice,
    language_choices,
    theme_choices,
)
from strongroom.web.pages.failure_titles import failure_title
from strongroom.web.pages.icons import icon_path
from strongroom.web.pages.languages import page_languages
from strongroom.web.pages.macro_modules import Modules, PageTemplate
from strongroom.web.pages.page_dates import worded_date
from strongroom.web.pages.page_texts import PageTexts
from strongroom.web.pages.page_themes import page_theme, remember_theme
from strongroom.web.pages.page_zones import page_zone
from strongroom.web.pages.template_copies import SERVER, load_copies

_POLICY: Final[Mapping[str, str]] = {
    "default-src": "'none'",
    "script-src": "'nonce-{nonce}'",
    "style-src": "'self' 'nonce-{nonce}'",
    "img-src": "'self'",
    "font-src": "'self'",
    "connect-src": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
}
"""The policy of a page with inline scripts, and with styles, pictures and fonts of the server."""

_OWN_PACKAGE: Final = "strongroom.web.pages"


@dataclass(frozen=True, slots=True)
class PageFrame:
    """What ``strongroom/page.html`` and its parts show around a page, as ``strongroom`` in templates."""

    design: PageDesign
    language: str
    scripts: Sequence[str] = ()
    """The paths of the scripts of the parts that belong to plugins."""
    modules: Modules = field(default_factory=dict)
    status: int = 200
    """The HTTP status of the page."""

    @property
    def name(self) -> str:
        """The name of the product."""
        return self.design.brand.name_in(self.language)

    @property
    def styles(self) -> Sequence[str]:
        """The paths of the style sheets."""
        return self.design.styles

    @property
    def framed_styles(self) -> Sequence[str]:
        """The paths of the style sheets of pages with a menu."""
        return self.design.framed_styles

    @property
    def languages(self) -> Sequence[LanguageChoice]:
        """The other languages of the page."""
        return language_choices(self.language)

    @property
    def theme(self) -> str:
        """The theme of the page: ``system``, ``light`` or ``dark``."""
        return page_theme()

    @property
    def themes(self) -> Sequence[ThemeChoice]:
        """The themes of the page, with the current one."""
        return theme_choices(page_theme())

    def accent_style(self, accent: str) -> str:
        """Return the style sheet of the accent of an application, which is ``#rrggbb``."""
        return accent_sheet(self.design.brand, accent)

    @property
    def zone(self) -> str:
        """The name of the time zone of the page."""
        return zone_name(page_zone())

    def date(self, moment: int | str) -> str:
        """Return the day of a point in time, in the zone of the page and the words of its language."""
        return worded_date(shown_day(moment, page_zone()), self.language)

    @property
    def script(self) -> str:
        """The path of the script of all pages."""
        return self.design.script

    @property
    def frame_script(self) -> str:
        """The path of the script of pages with a menu."""
        return self.design.frame_script

    @property
    def failure(self) -> str:
        """The key of the title of a page about a failure, by its status."""
        return failure_title(self.status)

    @property
    def request_id(self) -> str:
        """The id of the request, by which operators find it in the log."""
        return request_id()

    @property
    def links(self) -> Sequence[FrameLink]:
        """The links of the footer."""
        return self.design.links(self.language)

    @property
    def help_links(self) -> Sequence[FrameLink]:
        """The links of the person's menu that help."""
        return self.design.help_links(self.language)

    @property
    def text(self) -> Callable[..., str]:
        """The function that returns a text of the server by its key."""
        return TEXTS.translator(self.language)

    @property
    def translated(self) -> Callable[[str], str]:
        """The function that returns an English message, such as a fault, in the language of the page."""
        return translator(self.language)


class Pages:
    """The pages of a package.

    Args:
        package: its name; it has the folders ``templates`` and, unless it has no texts, ``messages``.
        owner: the folder of its templates among those that a deployment replaces.
    """

    def __init__(self, package: str, owner: str = SERVER) -> None:
        self._package = package
        self._owner = owner
        self._environments: dict[Path | None, Environment] = {}
        self._texts = PageTexts(package)

    def render(
        self,
        template: str,
        *,
        status: int = 200,
        policy: Mapping[str, str] | None = None,
        language: str | None = None,
        compress: PageCompression = False,
        **values: Any,
    ) -> flask.Response:
        """Return the response with a page, in the language that the browser prefers.

        Args:
            template: the file name of the template. It must mark scripts and styles by ``nonce``.
            policy: directives of the Content-Security-Policy that replace the strict ones, such as
                ``{"form-action": "'self'"}``; ``{nonce}`` in them is the page's nonce.
            language: the language that the user has chosen, which precedes the browser's.
            compress: whether the page may be compressed, see :meth:`PagesAPI.render`.
            values: the other variables of the template.
        """
        locales = (language, *page_languages()) if language else page_languages()
        language = choose_locale(locales, known=self._texts.languages)
        nonce = secrets.token_urlsafe(16)
        variables = {"nonce": nonce, "language": language, "text": self._texts.translator(language)}
        parts = _parts(values.values())
        frame = PageFrame(get_service(PageDesign), language, _scripts(parts), status=status)
        html = self._template(template, frame.design).render(variables, strongroom=frame, **values)
        response = flask.Response(html, status, content_type="text/html; charset=utf-8")
        directives = with_sources({**_POLICY, **(policy or {})}, parts)
        response.headers["Content-Security-Policy"] = _policy(directives, nonce)
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Content-Language"] = language
        response.headers["Vary"] = "Accept-Language"
        remember_theme(response)
        note_page(current_environ(), compress)
        return response

    def macros(self, template: str, **variables: Any) -> Any:
        """Return a template whose macros are its attributes, with the texts of the page's language."""
        language = choose_locale(page_languages(), known=self._texts.languages)
        frame = PageFrame(get_service(PageDesign), language)
        return self._template(template, frame.design).make_module(
            {
                "language": language,
                "text": self._texts.translator(language),
                "strongroom": frame,
                **variables,
            }
        )

    def has(self, template: str) -> bool:
        """Return whether the package has a template."""
        return template in self._environment(None).list_templates()

    def _template(self, name: str, design: PageDesign) -> Template:
        return self._environment(design.brand.templates).get_template(name)

    def _environment(self, copies: Path | None) -> Environment:
        # Created by the first page, because most processes render none.
        if copies not in self._environments:
            own, server = PackageLoader(self._package), PackageLoader(_OWN_PACKAGE)
            shared = PrefixLoader({SERVER: load_copies(copies, SERVER, server)})
            environment = Environment(
                loader=ChoiceLoader([shared, load_copies(copies, self._owner, own)]),
                autoescape=True,
                auto_reload=False,
                trim_blocks=True,
                lstrip_blocks=True,
                undefined=StrictUndefined,
            )
            environment.template_class = PageTemplate
            environment.filters |= _FILTERS
            environment.globals |= {"icon_path": icon_path}
            self._environments[copies] = environment
        return self._environments[copies]


def _shown(value: object) -> str:
    """The filter ``shown``: a name in a page, whose control characters cannot disguise it."""
    return with_shown_direction(str(value))


def _moment(moment: int | str) -> str:
    """The filter ``moment``: a point in time in the zone of the page."""
    return shown_moment(moment, page_zone())


def _day(moment: int | str) -> str:
    """The filter ``day``: the day of a point in time in the zone of the page, as inputs have it."""
    return shown_day(moment, page_zone())


_FILTERS: Final = {
    "shown": _shown,
    "moment": _moment,
    "day": _day,
    "initial": initial,
    "initials": initials,
    "avatar_color": avatar_color,
}


_PLAIN: Final = frozenset((str, int, bool, type(None)))


def _parts(values: Iterable[object]) -> list[PagePart]:
    """Return the parts of plugins among the variables of a page, in their order."""
    parts, waiting = list[PagePart](), [*values][::-1]
    while waiting:
        value = waiting.pop()
        if isinstance(value, PagePart):
            parts.append(value)
        elif isinstance(value, (list, tuple)):
            waiting += value[::-1]
        elif isinstance(value, dict):
            # Hot: a list has thousands of plain values, and a comprehension is a call for each row.
            # The values of a form are a generator.
            for item in reversed([*value.values()]):
                if type(item) not in _PLAIN:
                    waiting.append(item)
    return parts


def _scripts(parts: Sequence[PagePart]) -> Sequence[str]:
    return list(dict.fromkeys(part.script for part in parts if part.script))


def with_sources(directives: Mapping[str, str], parts: Sequence[PagePart]) -> Mapping[str, str]:
    """Return the directives of a page with the sources that its parts add."""
    added = [("script-src", "'self'") for part in parts if part.script]
    added += [item for part in parts for item in part.policy.items()]
    merged = dict(directives)
    for name, sources in added:
        former = merged.get(name, "").replace("'none'", "").split()
        merged[name] = " ".join(dict.fromkeys([*former, *sources.split()]))
    return merged


def _policy(directives: Mapping[str, str], nonce: str) -> str:
    return "; ".join(f"{name} {sources}" for name, sources in directives.items()).format(nonce=nonce)
