"""Routes that only the simulator has: they control people, failures and the clock."""

from flask import Blueprint, abort, jsonify, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.platform_app import body_of_person, control_routes
from strongroom_simulators.wecom.codes import BASE
from strongroom_simulators.wecom.platform import Platform
from strongroom_simulators.wecom.registry import Status


def controls(platform: Platform) -> Blueprint:
    """Return the routes below ``/simulator``; each expects a JSON body."""
    routes = control_routes(platform)

    @routes.post("/codes")
    def code() -> ResponseReturnValue:
        body = body_of_person(platform.people)
        app = platform.app(body["corpid"], str(body["agentid"])) or abort(404, "No such app.")
        return jsonify(code=platform.confirm(app, body["person"], body.get("scope", BASE)))

    @routes.post("/members")
    def members() -> ResponseReturnValue:
        body = body_of_person(platform.people)
        _change_member(platform, body["person"], body["status"])
        return jsonify({})

    @routes.post("/trusted-addresses")
    def trusted_addresses() -> ResponseReturnValue:
        platform.trust(request.get_json()["addresses"])
        return jsonify({})

    @routes.post("/failures")
    def failure() -> ResponseReturnValue:
        body = request.get_json()
        platform.failures.plan(body["path"], body["errcode"], times=body.get("times", 1))
        return jsonify({})

    return routes


def _change_member(platform: Platform, person: str, status: str) -> None:
    if status == "removed":
        platform.remove(person)
    else:
        platform.set_status(person, Status[status.upper()])
