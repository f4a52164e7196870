"""The pages of single sign-on of a space."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.api import PASSWORD
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from ..company import CLIENT
from .spaces import Space, Spaces, running_spaces

pytestmark = on_sqlite


@pytest.fixture
def spaces(tmp_path: Path, database_url: str) -> Iterator[Spaces]:
    plugins = ("login_pages", "console")
    with running_spaces(tmp_path, database_url, plugins=plugins) as spaces:
        yield spaces


@pytest.fixture
def browser(spaces: Spaces, space: Space) -> PageBrowser:
    """The browser of the administrator of the space, with a fresh login."""
    return log_in(spaces, space)


def log_in(spaces: Spaces, space: Space) -> PageBrowser:
    browser = PageBrowser(spaces.api)
    browser.open("/account/login")
    # The address leads to the provider, too, which is not required.
    browser.send("login", username=space.admin.email, way="name")
    browser.send("login", username=space.admin.email, password=PASSWORD, way="password")
    assert space.app is not None
    browser.send("challenge", totp=space.app.next_code())
    assert browser.is_logged_in, browser.page.text
    return browser


def root(space: Space) -> str:
    return f"/single-sign-on/{space.id}/"


def test_the_page_has_the_domains_and_the_providers(space: Space, browser: PageBrowser) -> None:
    page = browser.open(root(space)).text
    assert space.domain in page
    assert space.company.url in page
    assert "Proven" in page
    assert 'aria-current="page"' in page
    assert f'href="/console/tenants/{space.id}/members/"' in page


def test_a_domain_is_added_proven_and_removed(
    spaces: Spaces, space: Space, browser: PageBrowser
) -> None:
    browser.open(root(space))
    page = browser.submit(f"{root(space)}domains", domain="other.example").text
    assert "_strongroom.other.example" in page
    domains = spaces.api.get(f"{space.path}/domains", by=space.admin).json["data"]
    domain = next(item for item in domains if item["domain"] == "other.example")
    assert domain["recordValue"] in page
    check = f"{root(space)}domains/{domain['id']}/verification"
    assert f"Must have the text {domain['recordValue']}." in browser.submit(check).text
    spaces.dns.texts[f"{domain['recordName']}."] = [domain["recordValue"]]
    assert "The domain is proven." in browser.submit(check).text
    question = browser.open(f"{root(space)}domains/{domain['id']}/removal").text
    assert "Remove other.example?" in question
    page = browser.submit(f"{root(space)}domains/{domain['id']}/removal").text
    assert "The domain is removed." in page
    assert "other.example" not in page


def test_a_refused_domain_has_its_reason(space: Space, browser: PageBrowser) -> None:
    browser.open(root(space))
    page = browser.submit(f"{root(space)}domains", domain="gmail.com").text
    assert "own domain, such as acme.example." in page


def test_a_provider_is_added_with_its_redirect_uri(space: Space, browser: PageBrowser) -> None:
    browser.open(f"{root(space)}providers/new")
    page = browser.submit(
        f"{root(space)}providers/new", label="Second", issuer=space.company.url, **CLIENT
    ).text
    assert "The provider is added." in page
    assert re.search("https?://[^<]+/api/v1/sso-authorizations/callback/[0-9a-f-]+", page)
    assert CLIENT["clientSecret"] not in page


def test_a_wrong_issuer_is_shown_at_its_field(space: Space, browser: PageBrowser) -> None:
    browser.open(f"{root(space)}providers/new")
    page = browser.submit(
        f"{root(space)}providers/new", label="Second", issuer="ftp://acme.example", **CLIENT
    )
    assert page.status_code == 400
    assert 'value="ftp://acme.example"' in page.text
    assert CLIENT["clientSecret"] not in page.text


def provider_page(space: Space) -> str:
    return f"{root(space)}providers/{space.provider['id']}/"


def test_a_provider_is_changed_and_checked(spaces: Spaces, space: Space, browser: PageBrowser) -> None:
    here = provider_page(space)
    browser.open(here)
    assert "The provider answers" in browser.submit(f"{here}check").text
    space.company.issuer = "https://elsewhere.example"
    assert "cannot be used" in browser.submit(f"{here}check").text
    changes = {"label": "Renamed", "clientId": "other", "defaultRole": "records"}
    assert "Renamed" in browser.submit(here, **changes).text
    stored = spaces.api.get(space.provider_path, by=space.admin).json
    # The switches that the form does not send are off.
    assert stored == {**stored, **changes, "joins": False, "addressesVerified": False}


@pytest.mark.parametrize("revision", ["9" * 5000, "9" * 19, "\u0663", "-1", "x"])
def test_a_revision_that_is_none_is_no_error_of_the_server(
    space: Space, browser: PageBrowser, revision: str
) -> None:
    here = provider_page(space)
    browser.open(here)
    fields = {"label": "Renamed", "clientId": "other", "defaultRole": "member"}
    assert browser.submit(here, **fields, revision=revision).status_code == 200


def test_directions_of_a_label_are_shown(spaces: Spaces, space: Space, browser: PageBrowser) -> None:
    """Otherwise a label could write the rest of its line backwards, also on the login page."""
    assert space.change(label="\u202eemcA<b>").status_code == 200
    outside = PageBrowser(spaces.api)
    outside.open("/account/login")
    outside.send("login", username=f"ann@{space.domain}", way="name")
    here = provider_page(space)
    pages = [browser.open(path) for path in (root(space), f"{here}removal")]
    for page in (*pages, outside.page):
        assert "\u27e8U+202E\u27e9emcA&lt;b&gt;" in page.text
        assert "\u202e" not in page.text
    # The field has the label as it is.
    assert browser.open(here).text.count("\u202e") == 1


def test_rules_are_added_and_removed(spaces: Spaces, space: Space, browser: PageBrowser) -> None:
    here = provider_page(space)
    group = spaces.api.post(f"{space.path}/groups", {"name": "Engineers"}, by=space.admin).json["id"]
    browser.open(here)
    page = browser.submit(f"{here}rules", claim="groups", value="eng", group=group, role="").text
    assert "Engineers" in page
    rules = spaces.api.get(space.provider_path, by=space.admin).json["rules"]
    assert rules == [{"claim": "groups", "value": "eng", "group": group, "role": None}]
    assert "No rule yet." in browser.submit(f"{here}rules/removal").text


def test_enforcement_names_what_is_missing(spaces: Spaces, space: Space, browser: PageBrowser) -> None:
    here = provider_page(space)
    browser.open(here)
    page = browser.submit(f"{here}enforcement", enforced="on", breakGlassIds=space.admin.id).text
    assert "First log in by this provider" in page
    tried = spaces.finish(space, space.log_in(space.admin.email))
    assert tried.status_code == 200
    browser.open(here)
    page = browser.submit(f"{here}enforcement", enforced="on", breakGlassIds=space.admin.id).text
    assert "Required" in page
    assert spaces.api.get(space.provider_path, by=space.admin).json["enforced"] is True


def test_others_do_not_see_the_pages(spaces: Spaces, space: Space) -> None:
    other = spaces.create(number=1)
    browser = log_in(spaces, other)
    for page in (root(space), provider_page(space), f"{root(space)}providers/new"):
        assert browser.open(page).status_code == 404, page
        answer = browser.open(page, {"csrf": browser.cookie("csrf") or "x"})
        assert answer.status_code in (400, 403, 404, 405), page


def test_the_login_page_leads_to_a_required_provider(spaces: Spaces, space: Space) -> None:
    assert space.enforce().status_code == 200
    browser = PageBrowser(spaces.api)
    browser.open("/account/login")
    form = {**browser.forms["/account/login"], "username": f"ann@{space.domain}", "way": "name"}
    answer = browser.request("/account/login", form)
    assert answer.status_code == 303
    assert space.provider["id"] in answer.headers["Location"]
