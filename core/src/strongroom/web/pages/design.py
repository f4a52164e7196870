"""The one design of all pages: their style sheets, their brand, and what stands around a page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Final
from urllib.parse import urlencode

from flask import request

from strongroom.foundation.config import Configuration
from strongroom.foundation.config.page_settings import PagesSettings
from strongroom.foundation.locales import LOCALES
from strongroom.web.pages.brand_files import BrandFile, read_brand_files
from strongroom.web.pages.brand_styles import brand_sheet
from strongroom.web.pages.compact_files import compact_file, minified
from strongroom.web.pages.page_parameters import CHOICE, THEME, without_page_parameters
from strongroom.web.pages.page_texts import PageTexts
from strongroom.web.pages.page_themes import THEMES
from strongroom.web.pages.static_files import StaticContent, StaticFolder, static_path

OWNER: Final = "strongroom"
"""The folder of the design among the static files."""

TEXTS: Final = PageTexts("strongroom.web.pages")

_OF_FILINGS: Final = "zh"
_FILINGS: Final = "https://beian.miit.gov.cn/"
_POLICE_FILINGS: Final = "https://beian.mps.gov.cn/#/query/webSearch?code="
_LABELS: Final[Mapping[str, str]] = {"en": "English", "zh": "中文"}
_LONGEST_QUERY: Final = 1024
_SCRIPTS: Final = (
    "zone.js",
    "parts.js",
    "documents.js",
    "texts.js",
    "frame.js",
    "palette.js",
    "questions.js",
    "passwords.js",
)
"""The scripts that pages or other scripts load."""


@dataclass(frozen=True, slots=True)
class LanguageChoice:
    """A link to the same page in another language."""

    language: str
    label: str
    url: str


@dataclass(frozen=True, slots=True)
class ThemeChoice:
    """A link to the same page in a theme."""

    theme: str
    is_current: bool
    url: str


@dataclass(frozen=True, slots=True)
class FrameLink:
    """A link at the bottom of a page.

    Args:
        language: the label's language; ``None`` for the page's.
    """

    label: str
    url: str
    language: str | None = None


class PageDesign:
    """The design of the pages of one application.

    Args:
        base_path: the path that precedes all others.
        brand_files: the files of the brand by their settings.
    """

    def __init__(
        self,
        brand: PagesSettings,
        base_path: str = "",
        brand_files: Mapping[str, BrandFile] | None = None,
    ) -> None:
        self.brand = brand
        self.base_path = base_path
        self._files = brand_files or {}

    @classmethod
    def of_configuration(cls, configuration: Configuration) -> "PageDesign":
        """Return the design of a deployment.

        Raises:
            ConfigurationError: a file of the brand cannot be used.
        """
        settings = configuration.settings
        return cls(settings.pages, settings.server.base_path, read_brand_files(configuration))

    @cached_property
    def folder(self) -> StaticFolder:
        """The files of the design: style sheets, the script, and the brand's files."""
        pages = files("strongroom.web.pages") / "static"
        names = {key: file.name for key, file in self._files.items()}
        brand = minified(
            brand_sheet(self.brand, font=names.get("font_file"), picture=names.get("background_image"))
        )
        # One file per page, because the first paint of a page waits for each connection of its sheets.
        parts = read_sheet("tokens.css", "pages.css", "parts.css")
        sheets = {
            "pages.css": f"{parts} {brand}",
            "framed.css": f"{parts} {read_sheet('frame.css')} {brand}",
        }
        contents = {name: sheet.encode() for name, sheet in sheets.items()}
        contents["icons.svg"] = (pages / "vendor/icons.svg").read_bytes()
        contents |= {name: compact_file(name, (pages / name).read_bytes()) for name in _SCRIPTS}
        contents |= {file.name: file.content for file in self._files.values()}
        return StaticFolder({name: StaticContent(content) for name, content in contents.items()})

    @cached_property
    def styles(self) -> tuple[str, ...]:
        """The paths of the style sheets, in their order."""
        return self._sheets("pages.css")

    @cached_property
    def framed_styles(self) -> tuple[str, ...]:
        """The paths of the style sheets of pages with a menu, in their order."""
        return self._sheets("framed.css")

    @cached_property
    def script(self) -> str:
        """The path of the script of all pages: the time zone of the browser."""
        return self._path("zone.js")

    @cached_property
    def parts_script(self) -> str:
        """The path of the script of the parts of pages: menus, dialogs and toasts."""
        return self._path("parts.js")

    @cached_property
    def modules(self) -> str:
        """The path of the folder of all scripts, which modules import as ``strongroom/``."""
        return self._path("")

    @cached_property
    def icons(self) -> str:
        """The path of the sprite of all icons."""
        return self._path("icons.svg")

    @cached_property
    def frame_script(self) -> str:
        """The path of the script of pages with a menu."""
        return self._path("frame.js")

    @cached_property
    def inline_style(self) -> str:
        """The style sheets as one text, for a page that needs no second request.

        The font and the background of the brand are left out, because they are files.
        """
        return f"{read_sheet('tokens.css', 'pages.css')} {minified(brand_sheet(self.brand))}"

    def _sheets(self, name: str) -> tuple[str, ...]:
        """Return the paths of a style sheet and of the deployer's, which has the last word."""
        own = [file.name for key, file in self._files.items() if key == "css_file"]
        return tuple(self._path(sheet) for sheet in (name, *own))

    def picture(self, key: str) -> str | None:
        """Return the path of a picture of the brand; ``None`` without one."""
        return self._path(self._files[key].name) if key in self._files else None

    def mail_logo(self, key: str) -> str | None:
        """Return the path of the logo for light or dark mode, if mail programs show its type."""
        logo = self._files.get(key)
        return self._path(logo.name) if logo and logo.is_for_mails else None

    def links(self, language: str) -> list[FrameLink]:
        """Return the links at the bottom of pages in a language."""
        return list(self._links(language))

    def help_links(self, language: str) -> list[FrameLink]:
        """Return the links to help in a language."""
        url = self.brand.support_url
        return [FrameLink(TEXTS.translator(language)("support"), url)] if url else []

    def _links(self, language: str) -> Iterator[FrameLink]:
        text, brand = TEXTS.translator(language), self.brand
        urls = {"terms": brand.terms_url, "privacy": brand.privacy_url, "support": brand.support_url}
        yield from (FrameLink(text(key), url) for key, url in urls.items() if url)
        yield from (FrameLink(link.label_in(language), link.url) for link in brand.links)
        if brand.icp:
            yield FrameLink(brand.icp, _FILINGS, _OF_FILINGS)
        if brand.public_security:
            url = f"{_POLICE_FILINGS}{brand.public_security_number}"
            yield FrameLink(brand.public_security, url, _OF_FILINGS)

    def _path(self, name: str) -> str:
        return self.base_path + static_path(OWNER, self.folder, name)


def language_choices(language: str) -> Sequence[LanguageChoice]:
    """Return links to the page of the current request in the other languages."""
    query = _kept_query()
    return [
        LanguageChoice(other, _LABELS[other], f"?{query}{CHOICE}={other}")
        for other in LOCALES
        if other != language
    ]


def read_sheet(*names: str) -> str:
    """Return style sheets of the design as one text."""
    folder = files("strongroom.web.pages") / "static"
    return minified(" ".join((folder / name).read_text("utf-8") for name in names))


def theme_choices(current: str) -> Sequence[ThemeChoice]:
    """Return links to the page of the current request in all themes."""
    query = _kept_query()
    return [ThemeChoice(theme, theme == current, f"?{query}{THEME}={theme}") for theme in THEMES]


def _kept_query() -> str:
    kept = urlencode(list(without_page_parameters(request.args).items(multi=True)))
    # The page must not be much longer than the request.
    return f"{kept}&" if 0 < len(kept) <= _LONGEST_QUERY else ""
