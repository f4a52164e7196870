"""People whose browser opens a missing page get a page; programs get JSON, whatever they accept."""

import json
from typing import Any

import pytest
from tests.support.api import Answer, Api
from tests.support.databases import on_sqlite

from strongroom.identity.accounts.first_administrator import Setup

NAVIGATION = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
PROGRAMS = (
    None,
    "*/*",
    "application/json",
    "application/json, text/plain, */*",
    # By default in Java.
    "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2",
)

pytestmark = on_sqlite


def get(api: Api, path: str, accept: str | None = NAVIGATION, **options: Any) -> Answer:
    headers = {"Accept": accept} if accept else {}
    headers |= options.pop("headers", {})
    method = options.pop("method", "GET")
    return Answer(api.app.test_client().open(path, method=method, headers=headers, **options))


@pytest.mark.parametrize(
    ("language", "title"), [("en", "Page not found"), ("zh", "页面不存在"), ("de", "Page not found")]
)
def test_a_missing_page_is_in_the_design_and_the_language(api: Api, language: str, title: str) -> None:
    page = get(api, "/nothing", headers={"Accept-Language": language})
    assert (page.status_code, page.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert f"<title>{title}</title>" in page.text
    assert "/static/strongroom/" in page.text
    assert page.headers["X-Request-Id"] in page.text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert "Accept" in page.headers["Vary"]


@pytest.mark.config({"server": {"base_path": "/files"}})
def test_it_leads_to_the_start_page_below_the_base_path(api: Api) -> None:
    assert 'href="/files/"' in get(api, "/files/nothing").text
    assert get(api, "/files/api/v1/nothing").headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("accept", PROGRAMS)
def test_programs_get_json(api: Api, accept: str | None) -> None:
    reply = get(api, "/nothing", accept)
    assert reply.json["error"]["code"] == "error.not-found"
    assert reply.headers["Vary"] == "Accept, Accept-Language"


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/api/v1/tenants", "/api/"])
def test_below_the_rest_api_every_error_is_json(api: Api, path: str) -> None:
    assert "error" in json.loads(get(api, path).data)


def test_a_page_keeps_the_status_and_the_headers_of_the_error(api: Api) -> None:
    refused = get(api, "/", method="DELETE")
    assert (refused.status_code, "GET" in refused.headers["Allow"]) == (405, True)
    assert "<h1>That did not work</h1>" in refused.text


def test_a_fault_of_the_server_shows_nothing_of_it(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("the inside")

    monkeypatch.setattr(Setup, "is_needed", fail)
    page = get(api, "/")
    assert (page.status_code, "<h1>Something went wrong</h1>" in page.text) == (500, True)
    assert "inside" not in page.text
    assert get(api, "/", "application/json").json["error"]["code"] == "error.internal"


def test_no_path_is_echoed(api: Api) -> None:
    assert "svg" not in get(api, "/<svg onload=alert(1)>").text
