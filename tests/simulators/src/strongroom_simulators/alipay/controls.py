"""Routes that only the simulator has: they control failures and the clock."""

from flask import Blueprint, jsonify, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.alipay.gateway import PATH, signed_answer
from strongroom_simulators.alipay.platform import Platform
from strongroom_simulators.alipay.refusals import SERVICE_UNAVAILABLE
from strongroom_simulators.platform_app import control_routes


def controls(platform: Platform) -> Blueprint:
    """Return the routes below ``/simulator``; each expects a JSON body."""
    routes = control_routes(platform)

    @routes.post("/failures")
    def failure() -> ResponseReturnValue:
        answer = signed_answer(platform, "error_response", SERVICE_UNAVAILABLE.members)
        platform.failures.plan_answer(PATH, answer.get_data(), times=request.get_json().get("times", 1))
        return jsonify({})

    return routes
