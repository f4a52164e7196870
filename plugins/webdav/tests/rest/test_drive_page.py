"""The page "Connect your computer": a password made there opens the drive, within its rights."""

import base64
import re
from typing import Any

import pytest
from flask.testing import FlaskClient
from tests.support.api import Api, Person
from werkzeug.test import TestResponse

from strongroom.testing.server import PASSWORD

ROOT = "/network-drives/"
WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36"
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1"

pytestmark = pytest.mark.config({"plugins": {"enabled": ["storage_local", "login_pages", "webdav"]}})


class Pages:
    """A browser without scripts, whose user is logged in."""

    def __init__(self, api: Api, person: Person) -> None:
        self.api = api
        self.client: FlaskClient = api.app.test_client()
        self.csrf = ""
        self.get("/account/login")
        fields = {"way": "password", "username": person.email, "password": PASSWORD}
        self.client.post("/account/login", data={"csrf": self.csrf, **fields})

    def get(self, path: str = ROOT, **headers: str) -> str:
        page = self.client.get(path, headers={k.replace("_", "-"): v for k, v in headers.items()})
        assert page.status_code == 200, page.text
        if token := re.search(r'name="csrf" value="([^"]+)"', page.text):
            self.csrf = token[1]
        return page.text

    def create(self, **fields: Any) -> TestResponse:
        self.get()
        values = {"csrf": self.csrf, "name": "Laptop", "rights": "change", **fields}
        return self.client.post(ROOT, data=values)

    def drive(self, method: str, path: str, key: str, **options: Any) -> int:
        token = base64.b64encode(f"drive:{key}".encode()).decode()
        client = self.api.app.test_client()
        headers = {"Authorization": f"Basic {token}", "Depth": "0"}
        status: int = client.open(path, method=method, headers=headers, **options).status_code
        return status


def key_in(page: str) -> str:
    (key,) = re.findall(r'id="password">(srk_[^<]+)<', page)
    return str(key)


@pytest.fixture
def person(api: Api) -> Person:
    return api.person()


@pytest.fixture
def pages(api: Api, person: Person) -> Pages:
    return Pages(api, person)


def test_a_password_opens_the_drive_and_is_shown_once(pages: Pages, api: Api, person: Person) -> None:
    api.tenant(person, "Acme")
    created = pages.create()
    key = key_in(created.text)
    assert created.headers["Cache-Control"] == "no-store"
    assert pages.drive("PUT", "/dav/Acme/a.txt", key, data=b"a") == 201
    assert pages.drive("PROPFIND", "/dav/Acme/a.txt", key) == 207
    assert pages.drive("DELETE", "/dav/Acme/a.txt", key) == 204
    assert key not in pages.get()
    (stored,) = api.get("/users/me/access-keys", by=person).json["data"]
    assert (stored["name"], stored["tenantId"]) == ("Laptop", None)
    assert "Laptop" in pages.get("/account/access-keys")


@pytest.mark.parametrize("rights", ["read", "other"])
def test_a_password_that_only_reads_changes_nothing(
    pages: Pages, api: Api, person: Person, rights: str
) -> None:
    tenant = api.tenant(person, "Acme")
    api.upload(tenant, person, "a.txt", b"a")
    key = key_in(pages.create(rights=rights).text)
    assert pages.drive("GET", "/dav/Acme/a.txt", key) == 200
    assert pages.drive("PUT", "/dav/Acme/a.txt", key, data=b"b") == 403
    assert pages.drive("DELETE", "/dav/Acme/a.txt", key) == 403


def test_a_password_of_one_space_opens_no_other(pages: Pages, api: Api, person: Person) -> None:
    tenant = api.tenant(person, "Acme")
    assert "All spaces" not in pages.get()
    api.tenant(person, "Other")
    assert "All spaces" in pages.get()
    key = key_in(pages.create(tenantId=tenant.rpartition("/")[2]).text)
    assert pages.drive("PROPFIND", "/dav/Acme/", key) == 207
    assert pages.drive("PROPFIND", "/dav/Other/", key) == 404


def test_a_refused_name_stays_in_the_form(pages: Pages) -> None:
    refused = pages.create(name="a\nb", rights="read")
    assert refused.status_code == 400
    assert re.search(r'value="read" checked', refused.text)
    assert "srk_" not in refused.text


@pytest.mark.parametrize(
    ("agent", "query", "step"),
    [
        (WINDOWS, "", "Map network drive"),
        (PHONE, "", "Install an app for WebDAV"),
        ("curl/8", "", "Map network drive"),
        (WINDOWS, "?system=macos", "Connect to Server"),
        (WINDOWS, "?system=linux", "mount -t davfs"),
        (PHONE, "?system=rclone", "rclone sync"),
        (PHONE, "?system=<b>", "Install an app for WebDAV"),
    ],
)
def test_the_steps_are_those_of_the_system(pages: Pages, agent: str, query: str, step: str) -> None:
    page = pages.get(ROOT + query, User_Agent=agent)
    assert step in page
    assert page.partition('id="steps"')[2].count("<li>") >= 2
    assert "<b>" not in page.replace("<bdi>", "")


def test_the_page_is_in_chinese(pages: Pages) -> None:
    page = pages.get(ROOT, Accept_Language="zh-CN")
    assert "连接电脑" in page
    assert "Connect your computer" not in page
