"""Bodies, queries and headers that break parsers are refused, and never an error of the server."""

import json
import logging
from collections.abc import Iterator
from itertools import product
from typing import Any, cast

import pytest
from tests.support.api import Answer, Api, Json, Person, creation_headers, error_code
from tests.support.logs import own_records

from strongroom.identity.verification.captchas import CaptchaService

DEEP = b"[" * 60_000
LONG_NUMBER = b"9" * 4301
BODIES: dict[str, bytes] = {
    "a surrogate as a name": b'{"\\ud800": 1}',
    "half a pair as a name": b'{"a\\udfff": 1}',
    "arrays without an end": DEEP,
    "objects without an end": b'{"a":' * 10_000,
    "1,000 arrays": b"[" * 1000 + b"]" * 1000,
    "65 arrays": b"[" * 65 + b"]" * 65,
    "65 objects in a field": b'{"name":' + b'{"a":' * 64 + b"1" + b"}" * 65,
    "depth behind an escaped quote": b'{"a":"\\"","b":' + b"[" * 2000 + b"]" * 2000 + b"}",
    "an integer": b'{"a":%s}' % LONG_NUMBER,
    "a negative integer": b'{"a":-%s}' % LONG_NUMBER,
    "a fraction": b'{"a":0.%s}' % LONG_NUMBER,
    "an exponent": b'{"a":1e%s}' % LONG_NUMBER,
    "65 digits": b"[" + b"9" * 65 + b"]",
    "NaN": b'{"a":NaN}',
    "infinity": b'{"a":-Infinity}',
    "no UTF-8": b'{"a":"\xed\xa0\x80"}',
    "an open string of quotes": b'["' + b'\\"' * 30_000,
    "brackets in a lone backslash": b"[" * 70 + b'"\\',
}
VALUES: dict[str, Any] = {
    "a surrogate": "\ud800",
    "half a pair": "ab\udc00c",
    "NUL": "a\0b",
    "64 digits": 10**63,
    "minus 64 digits": -(10**62),
    "a large exponent": 1e300,
}
HEADERS: dict[str, str] = {
    "Range": "bytes=" + "9" * 5000 + "-",
    "If-Modified-Since": f"Sun, 06 Nov {'9' * 40} 08:49:37 GMT",
    "If-Unmodified-Since": "Sun, 06 Nov 1994 99999999999999999999:49:37 GMT",
    "If-Range": f"Sun, 06 Nov 1994 08:49:37 +{'9' * 30}",
    "If-None-Match": '"' + "\xff" * 200,
    "If-Match": '"' + "9" * 5000 + '"',
    "Accept-Language": "de;q=" + "9" * 5000 + ", zh;q=1e999, en;q=nan",
    "Accept": "*/*;q=" + "9" * 5000,
    "Content-Length": "9" * 5000,
    "Upload-Length": "0" * 20 + "9" * 4400,
    "Upload-Offset": "0" * 20 + "9" * 4400,
    "Upload-Checksum": "sha256 \xff",
    "Want-Content-Digest": "sha-256=" + "9" * 5000,
    "Content-Digest": "sha-256=:\xff:",
    "X-Captcha": "a." + "\xff" * 9,
    "X-Verification-Code": "\xff." + "9" * 5000,
    "X-Device-Id": "\xff\x7f",
    "Forwarded": "for=" + "9" * 5000,
    "X-Forwarded-For": "9" * 5000,
    "Authorization": "Bearer " + "9" * 5000 + "." + "9" * 5000 + ".x",
    "X-Access-Token": "01a1fd35-41a4-7159-832d-f9df39268981-" + "9" * 5000,
    "X-Refresh-Token": "\xff" * 43,
}


@pytest.fixture
def admin(api: Api) -> Person:
    return api.person(admin=True)


@pytest.fixture
def places(api: Api, admin: Person) -> dict[str, str]:
    """Ids of existing resources for paths, so that requests pass the first query."""
    tenant = api.tenant(admin)
    file_id = api.upload(tenant, admin, "a.txt", b"a")["id"]
    return {
        "tenant_id": tenant.rpartition("/")[2],
        "parent_id": api.folder(tenant, admin, "folder")["id"],
        "file_id": file_id,
        "owner_id": "me",
        "user_id": "me",
        "credential": admin.email,
    }


