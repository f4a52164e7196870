"""The interfaces of api.dingtalk.com: tokens, and the profile of a person."""

from typing import Any

from flask import Blueprint, jsonify, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.dingtalk.platform import Platform
from strongroom_simulators.dingtalk.refusals import BAD_CODE, BAD_GRANT, NO_RIGHT, NewRefusal
from strongroom_simulators.dingtalk.registry import MOBILE_RIGHT, PROFILE_RIGHT
from strongroom_simulators.dingtalk.tokens import LIFETIME

TOKEN_HEADER = "x-acs-dingtalk-access-token"


def new_interfaces(platform: Platform) -> Blueprint:
    """Return the routes."""
    routes = Blueprint("new_interfaces", __name__)

    @routes.post("/v1.0/oauth2/userAccessToken")
    def user_access_token() -> ResponseReturnValue:
        body = _body()
        app = platform.authenticate(body.get("clientId"), body.get("clientSecret"))
        platform.new_calls.hit((app.client_id, request.path))
        if body.get("grantType") != "authorization_code":
            raise NewRefusal(BAD_GRANT)
        code = platform.codes.spend(app, str(body.get("code")))
        if code is None:
            raise NewRefusal(BAD_CODE)
        tokens = {
            "accessToken": platform.person_tokens.issue(code),
            "refreshToken": "r",
            "expireIn": LIFETIME,
        }
        return jsonify({**tokens, "corpId": code.corp_id} if code.corp_id else tokens)

    @routes.get("/v1.0/contact/users/me")
    def me() -> ResponseReturnValue:
        code = platform.person_tokens.check(request.headers.get(TOKEN_HEADER, ""))
        app, person = code.app, code.person
        platform.new_calls.hit((app.client_id, request.path))
        if PROFILE_RIGHT not in app.rights:
            raise NewRefusal(NO_RIGHT)
        profile = {
            "nick": person.nick,
            "avatarUrl": "https://static-legacy.dingtalk.com/media/a.jpg",
            "openId": app.openid(person),
            "unionId": app.unionid(person),
        }
        if MOBILE_RIGHT in app.rights and person.mobile:
            profile |= {"mobile": person.mobile, "stateCode": person.state_code}
        return jsonify({**profile, "email": person.email} if person.email else profile)

    @routes.post("/v1.0/oauth2/accessToken")
    def app_access_token() -> ResponseReturnValue:
        body = _body()
        app = platform.authenticate(body.get("appKey"), body.get("appSecret"))
        platform.new_calls.hit((app.client_id, request.path))
        token, lifetime = platform.app_tokens.get(app)
        return jsonify(accessToken=token, expireIn=lifetime)

    return routes


def refuse_new(refusal: NewRefusal) -> ResponseReturnValue:
    """Return the error response of a new interface."""
    body = {"code": refusal.code, "message": str(refusal), "requestid": "5B6F2C3E-simulated"}
    return jsonify(body), refusal.status


def _body() -> dict[str, Any]:
    body = request.get_json(silent=True)
    return body if isinstance(body, dict) else {}
