"""Codes that prove a contact before a password is set: of an account that exists, or of a new one.

The code that was sent is the open step of the attempt, so it is dropped when the user takes another way.
The pages are the same whether or not a user has the contact.
"""

from collections.abc import Mapping
from typing import Any, Final

from strongroom.plugin_api.times import iso_format
from strongroom.plugin_api.web import RestResponse
from strongroom_login_pages.captchas import captcha_member
from strongroom_login_pages.sign_in.code_login import digits_of, sent_code
from strongroom_login_pages.texts import error_text, password_text
from strongroom_login_pages.visit import LoginVisit

_UNREACHABLE: Final = ("error.validation-failed", "error.not-implemented")


def send_code(
    visit: LoginVisit,
    purpose: str,
    step: str,
    kept: Mapping[str, Any] | None = None,
    invitation: Mapping[str, str] | None = None,
) -> RestResponse:
    """Send a code to the contact of the form; if it is sent, it is the open step.

    Args:
        purpose: what the code is valid for.
        step: the step that needs the code; the attempt takes the way of this name.
        kept: what the browser keeps with the code.
        invitation: the invitation whose contact gets the code, in place of the form's.
    """
    recipient = invitation["contact"] if invitation else visit.form.get("username", "").strip()
    body = {"recipient": recipient, "purpose": purpose, **captcha_member(visit, purpose)}
    if invitation:
        body["invitation"] = invitation["secret"]
    visit.update(attempt=visit.flow.attempt.taking(step, recipient))
    response = visit.rest("POST", "/verification-codes", body)
    if response.error is None:
        visit.proceed(step, {**sent_code(visit, response), **(kept or {})})
    return response


def request_text(error: str | None) -> str:
    """Return the key of the text for a contact or a captcha that was refused."""
    return "contact-invalid" if error in _UNREACHABLE else error_text(error)


def is_expired(visit: LoginVisit, step: str) -> bool:
    """Return whether the code of an open step is no longer valid."""
    sent = visit.flow.attempt.data_of(step)
    return sent is not None and sent["expires_at"] <= iso_format(visit.now)


def code_of_form(visit: LoginVisit) -> dict[str, str]:
    """Return the code of the form, with the id of the one that was sent."""
    return {"id": visit.flow.attempt.data["id"], "code": digits_of(visit.form.get("code", ""))}


def entry_text(error: str | None) -> str:
    """Return the key of the text for a code or a new password that was refused."""
    texts = {"error.code-invalid": "code-wrong", "error.too-many-requests": "codes-used-up"}
    return texts.get(error or "", password_text(error))
