"""What plugins add to pages: static files, login links, menus, and the mistakes of their authors."""

import gzip
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.api import Api
from tests.support.config import Table, write_api_config
from tests.support.databases import on_sqlite
from tests.support.distributions import install
from tests.support.session_plugin import PLUGIN, install_desk
from werkzeug.test import TestResponse

from strongroom.assembly.app import create_app, get_container
from strongroom.foundation.config import ConfigurationError, load

CONFIG: Table = {
    "plugins": {"enabled": ["storage_local", "login_pages", "desk"]},
    "login": {"methods": ["password", "badge"]},
    "server": {"base_path": "/files", "public_url": "https://example.com"},
}

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose modules are forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("acme_")]:
        del sys.modules[name]


@pytest.fixture
def config(folder: Path, database_url: str, config_changes: Table) -> Path:
    install_desk(folder)
    return write_api_config(folder, database_url, config_changes)


def path_of(api: Api, name: str) -> str:
    return api.container.hosts.page_parts.static_path("desk", name)


class TestStaticFiles:
    def test_a_file_has_its_type_and_may_be_cached_for_ever(self, api: Api) -> None:
        path = path_of(api, "icons/badge.svg")
        assert path.startswith("/files/static/desk/")
        answer = api.app.test_client().get(path)
        assert (answer.status_code, answer.text) == (200, '<svg xmlns="http://www.w3.org/2000/svg"/>')
        assert answer.headers["Content-Type"] == "image/svg+xml"
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "sandbox" in answer.headers["Content-Security-Policy"]
        script = api.app.test_client().get(path_of(api, "desk.js"))
        assert script.headers["Content-Type"] == "text/javascript; charset=utf-8"
        assert "Set-Cookie" not in script.headers

    def test_a_cached_file_is_not_sent_again(self, api: Api) -> None:
        client, path = api.app.test_client(), path_of(api, "desk.js")
        tag = client.get(path).headers["ETag"]
        answer = client.get(path, headers={"If-None-Match": tag})
        assert (answer.status_code, answer.data) == (304, b"")
        other = client.get(path_of(api, "icons/badge.svg"), headers={"If-None-Match": tag})
        assert other.status_code == 200

    def test_a_text_is_compressed_for_clients_that_accept_it(self, folder: Path, api: Api) -> None:
        static = folder / "acme_desk" / "static"
        (static / "large.js").write_text("// A line.\n" * 500)
        (static / "large.png").write_bytes(bytes(5000))
        app = create_app(load(folder / "strongroom.toml", {}))
        client, desk = app.test_client(), get_container(app).hosts.page_parts
        path, accepted = desk.static_path("desk", "large.js"), {"Accept-Encoding": "br, gzip;q=0.8"}
        answer = client.get(path, headers=accepted)
        assert (answer.headers["Content-Encoding"], answer.headers["Vary"]) == (
            "gzip",
            "Accept-Encoding",
        )
        assert gzip.decompress(answer.data) == (static / "large.js").read_bytes()
        assert answer.headers["Content-Length"] == str(len(answer.data))
        tag = {"If-None-Match": answer.headers["ETag"]}
        assert client.get(path, headers={**accepted, **tag}).status_code == 304
        for refused in ({}, {"Accept-Encoding": "gzip;q=0, identity"}):
            plain = client.get(path, headers={**refused, **tag})
            assert (plain.status_code, plain.headers.get("Content-Encoding")) == (200, None)
            assert plain.headers["Vary"] == "Accept-Encoding"
        for name in ("large.png", "desk.js"):
            answer = client.get(desk.static_path("desk", name), headers=accepted)
            assert "Content-Encoding" not in answer.headers
        get_container(app).close()

    def test_a_path_of_another_version_is_sent_but_not_cached(self, api: Api) -> None:
        answer = api.app.test_client().get("/files/static/desk/0000000000000000/desk.js")
        assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-cache")

    def test_there_is_nothing_else(self, api: Api) -> None:
        client, path = api.app.test_client(), path_of(api, "desk.js")
        others = ["", "/", "/desk", "/desk/", "/other/0/desk.js", "/desk/0/../__init__.py"]
        folder = path.rpartition("/")[0]
        paths = [*(f"/files/static{other}" for other in others), folder, f"{folder}/", f"{folder}/icons"]
        assert [client.get(other).status_code for other in paths] == [404] * len(paths)
        for encoded in (
            "%2e%2e/__init__.py",
            "..%2f__init__.py",
            "icons/../desk.js",
            "%00",
            "/etc/passwd",
        ):
            assert client.get(f"{folder}/{encoded}").status_code == 404, encoded

    def test_no_method_changes_anything(self, api: Api) -> None:
        path = path_of(api, "desk.js")
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            assert api.app.test_client().open(path, method=method).status_code == 405
        head = api.app.test_client().head(path)
        assert (head.status_code, head.data, head.headers["Content-Length"]) == (200, b"", "10")

    def test_its_path_changes_with_any_file(self, folder: Path, api: Api) -> None:
        before = path_of(api, "desk.js")
        (folder / "acme_desk" / "static" / "icons" / "badge.svg").write_text("<svg/>")
        app = create_app(load(folder / "strongroom.toml", {}))
        assert get_container(app).hosts.page_parts.static_path("desk", "desk.js") != before
        get_container(app).close()

    def test_templates_name_it(self, api: Api) -> None:
        page = api.app.test_client().get("/files/desk/page").text
        assert f'<script src="{path_of(api, "desk.js")}">' in page

    def test_a_missing_file_is_an_error_of_the_plugin(self, api: Api) -> None:
        with pytest.raises(ValueError, match=r"desk. has no static file 'x\.js'"):
            path_of(api, "x.js")


