"""Shared descriptions of the OpenAPI document, and those in docstrings."""

from typing import Any

from marshmallow import Schema

from strongroom.web.http.openapi_descriptions import (
    MEMBERS,
    PATH_PARAMETERS,
    describe_schemas,
    path_parameters,
)


class _ShelfSchema(Schema):
    """A shelf, with ``boxes``.

    It has at most ten.
    """


class _LargeShelfSchema(_ShelfSchema):
    pass


def described(rule: str, **own: str) -> dict[str, str]:
    return {item["name"]: item["description"] for item in path_parameters(rule, own)}


def test_a_blueprint_adds_path_parameters_and_replaces_shared_ones() -> None:
    rule = "/tenants/<tenant_id>/shelves/<path:shelf>"
    assert described(rule, shelf="Its name") == {
        "tenant_id": PATH_PARAMETERS["tenant_id"],
        "shelf": "Its name",
    }
    assert described(rule, tenant_id="The owner", unused="Nothing") == {"tenant_id": "The owner"}


def test_a_schema_has_the_text_of_its_own_class() -> None:
    schemas: dict[str, Any] = {"Shelf": {}, "LargeShelf": {}, "Stated": {"description": "As stated"}}
    classes = {"Shelf": _ShelfSchema, "LargeShelf": _LargeShelfSchema, "Stated": _ShelfSchema}
    describe_schemas(schemas, classes)
    assert schemas == {
        "Shelf": {"description": "A shelf, with `boxes`.\n\nIt has at most ten."},
        "LargeShelf": {},
        "Stated": {"description": "As stated"},
    }


def test_a_field_may_say_more_than_the_shared_description() -> None:
    members = {"createdAt": {}, "updatedAt": {"description": "When it was moved"}, "id": {}}
    describe_schemas({"Shelf": {"properties": members}}, {})
    assert members == {
        "createdAt": {"description": MEMBERS["createdAt"]},
        "updatedAt": {"description": "When it was moved"},
        "id": {},
    }
