"""Registration: a code proves the contact, and then the password makes the account.

The link in an e-mail with an invitation proves its address, so that one form makes the account.

The first page answers the same for a contact that has an account. The holder of the contact learns it
after the code, which no other user gets.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from werkzeug.exceptions import NotFound

from strongroom_login_pages.captchas import refusal_text
from strongroom_login_pages.contact_codes import (
    code_of_form,
    entry_text,
    is_expired,
    request_text,
    send_code,
)
from strongroom_login_pages.registration.invitations import kept_invitation, path_of, void_invitation
from strongroom_login_pages.registration.terms import accepted_terms
from strongroom_login_pages.sign_in.attempt import INVITATION, REGISTRATION
from strongroom_login_pages.sign_in.code_login import seconds_until_next
from strongroom_login_pages.sign_in.progress import TERMS_MISSING, LoginProgress
from strongroom_login_pages.sign_in.ways import CODE_TEXTS, PASSWORD, registers_invited, ways_of
from strongroom_login_pages.visit import LoginVisit, Routes

_REQUEST: Final = "/register"
_ENTRY: Final = f"{_REQUEST}/code"
_MAX_NAME: Final = 100


@dataclass(slots=True, eq=False, repr=False)
class RegistrationPages:
    """The pages that take a name and a contact, and then a code and a password."""

    _progress: LoginProgress

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {
            ("GET", _REQUEST): self.show_request,
            ("POST", _REQUEST): self.send,
            ("GET", _ENTRY): self.show_entry,
            ("POST", _ENTRY): self.register,
        }

    def show_request(self, visit: LoginVisit) -> Any:
        """Ask for the name and the contact."""
        _require_open(visit)
        notice = visit.take_flash().notice
        return _request_form(visit, notice=notice)

    def send(self, visit: LoginVisit) -> Any:
        """Send a code, unless an invitation proves the contact.

        The page after a code is the same for contacts that have an account.
        """
        _require_open(visit)
        invitation = kept_invitation(visit)
        if void := void_invitation(visit):
            return _show_invitation(visit, void)
        name = visit.form.get("name", "").strip()
        if not name or len(name) > _MAX_NAME:
            return _request_form(visit, "name-invalid")
        terms = accepted_terms(visit)
        if visit.login_options.terms is not None and terms is None:
            return _request_form(visit, "terms-missing")
        if invitation and _is_proof(invitation):
            return self._register_invited(visit, invitation, name, terms)
        kept = {"name": name, "terms": terms, "invitation": invitation}
        response = send_code(visit, "register", REGISTRATION, kept, invitation)
        if response.error is not None:
            if invitation:
                visit.proceed(INVITATION, {"invitation": invitation})
            return _request_form(visit, request_text(response.error))
        return visit.redirect(_ENTRY)

    def show_entry(self, visit: LoginVisit) -> Any:
        """Ask for the code and a password."""
        if visit.flow.attempt.data_of(REGISTRATION) is None:
            return visit.redirect(_REQUEST)
        return _entry_form(visit)

    def register(self, visit: LoginVisit) -> Any:
        """Create the account, and log in."""
        attempt = visit.flow.attempt
        if attempt.data_of(REGISTRATION) is None:
            return visit.redirect(_REQUEST)
        if is_expired(visit, REGISTRATION):
            return _begin_again(visit, "error.code-expired")
        invitation = kept_invitation(visit)
        if void := void_invitation(visit):
            return _show_invitation(visit, void)
        password = visit.form.get("newPassword", "")
        response = visit.rest("POST", "/users", _body(visit, invitation, password))
        if response.error == TERMS_MISSING:
            # They were changed since the first page.
            return _begin_again(visit, "terms-missing")
        if response.error is not None:
            is_taken = response.error == "error.credential-taken"
            return _entry_form(visit, "contact-taken" if is_taken else entry_text(response.error))
        return self._log_in(visit, attempt.username, password, invitation)

    def _register_invited(
        self, visit: LoginVisit, invitation: Mapping[str, str], name: str, terms: str | None
    ) -> Any:
        """Create the account of an address that the link of an invitation proves, and log in."""
        contact, password = invitation["contact"], visit.form.get("newPassword", "")
        body = {
            "name": name,
            invitation["kind"]: contact,
            "password": password,
            "invitation": invitation["secret"],
            **({"acceptedTerms": terms} if terms else {}),
        }
        response = visit.rest("POST", "/users", body)
        if response.error is None:
            return self._log_in(visit, contact, password, invitation)
        if response.error == "error.code-invalid":
            # It was withdrawn at this moment.
            return _show_invitation(visit, invitation)
        texts = {TERMS_MISSING: "terms-missing", "error.credential-taken": "contact-taken"}
        return _request_form(visit, texts.get(response.error) or entry_text(response.error))

    def _log_in(
        self, visit: LoginVisit, username: str, password: str, invitation: Mapping[str, str] | None
    ) -> Any:
        """Log in to the new account as to any other: policies may require a second factor."""
        if invitation:
            # The new user is a member already, because the contact is the invitation's.
            visit.update(resume=f"{visit.root}/invitations")
        welcome = "invitation-accepted" if invitation else None
        visit.update(attempt=visit.flow.attempt.taking(PASSWORD, username, welcome=welcome))
        body = {"username": username, "password": password}
        login = visit.rest("POST", "/authorizations", body)
        return self._progress.continue_with(
            visit, login, lambda: self._progress.begin_again(visit, login)
        )


def _require_open(visit: LoginVisit) -> None:
    invitation, options = kept_invitation(visit), visit.login_options
    is_invited = invitation is not None and registers_invited(options, invitation["kind"])
    if not is_invited and not ways_of(options).register:
        raise NotFound


def _show_invitation(visit: LoginVisit, invitation: Mapping[str, str]) -> Any:
    """Redirect to the page of an invitation, which says that it is no longer valid."""
    visit.switch()
    return visit.redirect(path_of(invitation["secret"]))


def _begin_again(visit: LoginVisit, notice: str) -> Any:
    """Redirect to the first page, with the invitation if there is one."""
    invitation = kept_invitation(visit)
    visit.switch(notice=notice)
    if invitation:
        visit.proceed(INVITATION, {"invitation": invitation})
    return visit.redirect(_REQUEST)


def _body(visit: LoginVisit, invitation: Mapping[str, str] | None, password: str) -> dict[str, Any]:
    """Return the registration as the REST API takes it."""
    attempt = visit.flow.attempt
    body = {
        "name": attempt.data["name"],
        _kind_of(attempt.username): attempt.username,
        "password": password,
        "verificationCodes": [code_of_form(visit)],
    }
    if terms := attempt.data["terms"]:
        body["acceptedTerms"] = terms
    return {**body, "invitation": invitation["secret"]} if invitation else body


def _is_proof(invitation: Mapping[str, str]) -> bool:
    """Return whether the REST API takes the secret of an invitation in place of a code."""
    return invitation["kind"] == "email"


def _kind_of(contact: str) -> str:
    return "email" if "@" in unicodedata.normalize("NFKC", contact) else "mobile"


def _request_form(visit: LoginVisit, error: str | None = None, *, notice: str | None = None) -> Any:
    invitation, options = kept_invitation(visit), visit.login_options
    kinds = frozenset({invitation["kind"]}) if invitation else options.register_codes
    entered = visit.form.get("username", visit.flow.attempt.username)
    is_proven = invitation is not None and _is_proof(invitation)
    captcha = None if is_proven else visit.captcha("register")
    return visit.page(
        "registration/register.html",
        status=400 if error else 200,
        error=refusal_text(visit, error, captcha),
        notice=notice,
        contact=CODE_TEXTS[kinds],
        terms=options.terms,
        username=invitation["contact"] if invitation else entered,
        is_fixed=invitation is not None,
        name=visit.form.get("name", ""),
        is_proven=is_proven,
        captcha=captcha,
    )


def _entry_form(visit: LoginVisit, error: str | None = None) -> Any:
    return visit.page(
        "registration/code.html",
        status=400 if error else 200,
        error=error,
        recipient=visit.flow.attempt.username,
        wait=seconds_until_next(visit, visit.flow.attempt.data_of(REGISTRATION)),
    )
