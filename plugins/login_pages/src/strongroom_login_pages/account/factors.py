"""The enrolment in passkeys and authenticator apps.

An enrolment also runs before the login, if the user must enrol a factor first: with the id that the
login has returned in place of an access token.
"""

from base64 import b64encode
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote

from strongroom.plugin_api.web import RestResponse
from strongroom_login_pages.account.frame import ME, follow
from strongroom_login_pages.sign_in.progress import LoginProgress
from strongroom_login_pages.texts import text_of
from strongroom_login_pages.visit import Routes, Visit

_FACTORS: Final = f"{ME}/factors"


class FactorPages:
    """The pages that add a factor."""

    def __init__(self, progress: LoginProgress) -> None:
        self._progress = progress

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {
            ("POST", "/totp"): self.begin_totp,
            ("POST", "/totp/confirmation"): self.confirm_totp,
            ("POST", "/passkeys"): self.begin_passkey,
            ("POST", "/passkeys/confirmation"): self.confirm_passkey,
        }

    def begin_totp(self, visit: Visit) -> Any:
        """Show the secret for an authenticator app."""
        response = self._begin(visit, "totp", "")
        if response.error is not None:
            return _refused(visit, response)
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
            return _refused(visit, response)
        options = response.json["shown"]["publicKey"]
        return visit.page("account/passkey.html", id=response.json["id"], options=options)

    def confirm_passkey(self, visit: Visit) -> Any:
        """Enrol the passkey that the browser has created."""
        answer = visit.json_field("passkey")
        response = self._confirm(visit, visit.form.get("id", ""), answer)
        return self._enrolled(visit, response, "passkey-added")

    def _begin(self, visit: Visit, kind: str, name: str) -> RestResponse:
        enrolment = visit.flow.enrolment
        if enrolment is None:
            return visit.rest("POST", _FACTORS, {"kind": kind, "name": name})
        body = {"id": enrolment["id"], "kind": kind, "name": name}
        return visit.rest("POST", "/authorizations/enrolments", body)

    def _confirm(self, visit: Visit, identifier: str, answer: Any) -> RestResponse:
        enrolment = visit.flow.enrolment
        if enrolment is None:
            path = f"{_FACTORS}/{quote(identifier, safe='')}/confirmation"
            return visit.rest("POST", path, {"answer": answer})
        body = {"id": enrolment["id"], "enrolmentId": identifier, "answer": answer}
        return visit.rest("POST", "/authorizations/enrolments/confirmation", body)

    def _enrolled(self, visit: Visit, response: RestResponse, notice: str) -> Any:
        if visit.flow.enrolment is None:
            return follow(visit, response, "/", notice)
        return self._progress.continue_with(visit, response, lambda: _refused(visit, response))


def _refused(visit: Visit, response: RestResponse) -> Any:
    """Go to the page that follows an error, which is another one before the login."""
    if visit.flow.enrolment is None:
        return follow(visit, response, "/", None)
    notice = text_of(response.error)
    if response.status == HTTPStatus.UNAUTHORIZED:
        visit.switch(notice=notice)
        return visit.redirect("/login")
    visit.update(notice=notice)
    return visit.redirect("/enrolment")


def _totp_form(visit: Visit, identifier: str, secret: str, image: str, error: str | None = None) -> Any:
    return visit.page(
        "account/totp.html",
        status=400 if error else 200,
        error=error,
        id=identifier,
        secret=secret,
        image=image,
    )