class TestLinks:
    def test_they_are_in_the_language_of_the_page(self, api: Api) -> None:
        client = api.app.test_client()
        icon = path_of(api, "icons/badge.svg")
        for language, label, menu in (("en", "Badge", "Desk"), ("zh", "工牌", "工作台")):
            seen = client.get("/files/desk/links", headers={"Accept-Language": language}).get_json()
            assert seen["links"] == [["badge", label, "/files/api/v1/desk/begin", icon]]
            assert [menu, "/files/desk/"] in seen["menu"]

    def test_sections_of_the_console_have_the_heading_of_their_group(self, api: Api) -> None:
        client = api.app.test_client()
        for language, heading, label in (("en", "Security", "Desks"), ("zh", "安全", "全部工作台")):
            seen = client.get("/files/desk/links", headers={"Accept-Language": language}).get_json()
            assert seen["console"] == [[heading, [[label, "/files/desk/all"]]]]

    def test_the_login_page_shows_them(self, api: Api) -> None:
        page = api.app.test_client().get("/files/account/login")
        assert re.search(r'<a href="/files/api/v1/desk/begin"[^>]*><img src="/files/static/', page.text)
        assert "img-src 'self';" in page.headers["Content-Security-Policy"]

    @pytest.mark.config({**CONFIG, "plugins": {**CONFIG["plugins"], "login_pages": {"login_links": []}}})
    def test_the_configuration_may_leave_them_out(self, api: Api) -> None:
        assert "desk/begin" not in api.app.test_client().get("/files/account/login").text

    @pytest.mark.config(
        {**CONFIG, "plugins": {**CONFIG["plugins"], "login_pages": {"login_links": ["bagde"]}}}
    )
    def test_the_configuration_names_only_those_that_exist(self, api: Api) -> None:
        with pytest.raises(Exception, match=r'"login_pages" .*no plugin has the link "bagde"') as info:
            api.container.start()
        assert "there are: badge" in str(info.value)


class TestProviders:
    def test_clients_with_pages_of_their_own_learn_what_they_need(self, api: Api) -> None:
        (provider,) = providers(api, "zh-CN, en;q=0.5").get_json()["data"]
        assert provider == {
            "name": "badge",
            "kind": "badge",
            "displayName": "大门",
            "label": "工牌",
            "iconUrl": "https://example.com" + path_of(api, "icons/badge.svg"),
            "loginUrl": "https://example.com/files/api/v1/desk/begin",
            "showsQrCode": False,
            "worksIn": [],
            "failsIn": ["Bicycle"],
            "request": {"path": "/files/authorizations", "body": {"app": "front"}},
        }
        assert providers(api, "fr").get_json()["data"][0]["displayName"] == "The door"

    def test_caches_store_them_by_language(self, api: Api) -> None:
        english, chinese = (providers(api, language) for language in ("en", "zh"))
        assert english.headers["Cache-Control"] == "public, max-age=300"
        assert "Accept-Language" in english.headers["Vary"]
        tag = english.headers["ETag"]
        again = providers(api, "en", **{"If-None-Match": tag})
        assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", tag)
        assert chinese.headers["ETag"] != tag
        assert providers(api, "zh", **{"If-None-Match": tag}).status_code == 200


def providers(api: Api, language: str, **headers: str) -> TestResponse:
    path = "/files/api/v1/login-providers"
    return api.app.test_client().get(path, headers={"Accept-Language": language, **headers})


