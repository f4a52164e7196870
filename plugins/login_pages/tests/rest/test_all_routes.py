"""Every route of the pages: frames, redirects to other sites, and hostile names.

The routes are those of the running application, so a new one is tested without a row here.
"""

import re
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any, Final
from urllib.parse import quote, urlencode, urljoin, urlsplit

import pyotp
import pytest
from tests.support.api import PASSWORD, Api, Person
from tests.support.campaign import campaign_size
from tests.support.config import FIXED_CAPTCHA, SMS_LOGIN, Table, lifted, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import ROOT, PageBrowser

from strongroom_login_pages.front_ends.models import metadata

ORIGIN: Final = "https://files.example.com"
FRONT_END: Final = "https://app.example.com/callback"
HOSTILE_NAME: Final = '"><svg onload=alert(1)>{{7*7}}\u202e'
REFUSED: Final = "This form is no longer valid. Open the page again."
PRIVATE: Final = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}
WRITES: Final = ("INSERT", "UPDATE", "DELETE")
CONFIG: Table = merged(
    SMS_LOGIN,
    FIXED_CAPTCHA,
    lifted(),
    {
        "plugins": {
            "enabled": ["storage_local", "login_sms", "login_email", "factor_totp", "login_pages"],
            "login_pages": {"return_urls": [FRONT_END]},
        },
        "login": {"methods": ["password", "sms", "email_code"]},
    },
)
OTHER_ORIGINS: Final = [
    "https://evil.example",
    "http://evil.example/",
    "//evil.example",
    "///evil.example",
    "////evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "\\/evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "/\r\nLocation: https://evil.example",
    "\t//evil.example",
    " //evil.example",
    "/%0d%0aLocation:%20https://evil.example",
    "https:evil.example",
    "https:/evil.example",
    "https:\\\\evil.example",
    "HtTpS://evil.example",
    "javascript:alert(1)",
    "JavaScript:alert(1)//",
    "data:text/html,<script>alert(1)</script>",
    "/account/@evil.example\u0000",
    "https://files.example.com@evil.example/",
    "https://files.example.com.evil.example/",
    "@evil.example",
    ".evil.example",
    "/\u3002evil.example",
    "\uff0f\uff0fevil.example",
    "/account/..//evil.example",
    "//[::1]/",
    "//evil.example\\@files.example.com",
    f"{FRONT_END}.evil.example",
]
ORIGINS_A_ROUTE: Final = 5

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@dataclass(frozen=True)
class Route:
    """A route, whose parameters have the values that a path can contain."""

    method: str
    path: str


def routes(api: Api, **values: str) -> list[Route]:
    """Return the routes of the running application.

    Args:
        values: parameters of paths by name.
    """
    rules = list(pages_of(api).pages.url_map.iter_rules())
    listed = [
        Route(method, ROOT + path_of(rule.rule, values))
        for rule in rules
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
    ]
    # The logout is last, because the other forms need the login.
    return sorted(listed, key=lambda route: route.path == f"{ROOT}/logout")


def pages_of(api: Api) -> Any:
    return api.container.hosts.offered_login_pages


def path_of(rule: str, values: dict[str, str]) -> str:
    rule = re.sub(r"<any\((\w+)[^)]*\):\w+>", r"\1", rule)
    return re.sub(r"<(\w+)>", lambda match: quote(values.get(match[1], "x" * 32), safe=""), rule)


@pytest.fixture(autouse=True)
def tables(api: Api) -> None:
    with api.container.database.write() as connection:
        metadata.create_all(connection)


@pytest.fixture
def person(api: Api) -> Person:
    return api.person(name=HOSTILE_NAME, mobile="13800138000")


