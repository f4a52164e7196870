"""Plugins with equal names of views and schemas: each operation and each schema has its own name."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from tests.support.api import Api
from tests.support.config import write_api_config
from tests.support.databases import on_sqlite

PLUGINS: Final = ("lamps", "desks", "chairs")
CODE: Final = """
from itertools import count

from marshmallow import Schema, fields
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.schemas import collection_schema
from strongroom.plugin_api.web import Access, Blueprint

API_VERSION = "2.0"
routes, numbers = Blueprint("NAME"), count(1)

class UserSchema(Schema):
    NAME = fields.Integer()

@routes.operation("POST", "/NAME", access=Access.USER, returns=UserSchema, status=201)
def create_tenant():
    return {"NAME": next(numbers)}

@routes.operation("GET", "/NAME", access=Access.PUBLIC, returns=collection_schema(UserSchema))
def list_users():
    return {}

def make_inner():
    class UserSchema(Schema):
        inner = fields.Integer()
    return UserSchema

@routes.operation("GET", "/NAME/inner", access=Access.PUBLIC, returns=make_inner())
def get_user():
    return {}

@hookimpl
def register_blueprints():
    return [routes]
"""


@pytest.fixture
def api(tmp_path: Path, database_url: str) -> Iterator[Api]:
    (folder := tmp_path / "plugins.d").mkdir()
    for name in PLUGINS:
        (folder / f"{name}.py").write_text(CODE.replace("NAME", name))
    with Api.running(
        write_api_config(tmp_path, database_url, {"plugins": {"folder": str(folder)}})
    ) as api:
        yield api


def members(document: dict[str, Any], path: str, method: str, status: str) -> set[str]:
    """Return the members of the response, or of the records of a collection."""
    schemas = document["components"]["schemas"]
    content = document["paths"][path][method]["responses"][status]["content"]["application/json"]
    named = schemas[content["schema"]["$ref"].rpartition("/")[2]]["properties"]
    if "data" in named:
        named = schemas[named["data"]["items"]["$ref"].rpartition("/")[2]]["properties"]
    return set(named)


@on_sqlite
def test_equal_names_of_views_and_schemas_stay_distinct(api: Api) -> None:
    document = api.get("/openapi.json").json
    ids = Counter(
        operation["operationId"]
        for item in document["paths"].values()
        for operation in item.values()
        if "operationId" in operation
    )
    assert [name for name, number in ids.items() if number > 1] == []
    # The core's names never depend on plugins.
    assert document["paths"]["/api/v1/tenants"]["post"]["operationId"] == "createTenant"
    assert {"lampsCreateTenant", "desksCreateTenant", "chairsListUsers"} <= ids.keys()
    for name in PLUGINS:
        assert members(document, f"/{name}", "post", "201") == {name}
        assert members(document, f"/{name}", "get", "200") == {name}
        assert members(document, f"/{name}/inner", "get", "200") == {"inner"}


@on_sqlite
def test_an_idempotency_key_is_of_one_operation(api: Api) -> None:
    user = api.person()
    for _ in range(2):
        for name in PLUGINS:
            reply = api.post(f"/{name}", by=user, headers={"Idempotency-Key": "same"})
            assert (reply.status_code, reply.json) == (201, {name: 1})
