"""Routes that only the simulator has: they control people, rights, failures and the clock."""

from flask import Blueprint, abort, jsonify, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.dingtalk.platform import Platform
from strongroom_simulators.platform_app import body_of_person, control_routes


def controls(platform: Platform) -> Blueprint:
    """Return the routes below ``/simulator``; each expects a JSON body."""
    routes = control_routes(platform)

    @routes.post("/auth-codes")
    def auth_code() -> ResponseReturnValue:
        body = body_of_person(platform.people)
        try:
            return jsonify(code=platform.open_app(body["clientId"], body["person"]))
        except LookupError as error:
            abort(400, str(error))

    @routes.post("/members")
    def members() -> ResponseReturnValue:
        body = body_of_person(platform.people)
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

    return routes
