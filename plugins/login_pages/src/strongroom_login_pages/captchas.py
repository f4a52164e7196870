"""Captchas of forms: they are issued by the REST API, and solved by people or by their browsers."""

from typing import Any, Final

from strongroom.plugin_api.forms import PagePart
from strongroom_login_pages.visit import LoginVisit

REFUSED: Final = ("error.captcha-required", "error.captcha-invalid")
"""The errors after which a form shows a new captcha."""


def captcha_member(visit: LoginVisit, purpose: str) -> dict[str, Any]:
    """Return the member of a request's body with the captcha of the form, if it has one."""
    answer = visit.captcha_answer(purpose)
    return {"captcha": answer} if answer else {}


def refusal_text(visit: LoginVisit, error: str | None, captcha: PagePart | None) -> str | None:
    """Return the key of the text for a refusal; a captcha without a question has no wrong answer."""
    if captcha is None:
        return error
    if requests_picture(visit):
        return "error.captcha-required"
    return "captcha-expired" if error in REFUSED and captcha.is_automatic else error


def requests_picture(visit: LoginVisit) -> bool:
    """Return whether the form requests a picture only, whatever its other fields contain."""
    return visit.form.get("captchaKind") == "picture" and not visit.form.get("captchaAnswer")
