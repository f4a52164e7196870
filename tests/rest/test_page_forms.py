"""Every changing route of all mounted pages, and of pages among the routes of the server: forged forms.

The routes are those of the running applications, so a new one is tested without a row here.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, cast

import pytest
from tests.support.api import Answer, Api
from tests.support.console_town import CONFIG, CONSOLE, UNKNOWN, ConsoleTown
from tests.support.databases import on_sqlite
from tests.support.mounted_pages import pages_of
from tests.support.page_browser import PageBrowser
from tests.support.statements import statements

from strongroom.plugin_api.visits import PageApplication
from strongroom.web.http.dispatch.application import Application
from strongroom.web.http.mounts import Mount

SAFE: Final = {"GET", "HEAD", "OPTIONS"}
WRITES: Final = ("INSERT", "UPDATE", "DELETE")
LOGIN: Final = "/account/login"
"""Shows the login again to a browser that has lost its session."""

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture
def town(api: Api) -> ConsoleTown:
    return ConsoleTown.built(api, str)


def mounts_of(api: Api) -> list[Mount]:
    """Return the mounted applications."""
    return cast("Application", api.app).mounts


def applications(api: Api) -> dict[str, PageApplication]:
    """Return the applications of pages by their prefixes."""
    mounted = {mount.prefix: pages_of(mount.application) for mount in mounts_of(api)}
    return {prefix: pages for prefix, pages in mounted.items() if isinstance(pages, PageApplication)}


def changes(town: ConsoleTown) -> list[tuple[str, str]]:
    """Return the methods and the paths of all changes."""
    return [
        (method, town.path(rule.rule) if prefix == CONSOLE else prefix + path_of(rule.rule))
        for prefix, application in applications(town.api).items()
        for rule in application.url_map.iter_rules()
        for method in sorted((rule.methods or set()) - SAFE)
    ]


def path_of(rule: str) -> str:
    """Return the path of a route, whose parameters need no values because the form is refused."""
    return re.sub(r"<(?:any\(([\w-]+)[^>]*|\w+)>", lambda match: match[1] or UNKNOWN, rule)


def send(
    browser: PageBrowser, method: str, path: str, form: Mapping[str, str], **headers: str
) -> Answer:
    if method == "POST":
        return browser.request(path, form, **headers)
    return browser.send_bytes(method, path, b"", **headers, **({"X-CSRF": form["csrf"]} if form else {}))


def forgeries(own: str, other: str) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Yield forms of other sites with the headers of their requests."""
    for form in ({}, {"csrf": ""}, {"csrf": "\u00e4"}, {"csrf": other}, {"csrf": own[:-1]}):
        yield form, {}
    for site in ("cross-site", "same-site", "none"):
        yield {"csrf": own}, {"Sec-Fetch-Site": site}


def secret_of(browser: PageBrowser) -> str:
    """Return the secret of the forms that a browser sends now."""
    browser.open(LOGIN)
    return next(form["csrf"] for form in browser.forms.values() if "csrf" in form)


def test_a_forged_form_is_refused_and_changes_nothing(town: ConsoleTown) -> None:
    browser, visitor = PageBrowser(town.api), PageBrowser(town.api)
    browser.log_in(town.owner.email)
    others = [
        mount.prefix for mount in mounts_of(town.api) if mount.prefix not in applications(town.api)
    ]
    assert {"".join(prefix.split("/")[:2]) for prefix in others} <= {"static"}
    assert len(changes(town)) > 120
    own, foreign = secret_of(browser), secret_of(visitor)
    for method, path in changes(town):
        for form, headers in forgeries(own, foreign):
            with statements() as seen:
                page = send(browser, method, path, form, **headers)
            is_expired_login = path == LOGIN and not headers
            assert page.status_code == (303 if is_expired_login else 400), (method, path, form, headers)
            assert not [statement for statement in seen if statement.startswith(WRITES)], path
    assert browser.is_logged_in
