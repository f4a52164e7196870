"""The interfaces that need a token: the person who logs in, and the contacts."""

from typing import Final

from flask import Blueprint, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.feishu.answers import answer
from strongroom_simulators.feishu.platform import Platform
from strongroom_simulators.feishu.refusals import (
    INVALID_PARAMETER,
    INVALID_USER_ID,
    MISSING_SCOPE,
    MISSING_TOKEN,
    NO_USER_AUTHORITY,
    Refusal,
)
from strongroom_simulators.feishu.registry import (
    CONTACT,
    EMAIL,
    EMPLOYMENT,
    PHONE,
    USER_ID,
    Person,
    PlatformApp,
    Status,
)

USER_INFO: Final = "/open-apis/authen/v1/user_info"
USERS: Final = "/open-apis/contact/v3/users"


def interfaces(platform: Platform) -> Blueprint:
    """Return the routes."""
    routes = Blueprint("interfaces", __name__)

    @routes.get(USER_INFO)
    def user_info() -> ResponseReturnValue:
        holder = platform.user_tokens.holder(_bearer())
        platform.limit.hit((USER_INFO, holder.app.app_id))
        data = _user_info(holder.app, holder.person, holder.scopes)
        return answer({"code": 0, "msg": "success", "data": data})

    @routes.get(f"{USERS}/<user_id>")
    def user(user_id: str) -> ResponseReturnValue:
        app = platform.app_tokens.app(_bearer())
        platform.limit.hit((USERS, app.app_id))
        if CONTACT not in app.scopes:
            raise Refusal(MISSING_SCOPE)
        person = _find(platform, app, user_id)
        if not app.contains(person):
            raise Refusal(NO_USER_AUTHORITY)
        return answer({"code": 0, "msg": "success", "data": {"user": _contact(app, person)}})

    return routes


def _bearer() -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme != "Bearer" or not token:
        raise Refusal(MISSING_TOKEN)
    return token


def _user_info(app: PlatformApp, person: Person, scopes: frozenset[str]) -> dict[str, object]:
    members = {
        "name": person.name,
        "en_name": person.en_name or person.name,
        "avatar_url": "https://s1-imfile.feishucdn.com/static-resource/v1/sample",
        "open_id": app.open_id(person),
        "union_id": app.union_id(person),
        "tenant_key": person.tenant,
    }
    optional = {
        EMAIL: {"email": person.email, "enterprise_email": person.enterprise_email},
        PHONE: {"mobile": person.mobile},
        USER_ID: {"user_id": person.id},
        EMPLOYMENT: {"employee_no": person.employee_no},
    }
    for scope in scopes & optional.keys():
        members |= {name: value for name, value in optional[scope].items() if value}
    return {**members}


def _find(platform: Platform, app: PlatformApp, user_id: str) -> Person:
    kind = request.args.get("user_id_type", "open_id")
    ids = {"open_id": app.open_id, "union_id": app.union_id}
    if kind not in ids:
        raise Refusal(INVALID_PARAMETER)
    for person in platform.people.values():
        if ids[kind](person) == user_id:
            return person
    raise Refusal(INVALID_USER_ID)


def _contact(app: PlatformApp, person: Person) -> dict[str, object]:
    members: dict[str, object] = {"union_id": app.union_id(person), "open_id": app.open_id(person)}
    if EMPLOYMENT in app.scopes:
        members["status"] = {
            "is_frozen": person.status is Status.FROZEN,
            "is_resigned": person.status is Status.RESIGNED,
            "is_activated": person.status is Status.ACTIVE,
            "is_exited": person.status is Status.EXITED,
            "is_unjoin": False,
        }
    return members
