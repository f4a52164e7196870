"""Captchas of forms: they are issued by the REST API, and solved by people or by their browsers."""

from typing import Any, Final

from strongroom_login_pages.visit import Visit

REFUSED: Final = ("error.captcha-required", "error.captcha-invalid")
"""The errors after which a form shows a new captcha."""


def new_captcha(visit: Visit) -> dict[str, Any] | None:
    """Return a captcha for a form, or ``None`` if the client has requested too many."""
    response = visit.rest("POST", "/captchas", {})
    return response.json if response.error is None else None


def captcha_member(visit: Visit) -> dict[str, Any]:
    """Return the member of a request's body with the captcha of the form, if it has one."""
    if not visit.form.get("captcha"):
        return {}
    return {"captcha": {"id": visit.form["captcha"], "answer": visit.form.get("captchaAnswer", "")}}
