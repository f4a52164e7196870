"""The interfaces of oapi.dingtalk.com: members of the app's company. Errors have status 200."""

from flask import Blueprint, jsonify, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.dingtalk.platform import Platform
from strongroom_simulators.dingtalk.refusals import (
    FORBIDDEN,
    NO_MEMBER,
    OLD_BAD_CODE,
    OLD_NO_RIGHT,
    OldRefusal,
)
from strongroom_simulators.dingtalk.registry import MEMBER_RIGHT, PlatformApp


def old_interfaces(platform: Platform) -> Blueprint:
    """Return the routes."""
    routes = Blueprint("old_interfaces", __name__)

    @routes.post("/topapi/user/getbyunionid")
    def by_unionid() -> ResponseReturnValue:
        app = _app(platform)
        if MEMBER_RIGHT not in app.rights:
            raise OldRefusal(FORBIDDEN, sub_code=OLD_NO_RIGHT)
        return _result(_contact(platform, app, _field("unionid")))

    @routes.post("/topapi/v2/user/get")
    def by_userid() -> ResponseReturnValue:
        app = _app(platform)
        if MEMBER_RIGHT not in app.rights:
            raise OldRefusal(FORBIDDEN, sub_code=OLD_NO_RIGHT)
        return _result(_member(platform, app, _field("userid")))

    @routes.post("/topapi/v2/user/getuserinfo")
    def by_code() -> ResponseReturnValue:
        app = _app(platform)
        code = platform.in_app_codes.spend(app, _field("code"))
        if code is None:
            raise OldRefusal(OLD_BAD_CODE)
        members = platform.company(app).members
        if code.person.id not in members:
            raise OldRefusal(NO_MEMBER)
        names = {"userid": members[code.person.id], "name": code.person.nick}
        rank = {"sys": False, "sys_level": 0, "device_id": "simulated"}
        return _result({**names, **rank, "unionid": app.unionid(code.person)})

    return routes


def refuse_old(refusal: OldRefusal) -> ResponseReturnValue:
    """Return the error response of an old interface."""
    body = {"errcode": refusal.errcode, "errmsg": str(refusal), "request_id": "simulated"}
    return jsonify(body if refusal.sub_code is None else {**body, "sub_code": str(refusal.sub_code)})


def _app(platform: Platform) -> PlatformApp:
    app = platform.app_tokens.check(request.args.get("access_token", ""))
    platform.old_calls.hit((app.client_id, request.path))
    return app


def _contact(platform: Platform, app: PlatformApp, unionid: str) -> dict[str, object]:
    company = platform.company(app)
    for contact_type, userids in enumerate((company.members, company.contacts)):
        for person, userid in userids.items():
            if app.unionid(platform.people[person]) == unionid:
                return {"contact_type": contact_type, "userid": userid}
    raise OldRefusal(NO_MEMBER)


def _member(platform: Platform, app: PlatformApp, userid: str) -> dict[str, object]:
    for name, known in platform.company(app).members.items():
        if known == userid:
            person = platform.people[name]
            names = {"userid": userid, "unionid": app.unionid(person), "name": person.nick}
            owner = person.exclusive_corp
            if owner is None:
                return {**names, "exclusive_account": False}
            kind = {"exclusive_account_type": "dingtalk", "exclusive_account_corp_id": owner}
            return {**names, "exclusive_account": True, **kind}
    raise OldRefusal(NO_MEMBER)


def _field(name: str) -> str:
    """Return a member of the body, which is a form or JSON."""
    body = request.get_json(silent=True)
    return str(body.get(name, "")) if isinstance(body, dict) else request.form.get(name, "")


def _result(result: dict[str, object]) -> ResponseReturnValue:
    return jsonify(errcode=0, errmsg="ok", result=result, request_id="simulated")