WRONG = {
    "link-kind": ("register_login_links", '["badge"]', "expected a LoginLink"),
    "menu-kind": ("register_menu_items", "[None]", "expected a MenuItem"),
    "files-kind": ("register_static_files", '["static"]', "expected a StaticFiles"),
    "no-list": ("register_login_links", 'LoginLink("a", {"en": "A"}, "/")', "return a list"),
    "nothing": ("register_menu_items", "None", "return what it registers, or []"),
    "name": (
        "register_login_links",
        '[LoginLink("My Link", {"en": "A"}, "/")]',
        "the name of a LoginLink must be at most 32 lowercase letters",
    ),
    "twice": (
        "register_login_links",
        '[LoginLink("a", {"en": "A"}, "/"), LoginLink("a", {"en": "B"}, "/")]',
        'there is another login link "a"; rename one',
    ),
    "english": (
        "register_login_links",
        '[LoginLink("a", {"zh": "A"}, "/")]',
        'the labels of a LoginLink must have the language "en"',
    ),
    "label-kind": ("register_menu_items", '[MenuItem("/", "A")]', "the labels of a MenuItem must have"),
    "elsewhere": (
        "register_menu_items",
        '[MenuItem("https://evil.example.com/", {"en": "A"})]',
        "the path of a MenuItem must be one of the server",
    ),
    "menu-icon": (
        "register_menu_items",
        '[MenuItem("/", {"en": "A"}, icon="unknown")]',
        "a MenuItem: the server has no icon 'unknown'",
    ),
    "menu-place": (
        "register_menu_items",
        '[MenuItem("/", {"en": "A"}, place="top")]',
        "the place of a MenuItem must be one of menu, area, person, account, not 'top'",
    ),
    "menu-choices": (
        "register_menu_items",
        '[MenuItem("/", {"en": "A"}, choices="https://evil.example.com/")]',
        "the path of a MenuItem must be one of the server",
    ),
    "section-kind": ("register_console_sections", "[None]", "expected a ConsoleSection"),
    "section-icon": (
        "register_console_sections",
        '[ConsoleSection("/", {"en": "A"}, icon="unknown")]',
        "a ConsoleSection: the server has no icon 'unknown'",
    ),
    "section-group": (
        "register_console_sections",
        '[ConsoleSection("/", {"en": "A"}, group="top")]',
        "the group of a ConsoleSection must be one of first, people, security, operation, not 'top'",
    ),
    "no-section": (
        "register_console_sections",
        '[ConsoleSection("/nowhere", {"en": "A"})]',
        "a ConsoleSection: '/nowhere' leads to no page of the server; add a route for it",
    ),
    "route-kind": ("register_login_routes", "[None]", "expected a function of a name"),
    "space-kind": ("register_space_sections", "[None]", "expected a SpaceSection"),
    "space-path": (
        "register_space_sections",
        '[SpaceSection("/", {"en": "A"})]',
        "the path of a SpaceSection must have {tenant} in place of the id of the tenant, not '/'",
    ),
    "space-icon": (
        "register_space_sections",
        '[SpaceSection("/{tenant}/", {"en": "A"}, icon="unknown")]',
        "a SpaceSection: the server has no icon 'unknown'",
    ),
    "space-group": (
        "register_space_sections",
        '[SpaceSection("/{tenant}/", {"en": "A"}, group="top")]',
        "the group of a SpaceSection must be one of first, space, rules, connections, not 'top'",
    ),
    "space-short": (
        "register_space_sections",
        '[SpaceSection("/{tenant}/", {"en": "A"}, short_labels={"zh": "A"})]',
        'the short_labels of a SpaceSection must have the language "en"',
    ),
    "no-space": (
        "register_space_sections",
        '[SpaceSection("/nowhere/{tenant}", {"en": "A"})]',
        "a SpaceSection: '/nowhere/{tenant}' leads to no page of the server; add a route for it",
    ),
    "no-page": (
        "register_menu_items",
        '[MenuItem("/nowhere", {"en": "A"})]',
        "a MenuItem: '/nowhere' leads to no page of the server; add a route for it",
    ),
    "no-icon": (
        "register_login_links",
        '[LoginLink("a", {"en": "A"}, "/", icon="a.svg")]',
        "the icon 'a.svg' of \"a\" must be a picture of register_static_files",
    ),
    "connection-name": (
        "register_login_links",
        '[LoginLink("a", {"en": "A"}, "/", connection=connection(name="A-1"))]',
        "the name of a Connection must be at most 32 lowercase letters",
    ),
    "connection-path": (
        "register_login_links",
        '[LoginLink("a", {"en": "A"}, "/", connection=connection(path="//example.org"))]',
        "the path of a Connection must be one of the server",
    ),
    "connection-labels": (
        "register_login_links",
        '[LoginLink("a", {"en": "A"}, "/", connection=connection(labels={"zh": "A"}))]',
        'the labels of a Connection must have the language "en"',
    ),
    "connection-kind": (
        "register_login_links",
        '[LoginLink("a", {"en": "A"}, "/", connection="a")]',
        "Connection",
    ),
    "platform": (
        "register_login_links",
        '[LoginLink("a", {"en": "A"}, "/", platform={"zh": "A"})]',
        'the platform of a LoginLink must have the language "en"',
    ),
    "request-kind": (
        "register_login_links",
        '[LoginLink("a", {"en": "A"}, "/", request="/authorizations")]',
        "LoginRequest",
    ),
    "request-path": (
        "register_login_links",
        '[LoginLink("a", {"en": "A"}, "/", request=LoginRequest("https://evil.example.com/"))]',
        "the path of a LoginRequest must be one of the server",
    ),
    "no-request": (
        "register_login_links",
        '[LoginLink("a", {"en": "A"}, "/", request=LoginRequest("/api/v1/login-providers"))]',
        "a LoginRequest: '/api/v1/login-providers' is no operation of the server by POST",
    ),
    "no-folder": (
        "register_static_files",
        '[StaticFiles("assets")]',
        "its package has no files in the folder 'assets'",
    ),
    "two-folders": (
        "register_static_files",
        "[StaticFiles(), StaticFiles()]",
        "register_static_files returned two folders; return one",
    ),
    "raises": ("register_login_links", "1 / 0", "failed in register_login_links: ZeroDivisionError"),
}
TEMPLATE = """
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.pages import (
    Connection, ConsoleSection, LoginLink, LoginRequest, MenuItem, SpaceSection, StaticFiles
)
API_VERSION = "2.0"

def connection(name="a", labels={"en": "A"}, path="/"):
    return Connection(name, labels, path, "badge", ("badge",), "/badges", list)

@hookimpl
def %s():
    return %s
"""


