"""Bodies of requests: what is read of them before the session and the secret are known."""

import json
from collections.abc import Callable
from typing import Final

import pytest
from tests.support.api import Answer, Api, Person
from tests.support.console_town import CONFIG, CONSOLE, ConsoleTown, routes
from tests.support.counted_body import CountedBody
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom.plugin_api.web import BODY_BYTES

LogIn = Callable[[Person], PageBrowser]

LARGE: Final = 1024 * 1024
FORMS: Final = ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x")
PART: Final = b'--x\r\nContent-Disposition: form-data; name="a"%s\r\n\r\n'
FILE: Final = b'; filename="b"'

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture
def town(api: Api) -> ConsoleTown:
    return ConsoleTown.built(api, str)


def send(
    browser: PageBrowser, method: str, path: str, media_type: str, *, chunked: bool
) -> tuple[Answer, int]:
    """Send a megabyte, and return the response and how many bytes the server has read."""
    # Werkzeug leaves the file of a form that is cut off to the garbage collector, which warns.
    body = CountedBody(PART % (b"" if chunked else FILE) + b"a=1&" * (LARGE // 4))
    environ: dict[str, object] = {"wsgi.input": body, "CONTENT_TYPE": media_type}
    if chunked:
        environ["wsgi.input_terminated"] = True
    else:
        environ["CONTENT_LENGTH"] = str(len(body.getvalue()))
    return browser.send_environ(method, path, environ), body.received


@pytest.mark.parametrize("media_type", FORMS)
@pytest.mark.parametrize("chunked", [False, True])
def test_no_route_reads_a_large_form_before_its_secret(
    town: ConsoleTown, log_in: LogIn, media_type: str, chunked: bool
) -> None:
    stranger, browser = PageBrowser(town.api), log_in(town.root)
    paths = [town.path(rule.rule) for rule in routes(town.api) if "POST" in (rule.methods or ())]
    assert len(paths) > 80
    for path in paths:
        for sender in (stranger, browser):
            page, received = send(sender, "POST", path, media_type, chunked=chunked)
            assert page.status_code in (303, 400, 413), path
            assert received <= (BODY_BYTES + 1 if chunked else 0), path


def test_large_json_texts_are_saved_with_the_secret_in_the_query(
    town: ConsoleTown, log_in: LogIn
) -> None:
    browser = log_in(town.root)
    page = f"{CONSOLE}/server/users/{town.owner.id}/metadata"
    browser.open(page)
    action = browser.action(f"{page}/server-metadata")
    text = json.dumps({"a": "文" * 5_000}, ensure_ascii=False)
    browser.open(action, {**browser.forms[action], "text": text})
    assert browser.message == "The data was saved."
    browser.open(page)
    action = browser.action(f"{page}/server-metadata")
    form = browser.forms[action]
    browser.open(action, {**form, "text": text.replace("文", "字")})
    assert browser.message == "The data was saved."
    refused = browser.open(action.partition("?")[0], {**form, "csrf": "x", "text": text})
    assert refused.status_code == 413
