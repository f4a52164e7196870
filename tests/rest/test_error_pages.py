"""People whose browser opens a missing page get a page; programs get JSON, whatever they accept."""

import json
import re
from typing import Any

import pytest
from tests.support.api import Answer, Api
from tests.support.databases import on_sqlite

from strongroom.extensions.first_start.first_administrator import Setup
from strongroom.foundation.errors import Unavailable
from strongroom.plugin_api.web import ApiError, ErrorKind

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
    assert requests_of(page.text) == []
    assert "--paper:" in page.text
    assert page.headers["X-Request-Id"] in page.text.partition("<details")[2].partition("</details>")[0]
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


@pytest.mark.parametrize(("language", "title"), [("en", "Nothing to see here"), ("zh", "此处没有页面")])
def test_a_page_for_another_method_has_no_words_of_the_rest_api(
    api: Api, language: str, title: str
) -> None:
    page = get(api, "/authorizations", headers={"Accept-Language": language})
    assert (page.status_code, f"<h1>{title}</h1>" in page.text) == (405, True)
    assert "method" not in page.text
    assert "方法" not in page.text


def test_a_fault_of_the_server_shows_nothing_of_it(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("the inside")

    monkeypatch.setattr(Setup, "is_needed", fail)
    page = get(api, "/")
    assert (page.status_code, "<h1>Something went wrong</h1>" in page.text) == (500, True)
    assert "inside" not in page.text
    assert get(api, "/", "application/json").json["error"]["code"] == "error.internal"


@pytest.mark.parametrize(
    ("language", "title", "text", "hint"),
    [
        ("en", "Temporarily unavailable", "Back at noon.", "This is temporary."),
        ("zh", "暂时无法使用", "Back at noon.", "这只是暂时的。"),
    ],
)
def test_a_503_of_a_plugin_says_that_it_is_temporary(
    api: Api, monkeypatch: pytest.MonkeyPatch, language: str, title: str, text: str, hint: str
) -> None:
    """Whatever the kind, such as a hook that refuses every request, those of styles included."""
    kind = ErrorKind(503, "error.noon", "Back at noon.", retry_after=7)

    def refuse() -> None:
        raise ApiError(kind)

    monkeypatch.setattr(api.app, "before_request_funcs", {None: [refuse]})
    page = get(api, "/", headers={"Accept-Language": language})
    assert (page.status_code, page.headers["Retry-After"]) == (503, "7")
    for part in (f"<h1>{title}</h1>", text, hint, 'href=""'):
        assert part in page.text
    assert get(api, "/api/v1/tenants", None).headers["Retry-After"] == "7"
    assert requests_of(page.text) == []


@pytest.mark.parametrize("error", [Unavailable(), ApiError(ErrorKind(503, "error.x", "Later."))])
def test_every_503_has_retry_after(api: Api, monkeypatch: pytest.MonkeyPatch, error: ApiError) -> None:
    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(Setup, "is_needed", fail)
    page = get(api, "/")
    assert (page.status_code, page.headers["Retry-After"]) == (503, "10")
    assert requests_of(page.text) == []
    posted = get(api, "/nothing", method="POST")
    assert 'href=""' not in posted.text


@pytest.mark.config({"pages": {"name": "Acme", "primary": "#008844"}})
def test_an_error_page_has_the_brand_without_files(api: Api) -> None:
    page = get(api, "/nothing")
    assert requests_of(page.text) == []
    assert re.search(r"--accent: ?(light-dark\()?#008844", page.text)
    assert "Acme" in page.text


def requests_of(page: str) -> list[str]:
    """Return what a browser requests to show a page: sources, style sheets and URLs of styles."""
    found = re.findall(r"""(?:src|srcset)=["']([^"']*)|<link[^>]*href="([^"]*)|url\(([^)]*)""", page)
    return [url for match in found for url in match if url and not url.startswith("data:")]


def test_no_path_is_echoed(api: Api) -> None:
    assert "onload" not in get(api, "/<svg onload=alert(1)>").text
