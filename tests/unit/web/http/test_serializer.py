"""Serializers compiled from schemas do the same as ``Schema.dump``, for every schema of the core."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marshmallow import Schema, fields, post_dump

from strongroom.assembly.features import core_blueprints
from strongroom.plugin_api.schemas import Timestamp
from strongroom.web.http.response import serializer

TIMES = st.integers(0, 253_402_300_799_999)
"""Milliseconds up to the year 9999."""

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)
VALUES: dict[type[Any], st.SearchStrategy[Any]] = {
    Timestamp: TIMES,
    fields.String: st.text(),
    fields.Url: st.text(),
    fields.Email: st.text(),
    fields.Integer: st.integers(),
    fields.Float: st.floats(allow_nan=False),
    fields.Boolean: st.booleans(),
    fields.Raw: JSON,
}


# Views import their schemas.
list(core_blueprints())


def schemas(kind: type[Schema] = Schema) -> Iterator[type[Schema]]:
    """Yield the schemas of the core, with the collections that routes return."""
    for schema in kind.__subclasses__():
        if schema.__module__.startswith("strongroom."):
            yield schema
        yield from schemas(schema)


def values(field: Any) -> st.SearchStrategy[Any]:
    """Return the possible values of a field."""
    if isinstance(field, fields.Nested):
        nested = records(field.schema)
        return st.lists(nested, max_size=3) if field.many else nested
    if isinstance(field, fields.List):
        return st.lists(st.none() | values(field.inner), max_size=3)
    if isinstance(field, fields.Dict):
        inner = values(field.value_field) if field.value_field else JSON
        return st.dictionaries(st.text(), st.none() | inner, max_size=3)
    return VALUES[type(field)]


def records(schema: Any) -> st.SearchStrategy[Any]:
    """Return mappings and objects with some of the members of a schema."""
    members = {
        field.attribute or name: st.none() | values(field) for name, field in schema.dump_fields.items()
    }
    # Without such a member, marshmallow takes the method of the mapping.
    named_as_methods = {name: members.pop(name) for name in dir(dict) if name in members}
    found = st.fixed_dictionaries(named_as_methods, optional=members)
    return found | found.map(lambda members: SimpleNamespace(**members))


SCHEMAS = sorted(set(schemas()), key=lambda schema: schema.__qualname__)


def is_compiled(schema: type[Schema]) -> bool:
    """Return whether a schema has a serializer of its own, rather than marshmallow's."""
    return getattr(serializer(schema), "__func__", None) is not Schema.dump


def test_all_schemas_are_compiled_but_a_few() -> None:
    others = {schema.__name__ for schema in SCHEMAS if not is_compiled(schema)}
    assert others == {
        "AliveSchema",
        "IssuedCaptchaSchema",
        "ReadySchema",
        # Only parsed.
        "RegistrationSchema",
    }


@pytest.mark.parametrize(
    "schema", [schema for schema in SCHEMAS if is_compiled(schema)], ids=lambda schema: schema.__name__
)
def test_a_serializer_does_the_same_as_dump(schema: type[Schema]) -> None:
    instance, serialize = schema(), serializer(schema)

    @settings(max_examples=25)
    @given(records(instance))
    def check(record: Any) -> None:
        assert serialize(record) == instance.dump(record)

    check()


class Upper(fields.String):
    def _serialize(self, value: Any, *args: Any, **options: Any) -> Any:
        return str(super()._serialize(value, *args, **options)).upper()


class PartSchema(Schema):
    name = fields.String()
    size = fields.Integer()


class PartsSchema(Schema):
    renamed = fields.Integer(data_key="number", attribute="size", dump_default=7)
    secret = fields.String(load_only=True)
    part = fields.Nested(PartSchema(only=("name",)))
    parts = fields.List(fields.Nested(lambda: PartSchema(exclude=("name",))))
    many = fields.Nested(PartSchema, many=True, only=("size",))
    others = fields.Nested(PartSchema(many=True))


class TreeSchema(Schema):
    name = fields.String()
    children = fields.List(fields.Nested("TreeSchema"))


class FieldSchema(Schema):
    """A field of a type that the compiler does not know."""

    name = Upper()
    state = fields.Constant("ready")


class HookedSchema(Schema):
    name = fields.String()

    @post_dump
    def add(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        return {**data, "added": True}


@pytest.mark.parametrize("schema", [PartsSchema, TreeSchema, FieldSchema, HookedSchema])
def test_a_schema_of_a_plugin_is_serialized_as_declared(schema: type[Schema]) -> None:
    part = {"name": "a", "size": 1}
    collections = {"parts": [part, None], "many": [part], "others": [part], "children": [part]}
    for record in ({"name": "b", "secret": "c", "part": part, **collections}, {"state": None}, {}):
        assert serializer(schema)(record) == schema().dump(record)
