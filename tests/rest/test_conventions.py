"""Rules of every endpoint: sections 2, 4.1 and 7 of the specification, and the contract."""

import re

import pytest
from flask import Flask
from tests.support.api import Api, error_code

from strongroom.foundation.errors import catalogue
from strongroom.identity.verification.captchas import CaptchaService
from strongroom.web.http.routing import Operation


@pytest.mark.rule("7 404")
def test_an_error_has_code_message_details_and_the_request_id(api: Api) -> None:
    response = api.get("/nowhere", headers={"X-Request-Id": "abc-123"})
    assert response.status_code == 404
    assert response.json == {
        "error": {
            "code": "error.not-found",
            "message": "The resource does not exist.",
            "details": [],
            "requestId": "abc-123",
        }
    }
    assert response.headers["X-Request-Id"] == "abc-123"


@pytest.mark.parametrize("offered", ["", "a" * 65, "line\tbreak", "<script>", "é"])
def test_a_request_id_that_could_do_harm_is_replaced(api: Api, offered: str) -> None:
    answered = api.get("/nowhere", headers={"X-Request-Id": offered}).headers["X-Request-Id"]
    assert answered != offered
    assert re.fullmatch(r"[0-9a-f]{32}", answered)


def test_another_method_is_405_and_says_which_there_are(api: Api) -> None:
    response = api.delete("/captchas")
    assert (response.status_code, error_code(response)) == (405, "error.method-not-allowed")
    assert "POST" in response.headers["Allow"]


def test_a_body_that_is_no_json_is_415(api: Api) -> None:
    response = api.request("POST", "/authorizations", data="username=a", content_type="text/plain")
    assert (response.status_code, error_code(response)) == (415, "error.unsupported-media-type")


@pytest.mark.rule("4.2 login request")
def test_a_charset_on_json_is_fine(api: Api) -> None:
    person = api.person()
    response = api.request(
        "POST",
        "/authorizations",
        data=b'{"username": "%s", "password": "Correct1Horse"}' % person.email.encode(),
        content_type="application/json;charset=UTF-8",
    )
    assert response.status_code == 200


def test_a_body_of_more_than_a_mebibyte_is_413(api: Api) -> None:
    response = api.post("/authorizations", {"username": "x" * 1024 * 1024})
    assert (response.status_code, error_code(response)) == (413, "error.payload-too-large")


def test_authenticated_responses_are_not_stored_by_caches(api: Api) -> None:
    assert api.get("/api/v1/tenants", by=api.person()).headers["Cache-Control"] == "no-store"


@pytest.mark.rule("7 500")
def test_an_unexpected_error_reveals_nothing(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(_: CaptchaService) -> None:
        raise RuntimeError("secret of the server")

    monkeypatch.setattr(CaptchaService, "issue", explode)
    response = api.post("/captchas", {})
    assert (response.status_code, error_code(response)) == (500, "error.internal")
    assert "secret" not in response.text


def routes(app: Flask) -> list[tuple[str, object]]:
    """Return every route of the application with its view."""
    return [(rule.endpoint, app.view_functions[rule.endpoint]) for rule in app.url_map.iter_rules()]


DOCUMENTATION = {"openapi_document", "api_docs.show", "api_docs.asset"}


def test_every_route_states_who_may_call_it(api: Api) -> None:
    without = {endpoint for endpoint, view in routes(api.app) if not isinstance(view, Operation)}
    assert without == DOCUMENTATION


def test_every_error_code_is_stable_unique_and_well_formed() -> None:
    codes = [kind.code for kind in catalogue()]
    assert len(codes) == len(set(codes))
    assert all(re.fullmatch(r"error(\.[a-z]+(-[a-z]+)*)", code) for code in codes)
    assert all(kind.message.endswith(".") for kind in catalogue())


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/wechat-authorizations",
        "/api/v1/miniProgram-authorization",
        "/api/v1/users/01a1fd35-41a4-7159-832d-f9df39268981/wechatIds",
    ],
)
@pytest.mark.rule("5 login 1", "7 501")
def test_an_interface_whose_plugin_is_not_enabled_is_501(api: Api, path: str) -> None:
    response = api.post(path, {})
    assert (response.status_code, error_code(response)) == (501, "error.not-implemented")


class TestEnvelope:
    """Collections: the envelope and its paging."""

    def test_all_ten_fields_of_meta_on_the_first_page(self, api: Api) -> None:
        person = api.person()
        for number in range(5):
            api.tenant(person, f"Tenant {number}")
        body = api.get("/api/v1/tenants?pageSize=2", by=person).json
        assert body["success"] is True
        assert body["meta"] == {
            "totalCount": 5,
            "pageSize": 2,
            "pageNumber": 1,
            "pageCount": 3,
            "isFirstPage": True,
            "isLastPage": False,
            "hasPreviousPage": False,
            "previousPageLink": None,
            "hasNextPage": True,
            "nextPageLink": "https://files.example.com/api/v1/tenants?pageSize=2&pageNumber=2",
        }
        assert [tenant["name"] for tenant in body["data"]] == ["Tenant 0", "Tenant 1"]

    def test_the_last_page(self, api: Api) -> None:
        person = api.person()
        for number in range(5):
            api.tenant(person, f"Tenant {number}")
        body = api.get("/api/v1/tenants?pageSize=2&pageNumber=3", by=person).json
        meta = body["meta"]
        assert [tenant["name"] for tenant in body["data"]] == ["Tenant 4"]
        assert (meta["isLastPage"], meta["hasNextPage"], meta["nextPageLink"]) == (True, False, None)
        assert meta["previousPageLink"].endswith("?pageSize=2&pageNumber=2")

    def test_an_empty_collection_has_one_empty_page(self, api: Api) -> None:
        meta = api.get("/api/v1/tenants", by=api.person()).json["meta"]
        assert (meta["totalCount"], meta["pageCount"], meta["pageSize"]) == (0, 0, 20)
        assert meta["isFirstPage"]
        assert meta["isLastPage"]

    def test_past_the_end_there_is_nothing(self, api: Api) -> None:
        person = api.person()
        api.tenant(person)
        body = api.get("/api/v1/tenants?pageNumber=9", by=person).json
        assert body["data"] == []
        assert body["meta"]["previousPageLink"].endswith("pageNumber=1")

    @pytest.mark.parametrize(
        "query",
        ["pageSize=0", "pageSize=201", "pageSize=x", "pageSize=-1", "pageSize=1.5", "pageNumber=0",
         "pageNumber=99999999999999999999", "pagesize=2", "sort=name"],
    )  # fmt: skip
    def test_paging_out_of_range_is_400(self, api: Api, query: str) -> None:
        response = api.get(f"/api/v1/tenants?{query}", by=api.person())
        assert (response.status_code, error_code(response)) == (400, "error.validation-failed")
        assert response.json["error"]["details"][0]["field"] == query.partition("=")[0]

    def test_links_come_from_the_configured_url_for_any_request(self, api: Api) -> None:
        person = api.person()
        for number in range(2):
            api.tenant(person, f"Tenant {number}")
        headers = {"Host": "evil.example.com", "X-Forwarded-Host": "evil.example.com"}
        meta = api.get("/api/v1/tenants?pageSize=1", by=person, headers=headers).json["meta"]
        assert meta["nextPageLink"].startswith("https://files.example.com/api/v1/tenants?")