@pytest.fixture
def ids(api: Api, person: Person) -> dict[str, str]:
    """The ids of what the person has, by the parameter of a path."""
    totp = api.post("/users/me/factors", {"kind": "totp", "name": "Phone"}, by=person).json
    code = pyotp.TOTP(totp["shown"]["secret"]).generate_otp(api.clock.now() // 30_000)
    api.post(f"/users/me/factors/{totp['id']}/confirmation", {"answer": code}, by=person)
    key = {"name": HOSTILE_NAME, "scopes": ["files:read"]}
    key_id = api.post("/users/me/access-keys", key, by=person).json["id"]
    owner = api.person(name=HOSTILE_NAME)
    tenant = api.tenant(owner, HOSTILE_NAME)
    invitation = api.post(f"{tenant}/invitations", {"email": person.email}, by=owner).json["id"]
    login_id = api.get("/users/me/authorizations", by=person).json["data"][0]["id"]
    return {
        "factor_id": totp["id"],
        "kind": "totp",
        "key_id": key_id,
        "invitation_id": invitation,
        "login_id": login_id,
    }


@pytest.fixture
def browser(api: Api, person: Person) -> PageBrowser:
    """A browser whose user is logged in."""
    browser = PageBrowser(api)
    browser.log_in(person.email)
    assert browser.path == f"{ROOT}/"
    return browser


@pytest.fixture
def visitor(api: Api) -> PageBrowser:
    """A browser whose user isn't logged in."""
    browser = PageBrowser(api)
    browser.open(f"{ROOT}/login")
    return browser


def secret_of(browser: PageBrowser) -> str:
    """Return the secret of the forms that a browser sends now."""
    browser.open(f"{ROOT}/login")
    return browser.forms[f"{ROOT}/login"]["csrf"]


def test_the_same_forms_with_the_secret_are_accepted(
    api: Api, browser: PageBrowser, ids: dict[str, str]
) -> None:
    for route in routes(api, **ids):
        if route.method == "POST":
            # The answers to factors are there, because a form without them is refused, too.
            answers = {"passkey": "{}", "totp": "000000", "recovery-code": ""}
            page = browser.request(route.path, {"csrf": secret_of(browser), **answers})
            assert page.status_code < 500
            assert REFUSED not in page.text, route


def test_no_response_may_be_framed_stored_or_sniffed(
    api: Api, browser: PageBrowser, visitor: PageBrowser, ids: dict[str, str]
) -> None:
    for route in routes(api, **ids):
        form = {"csrf": "x"} if route.method == "POST" else None
        for sender in (browser, visitor):
            page = sender.request(route.path, form)
            assert page.status_code < 500, route
            headers = page.headers
            assert "frame-ancestors 'none'" in headers["Content-Security-Policy"], route
            assert {name: headers.get(name) for name in PRIVATE} == PRIVATE, route
            if "Location" not in headers:
                assert headers["Referrer-Policy"] == "no-referrer", route


def test_hostile_names_and_ids_are_text_on_each_page(
    api: Api, browser: PageBrowser, ids: dict[str, str]
) -> None:
    shown = 0
    for values in (ids, dict.fromkeys([*ids, "token", "link"], HOSTILE_NAME)):
        for route in routes(api, **values):
            if route.method == "GET":
                text = browser.open(route.path).text
                assert "<svg on" not in text, route
                assert "49\u202e" not in text, route
                shown += "&lt;svg onload" in text
    assert shown > 10


def test_no_parameter_leads_to_another_origin(
    api: Api, browser: PageBrowser, visitor: PageBrowser, ids: dict[str, str]
) -> None:
    values = cycle(OTHER_ORIGINS)
    for route in routes(api, **ids):
        for value in islice(values, campaign_size("ORIGINS_A_ROUTE", ORIGINS_A_ROUTE)):
            fields = dict.fromkeys(("resume", "returnUrl", "lang", "next", "state"), value)
            form = {"csrf": "x", **fields} if route.method == "POST" else None
            for sender in (browser, visitor):
                page = sender.request(f"{route.path}?{urlencode(fields)}", form)
                assert is_own(page.headers.get("Location", "")), (route, value)


@pytest.mark.parametrize("name", ["resume", "returnUrl", "lang"])
def test_no_login_leads_to_another_origin(api: Api, person: Person, name: str) -> None:
    for value in OTHER_ORIGINS:
        browser = PageBrowser(api)
        browser.open(f"{ROOT}/login?{urlencode({name: value, 'codeChallenge': 'x' * 43})}")
        browser.open(f"{ROOT}/login")
        path = f"{ROOT}/login?{urlencode({name: value})}"
        form = {"csrf": secret_of(browser), "username": person.email, "password": PASSWORD, name: value}
        page = browser.request(path, form)
        assert page.status_code == 303, value
        assert is_own(page.headers["Location"]), value
        assert browser.is_logged_in


def is_own(location: str) -> bool:
    """Return whether a browser that is redirected stays: it reads a backslash as a slash."""
    read = re.sub(r"[\t\r\n]", "", location.strip()).replace("\\", "/")
    parts = urlsplit(urljoin(ORIGIN, read))
    return f"{parts.scheme}://{parts.netloc}" == ORIGIN


def test_a_login_for_a_front_end_leads_to_no_other_one(api: Api, person: Person) -> None:
    browser = PageBrowser(api)
    query = {"returnUrl": FRONT_END, "codeChallenge": "x" * 43}
    browser.open(f"{ROOT}/login?{urlencode(query)}")
    form = {"csrf": secret_of(browser), "username": person.email, "password": PASSWORD}
    location = browser.request(f"{ROOT}/login", form).headers["Location"]
    assert location.startswith(f"{FRONT_END}?code=")
    assert not is_own(location)
