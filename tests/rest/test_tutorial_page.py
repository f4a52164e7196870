"""The page of the tutorial, as a third party writes it: it is short, and no attack on it succeeds."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.support.api import Api, Person, error_code
from tests.support.config import FIXED_CAPTCHA, write_api_config
from tests.support.databases import on_sqlite
from tests.support.distributions import register
from tests.support.page_browser import PageBrowser

from strongroom.cli.plugins.new import write_plugin
from strongroom.foundation.database.upgrade import upgrade
from strongroom.foundation.plugins.kinds import KINDS
from strongroom_login_pages.plugin import register_tables

TUTORIAL: Final = Path(__file__).parents[2] / "docs" / "tutorials" / "pages.md"
BLOCK: Final = re.compile(
    r"<!-- kit: strongroom-pages-drawer/(src/\S+) -->\n```\S+\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
PACKAGE: Final = "strongroom_pages_drawer"
PAGE: Final = "/drawer/"
HOSTILE: Final = '"><script>alert(1)</script>'
LONG: Final = HOSTILE + "x" * 256

pytestmark = on_sqlite


@pytest.fixture
def code() -> dict[str, str]:
    """The files of the tutorial by their paths."""
    return dict(BLOCK.findall(TUTORIAL.read_text(encoding="utf-8")))


@pytest.fixture
def api(
    tmp_path: Path, database_url: str, code: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Api]:
    write_plugin(
        next(kind for kind in KINDS if kind.name == "pages"), "drawer", folder := tmp_path / "p"
    )
    for path, text in code.items():
        (folder / path).write_text(text, encoding="utf-8")
    register(folder / "src", "pages_drawer", f"{PACKAGE}.plugin")
    monkeypatch.syspath_prepend(folder / "src")
    enabled = {"plugins": {"enabled": ["storage_local", "login_pages", "pages_drawer"]}}
    with Api.running(write_api_config(tmp_path, database_url, FIXED_CAPTCHA, enabled)) as api:
        upgrade(api.container.database.engine, {"login_pages": register_tables()})
        yield api
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.fixture
def person(api: Api) -> Person:
    return api.person()


@pytest.fixture
def browser(api: Api, person: Person) -> PageBrowser:
    browser = PageBrowser(api)
    browser.log_in(person.email)
    browser.open(PAGE)
    return browser


def names(api: Api, person: Person) -> list[str]:
    return [tenant["name"] for tenant in api.get("/api/v1/tenants", by=person).json["data"]]


@pytest.mark.usefixtures("database_url")
def test_the_code_of_the_page_has_at_most_40_lines(code: dict[str, str]) -> None:
    lines = {Path(path).name: len(text.splitlines()) for path, text in code.items()}
    assert set(lines) == {"application.py", "plugin.py", "tenants.html"}
    assert max(lines.values()) <= 40, lines


def test_no_other_site_sends_the_form(api: Api, person: Person, browser: PageBrowser) -> None:
    secret = browser.forms[PAGE]["csrf"]
    other = PageBrowser(api)
    other.log_in(api.person().email)
    other.open(PAGE)
    for site, form in (
        ("same-origin", {"name": "Forged"}),
        ("same-origin", {"name": "Forged", "csrf": ""}),
        ("same-origin", {"name": "Forged", "csrf": other.forms[PAGE]["csrf"]}),
        ("cross-site", {"name": "Forged", "csrf": secret}),
        ("same-site", {"name": "Forged", "csrf": secret}),
    ):
        answer = browser.request(PAGE, form, **{"Sec-Fetch-Site": site})
        assert (answer.status_code, error_code(answer)) == (400, "error.form-refused"), (site, form)
    assert names(api, person) == []


def test_without_a_session_nothing_is_read_or_changed(api: Api) -> None:
    stranger = PageBrowser(api)
    assert stranger.request(PAGE).headers["Location"].startswith("/account/login")
    answer = stranger.request(PAGE, {"name": "Plans"}, **{"Sec-Fetch-Mode": "cors"})
    assert (answer.status_code, error_code(answer)) == (401, "error.token-required")


def test_a_large_body_is_refused(api: Api, person: Person, browser: PageBrowser) -> None:
    form = {"csrf": browser.forms[PAGE]["csrf"], "name": "x" * 64 * 1024}
    for path in (PAGE, f"{PAGE}?csrf={form['csrf']}"):
        assert error_code(browser.request(path, form)) == "error.payload-too-large"
    fields = "&".join(f"f{number}=" for number in range(10_000))
    sent = f"csrf={form['csrf']}&name=Plans&{fields}".encode()
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    assert browser.send_bytes("POST", PAGE, sent, **kind).status_code < 500
    assert "x" not in "".join(names(api, person))


def test_a_hostile_value_is_a_text(api: Api, person: Person, browser: PageBrowser) -> None:
    page = browser.submit(PAGE, name=HOSTILE)
    assert names(api, person) == [HOSTILE]
    # In the notice, in the list, and below as the text of the refused field.
    assert page.text.count("&lt;script&gt;alert(1)") == 2
    again = browser.submit(PAGE, name=LONG)
    assert "&lt;script&gt;alert(1)" in again.text.partition('id="name"')[2]
    for text in (page.text, again.text):
        assert "<script>alert" not in text
    policy = again.headers["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "no-store" in again.headers["Cache-Control"]


@pytest.mark.parametrize("name", ["", "  ", "x" * 256, LONG, "a\x07b"])
def test_a_fault_is_at_its_field(api: Api, person: Person, browser: PageBrowser, name: str) -> None:
    page = browser.submit(PAGE, name=name)
    assert (page.status_code, browser.message) == (400, "Check the marked fields.")
    assert page.text.count('class="fault" id="name-fault"') == 1
    assert 'aria-describedby="name-fault" aria-invalid="true" autofocus' in page.text
    assert names(api, person) == []
    assert browser.submit(PAGE, name="Plans").text.count('class="fault"') == 0
    assert names(api, person) == ["Plans"]


def test_the_menu_of_the_person_logs_out(api: Api, browser: PageBrowser) -> None:
    assert f"{PAGE}logout" in browser.forms
    browser.submit(f"{PAGE}logout")
    assert browser.path == "/account/login"
    assert browser.open(PAGE).status_code == 200
    assert browser.path == "/account/login"
