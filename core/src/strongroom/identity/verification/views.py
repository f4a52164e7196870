"""Routes for captchas and verification codes."""

from typing import Any, Final

from strongroom.foundation import errors
from strongroom.identity.verification.captchas import (
    PAGE_CAPTCHA,
    CaptchaAnswer,
    CaptchaService,
    IssuedCaptcha,
)
from strongroom.identity.verification.codes import Purpose
from strongroom.identity.verification.link_urls import CodeLinks
from strongroom.identity.verification.schemas import (
    CaptchaRequestSchema,
    CodeRequestSchema,
    IssuedCaptchaSchema,
    SentCodeSchema,
)
from strongroom.identity.verification.service import CodeSending, SentCode, new_device_id
from strongroom.plugin_api.authentication import Scope
from strongroom.web.http.access import Access, administers_by_key
from strongroom.web.http.request import client, get_service, languages
from strongroom.web.http.routing import Blueprint

Headers = dict[str, str]

_DEVICE: Final = "X-Device-Id"

blueprint = Blueprint("verification", description="Captchas and verification codes.")


@blueprint.operation(
    "POST",
    "/captchas",
    access=Access.PUBLIC,
    body=CaptchaRequestSchema,
    returns=IssuedCaptchaSchema,
    status=201,
    limit="captchas_per_address",
    request_headers=(_DEVICE,),
    response_headers=(_DEVICE,),
)
def create_captcha(**_: Any) -> tuple[IssuedCaptcha, int, Headers]:
    """Get a captcha. Its solution is valid for one attempt within a few minutes.

    A client that sends no `X-Device-Id` gets one, to send from then on.
    """
    return get_service(CaptchaService).issue(PAGE_CAPTCHA.get()), 201, _device_headers()


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
        errors.TokenInvalid,
        errors.Forbidden,
    ),
    request_headers=(_DEVICE,),
    response_headers=(_DEVICE,),
)
def send_verification_code(body: dict[str, Any]) -> tuple[SentCode, int, Headers]:
    """Send a code to an e-mail address or a mobile number. Requires a captcha.

    The response is the same whether or not a user holds the recipient. A code that could not be used,
    or that no sender can send, is refused before the request counts against the limits. Without
    `X-Device-Id`, clients with the same address and User-Agent count as one device. An access
    key with `users:write`, of an administrator or a service account, has no limit per device.
    """
    captcha = body["captcha"]
    sent = get_service(CodeSending).send(
        body["recipient"],
        Purpose(body["purpose"]),
        CaptchaAnswer(**captcha) if captcha else None,
        client(),
        languages(),
        body["invitation"],
        links=get_service(CodeLinks) if body["link"] else None,
        is_device_limited=not administers_by_key(Scope.USERS_WRITE),
    )
    return sent, 201, _device_headers()


def _device_headers() -> Headers:
    """Return the header with a new id for a client that has sent none."""
    return {} if client().device_id else {_DEVICE: new_device_id()}
