"""Captchas."""

from typing import Any

from strongroom.verification.captchas import CaptchaService, IssuedCaptcha
from strongroom.verification.schemas import CaptchaRequestSchema, IssuedCaptchaSchema
from strongroom.web.blueprint import Blueprint
from strongroom.web.components import use
from strongroom.web.guard import Access

blueprint = Blueprint("verification", __name__, description="Show that you are a person, and who.")


@blueprint.operation(
    "POST",
    "/captchas",
    access=Access.PUBLIC,
    body=CaptchaRequestSchema,
    returns=IssuedCaptchaSchema,
    status=201,
)
def create_captcha(**_: Any) -> IssuedCaptcha:
    """Get a puzzle, whose answer is good for one use within a few minutes."""
    return use(CaptchaService).issue()
