"""Routes that only the simulator has: they control people, rights, failures and the clock."""

from typing import Any

from flask import Blueprint, abort, jsonify, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.dingtalk.platform import Platform


def controls(platform: Platform) -> Blueprint:
    """Return the routes below ``/simulator``; each expects a JSON body."""
    routes = Blueprint("controls", __name__, url_prefix="/simulator")

    @routes.post("/auth-codes")
    def auth_code() -> ResponseReturnValue:
        body = _body(platform)
        try:
            return jsonify(code=platform.open_app(body["clientId"], body["person"]))
        except LookupError as error:
            abort(400, str(error))

    @routes.post("/members")
    def members() -> ResponseReturnValue:
        body = _body(platform)
        change = platform.join if body["isMember"] else platform.leave
        change(body["corpId"], body["person"])
        return jsonify({})

    @routes.post("/rights")
    def rights() -> ResponseReturnValue:
        body = request.get_json()
        platform.apps[body["clientId"]].rights = set(body["rights"])
        return jsonify({})

    @routes.post("/failures")
    def failure() -> ResponseReturnValue:
        body = request.get_json()
        platform.failures.plan(body["path"], body["code"], times=body.get("times", 1))
        return jsonify({})

    @routes.post("/clock")
    def clock() -> ResponseReturnValue:
        platform.clock.advance(request.get_json()["advance"])
        return jsonify(now=platform.clock())

    return routes


def _body(platform: Platform) -> dict[str, Any]:
    body: dict[str, Any] = request.get_json()
    if body["person"] not in platform.people:
        abort(404, "No such person.")
    return body
