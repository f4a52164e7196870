"""The browser of tests names the forms of a page that lacks the form of a test."""

from typing import Any, cast

import pytest

from strongroom.testing.browser import Browser
from strongroom.testing.server import Reply


@pytest.mark.parametrize(
    ("html", "forms"),
    [('<form action="/b"></form><form action="/a"></form>', "/a, /b"), ("<p>No form.</p>", "none")],
)
def test_a_missing_form_is_named_with_the_forms_of_the_page(html: str, forms: str) -> None:
    browser = Browser(cast("Any", None))
    browser.path, browser.page = "/drawer/", Reply(200, {}, html.encode())
    with pytest.raises(LookupError) as caught:
        browser.submit("/tenants/", name="Plans")
    assert str(caught.value) == (
        f"the page /drawer/ (200) has no form for /tenants/; its forms are sent to: {forms}"
    )
