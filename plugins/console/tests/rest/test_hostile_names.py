"""Names are inert on every page: a page with hostile names has the markup of one with plain names."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from html.parser import HTMLParser
from itertools import islice
from typing import Final

import pytest
from tests.rest.nasty_names import may_be_a_name, nasty_names
from tests.support.api import Api, Person
from tests.support.campaign import campaign_size
from tests.support.console_town import CONFIG, ConsoleTown, routes
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

LogIn = Callable[[Person], PageBrowser]

WORST: Final = [
    "\"'><svg onload=alert(1)>{{7*7}}</title></script><script>alert(1)<\\script>\u202e",
    "javascript:alert(1)//' onmouseover='alert(1)' x='",
    "<!--<img src=x onerror=alert(1)>--><style>*{x:y}<\\style>&lt;b&gt;%3Cscript%3E\u2066",
]
NAMES: Final = 1
"""How many of the other names are tried by default; there are 400."""

PAGING: Final = {("a", "rel"), ("a", "aria-label"), ("span", "aria-current")}
"""What a longer list has: each town adds records to the audit log."""

_FILES: Final = {"folder", "file", "private", "trashed", "upload"}
_URLS: Final = {"href", "src", "action", "formaction", "poster", "data", "srcset"}
_LOCAL: Final = re.compile(r"(/(?!/)|#|\?|$|https://files\.example\.com/)")

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


class Markup(HTMLParser):
    """The elements of a page with the names of their attributes, and its faults."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements = set[tuple[str, ...]]()
        self.faults: list[str] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements |= {(tag, name) for name, _ in attrs} | {(tag, "")}
        for name, value in attrs:
            is_picture = tag == "img" and (value or "").startswith("data:image/")
            leads_away = name in _URLS and not is_picture and _LOCAL.match(value or "") is None
            if name.startswith("on") or name == "style" or leads_away:
                self.faults.append(f"{tag} {name}={value!r}")

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        self.faults.append(f"a comment: {data!r}")


def pages(town: ConsoleTown, browsers: list[PageBrowser]) -> Iterator[tuple[str, str, str]]:
    """Yield the rule, the actor and the text of each page."""
    for rule in routes(town.api):
        if "GET" in (rule.methods or ()):
            for place, browser in enumerate(browsers):
                page = browser.request(town.path(rule.rule))
                assert page.status_code < 500, rule
                if page.headers.get("Content-Type", "").startswith("text/html"):
                    yield rule.rule, str(place), page.text


def read(town: ConsoleTown, log_in: LogIn) -> dict[tuple[str, str], Markup]:
    browsers = [log_in(town.owner), log_in(town.root)]
    return {(rule, actor): Markup(text) for rule, actor, text in pages(town, browsers)}


def hostile_names() -> Iterator[str]:
    yield from WORST
    allowed = (name for name in nasty_names() if may_be_a_name(name) and name.strip())
    yield from islice(allowed, campaign_size("CONSOLE_NAMES", NAMES))


def named(name: str, kind: str) -> str:
    """Return a name for a kind of thing; its start keeps the names of one folder apart."""
    text = f"{kind[:2]}{name}"[:255]
    return text.replace("/", "\\") if kind in _FILES else text


def test_hostile_names_are_text(api: Api, log_in: LogIn) -> None:
    plain = read(ConsoleTown.built(api, lambda kind: f"Plain {kind}"), log_in)
    for name in hostile_names():
        hostile = read(ConsoleTown.built(api, partial(named, name)), log_in)
        shown = 0
        for key, markup in hostile.items():
            assert markup.faults == [], (key, name)
            # The town may have more of a kind than the one before, but no page has other elements.
            assert markup.elements - plain[key].elements - PAGING == set(), (key, name)
            shown += any(name[:20] in text for text in markup.text)
        assert shown > 5, name
