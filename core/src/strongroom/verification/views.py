"""Routes for captchas and verification codes."""

from typing import Any

from strongroom import errors
from strongroom.http.access import Access
from strongroom.http.request import client, get_service, languages
from strongroom.http.routing import Blueprint
from strongroom.verification.captchas import CaptchaAnswer, CaptchaService, IssuedCaptcha
from strongroom.verification.codes import Purpose
from strongroom.verification.schemas import (
    CaptchaRequestSchema,
    CodeRequestSchema,
    IssuedCaptchaSchema,
    SentCodeSchema,
)
from strongroom.verification.service import CodeSending, SentCode

blueprint = Blueprint("verification", __name__, description="Captchas and verification codes.")


@blueprint.operation(
    "POST",
    "/captchas",
    access=Access.PUBLIC,
    body=CaptchaRequestSchema,
    returns=IssuedCaptchaSchema,
    status=201,
    limit="captchas_per_address",
)
def create_captcha(**_: Any) -> IssuedCaptcha:
    """Get a captcha. Its solution is valid for one attempt within a few minutes."""
    return get_service(CaptchaService).issue()


@blueprint.operation(
    "POST",
    "/verification-codes",
    access=Access.PUBLIC,
    body=CodeRequestSchema,
    returns=SentCodeSchema,
    status=201,
    errors=(
        errors.CaptchaRequired,
        errors.CaptchaInvalid,
        errors.RegistrationClosed,
        errors.InvitationRequired,
        errors.TooManyRequests,
        errors.NotImplementedHere,
    ),
    request_headers=("X-Device-Id",),
)
def send_verification_code(body: dict[str, Any]) -> SentCode:
    """Send a code to an e-mail address or a mobile number. Requires a captcha.

    The response is the same whether or not a user holds the recipient. A code that could not be used,
    or that no sender can send, is refused before the request counts against the limits.
    """
    captcha = body["captcha"]
    return get_service(CodeSending).send(
        body["recipient"],
        Purpose(body["purpose"]),
        CaptchaAnswer(**captcha) if captcha else None,
        client(),
        languages(),
        body["invitation"],
    )