def refusal(folder: Path, database_url: str, *plugins: str) -> str:
    """Return the line with which the application refuses plugins."""
    changes: Table = {"plugins": {"enabled": ["storage_local", *plugins]}}
    path = write_api_config(folder, database_url, changes)
    with pytest.raises(ConfigurationError) as info:
        create_app(load(path, {}))
    (line,) = [line for line in str(info.value).splitlines() if "plugin" in line]
    return line


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_is_refused_in_one_line(folder: Path, database_url: str, mistake: str) -> None:
    hook, returned, expected = WRONG[mistake]
    install_desk(folder, {"__init__.py": TEMPLATE % (hook, returned)})
    line = refusal(folder, database_url, "desk")
    assert 'plugin "desk"' in line
    assert expected in line


def test_an_icon_must_be_a_picture(folder: Path, database_url: str) -> None:
    install_desk(folder, {"__init__.py": PLUGIN.replace("icons/badge.svg", "desk.js")})
    line = refusal(folder, database_url, "desk")
    assert "the icon 'desk.js' of \"badge\" must be a picture" in line


def test_a_file_of_an_unknown_type_is_refused(folder: Path, database_url: str) -> None:
    install_desk(folder, {"static/index.html": ""})
    line = refusal(folder, database_url, "desk")
    assert "plugin \"desk\": the static file 'index.html' must end in one of .css, " in line


def test_static_files_need_a_package(folder: Path, database_url: str) -> None:
    install(folder, "alone", TEMPLATE % ("register_static_files", "[StaticFiles()]"))
    line = refusal(folder, database_url, "alone")
    assert 'plugin "alone": static files need a package' in line


def test_only_one_plugin_has_login_pages(folder: Path, database_url: str) -> None:
    pages = """
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.pages import LoginPages
API_VERSION = "2.0"

class Pages(LoginPages):
    def __call__(self, environ, start_response):
        return []
    def login_path(self, resume, *, login_hint=None):
        return "/"
    def finish(self, login, resume, *, method, link=None):
        return None

@hookimpl
def register_wsgi_applications(host):
    return [("/others", Pages())]
"""
    install(folder, "others", pages)
    line = refusal(folder, database_url, "login_pages", "others")
    assert 'plugin "others": plugin "login_pages" has login pages, too; enable one of them' in line


def test_a_mount_may_not_take_the_place_of_static_files(folder: Path, database_url: str) -> None:
    code = """
from strongroom.plugin_api import hookimpl
API_VERSION = "2.0"

@hookimpl
def register_wsgi_applications(host):
    return [("/static", lambda environ, start_response: [])]
"""
    install(folder, "taker", code)
    line = refusal(folder, database_url, "login_pages", "taker")
    assert 'plugin "taker": the prefix "/static" collides with "/static" of the server' in line
