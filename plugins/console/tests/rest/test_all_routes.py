"""Every route of the console: pages that change nothing, and redirects to other sites.

The routes are those of the application, so a new one is tested without a row here.
"""

import re
from collections.abc import Callable, Mapping
from itertools import cycle, islice
from typing import Final
from urllib.parse import urlencode, urljoin, urlsplit

import pytest
from tests.support.api import Answer, Api, Person
from tests.support.campaign import campaign_size
from tests.support.console_town import CONFIG, CONSOLE, ConsoleTown, routes
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.statements import statements

LogIn = Callable[[Person], PageBrowser]

SESSION: Final = "__Host-strongroom-session"
ORIGIN: Final = "https://files.example.com"
END_OF_IMPERSONATION: Final = f"{CONSOLE}/impersonation/end"
SAFE: Final = {"GET", "HEAD", "OPTIONS"}
WRITES: Final = ("INSERT", "UPDATE", "DELETE")
PRIVATE: Final = {"X-Content-Type-Options": "nosniff"}
OTHER_ORIGINS: Final = [
    "https://evil.example",
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\r\nLocation: https://evil.example",
    "/%0d%0aLocation:%20https://evil.example",
    "https:evil.example",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "https://files.example.com@evil.example/",
    "@evil.example",
    ".evil.example",
    "\uff0f\uff0fevil.example",
    "/console/..//evil.example",
]
FIELDS: Final = ("next", "back", "path", "here", "returnUrl", "folder", "target", "parent", "q", "sort")
ORIGINS_A_ROUTE: Final = 2

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture
def town(api: Api) -> ConsoleTown:
    return ConsoleTown.built(api, str)


def pages(town: ConsoleTown) -> list[str]:
    """Return the paths of all routes that are read."""
    return [town.path(rule.rule) for rule in routes(town.api) if "GET" in (rule.methods or ())]


def changes(town: ConsoleTown) -> list[tuple[str, str]]:
    """Return the methods and the paths of all changes."""
    return [
        (method, town.path(rule.rule))
        for rule in routes(town.api)
        for method in sorted((rule.methods or set()) - SAFE)
    ]


def secret_of(browser: PageBrowser) -> str:
    """Return the secret of the forms of a session."""
    browser.open(f"{CONSOLE}/")
    return next(form["csrf"] for form in browser.forms.values() if "csrf" in form)


def send(
    browser: PageBrowser, method: str, path: str, form: Mapping[str, str], **headers: str
) -> Answer:
    if method == "POST":
        return browser.request(path, form, **headers)
    return browser.send_bytes(method, path, b"", **headers, **({"X-CSRF": form["csrf"]} if form else {}))


def test_the_town_has_a_value_for_each_parameter(town: ConsoleTown) -> None:
    assert {*town.unknown_parameters()} == set()


def test_without_a_session_each_route_leads_to_the_login(town: ConsoleTown) -> None:
    browser = PageBrowser(town.api)
    bearer = {"Authorization": f"Bearer {town.owner.token}"}
    for headers in ({}, bearer):
        for method, path in [*(("GET", path) for path in pages(town)), *changes(town)]:
            with statements() as seen:
                if method == "GET":
                    page = browser.request(path, None, **headers)
                else:
                    page = send(browser, method, path, {"csrf": "x"}, **headers)
            assert seen == [], path
            if path == END_OF_IMPERSONATION:
                assert page.status_code == 400
                continue
            assert page.status_code in (302, 303), (method, path)
            assert urlsplit(page.headers["Location"]).path == "/account/login"


def test_an_impersonation_changes_nothing(town: ConsoleTown, log_in: LogIn) -> None:
    browser = log_in(town.root)
    form = {"csrf": secret_of(browser), "reason": "Ticket 7", "minutes": "5"}
    page = browser.open(f"{CONSOLE}/server/users/{town.owner.id}/impersonation", form)
    assert page.status_code == 200
    secret = secret_of(browser)
    for method, path in changes(town):
        if path not in (END_OF_IMPERSONATION, f"{CONSOLE}/logout"):
            with statements() as seen:
                page = send(browser, method, path, {"csrf": secret, "name": "New", "node": "x"})
            assert page.status_code < 500, path
            assert not [statement for statement in seen if statement.startswith(WRITES)], path


def test_a_page_changes_nothing(town: ConsoleTown, log_in: LogIn) -> None:
    for person in (town.owner, town.root, town.reader):
        browser = log_in(person)
        # The first request of a session may note its use.
        browser.open(f"{CONSOLE}/")
        for path in pages(town):
            with statements() as seen:
                page = browser.request(path)
            assert page.status_code < 500, path
            assert not [statement for statement in seen if statement.startswith(WRITES)], path


def test_no_page_may_be_framed_stored_or_sniffed(town: ConsoleTown, log_in: LogIn) -> None:
    browser = log_in(town.owner)
    for path in pages(town):
        page = browser.request(path)
        assert page.headers["X-Content-Type-Options"] == "nosniff", path
        if page.headers.get("Content-Type", "").startswith("text/html"):
            policy = page.headers["Content-Security-Policy"]
            assert "frame-ancestors 'none'" in policy, path
            assert "require-trusted-types-for 'script'" in policy or page.status_code in (302, 303), path
            assert page.headers["Cache-Control"] == "no-store", path
            assert "unsafe" not in policy, path


def test_no_parameter_leads_to_another_origin(town: ConsoleTown, log_in: LogIn) -> None:
    browser, values = log_in(town.owner), cycle(OTHER_ORIGINS)
    for method, path in [*(("GET", path) for path in pages(town)), *changes(town)]:
        for value in islice(values, campaign_size("ORIGINS_A_ROUTE", ORIGINS_A_ROUTE)):
            fields = dict.fromkeys(FIELDS, value)
            if method == "GET":
                page = browser.request(f"{path}?{urlencode(fields)}")
            elif method == "POST" and not path.endswith("/logout"):
                form = {"csrf": secret_of(browser), **fields}
                page = browser.request(f"{path}?{urlencode(fields)}", form)
            assert page.status_code < 500, (method, path, value)
            assert is_own(page.headers.get("Location", "")), (path, value)


def test_no_host_of_a_request_is_redirected_to(town: ConsoleTown, log_in: LogIn) -> None:
    """Slashes are added and removed by Werkzeug, which builds URLs from the host."""
    browser = log_in(town.root)
    # A client of Werkzeug keeps cookies by host.
    session = f"{SESSION}={browser.cookie(SESSION)}"
    evil = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "Cookie": session}
    client = town.api.app.test_client(use_cookies=False)
    redirects = 0
    for path in [*pages(town), CONSOLE]:
        for spelling in (path, f"{path}/", path.rstrip("/")):
            page = client.get(spelling, headers=evil)
            location = page.headers.get("Location", "")
            assert is_own(location), (spelling, location)
            redirects += location.startswith(ORIGIN)
    assert redirects > 10


def is_own(location: str) -> bool:
    """Return whether a browser that is redirected stays: it reads a backslash as a slash."""
    read = re.sub(r"[\t\r\n]", "", location.strip()).replace("\\", "/")
    parts = urlsplit(urljoin(ORIGIN, read))
    return f"{parts.scheme}://{parts.netloc}" == ORIGIN
