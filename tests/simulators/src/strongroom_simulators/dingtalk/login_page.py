"""The page of login.dingtalk.com, on which a tester chooses the person who confirms the login.

In a browser it shows a QR code; in DingTalk's own browser, which cannot scan its own screen, it does
not.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from flask import request
from flask.typing import ResponseReturnValue

from strongroom_simulators.choice_page import ChoicePage
from strongroom_simulators.dingtalk.platform import Platform
from strongroom_simulators.dingtalk.registry import Person
from strongroom_simulators.platform_app import redirect_back

SCOPES: Final = ({"openid"}, {"openid", "corpid"})


class LoginPage(ChoicePage[Platform]):
    """The page of DingTalk."""

    paths = ("/oauth2/auth",)
    template = "login.html"
    choose = "Choose who scans."
    name_member = "nick"
    own_browsers = ("DingTalk",)

    def find_problem(self, query: Mapping[str, str]) -> str | None:
        app = self.platform.apps.get(query.get("client_id", ""))
        if app is None:
            return "The client_id does not belong to an app."
        if urlsplit(query.get("redirect_uri", "")).hostname not in app.hosts:
            return "The host of the redirect_uri is not registered."
        if query.get("response_type") != "code" or set(query.get("scope", "").split()) not in SCOPES:
            return "The response_type or the scope is wrong."
        if query.get("prompt") != "consent":
            return "The prompt must be consent."
        if (
            query.get("exclusiveLogin") == "true"
            and query.get("exclusiveCorpId") not in self.platform.companies
        ):
            return "The exclusiveCorpId is not a company's."
        return None

    def people(self) -> list[Person]:
        """Return the people who may log in: with ``exclusiveLogin`` those with a company's account."""
        people = list(self.platform.people.values())
        if request.args.get("exclusiveLogin") != "true":
            return people
        corp_id = request.args["exclusiveCorpId"]
        return [person for person in people if person.exclusive_corp == corp_id]

    def values(self) -> dict[str, Any]:
        app = self.platform.apps[request.args["client_id"]]
        return {"app": app, "company": self.platform.companies[app.corp_id]}

    def confirm(self, person: str) -> ResponseReturnValue:
        has_company = "corpid" in request.args["scope"].split()
        corp_id = _chosen_company(self.platform, person) if has_company else None
        code = self.platform.confirm(request.args["client_id"], person, corp_id=corp_id)
        repeated = {"code": code} if self.platform.repeats_code else {}
        return redirect_back({"authCode": code, **repeated})


def _chosen_company(platform: Platform, person: str) -> str | None:
    """Return the company that the URL preselects, if it is the person's, else the first."""
    choices = [company.corp_id for company in platform.companies_of(person)]
    preselected = request.args.get("corpId")
    return preselected if preselected in choices else next(iter(choices), None)