@pytest.fixture(autouse=True)
def no_tracebacks(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail a test that has left a traceback in the log."""
    yield
    assert [record.getMessage() for record in own_records(caplog) if record.exc_info] == []


def operations(api: Api) -> Iterator[tuple[str, str, Json]]:
    """Yield the method, the path and the properties of each route that takes JSON."""
    document = api.get("/openapi.json").json
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            content = (
                operation.get("requestBody", {}).get("content", {}) if method != "parameters" else {}
            )
            if "application/json" in content:
                yield method.upper(), path, _properties(document, content["application/json"]["schema"])


def _properties(document: Json, schema: Json) -> Json:
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return cast("Json", schema.get("properties", {}))


def filled(path: str, places: dict[str, str]) -> str:
    """Return a path with its parameters filled in."""
    for name, value in places.items():
        camel = name.partition("_")[0] + name.partition("_")[2].capitalize()
        path = path.replace("{" + name + "}", value).replace("{" + camel + "}", value)
    return path.replace("{", "").replace("}", "")


def send(api: Api, admin: Person, method: str, path: str, content: bytes) -> Answer:
    return api.request(
        method, path, by=admin, data=content, headers={"Content-Type": "application/json"}
    )


def test_no_body_breaks_any_route(api: Api, admin: Person, places: dict[str, str]) -> None:
    routes = list(operations(api))
    assert len(routes) >= 21
    for method, path, _ in routes:
        for name, content in BODIES.items():
            answer = send(api, admin, method, filled(path, places), content)
            what = (method, path, name, answer.text[:300])
            assert answer.status_code in (400, 404, 429), what
            assert answer.status_code != 400 or error_code(answer) != "error.validation-failed", what


def test_no_value_of_a_field_breaks_any_route(api: Api, admin: Person, places: dict[str, str]) -> None:
    for method, path, properties in operations(api):
        for field in properties:
            for name, value in VALUES.items():
                body = {**{other: _example(properties[other]) for other in properties}, field: value}
                content = json.dumps(body).encode()
                answer = send(api, admin, method, filled(path, places), content)
                assert answer.status_code < 500, (method, path, field, name, answer.text[:300])


def _example(schema: Json) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    kinds = schema.get("type", "object")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    nested = {"id": "x", "code": "123456"}
    return {"integer": 1, "boolean": True, "array": [], "object": nested}.get(kind, "Correct1Horse")


def test_no_header_breaks_any_route(api: Api, admin: Person, places: dict[str, str]) -> None:
    tenant = f"/api/v1/tenants/{places['tenant_id']}"
    requests = [
        ("GET", f"{tenant}/files/{places['file_id']}/download", b""),
        ("GET", f"{tenant}/owners/me/files", b""),
        ("GET", "/users/me", b""),
        ("PATCH", "/users/me", b'{"name": "x"}'),
        ("POST", f"{tenant}/uploads", b""),
        ("PATCH", f"{tenant}/uploads/x", b"x"),
        ("POST", f"{tenant}/files", b"x"),
        ("POST", "/authorizations", b'{"username": "a", "password": "b"}'),
        ("POST", "/authorizations/refresh", b"{}"),
        ("DELETE", "/users/me/emails", b""),
        ("GET", "/credentials/a/available", b""),
    ]
    for (method, path, content), name in product(requests, HEADERS):
        headers = {"Content-Type": "application/json", "Tus-Resumable": "1.0.0", name: HEADERS[name]}
        by = None if name in ("Authorization", "X-Access-Token") else admin
        answer = api.request(method, path, by=by, data=content, headers=headers)
        assert answer.status_code < 500, (method, path, name, answer.text[:300])


@pytest.mark.parametrize("key", ["filename", "parentId"])
def test_a_nul_in_the_metadata_of_an_upload_is_refused(
    api: Api, admin: Person, places: dict[str, str], key: str
) -> None:
    values = {"filename": "a.txt", key: "a\0b"}
    headers = creation_headers(1, **values)
    answer = api.post(f"/api/v1/tenants/{places['tenant_id']}/uploads", by=admin, headers=headers)
    assert (answer.status_code, error_code(answer)) == (400, "error.validation-failed")
    assert answer.json["error"]["details"][0]["field"] == "Upload-Metadata"


def test_no_query_breaks_a_route(api: Api, admin: Person) -> None:
    for query in ("actorId=%00", "action=a%00b", "a%00b=1", "pageNumber=" + "9" * 5000):
        answer = api.get(f"/audit-events?{query}", by=admin)
        assert answer.status_code == 400, answer.text


def test_a_refused_character_names_its_field(api: Api) -> None:
    body = {"name": "x", "password": "y", "verificationCodes": [{"id": "\ud800", "code": "1"}]}
    headers = {"Content-Type": "application/json"}
    answer = api.request("POST", "/users", data=json.dumps(body), headers=headers)
    assert (answer.status_code, error_code(answer)) == (400, "error.validation-failed")
    assert answer.json["error"]["details"][0]["field"] == "verificationCodes.0.id"


def test_deep_but_bounded_json_with_brackets_in_text_is_read(api: Api, admin: Person) -> None:
    name = '[{"\\' * 50
    assert api.patch("/users/me", {"name": name}, by=admin).json["name"] == name


def test_a_flood_of_identical_errors_is_logged_once_with_its_count(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise LookupError("planted")

    monkeypatch.setattr(type(api.container.get(CaptchaService)), "issue", fail)
    with caplog.at_level(logging.ERROR):
        statuses = {api.post("/captchas", {}).status_code for _ in range(50)}
    assert statuses == {500}
    assert [record.getMessage().partition(" in ")[0] for record in own_records(caplog)] == [
        "Unexpected error"
    ]
    caplog.clear()
