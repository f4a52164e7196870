"""Pages about failures look alike, whichever part of the server answers."""

import re

import pytest
from tests.support.api import Api
from tests.support.config import Table, lifted, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

CONFIG: Table = merged(lifted(), {"plugins": {"enabled": ["storage_local", "login_pages"]}})

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("/account/nowhere", "Page not found"),
        ("/account/invitations/unknown", "This invitation is not valid"),
        ("/account/restore/unknown", "This link no longer works"),
        ("/account/login?returnUrl=https://elsewhere.example", "Unknown application"),
    ],
)
def test_the_title_says_what_has_happened(api: Api, path: str, title: str) -> None:
    browser = PageBrowser(api)
    browser.open(path)
    text = browser.page.text
    assert f"<h1>{title}</h1>" in text
    assert 'role="alert"' not in text
    card = text.partition("<h1>")[2].partition("</main>")[0]
    assert len(re.findall('class="button"', card)) == 1
    assert browser.page.headers["X-Request-Id"] in card.partition("<details")[2]
