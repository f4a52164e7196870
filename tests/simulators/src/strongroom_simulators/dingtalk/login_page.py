"""The page of login.dingtalk.com, on which a tester chooses the person who confirms the login.

In a browser it shows a QR code; in DingTalk's own browser, which cannot scan its own screen, it does
not.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

import segno
from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.dingtalk.platform import Platform
from strongroom_simulators.dingtalk.registry import Person
from strongroom_simulators.platform_app import redirect_back

PATH: Final = "/oauth2/auth"
SCOPES: Final = ({"openid"}, {"openid", "corpid"})


def login_page(platform: Platform) -> Blueprint:
    """Return the routes."""
    routes = Blueprint("login_page", __name__)

    @routes.before_request
    def refuse_wrong_parameters() -> ResponseReturnValue | None:
        if problem := _problem(platform, request.args):
            return render_template("problem.html", problem=problem), HTTPStatus.BAD_REQUEST
        return None

    @routes.get(PATH)
    def show() -> ResponseReturnValue:
        return _page(platform)

    @routes.post(PATH)
    def decide() -> ResponseReturnValue:
        if request.form.get("decision") != "confirm":
            return redirect_back({"error": "access_denied"})
        person = platform.people.get(request.form.get("person", ""))
        if person not in _people(platform):
            return _page(platform, problem="Choose who scans."), HTTPStatus.BAD_REQUEST
        return redirect_back(_answer(platform, person))

    return routes


def _problem(platform: Platform, query: Mapping[str, str]) -> str | None:
    app = platform.apps.get(query.get("client_id", ""))
    if app is None:
        return "The client_id does not belong to an app."
    if urlsplit(query.get("redirect_uri", "")).hostname not in app.hosts:
        return "The host of the redirect_uri is not registered."
    if query.get("response_type") != "code" or set(query.get("scope", "").split()) not in SCOPES:
        return "The response_type or the scope is wrong."
    if query.get("prompt") != "consent":
        return "The prompt must be consent."
    if query.get("exclusiveLogin") == "true" and query.get("exclusiveCorpId") not in platform.companies:
        return "The exclusiveCorpId is not a company's."
    return None


def _people(platform: Platform) -> list[Person]:
    """Return the people who may log in: with ``exclusiveLogin`` those with a company's account."""
    if request.args.get("exclusiveLogin") != "true":
        return list(platform.people.values())
    corp_id = request.args["exclusiveCorpId"]
    return [person for person in platform.people.values() if person.exclusive_corp == corp_id]


def _answer(platform: Platform, person: Person) -> dict[str, str]:
    corp_id = _chosen_company(platform, person) if "corpid" in request.args["scope"].split() else None
    code = platform.confirm(request.args["client_id"], person.id, corp_id=corp_id)
    return {"authCode": code, "code": code} if platform.repeats_code else {"authCode": code}


def _chosen_company(platform: Platform, person: Person) -> str | None:
    """Return the company that the URL preselects, if it is the person's, else the first."""
    choices = [company.corp_id for company in platform.companies_of(person.id)]
    preselected = request.args.get("corpId")
    return preselected if preselected in choices else next(iter(choices), None)


def _page(platform: Platform, problem: str | None = None) -> str:
    app = platform.apps[request.args["client_id"]]
    is_in_app = "DingTalk" in request.user_agent.string
    return render_template(
        "login.html",
        app=app,
        company=platform.companies[app.corp_id],
        people=_people(platform),
        action=request.full_path,
        problem=problem,
        picture=None if is_in_app else segno.make(request.url, error="l").svg_data_uri(scale=2),
    )
