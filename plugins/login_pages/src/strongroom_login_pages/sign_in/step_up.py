"""Step-up: a fresh proof of the user who is logged in, before a sensitive change."""

from typing import Any, Final

from strongroom.plugin_api.browser import is_local_path
from strongroom_login_pages.sign_in.progress import shown_by
from strongroom_login_pages.sign_in.second_factor import answer_of, answered, challenge_forms
from strongroom_login_pages.texts import code_text
from strongroom_login_pages.visit import LoginVisit, Routes, logged_in

STALE: Final = ("error.step-up-required", "error.fresh-proof-required")
"""The errors that a step-up answers."""

_STEP_UP: Final = "/authorizations/current/step-up"


class StepUp:
    """The page of the step-up."""

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {("GET", "/step-up"): self.show, ("POST", "/step-up"): self.step_up}

    @logged_in
    def show(self, visit: LoginVisit) -> Any:
        """Ask for a fresh proof: the second factor, or the password of a user without one."""
        resume = visit.request.args.get("resume", "")
        visit.update(resume=resume if is_local_path(resume) else None)
        return _form(visit)

    @logged_in
    def step_up(self, visit: LoginVisit) -> Any:
        """Renew the proof of the login."""
        form = visit.form
        if "challenge" in form:
            body: dict[str, Any] = {"challenge": {"id": form["challenge"], **answer_of(visit)}}
        else:
            body = {"currentPassword": form.get("password", "")}
        response = visit.rest("POST", _STEP_UP, body)
        if response.error is not None:
            return _form(visit, response.error)
        visit.continue_session(response.json["accessToken"])
        if (resume := visit.flow.resume) is not None:
            visit.update(resume=None)
            return visit.redirect_within(resume)
        visit.update(notice="confirmed")
        return visit.redirect(visit.flow.page_after_step_up)


def _form(visit: LoginVisit, error: str | None = None) -> Any:
    challenge = visit.rest("POST", _STEP_UP, {}).json.get("challenge")
    user = visit.rest("GET", "/users/me").json
    if challenge is None and not user["hasPassword"]:
        # Such a user has no proof but another login.
        return visit.redirect("/login")
    tried = answered(visit) if error else None
    return visit.page(
        "sign_in/step_up.html",
        status=400 if error else 200,
        error=code_text(error) if error else None,
        challenge=challenge,
        forms=challenge_forms(visit, challenge["methods"], shown_by(challenge)) if challenge else [],
        tried=tried.kind if tried else None,
        username=user.get("email") or user.get("mobile") or user.get("username"),
    )
