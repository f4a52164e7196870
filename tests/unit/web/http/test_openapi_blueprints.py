"""The OpenAPI document is made by the public members of flask-smorest, and has each kind of route."""

import flask_smorest
import pytest
from flask import Response

from strongroom.web.http import openapi
from strongroom.web.http.access import Access
from strongroom.web.http.openapi import Description
from strongroom.web.http.routing import Blueprint


@pytest.mark.parametrize(
    ("own", "library"),
    [(Blueprint, flask_smorest.Blueprint), (openapi._Api, flask_smorest.Api)],
)
def test_no_private_member_of_flask_smorest_is_replaced(own: type, library: type) -> None:
    private = {name for name in vars(own) if name.startswith("_") and not name.startswith("__")}
    assert [name for name in private if hasattr(library, name)] == []


def test_operations_and_plain_routes_are_in_the_document() -> None:
    blueprint = Blueprint("lamps", __name__, description="Lamps.")

    @blueprint.operation("GET", "/lamps/<lamp_id>", access=Access.PUBLIC)
    def show_lamp(lamp_id: str) -> Response:
        """Get a lamp."""
        return Response(lamp_id)

    def list_lamps() -> Response:
        """List the lamps."""
        return Response()

    blueprint.add_url_rule("/lamps", view_func=list_lamps)
    description = Description([blueprint], version="1", server_url="", base_path="/base")
    paths = description.document["paths"]
    assert paths["/base/lamps/{lampId}"]["get"]["operationId"] == "showLamp"
    assert paths["/base/lamps"]["get"]["summary"] == "List the lamps."
