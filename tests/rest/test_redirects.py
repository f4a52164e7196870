"""Paths that are almost right, and the page of the API's description."""

import pytest
from flask import Flask
from tests.support.api import Api

EVIL = {"Host": "evil.example"}


@pytest.mark.parametrize(
    "path", ["/users//me", "//users/me", "/credentials/..%2f/available", "/api//v1/tenants"]
)
def test_a_path_with_an_empty_segment_is_not_found(api: Api, path: str) -> None:
    response = api.get(path, by=api.person())
    assert (response.status_code, response.json["error"]["code"]) == (404, "error.not-found")


def test_a_redirect_leads_to_the_public_url_and_has_the_error_body(api: Api) -> None:
    with_slash(api.app)
    response = api.get("/of-a-plugin?a=b", headers=EVIL)
    assert response.status_code == 308
    assert response.headers["Location"] == "https://files.example.com/of-a-plugin/?a=b"
    assert response.json["error"]["code"] == "error.moved-permanently"


def with_slash(app: Flask) -> None:
    """Register a route that Werkzeug redirects to, as a plugin may."""
    app.add_url_rule("/of-a-plugin/", "of_a_plugin", lambda: "here")


class TestTheDocumentationPage:
    @pytest.mark.parametrize("path", ["/docs", "/docs/"])
    def test_it_has_strict_headers_and_no_word_of_the_client(self, api: Api, path: str) -> None:
        response = api.get(path, headers=EVIL)
        assert response.status_code == 200
        assert "evil" not in response.text
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "script-src 'self' 'nonce-" in policy
        assert response.headers["Cache-Control"] == "no-store"

    def test_its_scripts_and_styles_are_served(self, api: Api) -> None:
        for name in ("swagger-ui-bundle.js", "swagger-ui.css"):
            assert api.get(f"/docs/{name}").status_code == 200
        assert api.get("/docs/../app.py").status_code == 404


@pytest.mark.config({"server": {"api_docs": False}})
class TestWithoutTheDocumentationPage:
    def test_the_page_is_not_found_and_the_document_is_served(self, api: Api) -> None:
        assert api.get("/docs").status_code == 404
        assert api.get("/openapi.json").status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/wechat-qr-codes"),
        ("POST", "/api/v1/wechat-authorizations"),
        ("GET", "/api/v1/wechat-authorizations/scan"),
        ("GET", "/api/v1/wechat-authorizations/callback"),
        ("POST", "/api/v1/miniProgram-authorization"),
        ("POST", "/api/v1/users/me/wechatIds"),
        ("DELETE", "/api/v1/users/me/wechatIds"),
    ],
)
def test_a_route_whose_plugin_is_not_enabled_is_501_and_documented(
    api: Api, method: str, path: str
) -> None:
    response = api.request(method, path)
    assert (response.status_code, response.json["error"]["code"]) == (501, "error.not-implemented")
    documented = api.get("/openapi.json").json["paths"][path.replace("/me/", "/{userId}/")]
    assert "501" in documented[method.lower()]["responses"]
