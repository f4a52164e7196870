"""Routes that only the simulator has: they control people, failures and the clock."""

from collections.abc import Callable
from typing import TypeVar

from flask import Blueprint, jsonify, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.platform_app import body_of_person, control_routes
from strongroom_simulators.wechat.platform import Platform

_ResultT = TypeVar("_ResultT")


def controls(platform: Platform) -> Blueprint:
    """Return the routes below ``/simulator``; each expects a JSON body."""
    routes = control_routes(platform)

    @routes.post("/login-codes")
    def login_code() -> ResponseReturnValue:
        return jsonify(code=_of_person(platform, platform.log_in))

    @routes.post("/phone-codes")
    def phone_code() -> ResponseReturnValue:
        return jsonify(code=_of_person(platform, platform.give_phone_number))

    @routes.post("/user-data")
    def user_data() -> ResponseReturnValue:
        return jsonify(_of_person(platform, platform.give_user_data))

    @routes.post("/failures")
    def failure() -> ResponseReturnValue:
        body = request.get_json()
        platform.failures.plan(body["path"], body["errcode"], times=body.get("times", 1))
        return jsonify({})

    @routes.post("/accounts")
    def account() -> ResponseReturnValue:
        body = request.get_json()
        platform.app(body["appid"]).account = body["account"]
        return jsonify({})

    return routes


def _of_person(platform: Platform, act: Callable[[str, str], _ResultT]) -> _ResultT:
    body = body_of_person(platform.people)
    return act(body["appid"], body["person"])
