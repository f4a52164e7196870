"""A parameter of any size was taken elsewhere, and kept the server busy (CVE-2026-4634)."""

import time
from collections.abc import Iterator

from tests.support.api import Api, Json

MEBIBYTE = 1024 * 1024
FAST_SECONDS = 5


def bodies(document: Json) -> Iterator[tuple[str, str, Json, str]]:
    """Yield method, path and body for each string that an operation takes, with where it stands."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}) if isinstance(operation, dict) else {}
            schema = content.get("content", {}).get("application/json", {}).get("schema")
            if schema:
                for body, place in oversize(resolve(schema, document), document):
                    yield method.upper(), path, body, place


def resolve(schema: Json, document: Json) -> Json:
    """Follow references."""
    for part in (schema, *schema.get("allOf", []), *schema.get("anyOf", [])):
        if "$ref" in part:
            found: Json = document["components"]["schemas"][part["$ref"].rpartition("/")[2]]
            return found
    return schema


def oversize(schema: Json, document: Json) -> Iterator[tuple[Json, str]]:
    """Yield bodies in which one string is nearly as large as a body may be."""
    for name, member in schema.get("properties", {}).items():
        kind = resolve(member, document)
        if "properties" in kind:
            yield from (({name: body}, f"{name}.{place}") for body, place in oversize(kind, document))
        elif "string" in str(kind.get("type")):
            yield {name: "x" * (MEBIBYTE - 100)}, name


def test_a_mebibyte_in_any_string_is_refused_by_its_name_and_fast(api: Api) -> None:
    admin = api.person(admin=True)
    document = api.get("/openapi.json").json
    places = list(bodies(document))
    assert len(places) > 30
    accepted = []
    for method, path, body, place in places:
        began = time.process_time()
        response = api.request(method, path, json=body, by=admin)
        seconds = time.process_time() - began
        named = {item["field"] for item in response.json["error"]["details"]}
        if response.status_code != 413 and (response.status_code != 400 or place not in named):
            accepted.append((method, path, place, response.status_code, seconds))
        assert seconds < FAST_SECONDS, (method, path, place)
    assert accepted == []


def test_a_kibibyte_and_more_in_a_path_is_no_credential(api: Api) -> None:
    long = "x" * 100_000
    assert api.get(f"/credentials/{long}/available").json == {"available": False}
    body = {"verificationCode": {"id": "x", "code": "y"}, "newPassword": "Another2Battery"}
    assert api.post(f"/users/{long}/reset-password", body).status_code == 400
    assert api.delete(f"/authorizations/{long}").status_code == 404
