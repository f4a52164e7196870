"""The start page: for people and for programs."""

import re
from pathlib import Path

import pytest
from tests.support.api import PASSWORD, Answer, Api

from strongroom.extensions.first_start.first_administrator import Setup
from strongroom.extensions.first_start.setup_command import setup_command
from strongroom.foundation.caller import Origin
from strongroom.identity.accounts.registration import Registration, RegistrationService
from strongroom.identity.users.models import UserType
from strongroom.version import __version__

EMAIL = "root@example.com"
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
ROOT = "https://files.example.com"


def open_page(api: Api, path: str = "/", language: str = "en") -> Answer:
    return api.get(path, headers={"Accept": BROWSER, "Accept-Language": language})


def links(answer: Answer) -> list[str]:
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/html")
    main = answer.text.partition("<main>")[2].partition("</main>")[0]
    return re.findall(r'<a[^>]* href="([^"]+)"', main)


def test_programs_get_the_name_the_version_and_links(api: Api) -> None:
    for headers in ({}, {"Accept": "application/json"}, {"Accept": "*/*"}):
        answer = api.get("/", headers=headers)
        assert answer.json == {
            "name": "Strongroom",
            "version": __version__,
            "links": {
                "openapi": f"{ROOT}/openapi.json",
                "documentation": f"{ROOT}/docs",
                "setup": f"{ROOT}/setup",
            },
        }
        assert answer.headers["Vary"] == "Accept, Accept-Language"
    api.person(admin=True)
    assert "setup" not in api.get("/").json["links"]


def test_people_get_a_page_whose_links_lead_to_pages(api: Api) -> None:
    found = links(open_page(api))
    assert found == ["/docs", "/openapi.json"]
    assert [open_page(api, path).status_code for path in found] == [200, 200]
    api.person(admin=True)
    assert links(open_page(api)) == ["/docs", "/openapi.json"]


@pytest.mark.config({"plugins": {"enabled": ["storage_local", "login_pages", "console"]}})
def test_before_the_setup_the_page_says_one_thing_and_has_no_buttons(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("STRONGROOM_CONFIG", raising=False)
    monkeypatch.setattr("sys.argv", [".venv/bin/strongroom", "serve", "--config", "my files/a.toml"])
    page = open_page(api)
    assert "<h1>Become the administrator</h1>" in page.text
    command = ".venv/bin/strongroom --config &#39;my files/a.toml&#39; users invite-admin"
    # The button copies the whole command, which the page folds away.
    assert f'data-text="{command}">strongroom users invite-admin<' in page.text
    assert f"<code>{command}<" in page.text.partition("<details")[2]
    assert page.text.index("<details") < page.text.index('href="/docs"')
    assert links(page) == ["/docs", "/openapi.json"]
    assert 'class="links"' not in page.text


@pytest.mark.parametrize(
    ("argv", "shown"),
    [
        (["{bin}/strongroom", "serve"], "strongroom users invite-admin"),
        (["/elsewhere/strongroom", "serve"], "/elsewhere/strongroom users invite-admin"),
        (["/usr/bin/gunicorn"], "strongroom users invite-admin"),
    ],
)
def test_the_command_is_written_with_its_path_unless_the_shell_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argv: list[str], shown: str
) -> None:
    program = tmp_path / "strongroom"
    program.touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("STRONGROOM_CONFIG", raising=False)
    monkeypatch.setattr("sys.argv", [word.format(bin=tmp_path) for word in argv])
    assert setup_command(is_production=False) == shown
    assert setup_command(is_production=True) == "strongroom users invite-admin"


def test_the_page_speaks_the_language_of_the_browser(api: Api) -> None:
    page = open_page(api, language="zh-CN,zh;q=0.9")
    assert page.headers["Content-Language"] == "zh"
    assert "成为管理员" in page.text


def test_the_icon_that_browsers_request_is_no_error(api: Api) -> None:
    icon = api.get("/favicon.ico")
    assert icon.status_code in (200, 204)
    assert "max-age" in icon.headers["Cache-Control"]


def test_without_a_login_page_the_setup_leads_to_the_start_page(api: Api) -> None:
    api.container.get(Setup).issue(Origin())
    assert set(links(open_page(api, "/setup"))) == {"/"}


def test_only_an_open_setup_link_shows_a_form(api: Api) -> None:
    assert "<form" not in open_page(api, "/setup").text
    api.container.get(Setup).issue(Origin())
    assert "<form" in open_page(api, "/setup").text
    assert 'data-strength="/password-strength"' in open_page(api, "/setup").text
    api.person(admin=True)
    assert "<form" not in open_page(api, "/setup").text


@pytest.mark.config(
    {"plugins": {"enabled": ["storage_local", "login_pages"]}, "server": {"base_path": "/vault"}}
)
class TestLoginPages:
    """With a plugin that has pages for people."""

    def test_the_login_is_linked_below_the_base_path(self, api: Api) -> None:
        registration = Registration(name="Root", password=PASSWORD, email=EMAIL, kind=UserType.ADMIN)
        api.container.get(RegistrationService).create(registration, Origin())
        assert links(open_page(api, "/vault/"))[0] == "/vault/account/"
        assert "登录" in open_page(api, "/vault/", "zh").text

    def test_the_setup_ends_with_a_link_to_the_account(self, api: Api) -> None:
        api.container.get(Setup).issue(Origin())
        assert links(open_page(api, "/vault/setup")) == ["/vault/account/"]


@pytest.mark.config({"plugins": {"enabled": ["storage_local", "login_pages", "console"]}})
class TestHomePage:
    """With a plugin that has the home page."""

    def test_the_setup_ends_at_the_home_page(self, api: Api) -> None:
        api.container.get(Setup).issue(Origin())
        assert links(open_page(api, "/setup")) == ["/console/"]
