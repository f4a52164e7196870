"""The way on from the response to a login: the next proof that it needs, or back to what it is for."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from strongroom.plugin_api.forms import MAX_SHOWN
from strongroom.plugin_api.web import RestResponse
from strongroom_login_pages.front_ends.returns import FrontEnds
from strongroom_login_pages.sign_in.attempt import CHALLENGE, CONSENT, ENROLMENT
from strongroom_login_pages.sign_in.ways import remember_way
from strongroom_login_pages.texts import known_text
from strongroom_login_pages.visit import LoginVisit

TERMS_MISSING: Final = "error.terms-not-accepted"
"""The error of a registration, and of a login that registers, without the consent."""

_CHALLENGE: Final = "error.second-factor-required"
_DENIED: Final = "error.provider-access-denied"
_ENROLMENT: Final = "error.second-factor-enrolment-required"
_OWN: Final = ("id", "methods", "expiresAt")


@dataclass(slots=True, eq=False, repr=False)
class LoginProgress:
    """Leads a login from each response of the REST API to the next page."""

    _front_ends: FrontEnds

    def continue_with(
        self, visit: LoginVisit, response: RestResponse, ask_again: Callable[[], Any] | None = None
    ) -> Any:
        """Go to the page that follows the response to a login.

        Args:
            ask_again: returns the form that follows a refusal; ``None``: :meth:`begin_again`.
        """
        if response.error is None:
            return self._finish(visit, response.json)
        if response.error == _CHALLENGE:
            visit.proceed(CHALLENGE, _kept_challenge(response.json["challenge"]))
            return visit.redirect("/challenge")
        if response.error == _ENROLMENT:
            enrolment = response.json["enrolment"]
            visit.proceed(ENROLMENT, {name: enrolment[name] for name in ("id", "kinds")})
            return visit.redirect("/enrolment")
        if response.error == TERMS_MISSING and "id" in response.json["consent"]:
            visit.proceed(CONSENT, {"id": response.json["consent"]["id"]})
            return visit.redirect("/terms")
        return ask_again() if ask_again else self.begin_again(visit, response)

    def begin_again(self, visit: LoginVisit, response: RestResponse) -> Any:
        """Go to the login page, which shows the error: the code of this request is used."""
        notice, way = known_text(response.error), visit.flow.attempt.way
        platform = next((link.platform for link in visit.login_links() if link.name == way), "")
        if notice == _DENIED and platform:
            visit.update(notice="cancelled-at", names={"platform": platform})
        elif notice is not None:
            visit.update(notice=notice)
        else:
            # An error of a plugin, whose message is in the language of the browser.
            visit.update(problem=response.json["error"]["message"])
        return visit.redirect("/login")

    def _finish(self, visit: LoginVisit, tokens: dict[str, Any]) -> Any:
        """Return the login to the front end, or keep it in the session for the account pages."""
        return_to, resume, way = visit.flow.return_to, visit.flow.resume, visit.flow.attempt.way
        if return_to is None:
            due, notice = tokens.get("secondFactorDueAt"), visit.flow.attempt.welcome
            visit.log_in(tokens["accessToken"], due=due, notice=notice)
            response = visit.redirect_within(resume) if resume else visit.redirect("/")
        else:
            # The front end has the login. The browser's ends: another person may have begun it.
            visit.log_out()
            response = visit.redirect_to(self._front_ends.url_with_code(return_to, tokens))
        return remember_way(visit, response, way)


def shown_by(challenge: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a challenge that its factors show."""
    return {name: value for name, value in challenge.items() if name not in _OWN}


def _kept_challenge(challenge: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a challenge that the browser keeps."""
    # Browsers drop cookies of more than 4096 bytes. Users with so many passkeys use one to begin with.
    shown, left = {}, MAX_SHOWN
    for name, value in shown_by(challenge).items():
        size = len(json.dumps(value))
        if size <= left:
            shown[name], left = value, left - size
    return {"id": challenge["id"], "methods": challenge["methods"], "shown": shown}
