"""The second factor of a login: its proof, or the choice of one that the user must enrol."""

from typing import Any, Final

from strongroom_login_pages.sign_in.progress import LoginProgress
from strongroom_login_pages.texts import code_text
from strongroom_login_pages.visit import Routes, Visit

_FACTORS: Final = ("totp", "recoveryCode")


class SecondFactor:
    """The pages between the first proof and the login."""

    def __init__(self, progress: LoginProgress) -> None:
        self._progress = progress

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {
            ("GET", "/challenge"): self.show,
            ("POST", "/challenge"): self.meet,
            ("GET", "/enrolment"): self.show_enrolment,
        }

    def show(self, visit: Visit) -> Any:
        """Ask for the second factor."""
        return _form(visit) if visit.flow.challenge else visit.redirect("/login")

    def meet(self, visit: Visit) -> Any:
        """Finish the login with a code of an app, or a recovery code."""
        challenge = visit.flow.challenge
        if challenge is None:
            return visit.redirect("/login")
        body = {"challenge": {"id": challenge["id"], **answer_of(visit)}}
        response = visit.rest("POST", "/authorizations", body)
        if response.error == "error.challenge-invalid":
            visit.switch(notice="error.challenge-invalid")
            return visit.redirect("/login")
        return self._progress.continue_with(visit, response, lambda: _form(visit, response.error))

    def show_enrolment(self, visit: Visit) -> Any:
        """Offer the second factors; the user must enrol one of them before logging in."""
        if visit.flow.enrolment is None:
            return visit.redirect("/login")
        notice, kinds = visit.flow.notice, visit.flow.enrolment["kinds"]
        visit.update(notice=None)
        return visit.page("sign_in/enrolment.html", notice=notice, kinds=kinds)


def answer_of(visit: Visit) -> dict[str, Any]:
    """Return the answer of a factor under its name: a typed code, or what the script has filled in."""
    codes = {name: visit.form[name].strip() for name in _FACTORS if visit.form.get(name)}
    return codes or {"passkey": visit.json_field("passkey")}


def _form(visit: Visit, error: str | None = None) -> Any:
    challenge = visit.flow.challenge or {"methods": [], "options": None}
    return visit.page(
        "sign_in/challenge.html",
        status=400 if error else 200,
        error=code_text(error) if error else None,
        methods=challenge["methods"],
        options=challenge["options"],
    )
