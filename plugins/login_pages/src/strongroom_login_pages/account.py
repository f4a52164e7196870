"""The account: second factors, passkeys and recovery codes of the user who is logged in.

An enrolment also runs before the login, if the user must enrol a factor first: with the id that the
login has returned in place of an access token.
"""

from base64 import b64encode
from functools import wraps
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from strongroom.plugin_api.web import RestResponse
from strongroom_login_pages.login import LoginPages, answer_of
from strongroom_login_pages.visit import Visit, text_of

_ME = "/users/me"
_FACTORS = f"{_ME}/factors"
_STALE = ("error.step-up-required", "error.fresh-proof-required")
_STEP_UP = "/authorizations/current/step-up"


def logged_in(view: Any) -> Any:
    """Require a login for a view."""

    @wraps(view)
    def guarded(pages: "AccountPages", visit: Visit, **parameters: str) -> Any:
        if visit.session.token is None:
            return visit.redirect("/login")
        return view(pages, visit, **parameters)

    return guarded


class AccountPages:
    """The pages of a user who is logged in."""

    def __init__(self, login: LoginPages) -> None:
        self._login = login

    @logged_in
    def show(self, visit: Visit) -> Any:
        """Show the user's factors."""
        response = visit.rest("GET", _FACTORS)
        if response.error is not None:
            visit.session = visit.session.renewed()
            return visit.redirect("/login")
        notice, removed = visit.session.notice, visit.session.removed
        visit.update(notice=None, removed=None)
        return visit.page(
            "account.html",
            notice=notice,
            removed=removed,
            due=visit.session.due,
            factors=response.json["data"],
            passkeys=response.json.get("shown", {}).get("passkey"),
        )

    def begin_totp(self, visit: Visit) -> Any:
        """Show the secret for an authenticator app."""
        response = self._begin(visit, "totp", "")
        if response.error is not None:
            return self._refused(visit, response)
        shown = response.json["shown"]
        image = b64encode(shown["qr"].encode()).decode()
        return _totp_form(visit, response.json["id"], shown["secret"], image)

    def confirm_totp(self, visit: Visit) -> Any:
        """Enrol the app with its first code."""
        given = visit.form
        identifier = given.get("id", "")
        response = self._confirm(visit, identifier, given.get("totp", "").strip())
        if response.error == "error.factor-invalid":
            secret, image = given.get("secret", ""), given.get("image", "")
            return _totp_form(visit, identifier, secret, image, "code-wrong")
        return self._enrolled(visit, response, "totp-added")

    def begin_passkey(self, visit: Visit) -> Any:
        """Show the page on which the browser creates a passkey."""
        response = self._begin(visit, "passkey", visit.form.get("name", "").strip())
        if response.error is not None:
            return self._refused(visit, response)
        options = response.json["shown"]["publicKey"]
        return visit.page("passkey.html", id=response.json["id"], options=options)

    def confirm_passkey(self, visit: Visit) -> Any:
        """Enrol the passkey that the browser has created."""
        answer = visit.json_field("passkey")
        response = self._confirm(visit, visit.form.get("id", ""), answer)
        return self._enrolled(visit, response, "passkey-added")

    @logged_in
    def create_recovery_codes(self, visit: Visit) -> Any:
        """Show new recovery codes, once."""
        response = visit.rest("POST", f"{_ME}/recovery-codes")
        if response.error is not None:
            return self._refused(visit, response)
        return visit.page("codes.html", codes=response.json["recoveryCodes"])

    @logged_in
    def rename(self, visit: Visit, factor_id: str) -> Any:
        """Rename a passkey."""
        name = visit.form.get("name", "").strip()
        response = visit.rest("PATCH", f"{_FACTORS}/{quote(factor_id, safe='')}", {"name": name})
        return self._changed(visit, response, "renamed")

    @logged_in
    def remove(self, visit: Visit, factor_id: str) -> Any:
        """Remove a factor; the next page informs the provider of a passkey."""
        shown = visit.rest("GET", _FACTORS).json.get("shown", {}).get("passkey") or {}
        response = visit.rest("DELETE", f"{_FACTORS}/{quote(factor_id, safe='')}")
        if response.error is None:
            visit.update(removed=shown.get("credentialIds", {}).get(factor_id))
        return self._changed(visit, response, "removed")

    @logged_in
    def show_step_up(self, visit: Visit) -> Any:
        """Ask for a fresh proof: the second factor, or the password of a user without one."""
        return _step_up_form(visit)

    @logged_in
    def step_up(self, visit: Visit) -> Any:
        """Renew the proof of the login."""
        form = visit.form
        if "challenge" in form:
            body: dict[str, Any] = {"challenge": {"id": form["challenge"], **answer_of(visit)}}
        else:
            body = {"currentPassword": form.get("password", "")}
        response = visit.rest("POST", _STEP_UP, body)
        if response.error is not None:
            return _step_up_form(visit, response.error)
        visit.update(token=response.json["accessToken"], notice="confirmed")
        return visit.redirect("/")

    def log_out(self, visit: Visit) -> Any:
        """End the login."""
        if visit.session.token is not None:
            visit.rest("DELETE", "/authorizations/current")
        visit.session = visit.session.renewed(notice="logged-out")
        return visit.redirect("/login")

    def _begin(self, visit: Visit, kind: str, name: str) -> RestResponse:
        enrolment = visit.session.enrolment
        if enrolment is None:
            return visit.rest("POST", _FACTORS, {"kind": kind, "name": name})
        body = {"id": enrolment["id"], "kind": kind, "name": name}
        return visit.rest("POST", "/authorizations/enrolments", body)

    def _confirm(self, visit: Visit, identifier: str, answer: Any) -> RestResponse:
        enrolment = visit.session.enrolment
        if enrolment is None:
            path = f"{_FACTORS}/{quote(identifier, safe='')}/confirmation"
            return visit.rest("POST", path, {"answer": answer})
        body = {"id": enrolment["id"], "enrolmentId": identifier, "answer": answer}
        return visit.rest("POST", "/authorizations/enrolments/confirmation", body)

    def _enrolled(self, visit: Visit, response: RestResponse, notice: str) -> Any:
        if visit.session.enrolment is None or response.error is not None:
            return self._changed(visit, response, notice)
        return self._login.continue_with(visit, response, lambda: None)

    def _changed(self, visit: Visit, response: RestResponse, notice: str) -> Any:
        if response.error is not None:
            return self._refused(visit, response)
        visit.update(notice=notice)
        return visit.redirect("/")

    def _refused(self, visit: Visit, response: RestResponse) -> Any:
        """Go to the page that follows an error."""
        if response.error in _STALE:
            return visit.redirect("/step-up")
        if response.status == HTTPStatus.UNAUTHORIZED:
            # The login has ended, or the enrolment before it.
            notice = text_of("error.challenge-invalid")
            visit.update(enrolment=None, notice=notice)
            return visit.redirect("/" if visit.session.token else "/login")
        visit.update(notice=text_of(response.error))
        return visit.redirect("/" if visit.session.token else "/enrolment")


def _totp_form(visit: Visit, identifier: str, secret: str, image: str, error: str | None = None) -> Any:
    return visit.page(
        "totp.html",
        status=400 if error else 200,
        error=error,
        id=identifier,
        secret=secret,
        image=image,
    )


def _step_up_form(visit: Visit, error: str | None = None) -> Any:
    challenge = visit.rest("POST", _STEP_UP, {}).json.get("challenge")
    user = visit.rest("GET", _ME).json
    reason = "code-wrong" if error == "error.invalid-credentials" else text_of(error)
    return visit.page(
        "step_up.html",
        status=400 if error else 200,
        error=reason if error else None,
        challenge=challenge,
        options=challenge.get("publicKey") if challenge else None,
        username=user.get("email") or user.get("mobile") or user.get("username"),
    )
