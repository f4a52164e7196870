"""Routes that only the simulator has: they control failures and the clock."""

from flask import Blueprint, jsonify, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.alipay.gateway import PATH, signed_answer
from strongroom_simulators.alipay.platform import Platform
from strongroom_simulators.alipay.refusals import SERVICE_UNAVAILABLE


def controls(platform: Platform) -> Blueprint:
    """Return the routes below ``/simulator``; each expects a JSON body."""
    routes = Blueprint("controls", __name__, url_prefix="/simulator")

    @routes.post("/failures")
    def failure() -> ResponseReturnValue:
        answer = signed_answer(platform, "error_response", SERVICE_UNAVAILABLE.members)
        platform.planned.plan_answer(PATH, answer.get_data(), times=request.get_json().get("times", 1))
        return jsonify({})

    @routes.post("/clock")
    def clock() -> ResponseReturnValue:
        platform.clock.advance(request.get_json()["advance"])
        return jsonify(now=platform.clock())

    return routes
