"""Changes of representations with a revision are found in the routes, and their views compare it."""

import pytest
from flask import Flask
from marshmallow import Schema, fields

from strongroom.foundation.plugins.plugin import PluginError
from strongroom.plugin_api.web import Access
from strongroom.web.http.preconditions import link_changes
from strongroom.web.http.routing import Blueprint, Operation


class RiddleSchema(Schema):
    """A representation with a revision."""

    revision = fields.Integer()


def test_a_view_that_does_not_compare_the_revision_is_refused_by_name() -> None:
    routes = Blueprint("riddles")

    @routes.operation("GET", "/riddles/<riddle_id>", access=Access.USER, returns=RiddleSchema)
    def get_riddle(riddle_id: str) -> dict[str, int]:
        return {"revision": len(riddle_id)}

    @routes.operation("PUT", "/riddles/<riddle_id>", access=Access.USER, returns=RiddleSchema)
    def put_riddle(riddle_id: str) -> dict[str, int]:
        return {"revision": len(riddle_id)}

    app = Flask(__name__)
    routes.register(app)
    changing = app.view_functions["riddles.put_riddle"]
    assert isinstance(changing, Operation)
    changing.owner = "riddles 1.0"
    with pytest.raises(PluginError, match=r"^riddles 1\.0: PUT /riddles/<riddle_id> .* put_riddle take"):
        link_changes(app)
