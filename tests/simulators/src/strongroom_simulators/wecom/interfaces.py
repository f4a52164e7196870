"""The interfaces of ``qyapi.weixin.qq.com``: JSON with status 200, errors included."""

import json
from collections.abc import Mapping

from flask import Blueprint, Response, request

from strongroom_simulators.wecom.codes import PRIVATE, Grant
from strongroom_simulators.wecom.platform import Platform
from strongroom_simulators.wecom.refusals import UNTRUSTED_ADDRESS, Refusal, message_of
from strongroom_simulators.wecom.registry import PlatformApp

GET_TOKEN = "/cgi-bin/gettoken"
GET_USER_INFO = "/cgi-bin/auth/getuserinfo"
GET_USER_DETAIL = "/cgi-bin/auth/getuserdetail"
GET_USER = "/cgi-bin/user/get"


def interfaces(platform: Platform) -> Blueprint:
    """Return the routes."""
    routes = Blueprint("interfaces", __name__)

    @routes.get(GET_TOKEN)
    def get_token() -> Response:
        app = platform.authenticate(request.args.get("corpid", ""), request.args.get("corpsecret", ""))
        return answer(platform.tokens.get(app))

    @routes.get(GET_USER_INFO)
    def get_user_info() -> Response:
        app = _app(platform)
        grant = platform.codes.spend(app, request.args.get("code", ""))
        return answer(_user_info(platform, grant))

    @routes.post(GET_USER_DETAIL)
    def get_user_detail() -> Response:
        app = _app(platform)
        body = request.get_json(force=True, silent=True) or {}
        person = platform.tickets.person(app, str(body.get("user_ticket", "")))
        contact = {name: value for name, value in person.contact.items() if name in app.sensitive}
        return answer({"userid": person.userid, "gender": "0", "avatar": "", **contact})

    @routes.get(GET_USER)
    def get_user() -> Response:
        person = platform.member(_app(platform), request.args.get("userid", ""))
        # Apps that were registered since June 2022 get neither the number nor the address here.
        return answer(
            {
                "userid": person.userid,
                "name": person.name,
                "department": [1],
                "main_department": 1,
                "status": int(person.status),
            }
        )

    return routes


def answer(members: Mapping[str, object]) -> Response:
    """Return a successful response."""
    return _json({"errcode": 0, "errmsg": "ok", **members})


def refuse(refusal: Refusal) -> Response:
    """Return an error response, which has status 200 like any other."""
    message = message_of(refusal.errcode, request.remote_addr or "")
    return _json({"errcode": refusal.errcode, "errmsg": message})


def _json(members: Mapping[str, object]) -> Response:
    text = json.dumps(members, ensure_ascii=False)
    return Response(text.encode(), content_type="application/json; charset=UTF-8")


def _app(platform: Platform) -> PlatformApp:
    app = platform.tokens.app(request.args.get("access_token", ""))
    if app.trusted_addresses is not None and request.remote_addr not in app.trusted_addresses:
        raise Refusal(UNTRUSTED_ADDRESS)
    return app


def _user_info(platform: Platform, grant: Grant) -> dict[str, object]:
    app, person = grant.app, grant.person
    if app.is_linked(person):
        return {"userid": f"{person.corpid}/{person.userid}"}
    if not app.is_member(person):
        external = {"external_userid": person.external_userid} if person.external_userid else {}
        return {"openid": app.openid(person), **external}
    if grant.scope == PRIVATE and app.is_visible_to(person):
        return {"userid": person.userid, "user_ticket": platform.tickets.issue(grant)}
    return {"userid": person.userid}
