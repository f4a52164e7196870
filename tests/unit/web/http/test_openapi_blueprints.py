"""The OpenAPI document is made by the public members of flask-smorest, and has each kind of route."""

import flask_smorest
from flask import Response

from strongroom.web.http import openapi
from strongroom.web.http.access import Access
from strongroom.web.http.openapi import Description
from strongroom.web.http.routing import Blueprint


def test_no_private_member_of_flask_smorest_is_replaced() -> None:
    private = {name for name in vars(openapi._Api) if name.startswith("_") and not name.startswith("__")}
    assert [name for name in private if hasattr(flask_smorest.Api, name)] == []


def test_operations_are_in_the_document() -> None:
    blueprint = Blueprint("lamps", description="Lamps.", url_prefix="/lamps")

    @blueprint.operation("GET", "/<lamp_id>", access=Access.PUBLIC)
    def show_lamp(lamp_id: str) -> Response:
        """Get a lamp."""
        return Response(lamp_id)

    description = Description([blueprint], version="1", server_url="", base_path="/base")
    paths = description.document["paths"]
    assert paths["/base/lamps/{lampId}"]["get"]["operationId"] == "showLamp"
