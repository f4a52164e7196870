"""The OpenAPI document of a server with all plugins: examples, closed requests, rules of members."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import jsonschema_rs
import pytest
from tests.support.api import Api, Json
from tests.support.full_server import ALL_PLUGINS

METHODS = {"get", "put", "post", "delete", "options", "head", "patch"}


pytestmark = pytest.mark.config(ALL_PLUGINS)


@pytest.fixture
def document(api: Api) -> Json:
    # Each test treats the warning about two schemas of one name as an error.
    document: Json = api.get("/openapi.json").json
    return document


def operations(document: Json) -> Iterator[Json]:
    for item in document["paths"].values():
        yield from (item[method] for method in METHODS & item.keys())


def contents(operation: Json) -> Iterator[tuple[str, Json]]:
    """Yield the part and the media types of the request body and of each success."""
    yield "request", operation.get("requestBody", {}).get("content", {})
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            yield status, response.get("content", {})


def json_contents(document: Json) -> Iterator[tuple[str, Json]]:
    for operation in operations(document):
        for part, content in contents(operation):
            if "application/json" in content:
                yield f"{operation['operationId']} {part}", content["application/json"]


def validator(document: Json, schema: Json) -> Any:
    whole = {**schema, "components": document["components"]}
    return jsonschema_rs.validator_for(whole, validate_formats=True)


def test_every_json_body_has_an_example_that_its_schema_accepts(document: Json) -> None:
    found = dict(json_contents(document))
    assert len(found) > 230
    assert [name for name, content in found.items() if "example" not in content] == []
    faults = [
        f"{name} {error.instance_path}: {error.message}"
        for name, content in found.items()
        for error in validator(document, content["schema"]).iter_errors(content["example"])
    ]
    assert faults == []


def test_no_example_is_full_of_placeholders(document: Json) -> None:
    assert [name for name, content in json_contents(document) if '"string"' in str(content)] == []
    login = document["paths"]["/users"]["post"]["requestBody"]["content"]["application/json"]
    assert login["example"] == {"name": "Alice", "email": "alice@example.com"}


def test_request_bodies_are_closed(document: Json) -> None:
    schemas = document["components"]["schemas"]
    bodies = [
        (operation["operationId"], schemas.get(schema.get("$ref", "").rpartition("/")[2], schema))
        for operation in operations(document)
        for media_type, content in operation.get("requestBody", {}).get("content", {}).items()
        if media_type in ("application/json", "multipart/form-data")
        for schema in [content["schema"]]
    ]
    assert len(bodies) > 60
    assert {name for name, body in bodies if body.get("additionalProperties") is not False} == set()


def test_bodies_are_documented_with_the_types_that_are_accepted(document: Json) -> None:
    body = document["paths"]["/user-imports"]["post"]["requestBody"]
    assert list(body["content"]) == ["application/x-ndjson"]


def test_rules_between_members_and_of_headers_are_stated(document: Json) -> None:
    new_user = validator(document, document["components"]["schemas"]["NewUser"])
    body = {"name": "Alice", "password": "Correct1Horse"}
    assert not new_user.is_valid(body)
    assert new_user.is_valid({**body, "mobile": "+8613800138000"})
    assert not new_user.is_valid({**body, "mobile": "+8613800138000", "password": "Short1"})
    codes = [
        parameter["schema"]
        for operation in operations(document)
        for parameter in operation.get("parameters", ())
        if parameter.get("name") == "X-Verification-Code"
    ]
    assert codes
    for schema in codes:
        assert jsonschema_rs.is_valid(schema, "01a1.271828")
        assert not jsonschema_rs.is_valid(schema, "271828")


def test_no_schema_has_a_number_for_a_name(document: Json) -> None:
    assert [name for name in document["components"]["schemas"] if name[-1].isdigit()] == []


def test_there_is_one_way_to_present_a_token(document: Json) -> None:
    """Two tokens in one request are refused, so the document must not offer two schemes."""
    assert document["components"]["securitySchemes"].keys() == {"bearer"}
    schemes = {
        scheme
        for operation in operations(document)
        for requirement in operation.get("security", ())
        for scheme in requirement
    }
    assert schemes == {"bearer"}


def test_the_documentation_page_fits_phones(api: Api) -> None:
    page = api.get("/docs").text
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in page


EMPTY_WORDS: Final = {"a", "an", "the", "of", "this", "its", "is", "for"}
MARKUP: Final = re.compile(r"``|:\w+:`|^(Args|Raises|Returns|Yields):", re.MULTILINE)
"""What docstrings have for Python's readers only."""


def words(text: str) -> set[str]:
    """Return the words of a text or of a name in camel case, without articles."""
    separated = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).lower()
    return {re.sub("s$", "", word) for word in re.findall("[a-z0-9]+", separated)} - EMPTY_WORDS


def members(value: Any, place: str) -> Iterator[tuple[str, str, Json]]:
    """Yield the place, the name and the schema of each member below a JSON value."""
    if isinstance(value, list):
        for item in value:
            yield from members(item, place)
    elif isinstance(value, dict):
        schemas = value.get("properties", {})
        for name, schema in schemas.items():
            yield f"{place}.{name}", name, schema
        for key, item in value.items():
            # Schemas by name, and examples are no schemas.
            inner = f"{place}/{key}" if place.count("/") < 2 else place
            yield from () if key == "example" else members(item, inner)


def described(document: Json) -> Iterator[tuple[str, str, str, str]]:
    """Yield the kind, the place, the name in words and the description of all that has one."""
    for path, item in document["paths"].items():
        for method in METHODS & item.keys():
            place, operation = f"{method} {path}", item[method]
            yield "operations", place, operation["summary"], operation.get("description", "")
            for parameter in (*item.get("parameters", ()), *operation.get("parameters", ())):
                text = parameter.get("description", "")
                yield "parameters", f"{place} {parameter['name']}", parameter["name"], text
    for name, schema in document["components"]["schemas"].items():
        yield "schemas", name, name, schema.get("description", "")
    for place, name, schema in members({"paths": document["paths"], **document["components"]}, ""):
        yield "members", place, name, schema.get("description", "")


def test_each_schema_is_used(document: Json) -> None:
    text = json.dumps(document)
    schemas = document["components"]["schemas"]
    assert [name for name in schemas if f'"#/components/schemas/{name}"' not in text] == []


def test_everything_is_described(document: Json) -> None:
    found = list(described(document))
    assert len(found) > 1700
    assert sorted({f"{kind}: {place}" for kind, place, _, text in found if not text}) == []


def test_no_description_repeats_a_name_or_is_for_readers_of_python(document: Json) -> None:
    found = [item for item in described(document) if item[3]]
    repeated = {place: text for _, place, name, text in found if words(text) <= words(name)}
    assert repeated == {}
    assert {place: text for _, place, _, text in found if MARKUP.search(text)} == {}
