"""The walks through pages: they miss no page, and report each kind of fault."""

import re
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Final, TypeGuard

import pytest
from playwright.sync_api import Browser

from tests.e2e.pages.walks import PageWalks
from tests.support.browser_pages import LOCALES, Screen, Visitor, Walk
from tests.support.browsers import needs_chromium
from tests.support.page_templates import page_templates
from tests.support.screens import AREAS


def test_each_template_has_a_screen() -> None:
    shown = {screen.template for area in AREAS.values() for screen in area.screens}
    assert sorted(page_templates().keys() - shown) == []
    assert sorted(shown - page_templates().keys()) == []


def test_one_module_walks_through_each_area() -> None:
    names = [path.stem for path in Path(__file__).parent.glob("test_*.py")]
    modules = [import_module(f"{__package__}.{name}") for name in names]
    classes = {found for module in modules for found in vars(module).values() if _is_walk(found)}
    assert sorted(name for found in classes for name in found.areas) == sorted(AREAS)


def _is_walk(value: object) -> TypeGuard[type[PageWalks]]:
    return isinstance(value, type) and issubclass(value, PageWalks) and value is not PageWalks


FAULTY: Final = """<!doctype html><html lang="en"><title>Faulty</title><style>
    :focus { outline: none } #wide { width: 2000px } #spinning { animation: spin 5s infinite }
    @keyframes spin { to { rotate: 1turn } }
    #unseen { forced-color-adjust: none; color: #fff; background: #fff; border-color: #fff }
    a { color: #eee; background: #fff }
</style><body><main><h1>标题</h1><p id="wide">Wide</p><button style="height: 20px">Low</button>
<button id="unseen">Unseen</button> <b id="spinning">Spinning</b>
<a href="/b" tabindex="2">Second</a> <a href="/a" tabindex="1">First</a>
<img src="https://elsewhere.example/a.png" alt="">
<script>throw new Error("broken")</script></main></body></html>"""


@pytest.mark.parametrize(
    ("language", "fault"),
    [
        ("en", "scrolls sideways at 320"),
        ("en", "lower than 44 pixels: BUTTON Low"),
        ("en", "lower than 24 pixels: BUTTON Low"),
        ("en", "Chinese text: '标题'"),
        ("zh", "English text: 'Wide'"),
        ("zh", "the language is 'en'"),
        ("en", "color-contrast"),
        ("en", "moves in spite of reduced motion: spin"),
        ("en", "forced colours: not visible: BUTTON Unseen"),
        ("en", "no visible focus: BUTTON Low"),
        ("en", "Tab reaches"),
        ("en", "script: broken"),
        ("en", "request to another origin: https://elsewhere.example/a.png"),
        ("en", "Content Security Policy"),
        ("en", "has the template None in place of faulty"),
    ],
)
@pytest.mark.extended
@needs_chromium
def test_a_walk_reports_a_faulty_page(faults: Mapping[str, str], language: str, fault: str) -> None:
    assert fault in faults[language]


@pytest.fixture(scope="module")
def faults(browser: Browser) -> Mapping[str, str]:
    """The faults of a page with one of each kind, by language."""
    policy = {"Content-Security-Policy": "img-src 'self'", "Content-Type": "text/html; charset=utf-8"}

    def open_faulty(visitor: Visitor, headers: dict[str, str]) -> None:
        visitor.page.route("**/*", lambda route: route.fulfill(body=FAULTY, headers=headers))
        visitor.go("/")

    found = {}
    for language in LOCALES:
        walk = Walk(browser, "http://faulty.example", language, None, True, re.compile("(?!)"))
        for headers in ({"Content-Type": policy["Content-Type"]}, policy):
            walk.inspect(Screen("faulty", "faulty", partial(open_faulty, headers=headers)))
        found[language] = "\n".join(walk.faults)
    return found
