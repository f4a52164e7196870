"""Routes that only the simulator has: they control people, failures and the clock."""

import json

from flask import Blueprint, abort, jsonify, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.feishu.platform import Platform
from strongroom_simulators.feishu.refusals import Refusal
from strongroom_simulators.feishu.registry import Status


def controls(platform: Platform) -> Blueprint:
    """Return the routes below ``/simulator``; each expects a JSON body."""
    routes = Blueprint("controls", __name__, url_prefix="/simulator")

    @routes.post("/people")
    def change_person() -> ResponseReturnValue:
        body = request.get_json()
        if body["person"] not in platform.people:
            abort(404, "No such person.")
        platform.leave(body["person"], Status(body["status"]))
        return jsonify({})

    @routes.post("/failures")
    def failure() -> ResponseReturnValue:
        body = request.get_json()
        refusal = Refusal(body["code"])
        planned = json.dumps(refusal.members).encode()
        platform.planned.plan_answer(
            body["path"], planned, status=refusal.status, times=body.get("times", 1)
        )
        return jsonify({})

    @routes.post("/clock")
    def clock() -> ResponseReturnValue:
        platform.clock.advance(request.get_json()["advance"])
        return jsonify(now=platform.clock())

    return routes
