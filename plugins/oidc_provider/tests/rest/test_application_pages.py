"""The pages of clients: the same rules as of the REST API, in the frame of the console."""

import io
import re
from typing import Any

import pytest
from flask.testing import FlaskClient
from tests.support.api import Api, Person
from werkzeug.test import TestResponse

from strongroom.foundation.database.upgrade import upgrade
from strongroom.testing.server import PASSWORD
from strongroom_oidc_provider.plugin import register_tables

ROOT = "/applications"
URI = "https://wiki.example.com/callback"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h8v8z"/></svg>'
# Its name has a right-to-left override, and would end the markup.
HOSTILE = "\u202egnp.exe <img src=x>" + "W" * 230

pytestmark = pytest.mark.config(
    {"plugins": {"enabled": ["storage_local", "login_pages", "console", "oidc_provider"]}}
)


class Pages:
    """A browser without scripts."""

    def __init__(self, api: Api, person: Person) -> None:
        upgrade(api.container.database.engine, {"oidc_provider": register_tables()})
        self.client: FlaskClient = api.app.test_client()
        self.csrf = ""
        self.post("/account/login", way="password", username=person.email, password=PASSWORD)

    def get(self, path: str, status: int = 200) -> str:
        page = self.client.get(path)
        assert page.status_code == status, page.text
        if found := re.search(r'name="csrf" value="([^"]+)"', page.text):
            self.csrf = found[1]
        return page.text

    def post(self, path: str, **fields: Any) -> TestResponse:
        if not self.csrf:
            self.get(path)
        return self.client.post(path, data={"csrf": self.csrf, **fields})

    def create(self, **fields: Any) -> tuple[str, str]:
        """Create a client; return its page's path, and the page that follows."""
        self.get(f"{ROOT}/new")
        values = {"name": "Wiki", "redirectUris": URI, "kind": "secret", **fields}
        page = self.post(f"{ROOT}/new", **values)
        found = re.search(rf"{ROOT}/[0-9a-f-]{{36}}/", page.headers.get("Location", page.text))
        assert found, page.text
        return found[0], page.text


@pytest.fixture
def pages(api: Api) -> Pages:
    return Pages(api, api.person(admin=True))


def test_a_secret_is_shown_once(pages: Pages) -> None:
    path, page = pages.create()
    (secret,) = re.findall(r'id="client-secret">([^<]{43})<', page)
    assert secret not in pages.get(path)
    second = pages.post(f"{path}secret", overlap="86400").text
    assert 'id="client-secret">' in second
    assert secret not in second
    assert pages.get(path).count("<small>") >= 2


def test_settings_are_saved(pages: Pages, api: Api) -> None:
    path, _ = pages.create()
    revision = re.search(r'name="revision" value="(\d+)"', pages.get(path))
    assert revision
    fields = {"name": "Docs", "redirectUris": f"{URI}\n{URI}2", "scopes": ["openid", "email"]}
    saved = pages.post(f"{path}settings", revision=revision[1], accent="#0b7f62", **fields)
    assert saved.headers["Location"] == path
    page = pages.get(path)
    assert "The changes are saved." in page
    assert f"{URI}2" in page
    stale = pages.post(f"{path}settings", revision=revision[1], **fields)
    assert stale.headers["Location"] == path
    assert "another revision" in pages.get(path)


def test_logins_by_a_code_and_logout_notices_are_settings(pages: Pages) -> None:
    path, _ = pages.create()
    fields = {"name": "Docs", "redirectUris": URI, "scopes": ["openid"]}
    for sent in ({"deviceLogin": "on", "backchannelLogoutUri": f"{URI}/logout"}, {}):
        revision = re.search(r'name="revision" value="(\d+)"', pages.get(path))
        assert revision
        pages.post(f"{path}settings", revision=revision[1], **fields, **sent)
        page = pages.get(path)
        switch = re.search(r'<input[^>]*name="deviceLogin"[^>]*>', page)
        assert switch
        assert (" checked" in switch[0]) == bool(sent)
        assert (f'value="{URI}/logout"' in page) == bool(sent)


def test_a_fault_stands_at_its_field(pages: Pages) -> None:
    path, _ = pages.create()
    pages.get(path)
    pages.post(f"{path}settings", revision="1", name="Wiki", redirectUris="http://a.example/")
    assert 'id="redirectUris-fault"' in pages.get(path)
    refused = pages.post(f"{ROOT}/new", name="Wiki", redirectUris="x", kind="secret")
    assert refused.status_code == 400
    assert 'id="redirectUris-fault"' in refused.text


def test_a_logo_is_set_and_removed(pages: Pages) -> None:
    path, _ = pages.create()
    pages.get(path)
    upload = f"{path}logo?csrf={pages.csrf}"
    pages.client.post(upload, data={"picture": (io.BytesIO(b"GIF"), "logo.gif")})
    assert "Must be a PNG or SVG." in pages.get(path)
    pages.client.post(upload, data={"picture": (io.BytesIO(SVG), "logo.svg")})
    assert 'src="/oauth2/logos/' in pages.get(path)
    pages.post(f"{path}logo/removal")
    assert "/oauth2/logos/" not in pages.get(path)


def test_the_preview_is_the_page_of_the_consent_in_both_languages(pages: Pages) -> None:
    path, _ = pages.create(name="Wiki")
    assert f'src="{path}preview?preview=zh"' in pages.get(f"{path}?preview=zh")
    answer = pages.client.get(f"{path}preview?preview=zh")
    assert '<html lang="zh"' in answer.text
    assert "<body inert>" in answer.text
    assert "frame-ancestors 'self'" in answer.headers["Content-Security-Policy"]
    assert '<html lang="en"' in pages.get(f"{path}preview?preview=en")


def test_disabling_and_deletion_are_confirmed(pages: Pages) -> None:
    path, _ = pages.create()
    question = pages.get(f"{path}disabling")
    assert "Disable Wiki?" in question
    assert 'class="sheet question"' in question
    pages.post(f"{path}disabling")
    assert "The application is disabled." in pages.get(path)
    pages.post(f"{path}enabling")
    assert "The application is enabled." in pages.get(path)
    assert "Delete Wiki?" in pages.get(f"{path}deletion")
    pages.post(f"{path}deletion")
    pages.get(path, 404)


def test_the_search_finds_names_and_addresses(pages: Pages) -> None:
    pages.create(name="Wiki")
    pages.create(name="Chat", redirectUris="https://chat.example.com/")
    assert "Wiki" not in pages.get(f"{ROOT}/?q=chat")
    assert "Chat" in pages.get(f"{ROOT}/?q=CHAT.example")
    assert "No application has this name" in pages.get(f"{ROOT}/?q=nothing")


def test_a_hostile_name_is_a_text(pages: Pages) -> None:
    path, _ = pages.create(name=HOSTILE)
    for page in (path, f"{ROOT}/", f"{path}preview", f"{path}disabling"):
        text = pages.get(page)
        assert "<img src=x>" not in text


def test_others_find_no_page(api: Api) -> None:
    pages = Pages(api, api.person())
    for path in (f"{ROOT}/", f"{ROOT}/new"):
        pages.get(path, 404)


def test_a_form_of_another_page_changes_nothing(pages: Pages) -> None:
    path, _ = pages.create()
    for form in ("settings", "secret", "disabling", "deletion", "logo", "logo/removal", "enabling"):
        assert pages.client.post(f"{path}{form}", data={"csrf": "forged"}).status_code == 400
