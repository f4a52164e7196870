"""The second factor of a login: its proof, or the choice of one that the user must enrol."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from strongroom.plugin_api.forms import FactorView, PagePart
from strongroom_login_pages.sign_in.progress import LoginProgress
from strongroom_login_pages.texts import code_text
from strongroom_login_pages.visit import FormMalformed, LoginVisit, Routes


@dataclass(slots=True, eq=False, repr=False)
class SecondFactor:
    """The pages between the first proof and the login."""

    _progress: LoginProgress

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {
            ("GET", "/challenge"): self.show,
            ("POST", "/challenge"): self.meet,
            ("GET", "/enrolment"): self.show_enrolment,
        }

    def show(self, visit: LoginVisit) -> Any:
        """Ask for the second factor."""
        return _form(visit) if visit.flow.challenge else visit.redirect("/login")

    def meet(self, visit: LoginVisit) -> Any:
        """Finish the login with the answer of a factor."""
        challenge = visit.flow.challenge
        if challenge is None:
            return visit.redirect("/login")
        # The script of a factor may have got a challenge of its own.
        identifier = visit.form.get("challenge") or challenge["id"]
        body = {"challenge": {"id": identifier, **answer_of(visit)}}
        response = visit.rest("POST", "/authorizations", body)
        if response.error == "error.challenge-invalid":
            visit.switch(notice="error.challenge-invalid")
            return visit.redirect("/login")
        return self._progress.continue_with(visit, response, lambda: _form(visit, response.error))

    def show_enrolment(self, visit: LoginVisit) -> Any:
        """Offer the second factors; the user must enrol one of them before logging in."""
        if visit.flow.enrolment is None:
            return visit.redirect("/login")
        notice, kinds = visit.take_flash().notice, visit.flow.enrolment["kinds"]
        views = [view for view in visit.factor_views() if view.kind in kinds]
        return visit.page("sign_in/enrolment.html", notice=notice, views=views)


def answer_of(visit: LoginVisit) -> dict[str, Any]:
    """Return the answer of a factor under its name: a typed code, or what a script has filled in.

    Raises:
        FormMalformed: the form has no answer.
    """
    view = answered(visit)
    if view is None:
        raise FormMalformed
    return {view.field: visit.factor_answer(view)}


def answered(visit: LoginVisit) -> FactorView | None:
    """Return the factor that the form has an answer of, if any."""
    return next((view for view in visit.factor_views() if view.field in visit.form), None)


def challenge_forms(
    visit: LoginVisit, methods: Collection[str], shown: Mapping[str, Any]
) -> list[tuple[FactorView, PagePart]]:
    """Return the forms of the factors that meet a challenge.

    Args:
        methods: the kinds of the factors.
        shown: the members that they show.
    """
    views = [view for view in visit.factor_views() if view.kind in methods]
    parts = [(view, visit.factor_part(view.kind, "challenge", shown)) for view in views]
    return [(view, part) for view, part in parts if part is not None]


def _form(visit: LoginVisit, error: str | None = None) -> Any:
    challenge = visit.flow.challenge or {"methods": []}
    tried = answered(visit) if error else None
    return visit.page(
        "sign_in/challenge.html",
        status=400 if error else 200,
        error=code_text(error) if error else None,
        forms=challenge_forms(visit, challenge["methods"], challenge.get("shown", {})),
        tried=tried.kind if tried else None,
    )
