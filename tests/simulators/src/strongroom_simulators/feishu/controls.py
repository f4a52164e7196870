"""Routes that only the simulator has: they control people, failures and the clock."""

import json

from flask import Blueprint, jsonify, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.feishu.platform import Platform
from strongroom_simulators.feishu.refusals import Refusal
from strongroom_simulators.feishu.registry import Status
from strongroom_simulators.platform_app import body_of_person, control_routes


def controls(platform: Platform) -> Blueprint:
    """Return the routes below ``/simulator``; each expects a JSON body."""
    routes = control_routes(platform)

    @routes.post("/people")
    def change_person() -> ResponseReturnValue:
        body = body_of_person(platform.people)
        platform.leave(body["person"], Status(body["status"]))
        return jsonify({})

    @routes.post("/failures")
    def failure() -> ResponseReturnValue:
        body = request.get_json()
        refusal = Refusal(body["code"])
        planned = json.dumps(refusal.members).encode()
        platform.failures.plan_answer(
            body["path"], planned, status=refusal.status, times=body.get("times", 1)
        )
        return jsonify({})

    return routes
