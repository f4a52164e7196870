"""The section ``[pages]``: the brand of a deployment in pages and mails."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from strongroom.foundation.colors import Color, parse_color
from strongroom.foundation.locales import LOCALES
from strongroom.plugin_api import option

_MAX_NAME: Final = 60
_MAX_URL: Final = 2048
_MAX_LINKS: Final = 10
_FAMILY: Final = re.compile(r"\w[\w .-]{0,59}")
_FILING: Final = re.compile(r"[^\W\d_]ICP[备证][\w-]{1,24}")
_POLICE_FILING: Final = re.compile(r"[^\W\d_]公网安备 ?([0-9]{14})号")
_PICTURE: Final = "PNG, JPEG, WebP or SVG, at most 500 KB"


def _line(text: str) -> str | None:
    if text.strip() and len(text) <= _MAX_NAME and text.isprintable():
        return None
    return f"must be one line of 1 to {_MAX_NAME} characters"


def _https(url: str) -> str | None:
    is_valid = _is_plain(url) and urlsplit(url).scheme == "https" and urlsplit(url).hostname
    return None if is_valid else 'must be an https: URL such as "https://example.com/terms"'


def _support(url: str) -> str | None:
    is_mail = _is_plain(url) and urlsplit(url).scheme == "mailto" and "@" in urlsplit(url).path
    return None if is_mail or _https(url) is None else "must be an https: or mailto: URL"


def _is_plain(url: str) -> bool:
    """Return whether a URL has none of the characters that browsers remove or that end an attribute."""
    if len(url) > _MAX_URL or not url.isprintable() or set(url) & set(" \\\"'<>`"):
        return False
    try:
        return urlsplit(url).port != 0
    except ValueError:
        return False


def _color(text: str) -> str | None:
    try:
        parse_color(text)
    except ValueError as error:
        return str(error)
    return None


def _font(text: str) -> str | None:
    is_valid = all(_FAMILY.fullmatch(family.strip()) for family in text.split(","))
    return None if is_valid else 'must be names of fonts such as "Inter, Noto Sans"'


def _by_language(texts: Mapping[str, str]) -> str | None:
    if unknown := sorted(set(texts) - set(LOCALES)):
        return f'unknown language "{unknown[0]}"; known: {", ".join(LOCALES)}'
    return next(filter(None, map(_line, texts.values())), None)


def _filing(text: str) -> str | None:
    return None if _FILING.fullmatch(text) else 'must be a number such as "沪ICP备12345678号-1"'


def _police_filing(text: str) -> str | None:
    is_valid = _POLICE_FILING.fullmatch(text)
    return None if is_valid else 'must be a number such as "沪公网安备 31010102000001号"'


@dataclass(frozen=True, slots=True)
class FooterLink:
    """A link at the bottom of pages."""

    url: str = option(help="An https: URL.")
    label: str = option(help="The text of the link.")
    labels: dict[str, str] = option(default_factory=dict, help="The text in other languages.")

    def __post_init__(self) -> None:
        _require(self, {"url": _https, "label": _line, "labels": _by_language})

    def label_in(self, language: str) -> str:
        """Return the text in a language."""
        return self.labels.get(language, self.label)


Check = Callable[[Any], str | None]
"""Returns the fault of a value, with what would be right."""

_CHECKS: Final[Mapping[str, Check]] = {
    "name": _line,
    "names": _by_language,
    "primary": _color,
    "primary_dark": _color,
    "background": _color,
    "background_dark": _color,
    "font": _font,
    "icp": _filing,
    "public_security": _police_filing,
    "terms_url": _https,
    "privacy_url": _https,
    "terms_version": _line,
    "support_url": _support,
}


def _require(values: Any, checks: Mapping[str, Check]) -> None:
    for key, check in checks.items():
        value = getattr(values, key)
        if value is not None and (fault := check(value)):
            raise ValueError(f"{key}: {fault}")


@dataclass(frozen=True, slots=True)
class PagesSettings:
    """The brand that end users see in pages and mails."""

    name: str = option("Strongroom", help="The name of the product, in pages and mails.")
    names: dict[str, str] = option(
        default_factory=dict, help='The name in other languages, such as {zh = "保险库"}.', advanced=True
    )
    logo: Path | None = option(
        None,
        help=f"A picture that replaces the name at the top of pages: {_PICTURE}. Mails show it if it is "
        "a PNG or JPEG.",
    )
    logo_dark: Path | None = option(
        None, help=f"The logo on dark pages: {_PICTURE}. Absent: the logo of light ones.", advanced=True
    )
    favicon: Path | None = option(
        None, help="The icon of browser tabs: PNG, SVG or ICO, at most 500 KB.", advanced=True
    )
    primary: str = option(
        "#1456b8",
        help="The colour of buttons and links, as #rrggbb. Labels on it are black or white, and links "
        "a darker or lighter shade where the contrast would be below 4.5.",
    )
    primary_dark: str | None = option(
        None,
        help="The colour of buttons and links on dark pages. Absent: a lighter shade of `primary`.",
        advanced=True,
    )
    background: str | None = option(
        None,
        help="The colour behind the content, as #rrggbb; lighter where text would be hard to read. "
        "Absent: light grey.",
        advanced=True,
    )
    background_dark: str | None = option(
        None,
        help="The colour behind the content of dark pages; darker where needed. Absent: black.",
        advanced=True,
    )
    background_image: Path | None = option(
        None, help="A picture behind the content: PNG, JPEG or WebP, at most 500 KB.", advanced=True
    )
    radius: int = option(
        8,
        minimum=0,
        maximum=24,
        help="The radius of corners of buttons and fields, in pixels.",
        advanced=True,
    )
    font: str | None = option(
        None, help="Names of fonts that precede the system's fonts, separated by commas.", advanced=True
    )
    font_file: Path | None = option(
        None, help="A WOFF2 file of at most 500 KB, whose font precedes all others.", advanced=True
    )
    links: tuple[FooterLink, ...] = option(
        (),
        help="Links at the bottom of pages: tables [[pages.links]] with url, label and labels.",
        advanced=True,
    )
    icp: str | None = option(
        None,
        help="The ICP filing number, at the bottom of pages with a link to beian.miit.gov.cn.",
        advanced=True,
    )
    public_security: str | None = option(
        None, help="The public-security filing number, with a link to beian.mps.gov.cn.", advanced=True
    )
    terms_url: str | None = option(
        None,
        help="The terms of service: an https: URL. The registration page has a box to accept them; "
        "`users.require_terms` refuses all other registrations without consent, too.",
    )
    privacy_url: str | None = option(
        None, help="The privacy policy: an https: URL, accepted together with the terms."
    )
    terms_version: str = option(
        "1",
        help="The version of both, stored with each consent; change it with the texts.",
    )
    support_url: str | None = option(
        None,
        help="Where users find help: an https: or mailto: URL, at the end of pages and mails.",
    )
    css_file: Path | None = option(
        None,
        help="A style sheet that follows the design's style sheets, at most 500 KB. It can load files "
        "of this server only.",
    )
    templates: Path | None = option(
        None,
        help="A folder of templates that replace the templates of pages and mails, such as "
        "strongroom/page.html; `strongroom pages copy` creates them. Absent: none.",
        advanced=True,
    )

    def __post_init__(self) -> None:
        _require(self, _CHECKS)
        if len(self.links) > _MAX_LINKS:
            raise ValueError(f"links: must be at most {_MAX_LINKS}")

    def name_in(self, language: str) -> str:
        """Return the name of the product in a language."""
        return self.names.get(language, self.name)

    @property
    def primary_color(self) -> Color:
        """The colour of :attr:`primary`."""
        return parse_color(self.primary)

    @property
    def public_security_number(self) -> str | None:
        """The digits of :attr:`public_security`, which the site of the police takes."""
        match = _POLICE_FILING.fullmatch(self.public_security or "")
        return match[1] if match else None
