"""Captchas of forms: they are issued by the REST API, and solved by people or by their browsers."""

from typing import Any, Final

from strongroom_login_pages.visit import LoginVisit

REFUSED: Final = ("error.captcha-required", "error.captcha-invalid")
"""The errors after which a form shows a new captcha."""


def captcha_member(visit: LoginVisit) -> dict[str, Any]:
    """Return the member of a request's body with the captcha of the form, if it has one."""
    answer = visit.captcha_answer()
    return {"captcha": answer} if answer else {}
