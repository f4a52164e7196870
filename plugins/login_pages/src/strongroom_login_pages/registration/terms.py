"""The consent to the terms: a box that is not ticked, and that the server checks."""

from dataclasses import dataclass
from typing import Any

from strongroom.plugin_api.web import RestResponse
from strongroom_login_pages.sign_in.attempt import CONSENT
from strongroom_login_pages.sign_in.progress import LoginProgress
from strongroom_login_pages.visit import LoginVisit, Routes


@dataclass(slots=True, eq=False, repr=False)
class TermsOfLogin:
    """The page between the first proof of a login and the user that it registers."""

    _progress: LoginProgress

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {("GET", "/terms"): self.show, ("POST", "/terms"): self.accept}

    def show(self, visit: LoginVisit) -> Any:
        """Show the terms."""
        return _form(visit) if visit.flow.attempt.data_of(CONSENT) else visit.redirect("/login")

    def accept(self, visit: LoginVisit) -> Any:
        """Continue the login with the consent."""
        consent = visit.flow.attempt.data_of(CONSENT)
        if consent is None:
            return visit.redirect("/login")
        version = accepted_terms(visit)
        if version is None:
            return _form(visit, "terms-missing")
        body = {"consent": {"id": consent["id"], "acceptedTerms": version}}
        response = visit.rest("POST", "/authorizations", body)
        return self._progress.continue_with(visit, response, lambda: self._refused(visit, response))

    def _refused(self, visit: LoginVisit, response: RestResponse) -> Any:
        visit.switch()
        return self._progress.begin_again(visit, response)


def accepted_terms(visit: LoginVisit) -> str | None:
    """Return the version of the terms that the form accepts, or ``None``: the box is not ticked."""
    terms = visit.login_options.terms
    # The version that the form has shown: a later one is not accepted.
    is_current = terms is not None and visit.form.get("terms") == terms.version
    return terms.version if terms is not None and is_current else None


def _form(visit: LoginVisit, error: str | None = None) -> Any:
    return visit.page(
        "registration/terms.html",
        status=400 if error else 200,
        error=error,
        terms=visit.login_options.terms,
    )
